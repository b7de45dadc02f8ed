"""Gaussian observers that cost a sparse row its non-zero values, not all features: zeros are added together.

An observer keeps weight k, mean m and squared deviations S of the values of a feature that are not zero. If n is the
weight of all its rows, those with zero included, the mean is m k / n, and the sum of squared deviations
S + m^2 k (n - k) / n (Chan, Golub and LeVeque): without a zero they are Welford's, to the last bit.

Naive Bayes sums log densities over all features, and each changes with n. Of a zero, with B = S + k m^2,
r = (k m)^2 / B <= k and u = r / n, the logarithm of the sum of squared deviations is log B + log(1 - u), and the
exponent of the density is (n - 1) / (2 n) u / (1 - u). Both are series in u: hence the sum over all features needs
their sums of powers of r only, which a row changes for its non-zero values. Features are summed in this way while u is
at most `MOST_LIGHT`, which makes them light; the others, at most 1 / `LEAST_HEAVY` times as many as a row has values on
average, are heavy, and summed one by one. The rest of the series after `DEGREE` terms is less than 1e-15 times the mean
number of values.
"""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.gaussian import HALF_LOG_TAU
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, MEAN, NONE, PRECISION, SQUARES, TreeArrays

# of the moments of an observer, what is the precision elsewhere is the weight of the values that are not zero
WEIGHT = PRECISION
UNSEEN, LIGHT, HEAVY = 0, 1, 2
DEGREE = 16
MOST_LIGHT = 1 / 8
LEAST_HEAVY = 1 / 16
# in between, powers and logarithms of sums stay in the range of doubles
GREATEST_WEIGHT = 1e15
LEAST_SQUARES, GREATEST_SQUARES = 1e-200, 1e200


class SparseTrees(NamedTuple):
    """Trees whose observers add zeros together."""

    arrays: TreeArrays  # moments are those of values that are not zero
    # (n_places, 1 + DEGREE), of light features: half the sum of logarithms of B, then sums of powers of r
    series: Array
    heavy: Array  # int32, (n_places, n_features): heavy features of each observer, the first `n_heavy` ones
    n_heavy: Array  # int64, (n_places,)
    n_light: Array  # int64, (n_places,)
    kinds: Array  # uint8, (n_places, n_features): kind of each feature
    x: Array  # (1, n_features): room to spread a row; all zero in between


class SparseRows(NamedTuple):
    """CSR rows: where each starts, its columns and its values."""

    starts: Array
    columns: Array
    values: Array


@njit(**PART)
def clear_observer(trees: SparseTrees, o: int) -> None:
    """Make the parts of a new observer empty that other trees do not have."""
    trees.n_heavy[o] = trees.n_light[o] = 0
    for j in range(DEGREE + 1):
        trees.series[o, j] = 0.0
    for f in range(trees.kinds.shape[1]):
        trees.kinds[o, f] = UNSEEN


@njit(**PART)
def observe_values(trees: SparseTrees, o: int, rows: SparseRows, r: int, weight: float) -> None:
    """Add a weighted row to an observer."""
    observer = trees.arrays.observers[o]
    observer.weight += weight
    for q in range(rows.starts[r], rows.starts[r + 1]):
        if rows.values[q] != 0.0:
            _add_value(trees, o, rows.columns[q], rows.values[q], weight)
    observer.log_norm = _log_norm(trees, o, observer.weight)


@njit(**HOT)
def _add_value(trees: SparseTrees, o: int, f: int, value: float, weight: float) -> None:
    moments, was_light = trees.arrays.moments, trees.kinds[o, f] == LIGHT
    if was_light:
        _count_light(trees, o, f, -1)
    moments[o, WEIGHT, f] += weight
    distance = value - moments[o, MEAN, f]
    moments[o, MEAN, f] += weight / moments[o, WEIGHT, f] * distance
    moments[o, SQUARES, f] += weight * distance * (value - moments[o, MEAN, f])
    moments[o, LOWEST, f] = min(moments[o, LOWEST, f], value)
    moments[o, HIGHEST, f] = max(moments[o, HIGHEST, f], value)
    if was_light and _fits(trees, o, f, MOST_LIGHT):
        _count_light(trees, o, f, 1)
    elif trees.kinds[o, f] != HEAVY:
        # whether a new feature is light is seen when the heavy ones are summed
        trees.kinds[o, f] = HEAVY
        trees.heavy[o, trees.n_heavy[o]] = f
        trees.n_heavy[o] += 1


@njit(**HOT)
def _fits(trees: SparseTrees, o: int, f: int, share: float) -> bool:
    """Return whether a feature may be light: no more than a share of the weight is not zero, and no power overflows."""
    n, k = trees.arrays.observers[o].weight, trees.arrays.moments[o, WEIGHT, f]
    if not (k <= share * n and n < GREATEST_WEIGHT):
        return False
    square = k * trees.arrays.moments[o, MEAN, f] ** 2
    return square > LEAST_SQUARES and square + trees.arrays.moments[o, SQUARES, f] < GREATEST_SQUARES


@njit(**HOT)
def _count_light(trees: SparseTrees, o: int, f: int, sign: int) -> None:
    """Add a light feature to the sums of its observer, or take it away."""
    moments, series = trees.arrays.moments, trees.series
    k, mean = moments[o, WEIGHT, f], moments[o, MEAN, f]
    square = k * mean * mean
    about_zero = square + moments[o, SQUARES, f]
    series[o, 0] += sign * 0.5 * math.log(about_zero)
    ratio, power = k * (square / about_zero), 1.0 * sign
    for j in range(1, DEGREE + 1):
        power *= ratio
        series[o, j] += power
    trees.n_light[o] += sign


