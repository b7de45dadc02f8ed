"""iSOUP tree: one tree for all targets whose leaves predict by mean or by linear model. The decisions are River's."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, LOOP, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.trees._kernels.ebst import (
    BEFORE,
    BEST_LEFT,
    BEST_RIGHT,
    add_value,
    best_value,
    free_search_tree,
    new_split_scratch,
    prune,
)
from estimators.trees._kernels.regression_arrays import (
    RegressionTree,
    grow,
    has_room,
    total_weight,
    with_weights_of_targets,
)
from estimators.trees._kernels.target_sums import Sums, copy_sums, learn_targets
from estimators.trees._kernels.tree_arrays import NONE

DECAY = 0.95
LEARNING_RATE = 0.01
MAX_SLOPE = 1e12
# from here on, doubles are further apart than tenths, so that a double is the nearest to what it rounds to
COARSE = 2.0**49


class RegressionTreeParams(NamedTuple):
    """Parameters of an iSOUP tree as the compiled loops read them."""

    grace_period: float
    delta: float
    tau: float
    max_bytes: float


class RegressionChunk(NamedTuple):
    """Rows to predict and to learn: features, targets and weights (if empty, all are 1).

    A target may be `UNKNOWN`; a row has one that is not.
    """

    X: Array
    Y: Array
    weights: Array


class Scratch(NamedTuple):
    """Working memory for splits, and for the outputs of the linear models."""

    split: Sums
    models: Array


def learn(tree: RegressionTree, chunk: RegressionChunk, params: RegressionTreeParams, proba: Array) -> RegressionTree:
    """Predict each row, unless `proba` (n_rows, n_targets) has no rows, then learn it; return the new tree."""
    done, n_targets = 0, chunk.Y.shape[1]
    while True:
        scratch = Scratch(new_split_scratch(tree.weights.shape[1], n_targets), np.empty(n_targets))
        done = _learn_from(tree, chunk, params, proba, scratch, done)
        if done == len(chunk.X):
            return tree
        tree = grow(tree)
        if tree.weights.shape[1] == 1 and (chunk.Y[done] == UNKNOWN).any():
            tree = with_weights_of_targets(tree)


@njit(**HOT)
def _counts_cells(tree: RegressionTree, y: Array) -> bool:
    """Return whether the weights of a tree can tell which cells of a row are known."""
    if tree.weights.shape[1] == 1:
        for j in range(len(y)):
            if y[j] == UNKNOWN:
                return False
    return True


# ----------------------------------------------------------------- predicting
def predict(tree: RegressionTree, X: Array, proba: Array) -> None:
    """Write the probabilities (n_rows, n_targets) of each row."""
    _predict(tree, X, proba, np.empty(proba.shape[1]))


@Direct
@njit(**LOOP)
def _predict(tree: RegressionTree, X: Array, proba: Array, models: Array) -> None:
    for r in range(len(X)):
        _predict_row(tree, _find_leaf(tree, X[r]), X[r], models, proba, r)


@njit(**HOT)
def _find_leaf(tree: RegressionTree, x: Array) -> int:
    i = 0
    while tree.nodes[i].feature != NONE:
        node = tree.nodes[i]
        i = node.left if x[node.feature] <= node.threshold else node.right
    return i


@njit(**HOT)
def _predict_row(tree: RegressionTree, i: int, x: Array, models: Array, proba: Array, r: int) -> None:
    """Write the outputs of the linear models, and probabilities: these, or the means if they have erred less."""
    leaf = tree.nodes[i].leaf
    for j in range(len(models)):
        models[j] = _model_output(tree, leaf, j, x)
        by_mean = tree.errors[leaf, j, 0] < tree.errors[leaf, j, 1]
        if len(proba):
            proba[r, j] = _clipped(tree.mean[i, j] if by_mean else models[j])


@njit(**HOT)
def _clipped(output: float) -> float:
    """Return an output as a probability; models that diverged give NaN, which is 0."""
    if output > 0.0:
        return min(output, 1.0)
    return 0.0


@njit(**HOT)
def _model_output(tree: RegressionTree, leaf: int, j: int, x: Array) -> float:
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    coefs, whole = tree.coefs, len(x) // 4 * 4
    for f in range(0, whole, 4):
        a += coefs[leaf, j, f] * x[f]
        b += coefs[leaf, j, f + 1] * x[f + 1]
        c += coefs[leaf, j, f + 2] * x[f + 2]
        d += coefs[leaf, j, f + 3] * x[f + 3]
    for f in range(whole, len(x)):
        a += coefs[leaf, j, f] * x[f]
    return (a + b) + (c + d) + coefs[leaf, j, len(x)]


# ------------------------------------------------------------------- learning
@Direct
@njit(**LOOP)
def _learn_from(
    tree: RegressionTree,
    chunk: RegressionChunk,
    params: RegressionTreeParams,
    proba: Array,
    scratch: Scratch,
    done: int,
) -> int:
    """Go on from row `done`; return the row before which free places ran out, or the number of rows."""
    models = scratch.models
    for r in range(done, len(chunk.X)):
        if not has_room(tree) or not _counts_cells(tree, chunk.Y[r]):
            return r
        x, y = chunk.X[r], chunk.Y[r]
        i = _find_leaf(tree, x)
        _predict_row(tree, i, x, models, proba, r)
        weight = chunk.weights[r] if len(chunk.weights) else 1.0
        if weight > 0.0:
            _learn_models(tree, i, x, y, weight, models)
            _update(tree, i, x, y, weight, params, scratch.split)
    return len(chunk.X)


@njit(**HOT)
def _update(
    tree: RegressionTree,
    i: int,
    x: Array,
    y: Array,
    weight: float,
    params: RegressionTreeParams,
    scratch: Sums,
) -> None:
    node = tree.nodes[i]
    learn_targets(Sums(tree.weights, tree.mean, tree.squares), i, y, weight)
    _observe(tree, i, x, y, weight, params)
    total = total_weight(tree, i)
    if node.active and total - node.last_attempt >= params.grace_period:
        # set before the attempt: after a split the node is a branch, which makes no attempts
        node.last_attempt = total
        _attempt_split(tree, i, params, scratch)


@njit(**HOT)
def _learn_models(tree: RegressionTree, i: int, x: Array, y: Array, weight: float, models: Array) -> None:
    """Update the faded errors of means and models, then take one step of gradient descent, where targets are known."""
    leaf = tree.nodes[i].leaf
    for j in range(len(y)):
        if y[j] == UNKNOWN:
            continue
        of_mean, of_model = y[j] - tree.mean[i, j], models[j] - y[j]
        tree.errors[leaf, j, 0] = DECAY * tree.errors[leaf, j, 0] + of_mean * of_mean
        tree.errors[leaf, j, 1] = DECAY * tree.errors[leaf, j, 1] + of_model * of_model
        slope = min(max(2.0 * of_model * weight, -MAX_SLOPE), MAX_SLOPE)
        for f in range(len(x)):
            tree.coefs[leaf, j, f] -= LEARNING_RATE * (slope * x[f])
        tree.coefs[leaf, j, len(x)] -= LEARNING_RATE * slope


@njit(**HOT)
def _observe(tree: RegressionTree, i: int, x: Array, y: Array, weight: float, params: RegressionTreeParams) -> None:
    """Add a row to the search trees of a leaf, or stop observing if they would exceed the memory."""
    node = tree.nodes[i]
    if not node.active:
        return
    n_values = len(tree.search.places) - tree.search.free[1] + len(x)
    if n_values * (32.0 + 16.0 * len(y) + 8.0 * tree.weights.shape[1]) > params.max_bytes:
        _stop_observing(tree, i)
        node.active = 0
        return
    for f in range(len(x)):
        tree.roots[node.leaf, f] = add_value(tree.search, tree.roots[node.leaf, f], in_tenths(x[f]), y, weight)


@njit(**HOT)
def in_tenths(x: float) -> float:
    """Round to one digit as Python does: by the exact value, ties to the even digit."""
    if abs(x) >= COARSE:
        return x
    # ten times the value: these two are exact, and what their sum loses is known
    eightfold, double = 8.0 * x, 2.0 * x
    tenths = eightfold + double
    whole = np.rint(tenths)
    if abs(tenths - whole) == 0.5:
        lost = double - (tenths - eightfold)
        if lost > 0.0:
            whole = tenths + 0.5
        elif lost < 0.0:
            whole = tenths - 0.5
    return whole / 10.0


@njit(**BUILD)
def _stop_observing(tree: RegressionTree, i: int) -> None:
    leaf = tree.nodes[i].leaf
    for f in range(tree.roots.shape[1]):
        free_search_tree(tree.search, tree.roots[leaf, f])
        tree.roots[leaf, f] = NONE


@njit(**BUILD)
def _attempt_split(tree: RegressionTree, i: int, params: RegressionTreeParams, scratch: Sums) -> None:
    """Split the leaf if the second best feature reduces the variance clearly less, or if the bound is under `tau`."""
    node = tree.nodes[i]
    copy_sums(scratch, BEFORE, Sums(tree.weights, tree.mean, tree.squares), i)
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    for f in range(tree.roots.shape[1]):
        merit, key = best_value(tree.search, tree.roots[node.leaf, f], scratch, best)
        if merit >= best:
            feature, threshold, best, second = f, key, merit, best
        elif merit > second:
            second = merit
    bound = math.sqrt(math.log(1.0 / params.delta) / (2.0 * node.last_attempt))
    if best > 0.0 and (second / best < 1.0 - bound or bound < params.tau):
        _split(tree, i, feature, threshold, scratch)
    elif best > 0.0 and second > 0.0:
        minimum = second / best - 2.0 * bound
        for f in range(tree.roots.shape[1]):
            tree.roots[node.leaf, f] = prune(tree.search, tree.roots[node.leaf, f], scratch, best, minimum)


@njit(**BUILD)
def _split(tree: RegressionTree, i: int, feature: int, threshold: float, scratch: Sums) -> None:
    """Turn a leaf into a branch whose children start with its models and errors, and the sums of their own sides."""
    node = tree.nodes[i]
    _stop_observing(tree, i)
    node.feature, node.threshold = feature, threshold
    node.left, node.right = tree.counts[0], tree.counts[0] + 1
    old, new = node.leaf, tree.counts[1]
    # element by element: Numba takes seconds to compile checks of shapes
    for j in range(tree.coefs.shape[1]):
        for f in range(tree.coefs.shape[2]):
            tree.coefs[new, j, f] = tree.coefs[old, j, f]
        for k in range(tree.errors.shape[2]):
            tree.errors[new, j, k] = tree.errors[old, j, k]
    left, right = node.left, node.right
    node.leaf = NONE
    for side in range(2):
        _start_leaf(tree, right if side else left, new if side else old, i, scratch, BEST_RIGHT if side else BEST_LEFT)
    tree.counts[0] += 2
    tree.counts[1] += 1


@njit(**BUILD)
def _start_leaf(tree: RegressionTree, i: int, leaf: int, parent: int, sums: Sums, side: int) -> None:
    """Make a leaf; a target without a known cell keeps the mean of the parent until it has one."""
    copy_sums(Sums(tree.weights, tree.mean, tree.squares), i, sums, side)
    for k in range(sums.weights.shape[1]):
        if sums.weights[side, k] == 0.0:
            tree.mean[i, k] = tree.mean[parent, k]
    node = tree.nodes[i]
    node.feature, node.left, node.right, node.leaf, node.active = NONE, NONE, NONE, leaf, 1
    node.last_attempt = total_weight(tree, i)
