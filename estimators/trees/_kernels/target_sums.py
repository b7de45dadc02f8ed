"""Weights, means and sums of squared deviations of all targets: learning rows, merging, and variances.

The order of additions and subtractions is River's, so that the bits are the same.
"""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array

MIN_SAMPLES = 5.0


class Sums(NamedTuple):
    """Weights, means and sums of squared deviations of the targets, for each of several places.

    A first weight of -1 marks sums without rows. There is one weight while every cell is known, which all targets
    share, or one for each target.
    """

    weights: Array
    mean: Array
    squares: Array


@njit(**HOT)
def learn_targets(sums: Sums, i: int, y: Array, weight: float) -> None:
    """Add the known cells of one row to the sums of a place (Welford)."""
    if sums.weights.shape[1] > 1:
        _learn_cells(sums, i, y, weight)
        return
    mean, squares = sums.mean, sums.squares
    sums.weights[i, 0] += weight
    share = weight / sums.weights[i, 0]
    for j in range(len(y)):
        distance = y[j] - mean[i, j]
        centre = mean[i, j] + share * distance
        squares[i, j] += weight * distance * (y[j] - centre)
        mean[i, j] = centre


@njit(**PART)
def _learn_cells(sums: Sums, i: int, y: Array, weight: float) -> None:
    weights, mean, squares = sums
    for j in range(len(y)):
        if y[j] != UNKNOWN:
            weights[i, j] += weight
            distance = y[j] - mean[i, j]
            centre = mean[i, j] + weight / weights[i, j] * distance
            squares[i, j] += weight * distance * (y[j] - centre)
            mean[i, j] = centre


@njit(**HOT)
def copy_sums(to: Sums, a: int, source: Sums, i: int) -> None:
    """Overwrite the sums of a place by those of another."""
    for k in range(source.weights.shape[1]):
        to.weights[a, k] = source.weights[i, k]
    for j in range(source.mean.shape[1]):
        to.mean[a, j], to.squares[a, j] = source.mean[i, j], source.squares[i, j]


@njit(**HOT)
def add_sums(to: Sums, a: int, source: Sums, i: int) -> None:
    """Merge sums of other rows into the sums of a place."""
    if to.weights[a, 0] < 0.0:
        copy_sums(to, a, source, i)
        return
    each = source.weights.shape[1] > 1
    for j in range(source.mean.shape[1]):
        k = j if each else 0
        n, weight = to.weights[a, k], source.weights[i, k]
        if n + weight > 0.0:
            gap = to.mean[a, j] - source.mean[i, j]
            to.squares[a, j] = to.squares[a, j] + source.squares[i, j] + gap * gap * n * weight / (n + weight)
            to.mean[a, j] = (n * to.mean[a, j] + weight * source.mean[i, j]) / (n + weight)
    for k in range(source.weights.shape[1]):
        to.weights[a, k] += source.weights[i, k]


@njit(**HOT)
def subtract_sums(to: Sums, a: int, source: Sums, i: int) -> None:
    """Take sums of some of their rows out of the sums of a place again."""
    each = source.weights.shape[1] > 1
    for j in range(source.mean.shape[1]):
        k = j if each else 0
        n, weight = to.weights[a, k], source.weights[i, k]
        left = n - weight
        rest = max(left, 0.0)
        if rest + weight > 0.0:
            to.mean[a, j] = (n * to.mean[a, j] - weight * source.mean[i, j]) / left if left > 0.0 else 0.0
            gap = to.mean[a, j] - source.mean[i, j]
            to.squares[a, j] = to.squares[a, j] - source.squares[i, j] - gap * gap * rest * weight / (rest + weight)
    for k in range(source.weights.shape[1]):
        to.weights[a, k] = max(to.weights[a, k] - source.weights[i, k], 0.0)


@njit(**PART)
def variance_reduction(sums: Sums, before: int, left: int, right: int) -> float:
    """Return by how much a split into two sides reduces the mean variance of the targets."""
    if sums.weights.shape[1] > 1:
        return _merit_of_cells(sums, before, left, right)
    weights = sums.weights
    if weights[left, 0] < MIN_SAMPLES or weights[right, 0] < MIN_SAMPLES:
        return 0.0
    merit = _mean_variance(sums, before)
    merit -= weights[left, 0] / weights[before, 0] * _mean_variance(sums, left)
    merit -= weights[right, 0] / weights[before, 0] * _mean_variance(sums, right)
    return merit


@njit(**PART)
def reduction_by_all(before: Sums, b: int, after: Sums, sides: Array) -> float:
    """Return the same for a split into any number of sides."""
    if before.weights.shape[1] > 1:
        return _merit_of_cells_of_all(before, b, after, sides)
    for side in sides:
        if after.weights[side, 0] < MIN_SAMPLES:
            return 0.0
    merit = _mean_variance(before, b)
    for side in sides:
        merit -= after.weights[side, 0] / before.weights[b, 0] * _mean_variance(after, side)
    return merit


@njit(**HOT)
def _merit_of_cells_of_all(before: Sums, b: int, after: Sums, sides: Array) -> float:
    merit = 0.0
    for j in range(before.mean.shape[1]):
        gain, fewest = _variance(before, b, j), np.inf
        for side in sides:
            gain -= after.weights[side, j] / before.weights[b, j] * _variance(after, side, j)
            fewest = min(fewest, after.weights[side, j])
        merit += gain if fewest >= MIN_SAMPLES else 0.0
    return merit / before.mean.shape[1]


@njit(**HOT)
def _mean_variance(sums: Sums, i: int) -> float:
    """Average the variances of the targets."""
    total = 0.0
    if sums.weights[i, 0] > 1.0:
        for j in range(sums.mean.shape[1]):
            total += sums.squares[i, j] / (sums.weights[i, 0] - 1.0)
    return total / sums.mean.shape[1]


@njit(**HOT)
def _merit_of_cells(sums: Sums, before: int, left: int, right: int) -> float:
    """Return the same with the variance of each target over its known cells, 0 if a side has too few of them."""
    merit, weights = 0.0, sums.weights
    for j in range(sums.mean.shape[1]):
        if weights[left, j] >= MIN_SAMPLES and weights[right, j] >= MIN_SAMPLES:
            merit += _variance(sums, before, j)
            merit -= weights[left, j] / weights[before, j] * _variance(sums, left, j)
            merit -= weights[right, j] / weights[before, j] * _variance(sums, right, j)
    return merit / sums.mean.shape[1]


@njit(**HOT)
def _variance(sums: Sums, i: int, j: int) -> float:
    return sums.squares[i, j] / (sums.weights[i, j] - 1.0)