@njit(**HOT)
def _squares(trees: SparseTrees, o: int, f: int, n: float) -> float:
    """Return the sum of squared deviations of a feature, zeros included."""
    moments = trees.arrays.moments
    k, mean = moments[o, WEIGHT, f], moments[o, MEAN, f]
    return moments[o, SQUARES, f] + mean * mean * k * ((n - k) / n)


@njit(**PART)
def _log_norm(trees: SparseTrees, o: int, n: float) -> float:
    """Sum what the log densities of an observer subtract for any row, and the exponents of zeros of light features.

    Heavy features that have become rare are light from now on.
    """
    logs, product, n_varying, n_kept = 0.0, 1.0, 0, 0
    for j in range(trees.n_heavy[o]):
        f = trees.heavy[o, j]
        if n >= 1.0 / LEAST_HEAVY and _fits(trees, o, f, LEAST_HEAVY):
            trees.kinds[o, f] = LIGHT
            _count_light(trees, o, f, 1)
            continue
        trees.heavy[o, n_kept] = f
        n_kept += 1
        squares = _squares(trees, o, f, n)
        if squares > 0.0:
            n_varying += 1
            if 1e-25 < squares < 1e25:
                product *= squares
            else:
                logs += math.log(squares)
            if not 1e-100 < product < 1e100:
                logs += math.log(product)
                product = 1.0
    trees.n_heavy[o] = n_kept
    if n <= 1.0:
        return 0.0
    n_varying += trees.n_light[o]
    total = 0.5 * (logs + math.log(product)) + trees.series[o, 0] + _rest_of_light(trees, o, n)
    return total - 0.5 * n_varying * math.log(n - 1.0) + n_varying * HALF_LOG_TAU


@njit(**HOT)
def _rest_of_light(trees: SparseTrees, o: int, n: float) -> float:
    """Sum the series of all light features: of exponents, and of half the logarithms of 1 - u."""
    total, power, share = 0.0, 1.0, (n - 1.0) / (2.0 * n)
    for j in range(1, DEGREE + 1):
        power /= n
        total += trees.series[o, j] * power * (share - 0.5 / j)
    return total


@njit(**PART)
def log_likelihood_of(trees: SparseTrees, o: int, rows: SparseRows, r: int) -> float:
    """Sum the log densities of the features of a row, which is spread in `x`; those that do not vary add nothing."""
    observer, moments, total = trees.arrays.observers[o], trees.arrays.moments, 0.0
    n = observer.weight
    if n <= 1.0:
        return 0.0
    for j in range(trees.n_heavy[o]):
        f = trees.heavy[o, j]
        squares = _squares(trees, o, f, n)
        if squares > 0.0:
            distance = trees.x[0, f] - moments[o, MEAN, f] * (moments[o, WEIGHT, f] / n)
            total += distance * distance / squares
    for q in range(rows.starts[r], rows.starts[r + 1]):
        f, value = rows.columns[q], rows.values[q]
        if trees.kinds[o, f] == LIGHT:
            centre = moments[o, MEAN, f] * (moments[o, WEIGHT, f] / n)
            total += value * (value - 2.0 * centre) / _squares(trees, o, f, n)
    return -0.5 * (n - 1.0) * total - observer.log_norm


@njit(**BUILD)
def with_zeros(trees: SparseTrees, i: int) -> tuple[Array, TreeArrays]:
    """Return the features that a leaf has seen, and trees with the moments of these only, zeros included.

    The observers of the leaf are the places 0, 1, ... there.
    """
    arrays, n_classes, o = trees.arrays, 0, trees.arrays.nodes[i].observers
    while o != NONE:
        n_classes, o = n_classes + 1, arrays.observers[o].next
    columns = _seen(trees, i)
    observers = arrays.observers[:n_classes].copy()
    moments = np.empty((n_classes, arrays.moments.shape[1], len(columns)))
    o = arrays.nodes[i].observers
    for j in range(n_classes):
        observers[j].code, observers[j].weight = arrays.observers[o].code, arrays.observers[o].weight
        observers[j].next = j + 1 if j + 1 < n_classes else NONE
        for c in range(len(columns)):
            _write_with_zeros(trees, o, columns[c], moments, j, c)
        o = arrays.observers[o].next
    seen = TreeArrays(
        arrays.nodes, arrays.stats, observers, moments, arrays.subsets, arrays.trees, arrays.free, arrays.categories
    )
    return columns, seen


@njit(**BUILD)
def _seen(trees: SparseTrees, i: int) -> Array:
    """Return the features of which an observer of a leaf has seen a value, in order."""
    columns, n = np.empty(trees.kinds.shape[1], np.int64), 0
    for f in range(len(columns)):
        o, is_seen = trees.arrays.nodes[i].observers, False
        while o != NONE and not is_seen:
            is_seen = trees.kinds[o, f] != UNSEEN
            o = trees.arrays.observers[o].next
        columns[n] = f
        n += is_seen
    return columns[:n]


@njit(**HOT)
def _write_with_zeros(trees: SparseTrees, o: int, f: int, moments: Array, j: int, c: int) -> None:
    own, n = trees.arrays.moments, trees.arrays.observers[o].weight
    k, squares = own[o, WEIGHT, f], _squares(trees, o, f, n)
    moments[j, MEAN, c], moments[j, SQUARES, c] = own[o, MEAN, f] * (k / n), squares
    moments[j, PRECISION, c] = 0.5 * (n - 1.0) / squares if n > 1.0 and squares > 0.0 else 0.0
    moments[j, LOWEST, c], moments[j, HIGHEST, c] = own[o, LOWEST, f], own[o, HIGHEST, f]
    if k < n:
        moments[j, LOWEST, c], moments[j, HIGHEST, c] = min(own[o, LOWEST, f], 0.0), max(own[o, HIGHEST, f], 0.0)
