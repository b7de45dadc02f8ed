"""Gaussian observers of one class in one leaf: Welford's moments of every feature, and what follows from them."""

import math
from typing import Any

import numpy.typing as npt
from numba import njit

from estimators._kernels.grove import HIGHEST, HOT, LOWEST, MEAN, PRECISION, SQUARES, Grove

Array = npt.NDArray[Any]

HALF_LOG_TAU = 0.5 * math.log(math.tau)
SQRT_2 = math.sqrt(2.0)


@njit(**HOT)
def observe(grove: Grove, o: int, x: Array, weight: float) -> None:
    """Add a row of a weight to an observer."""
    observer = grove.observers[o]
    observer.weight += weight
    share = weight / observer.weight
    half = 0.5 * (observer.weight - 1.0) if observer.weight > 1.0 else 0.0
    mean, squares, precision = grove.moments[o, MEAN], grove.moments[o, SQUARES], grove.moments[o, PRECISION]
    for f in range(len(x)):
        distance = x[f] - mean[f]
        centre = mean[f] + share * distance
        spread = squares[f] + weight * distance * (x[f] - centre)
        mean[f] = centre
        squares[f] = spread
        precision[f] = half / spread if spread > 0.0 else 0.0
    _widen(grove, o, x)
    observer.log_norm = _log_norm(grove, o, observer.weight)


@njit(**HOT)
def _widen(grove: Grove, o: int, x: Array) -> None:
    # counting comes first because it needs no branches, and rows outside the range are rare
    n_outside = 0
    for f in range(len(x)):
        n_outside += (x[f] < grove.moments[o, LOWEST, f]) | (x[f] > grove.moments[o, HIGHEST, f])
    if n_outside:
        for f in range(len(x)):
            grove.moments[o, LOWEST, f] = min(grove.moments[o, LOWEST, f], x[f])
            grove.moments[o, HIGHEST, f] = max(grove.moments[o, HIGHEST, f], x[f])


@njit(**HOT)
def _log_norm(grove: Grove, o: int, weight: float) -> float:
    """Sum log(sqrt(2 pi variance)) over the features that vary, with few logarithms: those of products of features."""
    if weight <= 1.0:
        return 0.0
    squares = grove.moments[o, SQUARES]
    logs, product, n_varying = 0.0, 1.0, 0
    whole = len(squares) // 4 * 4
    for f in range(0, whole, 4):
        four = (squares[f] * squares[f + 1]) * (squares[f + 2] * squares[f + 3])
        if 1e-60 < four < 1e60:
            product *= four
            n_varying += 4
            if not 1e-200 < product < 1e200:
                logs += math.log(product)
                product = 1.0
        else:
            more, varying = _logs(squares, f, f + 4)
            logs, n_varying = logs + more, n_varying + varying
    more, varying = _logs(squares, whole, len(squares))
    logs, n_varying = logs + more + math.log(product), n_varying + varying
    return 0.5 * (logs - n_varying * math.log(weight - 1.0)) + n_varying * HALF_LOG_TAU


@njit(**HOT)
def _logs(squares: Array, start: int, stop: int) -> tuple[float, int]:
    total, n_varying = 0.0, 0
    for f in range(start, stop):
        if squares[f] > 0.0:
            total += math.log(squares[f])
            n_varying += 1
    return total, n_varying


@njit(**HOT)
def log_likelihood(grove: Grove, o: int, x: Array) -> float:
    """Sum the log densities of a row's features; features that do not vary count nothing, as in River.

    The four running sums do not wait for each other; their order is fixed, so that the bits are.
    """
    moments = grove.moments
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(x) // 4 * 4
    for f in range(0, whole, 4):
        a += (x[f] - moments[o, MEAN, f]) ** 2 * moments[o, PRECISION, f]
        b += (x[f + 1] - moments[o, MEAN, f + 1]) ** 2 * moments[o, PRECISION, f + 1]
        c += (x[f + 2] - moments[o, MEAN, f + 2]) ** 2 * moments[o, PRECISION, f + 2]
        d += (x[f + 3] - moments[o, MEAN, f + 3]) ** 2 * moments[o, PRECISION, f + 3]
    for f in range(whole, len(x)):
        a += (x[f] - moments[o, MEAN, f]) ** 2 * moments[o, PRECISION, f]
    return -((a + b) + (c + d)) - grove.observers[o].log_norm


@njit(**HOT)
def weight_below(grove: Grove, o: int, f: int, value: float) -> float:
    """Estimate the weight of the observed rows whose feature is at most a value."""
    weight = grove.observers[o].weight
    if value < grove.moments[o, LOWEST, f]:
        return 0.0
    if value >= grove.moments[o, HIGHEST, f]:
        return weight
    variance = grove.moments[o, SQUARES, f] / (weight - 1.0) if weight > 1.0 else 0.0
    if variance == 0.0:
        return 0.0
    distance = (value - grove.moments[o, MEAN, f]) / math.sqrt(variance)
    return 0.5 * (1.0 + math.erf(distance / SQRT_2)) * weight
