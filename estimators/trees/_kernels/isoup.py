"""iSOUP tree: one tree for all targets whose leaves predict by mean or by linear model. The decisions are River's."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, LOOP, PART, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.trees._kernels.categories import (
    UNWEIGHED,
    add_child,
    child_of,
    heaviest_of,
    is_nominal,
    numbers_of,
)
from estimators.trees._kernels.ebst import add_value, new_split_scratch
from estimators.trees._kernels.regression_arrays import (
    RegressionTree,
    grow,
    has_room,
    take_leaf,
    total_weight,
    with_weights_of_targets,
)
from estimators.trees._kernels.regression_splitting import attempt_split, stop_observing
from estimators.trees._kernels.target_sums import Sums, learn_targets
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
    """Working memory for splits, for the outputs of the linear models, and for what these see of a row."""

    split: Sums
    models: Array
    numbers: Array


def learn(tree: RegressionTree, chunk: RegressionChunk, params: RegressionTreeParams, proba: Array) -> RegressionTree:
    """Predict each row, unless `proba` (n_rows, n_targets) has no rows, then learn it; return the new tree."""
    done, n_targets = 0, chunk.Y.shape[1]
    while True:
        split = new_split_scratch(tree.weights.shape[1], n_targets)
        scratch = Scratch(split, np.empty(n_targets), np.empty(len(tree.categories.places)))
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
    _predict(tree, X, proba, np.empty(proba.shape[1]), np.empty(len(tree.categories.places)))


@Direct
@njit(**LOOP)
def _predict(tree: RegressionTree, X: Array, proba: Array, models: Array, numbers: Array) -> None:
    for r in range(len(X)):
        leaf, _ = _find_leaf(tree, X[r])
        _predict_row(tree, leaf, numbers_of(tree, X[r], numbers), models, proba, r)


@njit(**HOT)
def _find_leaf(tree: RegressionTree, x: Array) -> tuple[int, int]:
    """Return the leaf of a row, and the first branch without a child for its value, which the heaviest one takes."""
    i, lacking = 0, NONE
    while tree.nodes[i].feature != NONE:
        child = child_of(tree, i, x[tree.nodes[i].feature])
        if child == NONE:
            lacking = i if lacking == NONE else lacking
            child = _heaviest_child(tree, i)
        i = child
    return i, lacking


@njit(**BUILD)
def _heaviest_child(tree: RegressionTree, i: int) -> int:
    weights = np.empty(len(tree.nodes))
    for k in range(len(weights)):
        weights[k] = total_weight(tree, k) if tree.nodes[k].feature == NONE else UNWEIGHED
    return heaviest_of(tree, i, weights)


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
        i, lacking = _find_leaf(tree, x)
        numbers = numbers_of(tree, x, scratch.numbers)
        _predict_row(tree, i, numbers, models, proba, r)
        weight = chunk.weights[r] if len(chunk.weights) else 1.0
        if weight > 0.0:
            if lacking != NONE:
                i = _grow_child(tree, lacking, x[tree.nodes[lacking].feature], models)
            _learn_models(tree, i, numbers, y, weight, models)
            learn_targets(Sums(tree.weights, tree.mean, tree.squares), i, y, weight)
            _observe(tree, i, x, y, weight, params)
            # as in River, not with the row that made the leaf
            if lacking == NONE:
                _split_if_due(tree, i, params, scratch.split)
    return len(chunk.X)


@njit(**PART)
def _grow_child(tree: RegressionTree, i: int, value: float, models: Array) -> int:
    """Give a branch an empty leaf for a value; the outputs of its models are 0."""
    child = take_leaf(tree, NONE)
    add_child(tree, i, child, int(value))
    for j in range(len(models)):
        models[j] = 0.0
    return child


@njit(**HOT)
def _split_if_due(tree: RegressionTree, i: int, params: RegressionTreeParams, scratch: Sums) -> None:
    """Try to split a leaf once in a grace period."""
    node = tree.nodes[i]
    total = total_weight(tree, i)
    if node.active and total - node.last_attempt >= params.grace_period:
        # set before the attempt: after a split the node is a branch, which makes no attempts
        node.last_attempt = total
        attempt_split(tree, i, params.delta, params.tau, scratch)


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
        stop_observing(tree, i)
        node.active = 0
        return
    for f in range(len(x)):
        root, key = tree.roots[node.leaf, f], in_tenths(x[f])
        tree.roots[node.leaf, f] = add_value(tree.search, root, key, y, weight, is_nominal(tree, f))


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
