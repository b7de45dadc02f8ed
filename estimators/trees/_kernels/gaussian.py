"""Gaussian observers of one class in one leaf: Welford's moments of every feature, densities and distribution."""

import math
from typing import TypeAlias

import numpy as np

from estimators._kernels.compile import HOT, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import has_numbers
from estimators.trees._kernels.multilabel_arrays import MultilabelTree
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, MEAN, PRECISION, SQUARES, TreeArrays

HALF_LOG_TAU = 0.5 * math.log(math.tau)
SQRT_2 = math.sqrt(2.0)
# the normal distribution function at multiples of a step, up to where it is 1
STEPS_PER_UNIT = 256
NORMAL = np.array([0.5 * (1.0 + math.erf(k / STEPS_PER_UNIT / math.sqrt(2.0))) for k in range(8 * STEPS_PER_UNIT + 2)])

# what holds observers, and their moments
AnyTree: TypeAlias = TreeArrays | MultilabelTree


@njit(**HOT)
def observe(arrays: AnyTree, o: int, x: Array, weight: float) -> None:
    """Add a weighted row to an observer."""
    observe_moments(arrays, o, x, weight)
    normalise(arrays, o)


@njit(**HOT)
def observe_moments(arrays: AnyTree, o: int, x: Array, weight: float) -> None:
    """Add a weighted row to an observer that no densities are asked of before `normalise` is called."""
    observer = arrays.observers[o]
    observer.weight += weight
    if not has_numbers(arrays):
        return
    share = weight / observer.weight
    half = 0.5 * (observer.weight - 1.0) if observer.weight > 1.0 else 0.0
    moments = arrays.moments
    for f in range(len(x)):
        distance = x[f] - moments[o, MEAN, f]
        centre = moments[o, MEAN, f] + share * distance
        spread = moments[o, SQUARES, f] + weight * distance * (x[f] - centre)
        moments[o, MEAN, f] = centre
        moments[o, SQUARES, f] = spread
        moments[o, PRECISION, f] = half / spread if spread > 0.0 else 0.0
    _widen(arrays, o, x)


@njit(**HOT)
def normalise(arrays: AnyTree, o: int) -> None:
    """Compute what the densities of an observer are divided by; where no feature is a number, its weight is."""
    weight = arrays.observers[o].weight
    arrays.observers[o].log_norm = _log_norm(arrays, o, weight) if has_numbers(arrays) else math.log(weight)


@njit(**HOT)
def _widen(arrays: AnyTree, o: int, x: Array) -> None:
    # counting comes first because it needs no branches, and rows outside the range are rare
    n_outside = 0
    for f in range(len(x)):
        n_outside += (x[f] < arrays.moments[o, LOWEST, f]) | (x[f] > arrays.moments[o, HIGHEST, f])
    if n_outside:
        for f in range(len(x)):
            arrays.moments[o, LOWEST, f] = min(arrays.moments[o, LOWEST, f], x[f])
            arrays.moments[o, HIGHEST, f] = max(arrays.moments[o, HIGHEST, f], x[f])


@njit(**HOT)
def _log_norm(arrays: AnyTree, o: int, weight: float) -> float:
    """Sum log(sqrt(2 pi variance)) over the features that vary, with few logarithms: of products of many features."""
    if weight <= 1.0:
        return 0.0
    m, logs, product, n_varying = arrays.moments, 0.0, 1.0, 0
    whole = m.shape[2] // 8 * 8
    for f in range(0, whole, 8):
        a = (m[o, SQUARES, f] * m[o, SQUARES, f + 1]) * (m[o, SQUARES, f + 2] * m[o, SQUARES, f + 3])
        b = (m[o, SQUARES, f + 4] * m[o, SQUARES, f + 5]) * (m[o, SQUARES, f + 6] * m[o, SQUARES, f + 7])
        if min(a, b) > 1e-90 and max(a, b) < 1e90:
            product *= a * b
            n_varying += 8
        else:
            product, more, varying = _multiply(arrays, o, f, f + 8, product)
            logs, n_varying = logs + more, n_varying + varying
        if not 1e-100 < product < 1e100:
            logs += math.log(product)
            product = 1.0
    product, more, varying = _multiply(arrays, o, whole, m.shape[2], product)
    logs, n_varying = logs + more + math.log(product), n_varying + varying
    return 0.5 * (logs - n_varying * math.log(weight - 1.0)) + n_varying * HALF_LOG_TAU


