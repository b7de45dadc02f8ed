"""Growing a decision tree from a table: exact splits, with the criterion that a number names.

Numbers are sorted, and cut at a threshold; a nominal feature, which holds codes, is split by one value against others.
"""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import JIT, call_at, njit
from estimators._kernels.randomness import GOLDEN, draw_subset
from estimators._typing import Array, Integer
from estimators.trees._kernels.categories import NO_MARKS, is_marked

GINI, ENTROPY, PRAGMA = 0, 1, 2
# values of a feature that are nearer than this count as equal, as in scikit-learn
SAME = np.float32(1e-7)
# rounding error of an impurity that is zero
TINY = 1e-12


class Growth(NamedTuple):
    """Options of growing: the criterion, the preferences of each class (for PRAGMA), and when to stop.

    `surface` is as in `Losses`; `nominal` marks the features that hold codes.
    """

    criterion: int
    share: Array
    alpha: Array
    beta: Array
    surface: int
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    max_features: int
    nominal: Array = NO_MARKS


class Nodes(NamedTuple):
    """Nodes of a tree in the order of a descent to the left first, named as in scikit-learn; children of a leaf are -1.

    `value` (n_nodes, 1, n_classes) holds the shares of the classes by weight, `weighted_n_node_samples` their sum.
    `nominal` marks features whose "threshold" is a value: rows with it go left, those with any other value right.
    """

    feature: Array
    threshold: Array
    children_left: Array
    children_right: Array
    value: Array
    weighted_n_node_samples: Array
    nominal: Array = NO_MARKS

    def apply(self, X: Array) -> Array:
        """Return the leaf that each row of float32 falls into."""
        return find_leaves(X, self)


@njit(**JIT)
def grow_tree(X: Array, y: Array, weights: Array, growth: Growth, state: Integer) -> Nodes:
    """Grow a tree from rows of float32, positions of classes, and weights greater than 0."""
    n, n_classes = len(y), len(growth.share)
    feature, threshold = np.full(2 * n, -1, np.int64), np.zeros(2 * n)
    left, right = np.full(2 * n, -1, np.int64), np.full(2 * n, -1, np.int64)
    counts = np.zeros((2 * n, n_classes))
    rows, spare = np.arange(n), np.empty(n, np.int64)
    # nodes to grow: begin and end of their rows, depth, parent, whether on the right of it
    pending, n_nodes = [(0, n, 0, -1, False)], 0
    while pending:
        begin, end, depth, parent, on_right = pending.pop()
        node, n_nodes = n_nodes, n_nodes + 1
        if parent >= 0 and on_right:
            right[parent] = node
        elif parent >= 0:
            left[parent] = node
        for i in rows[begin:end]:
            counts[node, y[i]] += weights[i]
        if _must_stop(counts[node], end - begin, depth, growth):
            continue
        state, best, value = _best_split(X, y, weights, rows[begin:end], counts[node], growth, state)
        if best < 0:
            continue
        feature[node], threshold[node] = best, value
        middle = _part(X, rows, spare, (begin, end), growth.nominal, best, value)
        pending.append((middle, end, depth + 1, node, True))
        pending.append((begin, middle, depth + 1, node, False))
    totals = counts[:n_nodes].sum(axis=1)
    value = (counts[:n_nodes] / totals.reshape(n_nodes, 1)).reshape(n_nodes, 1, n_classes)
    return Nodes(feature[:n_nodes], threshold[:n_nodes], left[:n_nodes], right[:n_nodes], value, totals, growth.nominal)


@njit(**JIT)
def find_leaves(X: Array, nodes: Nodes) -> Array:
    """Return the leaf that each row falls into."""
    feature, threshold, left, right = nodes.feature, nodes.threshold, nodes.children_left, nodes.children_right
    leaves = np.zeros(len(X), np.int64)
    for i in range(len(X)):
        at = 0
        while left[at] >= 0:
            at = left[at] if _goes_left(X, i, nodes.nominal, feature[at], threshold[at]) else right[at]
        leaves[i] = at
    return leaves


@njit(**JIT)
def _goes_left(X: Array, i: int, nominal: Array, feature: int, threshold: float) -> bool:
    value = X[i, feature]
    return value == threshold if is_marked(nominal, feature) else value <= threshold


@njit(**JIT)
def _must_stop(counts: Array, n: int, depth: int, growth: Growth) -> bool:
    few = n < growth.min_samples_split or n < 2 * growth.min_samples_leaf
    return few or depth >= growth.max_depth or np.count_nonzero(counts) == 1


@njit(**JIT)
def _part(
    X: Array, rows: Array, spare: Array, node: tuple[int, int], nominal: Array, feature: int, threshold: float
) -> int:
    """Move rows of the left side to the front, keeping their order; return where the right side begins."""
    begin, end = node
    middle, n_right = begin, 0
    for at in range(begin, end):
        i = rows[at]
        if _goes_left(X, i, nominal, feature, threshold):
            rows[middle] = i
            middle += 1
        else:
            spare[n_right] = i
            n_right += 1
    rows[middle:end] = spare[:n_right]
    return middle


@njit(**JIT)
def _best_split(
    X: Array, y: Array, weights: Array, rows: Array, counts: Array, growth: Growth, state: Integer
) -> tuple[Integer, int, float]:
    """Find the best of some drawn features and its threshold, or value; if these are constant, try all others."""
    drawn = np.empty(min(growth.max_features, X.shape[1]), np.int64)
    state = draw_subset(state, X.shape[1], drawn)
    feature, threshold, lowest = -1, 0.0, np.inf
    for f in drawn:
        value, where = _best_of_feature(X, y, weights, rows, f, counts, growth)
        if value < lowest - TINY:
            feature, threshold, lowest = f, where, value
    if feature < 0 and len(drawn) < X.shape[1]:
        for f in range(X.shape[1]):
            value, where = _best_of_feature(X, y, weights, rows, f, counts, growth)
            if value < np.inf:
                return state, f, where
    return state, feature, threshold


