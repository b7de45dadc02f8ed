"""Weights, means and sums of squared deviations of all targets: learning rows, merging, and variances.

The order of additions and subtractions is River's, so that the bits are the same.
"""

from typing import Any, NamedTuple

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array

MIN_SAMPLES = 5.0


class Sums(NamedTuple):
    """Weights, means and sums of squared deviations of the targets; a first weight of -1 marks sums without rows.

    There is one weight while every cell is known, which all targets share, or one for each target.
    """

    weights: Array
    mean: Array
    squares: Array


@njit(**HOT)
def learn_targets(sums: Any, i: int, y: Array, weight: float) -> None:
    """Add the known cells of one row to the sums of a place (Welford)."""
    if sums.weights.shape[1] == 1:
        sums.weights[i, 0] = _learn_row(sums.mean[i], sums.squares[i], sums.weights[i, 0], y, weight)
    else:
        _learn_cells(sums.weights[i], sums.mean[i], sums.squares[i], y, weight)


@njit(**HOT)
def _learn_row(mean: Array, squares: Array, total: float, y: Array, weight: float) -> float:
    total += weight
    share = weight / total
    for j in range(len(y)):
        distance = y[j] - mean[j]
        centre = mean[j] + share * distance
        squares[j] += weight * distance * (y[j] - centre)
        mean[j] = centre
    return total


@njit(**PART)
def _learn_cells(weights: Array, mean: Array, squares: Array, y: Array, weight: float) -> None:
    for j in range(len(y)):
        if y[j] != UNKNOWN:
            weights[j] += weight
            distance = y[j] - mean[j]
            centre = mean[j] + weight / weights[j] * distance
            squares[j] += weight * distance * (y[j] - centre)
            mean[j] = centre


@njit(**HOT)
def copy_sums(to: Sums, weights: Array, mean: Array, squares: Array) -> None:
    """Overwrite sums."""
    for k in range(len(weights)):
        to.weights[k] = weights[k]
    for j in range(len(mean)):
        to.mean[j], to.squares[j] = mean[j], squares[j]


@njit(**HOT)
def add_sums(to: Sums, weights: Array, mean: Array, squares: Array) -> None:
    """Merge sums of other rows into sums."""
    if to.weights[0] < 0.0:
        copy_sums(to, weights, mean, squares)
        return
    each = len(weights) > 1
    for j in range(len(mean)):
        k = j if each else 0
        n, weight = to.weights[k], weights[k]
        if n + weight > 0.0:
            gap = to.mean[j] - mean[j]
            to.squares[j] = to.squares[j] + squares[j] + gap * gap * n * weight / (n + weight)
            to.mean[j] = (n * to.mean[j] + weight * mean[j]) / (n + weight)
    for k in range(len(weights)):
        to.weights[k] += weights[k]


@njit(**HOT)
def subtract_sums(to: Sums, weights: Array, mean: Array, squares: Array) -> None:
    """Take sums of some of their rows out of sums again."""
    each = len(weights) > 1
    for j in range(len(mean)):
        k = j if each else 0
        n, weight = to.weights[k], weights[k]
        rest = n - weight
        if max(rest, 0.0) + weight > 0.0:
            to.mean[j] = (n * to.mean[j] - weight * mean[j]) / rest if rest > 0.0 else 0.0
            gap = to.mean[j] - mean[j]
            to.squares[j] = to.squares[j] - squares[j] - gap * gap * max(rest, 0.0) * weight / (max(rest, 0.0) + weight)
    for k in range(len(weights)):
        to.weights[k] = max(to.weights[k] - weights[k], 0.0)


@njit(**PART)
def variance_reduction(before: Sums, left: Sums, right: Sums) -> float:
    """Return by how much a split into two sides reduces the mean variance of the targets."""
    return _merit_of_rows(before, left, right) if len(before.weights) == 1 else _merit_of_cells(before, left, right)


@njit(**HOT)
def _merit_of_rows(before: Sums, left: Sums, right: Sums) -> float:
    """Return the reduction of the mean variance of the targets, if both sides have enough rows."""
    if left.weights[0] < MIN_SAMPLES or right.weights[0] < MIN_SAMPLES:
        return 0.0
    merit = _mean_variance(before)
    merit -= left.weights[0] / before.weights[0] * _mean_variance(left)
    merit -= right.weights[0] / before.weights[0] * _mean_variance(right)
    return merit


@njit(**HOT)
def _mean_variance(sums: Sums) -> float:
    """Average the variances of the targets."""
    total = 0.0
    if sums.weights[0] > 1.0:
        for j in range(len(sums.mean)):
            total += sums.squares[j] / (sums.weights[0] - 1.0)
    return total / len(sums.mean)


@njit(**HOT)
def _merit_of_cells(before: Sums, left: Sums, right: Sums) -> float:
    """Return the same with the variance of each target over its known cells, 0 if a side has too few of them."""
    merit = 0.0
    for j in range(len(before.mean)):
        if left.weights[j] >= MIN_SAMPLES and right.weights[j] >= MIN_SAMPLES:
            merit += _variance(before, j)
            merit -= left.weights[j] / before.weights[j] * _variance(left, j)
            merit -= right.weights[j] / before.weights[j] * _variance(right, j)
    return merit / len(before.mean)


@njit(**HOT)
def _variance(sums: Sums, j: int) -> float:
    return sums.squares[j] / (sums.weights[j] - 1.0)
