"""Weights, means and sums of squared deviations of all targets: learning rows, merging, and variances.

The order of additions and subtractions is River's, so that the bits are the same.
"""

from typing import NamedTuple

from estimators._kernels.compile import HOT, njit
from estimators._typing import Array


class Sums(NamedTuple):
    """Weight, means and sums of squared deviations of all targets; weight -1 marks sums without rows."""

    weight: Array
    mean: Array
    squares: Array


@njit(**HOT)
def learn_targets(mean: Array, squares: Array, total: float, y: Array, weight: float) -> float:
    """Add one row to means and sums of squares (Welford), and return the new weight."""
    total += weight
    share = weight / total
    for j in range(len(y)):
        distance = y[j] - mean[j]
        centre = mean[j] + share * distance
        squares[j] += weight * distance * (y[j] - centre)
        mean[j] = centre
    return total


@njit(**HOT)
def copy_sums(to: Sums, weight: float, mean: Array, squares: Array) -> None:
    """Overwrite sums."""
    to.weight[0] = weight
    for j in range(len(mean)):
        to.mean[j], to.squares[j] = mean[j], squares[j]


@njit(**HOT)
def add_sums(to: Sums, weight: float, mean: Array, squares: Array) -> None:
    if to.weight[0] < 0.0:
        copy_sums(to, weight, mean, squares)
        return
    n = to.weight[0]
    for j in range(len(mean)):
        gap = to.mean[j] - mean[j]
        to.squares[j] = to.squares[j] + squares[j] + gap * gap * n * weight / (n + weight)
        to.mean[j] = (n * to.mean[j] + weight * mean[j]) / (n + weight)
    to.weight[0] = n + weight


@njit(**HOT)
def subtract_sums(to: Sums, weight: float, mean: Array, squares: Array) -> None:
    n, rest = to.weight[0], to.weight[0] - weight
    for j in range(len(mean)):
        to.mean[j] = (n * to.mean[j] - weight * mean[j]) / rest if rest > 0.0 else 0.0
        gap = to.mean[j] - mean[j]
        to.squares[j] = to.squares[j] - squares[j] - gap * gap * max(rest, 0.0) * weight / (max(rest, 0.0) + weight)
    to.weight[0] = max(rest, 0.0)


@njit(**HOT)
def mean_variance(sums: Sums) -> float:
    """Average the variances of the targets."""
    total = 0.0
    if sums.weight[0] > 1.0:
        for j in range(len(sums.mean)):
            total += sums.squares[j] / (sums.weight[0] - 1.0)
    return total / len(sums.mean)