@njit(**HOT)
def _multiply(arrays: AnyTree, o: int, start: int, stop: int, product: float) -> tuple[float, float, int]:
    """Multiply a product by up to eight non-zero sums of squares; of very small or large ones, sum the logarithms."""
    logs, n_varying = 0.0, 0
    for f in range(start, stop):
        squares = arrays.moments[o, SQUARES, f]
        if squares > 0.0:
            n_varying += 1
            if 1e-25 < squares < 1e25:
                product *= squares
            else:
                logs += math.log(squares)
    return product, logs, n_varying


@njit(**HOT)
def log_likelihood(arrays: AnyTree, o: int, x: Array) -> float:
    """Sum the log densities of the features of a row; features that do not vary add nothing, as in River.

    The four running sums do not wait for each other; their order is fixed, and so are the bits.
    """
    moments = arrays.moments
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(x) // 4 * 4
    for f in range(0, whole, 4):
        p, q = x[f] - moments[o, MEAN, f], x[f + 1] - moments[o, MEAN, f + 1]
        r, s = x[f + 2] - moments[o, MEAN, f + 2], x[f + 3] - moments[o, MEAN, f + 3]
        a += p * p * moments[o, PRECISION, f]
        b += q * q * moments[o, PRECISION, f + 1]
        c += r * r * moments[o, PRECISION, f + 2]
        d += s * s * moments[o, PRECISION, f + 3]
    for f in range(whole, len(x)):
        p = x[f] - moments[o, MEAN, f]
        a += p * p * moments[o, PRECISION, f]
    return -((a + b) + (c + d)) - arrays.observers[o].log_norm


@njit(**HOT)
def weight_below(arrays: AnyTree, o: int, f: int, value: float) -> float:
    """Estimate the weight of the observed rows whose feature is at most a value."""
    weight = arrays.observers[o].weight
    if value < arrays.moments[o, LOWEST, f]:
        return 0.0
    if value >= arrays.moments[o, HIGHEST, f]:
        return weight
    variance = arrays.moments[o, SQUARES, f] / (weight - 1.0) if weight > 1.0 else 0.0
    if variance == 0.0:
        return 0.0
    distance = (value - arrays.moments[o, MEAN, f]) / math.sqrt(variance)
    return 0.5 * (1.0 + math.erf(distance / SQRT_2)) * weight


@njit(**HOT)
def scale_of(arrays: AnyTree, o: int, f: int) -> float:
    """Return the inverse standard deviation of a feature, or 0 if it does not vary."""
    weight, squares = arrays.observers[o].weight, arrays.moments[o, SQUARES, f]
    return math.sqrt((weight - 1.0) / squares) if weight > 1.0 and squares > 0.0 else 0.0


@njit(**HOT)
def rough_weight_below(arrays: AnyTree, o: int, f: int, value: float, scale: float) -> float:
    """Approximate `weight_below` to within a millionth of the weight, in a tenth of the time.

    Linear interpolation of the distribution function is off by at most an eighth of its greatest curvature, 0.242,
    times the squared step: 4.7e-7.
    """
    weight = arrays.observers[o].weight
    if value < arrays.moments[o, LOWEST, f]:
        return 0.0
    if value >= arrays.moments[o, HIGHEST, f]:
        return weight
    if scale == 0.0:
        return 0.0
    place = abs(value - arrays.moments[o, MEAN, f]) * scale * STEPS_PER_UNIT
    below = 1.0
    if place < 8 * STEPS_PER_UNIT:
        k = np.int64(place)
        below = NORMAL[k] + (place - k) * (NORMAL[k + 1] - NORMAL[k])
    return weight * (below if value >= arrays.moments[o, MEAN, f] else 1.0 - below)