@njit(**JIT)
def _best_of_feature(
    X: Array, y: Array, weights: Array, rows: Array, feature: int, counts: Array, growth: Growth
) -> tuple[float, float]:
    """Return the lowest loss, and its threshold or value."""
    if is_marked(growth.nominal, feature):
        return _best_value(X[rows, feature], y[rows], weights[rows], counts, growth)
    return _best_threshold(X[rows, feature], y[rows], weights[rows], counts, growth)


@njit(**JIT)
def _best_threshold(values: Array, y: Array, weights: Array, counts: Array, growth: Growth) -> tuple[float, float]:
    order = np.argsort(values)
    lefts, rights = np.zeros(len(counts)), counts.copy()
    lowest, threshold, n = np.inf, 0.0, len(values)
    for k in range(n - 1):
        c = y[order[k]]
        lefts[c] += weights[order[k]]
        rights[c] = counts[c] - lefts[c]
        low, high = values[order[k]], values[order[k + 1]]
        if high <= low + SAME or k + 1 < growth.min_samples_leaf or n - k - 1 < growth.min_samples_leaf:
            continue
        loss = _loss(lefts, rights, growth)
        if loss < lowest - TINY:
            lowest = loss
            middle = np.float64(low) / 2.0 + np.float64(high) / 2.0
            threshold = np.float64(low) if middle == high or not np.isfinite(middle) else middle
    return lowest, threshold


@njit(**JIT)
def _best_value(values: Array, y: Array, weights: Array, counts: Array, growth: Growth) -> tuple[float, float]:
    lefts, rights = np.zeros(len(counts)), counts.copy()
    lowest, best, n = np.inf, np.inf, len(values)
    firsts, after = _rows_by_value(values)
    for first in firsts:
        k, n_left = first, 0
        lefts[:] = 0.0
        while k >= 0:
            lefts[y[k]] += weights[k]
            n_left, k = n_left + 1, after[k]
        if n_left < growth.min_samples_leaf or n - n_left < growth.min_samples_leaf:
            continue
        np.subtract(counts, lefts, rights)
        loss, value = _loss(lefts, rights, growth), np.float64(values[first])
        # values come in no order
        if loss < lowest - TINY or (loss < lowest + TINY and value < best):
            lowest, best = min(loss, lowest), value
    return lowest, best


@njit(**JIT)
def _rows_by_value(values: Array) -> tuple[Array, Array]:
    """Return the first row of each value, or -1, in a hash table, and the next row of the same value, or -1."""
    n_bits = 1
    while (1 << n_bits) < 2 * len(values):
        n_bits += 1
    firsts, after = np.full(1 << n_bits, -1, np.int64), np.empty(len(values), np.int64)
    for k in range(len(values) - 1, -1, -1):
        place = np.int64((np.uint64(values[k]) * GOLDEN) >> np.uint64(64 - n_bits))
        while firsts[place] >= 0 and values[firsts[place]] != values[k]:
            place = (place + 1) & ((1 << n_bits) - 1)
        firsts[place], after[k] = k, firsts[place]
    return firsts, after


@njit(**JIT)
def _loss(lefts: Array, rights: Array, growth: Growth) -> float:
    """Return the value to minimise: the mean impurity of two sides, or their expected PRAGMA."""
    if growth.criterion == PRAGMA:
        return _expected_pragma(lefts, rights, growth)
    entropy, n_left, n_right = growth.criterion == ENTROPY, lefts.sum(), rights.sum()
    return (n_left * _impurity(lefts, n_left, entropy) + n_right * _impurity(rights, n_right, entropy)) / (
        n_left + n_right
    )


@njit(**JIT)
def _impurity(counts: Array, n: float, entropy: bool) -> float:
    total = 0.0
    for count in counts:
        p = count / n
        if entropy:
            total -= p * math.log2(p) if p > 0.0 else 0.0
        else:
            total += p * (1.0 - p)
    return total


@njit(**JIT)
def _expected_pragma(lefts: Array, rights: Array, growth: Growth) -> float:
    """Return the expected PRAGMA of both sides if each predicts classes at random, by their weight there.

    A row counts by the importance of its class over the rows that the class has on both sides.
    """
    share, total, whole = growth.share, 0.0, 0.0
    mass_left, mass_right, n_left, n_right = 0.0, 0.0, 0.0, 0.0
    for c in range(len(lefts)):
        n = lefts[c] + rights[c]
        n_left += lefts[c]
        n_right += rights[c]
        if n > 0:
            mass_left += share[c] * lefts[c] / n
            mass_right += share[c] * rights[c] / n
    for c in range(len(lefts)):
        n = lefts[c] + rights[c]
        if n == 0:
            continue
        p_left, p_right = share[c] * lefts[c] / n / mass_left, share[c] * rights[c] / n / mass_right
        hits = lefts[c] * p_left + rights[c] * p_right
        precision = hits / (n_left * p_left + n_right * p_right)
        if growth.surface == 0:
            total += share[c] * (1.0 + growth.alpha[c] * hits / n + growth.beta[c] * precision)
        else:
            total += share[c] * call_at(growth.surface, hits / n, precision)
        whole += share[c]
    return total / whole
