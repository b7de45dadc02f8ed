"""Splits of the leaves of a regression tree, at a threshold or by the values of a nominal feature, as River does."""

import math

import numpy as np

from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import MULTIWAY, NONE, add_child, is_multiway, is_nominal
from estimators.trees._kernels.ebst import (
    ASIDE,
    BEFORE,
    BEST_LEFT,
    BEST_RIGHT,
    LEFT_SIDE,
    RIGHT_SIDE,
    best_value,
    find_value,
    free_search_tree,
    merit_at,
    prune,
    sums_of,
)
from estimators.trees._kernels.regression_arrays import RegressionTree, take_leaf, total_weight
from estimators.trees._kernels.target_sums import Sums, copy_sums, reduction_by_all


@njit(**BUILD)
def stop_observing(tree: RegressionTree, i: int) -> None:
    """Free the search trees of a leaf."""
    leaf = tree.nodes[i].leaf
    for f in range(tree.roots.shape[1]):
        free_search_tree(tree.search, tree.roots[leaf, f])
        tree.roots[leaf, f] = NONE


@njit(**BUILD)
def attempt_split(tree: RegressionTree, i: int, delta: float, tau: float, scratch: Sums) -> None:
    """Split the leaf if the second best feature reduces the variance clearly less, or if the bound is under `tau`."""
    node = tree.nodes[i]
    copy_sums(scratch, BEFORE, Sums(tree.weights, tree.mean, tree.squares), i)
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    for f in range(tree.roots.shape[1]):
        merit, key = _best_test(tree, node.leaf, f, scratch, best)
        if merit >= best:
            feature, threshold, best, second = f, key, merit, best
        elif merit > second:
            second = merit
    bound = math.sqrt(math.log(1.0 / delta) / (2.0 * node.last_attempt))
    if best > 0.0 and (second / best < 1.0 - bound or bound < tau):
        _split(tree, i, feature, threshold, scratch)
    elif best > 0.0 and second > 0.0:
        minimum = second / best - 2.0 * bound
        _prune_numbers(tree, node.leaf, scratch, best, minimum)


@njit(**PART)
def _prune_numbers(tree: RegressionTree, leaf: int, scratch: Sums, best: float, minimum: float) -> None:
    """Forget values of numbers that will not be the best; see `prune`."""
    for f in range(tree.roots.shape[1]):
        if not is_nominal(tree, f):
            tree.roots[leaf, f] = prune(tree.search, tree.roots[leaf, f], scratch, best, minimum)


@njit(**HOT)
def _best_test(tree: RegressionTree, leaf: int, f: int, scratch: Sums, minimum: float) -> tuple[float, float]:
    """Return the merit and the threshold of the best split by a feature; see `best_value`."""
    if is_nominal(tree, f):
        return _best_of_bins(tree, leaf, f, scratch, minimum)
    return best_value(tree.search, tree.roots[leaf, f], scratch, minimum)


@njit(**BUILD)
def _best_of_bins(tree: RegressionTree, leaf: int, f: int, scratch: Sums, minimum: float) -> tuple[float, float]:
    """Compare a child for each value, of which there must be three, with one value against the rest."""
    places, values = _places_by_code(tree, leaf, f), sums_of(tree.search)
    best, test = -np.inf, MULTIWAY
    if len(places) > 2:
        best = reduction_by_all(scratch, BEFORE, values, places)
    scratch.weights[ASIDE, 0] = -1.0
    for place in places:
        merit = merit_at(values, place, scratch)
        if merit > best:
            best, test = merit, tree.search.places[place].key
            if merit >= minimum:
                copy_sums(scratch, BEST_LEFT, scratch, LEFT_SIDE)
                copy_sums(scratch, BEST_RIGHT, scratch, RIGHT_SIDE)
    return best, test


@njit(**BUILD)
def _places_by_code(tree: RegressionTree, leaf: int, f: int) -> Array:
    """List the places of the bins that a leaf has observed, in the order of their codes."""
    values = tree.categories.values[tree.categories.places[f]]
    places, n = np.empty(len(values), np.int64), 0
    for value in values:
        place = find_value(tree.search, tree.roots[leaf, f], value.bin)
        if place != NONE:
            places[n] = place
            n += 1
    return places[:n]


@njit(**BUILD)
def _split(tree: RegressionTree, i: int, feature: int, threshold: float, scratch: Sums) -> None:
    """Turn a leaf into a branch whose children start with its models and errors, and the sums of their own sides."""
    node, leaf, first = tree.nodes[i], tree.nodes[i].leaf, tree.counts[0]
    node.feature, node.threshold, node.leaf = feature, threshold, NONE
    sums, sides = scratch, np.array([BEST_LEFT, BEST_RIGHT])
    if is_multiway(tree, i):
        sums, sides = sums_of(tree.search), _places_by_code(tree, leaf, feature)
    for k in range(len(sides)):
        child = take_leaf(tree, leaf if k == 0 else NONE)
        _start(tree, child, i, sums, sides[k])
        if k > 0:
            _copy_models(tree, tree.nodes[child].leaf, leaf)
        if is_multiway(tree, i):
            add_child(tree, i, child, int(tree.search.places[sides[k]].key))
    if not is_multiway(tree, i):
        node.left, node.right = first, first + 1
    # the first child has taken over the search trees
    stop_observing(tree, first)


@njit(**PART)
def _start(tree: RegressionTree, i: int, parent: int, sums: Sums, side: int) -> None:
    """Give a leaf the sums of a side; a target without a known cell keeps the mean of the parent until it has one."""
    copy_sums(Sums(tree.weights, tree.mean, tree.squares), i, sums, side)
    for k in range(sums.weights.shape[1]):
        if sums.weights[side, k] == 0.0:
            tree.mean[i, k] = tree.mean[parent, k]
    tree.nodes[i].last_attempt = total_weight(tree, i)


@njit(**PART)
def _copy_models(tree: RegressionTree, new: int, old: int) -> None:
    # element by element: Numba takes seconds to compile checks of shapes
    for j in range(tree.coefs.shape[1]):
        for f in range(tree.coefs.shape[2]):
            tree.coefs[new, j, f] = tree.coefs[old, j, f]
        for k in range(tree.errors.shape[2]):
            tree.errors[new, j, k] = tree.errors[old, j, k]
