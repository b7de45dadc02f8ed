"""Hoeffding trees: predict, learn, split. The decisions are River's; several trees learn a chunk one after another."""

import math
from typing import NamedTuple

from estimators._kernels.compile import BUILD, HOT, LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import (
    MULTIWAY,
    add_child,
    child_of,
    has_categories,
    is_nominal,
    next_child,
)
from estimators.trees._kernels.gaussian import weight_below
from estimators.trees._kernels.leaf_budget import deactivate, keep_promising
from estimators.trees._kernels.leaf_learning import Row, learn_in_leaf, set_weight
from estimators.trees._kernels.splitting import best_two_splits, is_futile, observers_by_class
from estimators.trees._kernels.tree_arrays import (
    HIGHEST,
    LOWEST,
    NONE,
    TreeArrays,
    add_stat,
    drop_observers,
    feature_of,
    grow,
    has_room,
    take_leaf,
)
from estimators.trees._kernels.voting import (
    Scratch,
    bayes_scores,
    find_leaf,
    gather,
    new_buffer,
    split_buffer,
    vote,
)

MAX_SHARE_TO_SPLIT = 0.99
SKIP = -1


class TreeParams(NamedTuple):
    """Parameters of Hoeffding trees as the compiled loops read them."""

    grace_period: float
    delta: float
    tau: float
    max_depth: int
    max_bytes: float


class TreeChunk(NamedTuple):
    """Rows to predict and rows to learn."""

    X_predict: Array  # (n_rows, n_features); if empty, the rows to learn are predicted
    X: Array  # (n_rows, n_features)
    codes: Array  # int64, (n_rows, n_columns): classes for each tree; with `SKIP`, the tree does not learn the row
    weights: Array  # (n_rows,); if empty, all are 1
    first_column: int  # of `codes` and votes, of the first tree; several `TreeArrays` may share both tables


def learn(arrays: TreeArrays, chunk: TreeChunk, params: TreeParams, votes: Array) -> TreeArrays:
    """Predict each row from the rows before it, then learn it; return the trees to be used from now on.

    Trees are changed in place, and extended when free places run out. `votes`, (n_rows, n_columns, n_classes), receives
    the votes, unless it has no rows.
    """
    done, n_steps, buffer = 0, len(chunk.codes) * len(arrays.trees), new_buffer(arrays, votes.shape[2])
    while True:
        done = _learn_from(arrays, chunk, params, votes, buffer, done)
        if done == n_steps:
            return arrays
        arrays = grow(arrays, votes.shape[2])


def predict(arrays: TreeArrays, X: Array, votes: Array, first_column: int) -> None:
    """Write the votes of every tree to `votes` of shape (n_rows, n_columns, n_classes), from the first column on."""
    _predict(arrays, X, votes, new_buffer(arrays, votes.shape[2]), first_column)


@Direct
@njit(**LOOP)
def _predict(arrays: TreeArrays, X: Array, votes: Array, buffer: Array, first_column: int) -> None:
    scratch = split_buffer(arrays, buffer, votes.shape[2])
    for t in range(len(arrays.trees)):
        for r in range(len(X)):
            predict_row(arrays, t, X, r, scratch, True)
            _write(votes, r, first_column + t, scratch)


@Direct
@njit(**LOOP)
def _learn_from(
    arrays: TreeArrays, chunk: TreeChunk, params: TreeParams, votes: Array, buffer: Array, done: int
) -> int:
    """Go on from step `done`, tree by tree; return the step before which places ran out, or the number of steps."""
    n_rows, n_classes = len(chunk.codes), votes.shape[2]
    scratch = split_buffer(arrays, buffer, n_classes)
    for t in range(done // n_rows, len(arrays.trees)):
        for r in range(done - t * n_rows if done > t * n_rows else 0, n_rows):
            if not has_room(arrays, n_classes):
                return t * n_rows + r
            leaf, row = vote_on_row(arrays, t, chunk, r, scratch, votes)
            if row.weight > 0.0:
                leaf, row = leaf_to_learn(arrays, t, chunk.X, r, leaf, row)
                update(arrays, t, leaf, scratch, row, params)
    return n_rows * len(arrays.trees)


@njit(**HOT)
def vote_on_row(
    arrays: TreeArrays, t: int, chunk: TreeChunk, r: int, scratch: Scratch, votes: Array
) -> tuple[int, Row]:
    """Write the votes for a row; return the leaf that learns it and the row to learn, of weight 0 if it is skipped."""
    column, leaf, guess = chunk.first_column + t, NONE, NONE
    differs = len(chunk.X_predict) > 0 and not is_same_row(chunk, r)
    # the row to predict, if it differs, then the row to learn
    for own in range(0 if differs else 1, 2):
        X, voting = chunk.X if own else chunk.X_predict, len(votes) > 0 and own != differs
        leaf, guess = predict_row(arrays, t, X, r, scratch, voting)
        if voting:
            _write(votes, r, column, scratch)
    weight = chunk.weights[r] if len(chunk.weights) else 1.0
    code = chunk.codes[r, column]
    return leaf, Row(code, weight if code != SKIP else 0.0, guess)


@njit(**HOT)
def is_same_row(chunk: TreeChunk, r: int) -> bool:
    """Return whether the row to predict equals the row to learn, as in a chain whose labels so far were right."""
    f, n = 0, chunk.X.shape[1]
    while f < n and chunk.X_predict[r, f] == chunk.X[r, f]:
        f += 1
    return f == n


@njit(**HOT)
def _write(votes: Array, r: int, t: int, scratch: Scratch) -> None:
    for code in range(votes.shape[2]):
        votes[r, t, code] = scratch.votes[code]


@njit(**HOT)
def predict_row(arrays: TreeArrays, t: int, X: Array, r: int, scratch: Scratch, voting: bool) -> tuple[int, int]:
    """Return the leaf of a row and the class that naive Bayes guesses there; if voting, write the votes of the leaf."""
    i = find_leaf(arrays, t, X, r)
    gather(arrays, i, X, r, scratch)
    guess = NONE
    if arrays.nodes[i].active and arrays.nodes[i].weight > 0.0:
        guess = bayes_scores(arrays, i, scratch)
    if voting:
        vote(arrays, i, scratch.scores, scratch.votes)
    return i, guess


@njit(**HOT)
def leaf_to_learn(arrays: TreeArrays, t: int, X: Array, r: int, leaf: int, row: Row) -> tuple[int, Row]:
    """Return the leaf that learns a row: a new one, without a guess, if a value that a branch meets has no child."""
    if has_categories(arrays):
        i = int(arrays.trees[t].root)
        while arrays.nodes[i].feature != NONE:
            value = X[r, arrays.nodes[i].feature]
            child = child_of(arrays, i, value)
            if child == NONE:
                return grow_child(arrays, t, i, value), Row(row.code, row.weight, NONE)
            i = child
    return leaf, row


@njit(**PART)
def grow_child(arrays: TreeArrays, t: int, i: int, value: float) -> int:
    """Give a branch an empty leaf for a value."""
    child = take_leaf(arrays, t, arrays.nodes[i].depth + 1)
    add_child(arrays, i, child, int(value))
    return child


@njit(**HOT)
def update(arrays: TreeArrays, t: int, i: int, scratch: Scratch, row: Row, params: TreeParams) -> None:
    """Learn a row in its leaf, and try to split the leaf once in a grace period."""
    node = arrays.nodes[i]
    if not learn_in_leaf(arrays, t, i, scratch, row, params.max_bytes):
        return
    if node.depth >= params.max_depth:
        deactivate(arrays, t, i)
        return
    if node.weight - node.last_attempt >= params.grace_period:
        # set before the attempt: after a split the node is a branch, which makes no attempts
        node.last_attempt = node.weight
        _attempt_split(arrays, t, i, node.weight, params)


@njit(**BUILD)
def _attempt_split(arrays: TreeArrays, t: int, i: int, total: float, params: TreeParams) -> None:
    """Split the leaf if the best feature beats the next by more than Hoeffding's bound, or if the bound is under `tau`.

    If no split gains anything, River deactivates the leaf and activates it at once: its observers start again.
    """
    n_classes, n_present, most = describe_classes(arrays, i)
    if n_present < 2:
        return
    if most / total > MAX_SHARE_TO_SPLIT:
        drop_observers(arrays, t, i)
        keep_promising(arrays, t, params.max_bytes, params.max_depth)
        return
    bound = hoeffding_bound(n_classes, total, params.delta)
    if bound >= params.tau and is_futile(arrays, i, bound):
        return
    feature, threshold, best, second = best_two_splits(arrays, i)
    if best - second > bound or bound < params.tau:
        if feature != NONE:
            split(arrays, t, i, feature, threshold)
        drop_observers(arrays, t, i)
        keep_promising(arrays, t, params.max_bytes, params.max_depth)


@njit(**PART)
def describe_classes(arrays: TreeArrays, i: int) -> tuple[int, int, float]:
    """Return the number of classes of a node, of those whose weight is not zero, and the largest weight."""
    n_classes, n_present, most = 0, 0, 0.0
    s = arrays.nodes[i].stats
    while s != NONE:
        weight = arrays.stats[s].weight
        n_classes, n_present, most = n_classes + 1, n_present + (weight != 0.0), max(most, weight)
        s = arrays.stats[s].next
    return n_classes, n_present, most


@njit(**PART)
def hoeffding_bound(n_classes: int, total: float, delta: float) -> float:
    """Bound the error of the difference of two information gains that are known from rows of a total weight."""
    merit_range = math.log2(max(1.0 * n_classes, 2.0))
    return math.sqrt(merit_range * merit_range * math.log(1.0 / delta) / (2.0 * total))


@njit(**BUILD)
def split(arrays: TreeArrays, t: int, i: int, f: int, threshold: float) -> None:
    """Turn a leaf into a branch whose children start with the class weights estimated for their sides.

    The branch keeps its observers.
    """
    node = arrays.nodes[i]
    feature = feature_of(arrays, i, f)
    if not is_nominal(arrays, feature):
        _split_at(arrays, t, i, f, threshold)
    elif threshold == MULTIWAY:
        _split_by_value(arrays, t, i, arrays.categories.places[feature])
    else:
        _split_off(arrays, t, i, arrays.categories.places[feature], int(threshold))
    node.feature, node.threshold = feature, threshold
    child = node.left
    while child != NONE:
        arrays.nodes[child].last_attempt = arrays.nodes[child].weight
        child = next_child(arrays, i, child)


@njit(**BUILD)
def _split_by_value(arrays: TreeArrays, t: int, i: int, place: int) -> None:
    """Give a leaf a child for each value that it has observed."""
    observers, values = observers_by_class(arrays, arrays.nodes[i].observers), arrays.categories.values
    for k in range(values.shape[1]):
        value, child = values[place, k].bin, NONE
        if value == NONE:
            break
        for o in observers:
            weight = arrays.categories.counts[o, place, value]
            if weight > 0.0:
                child = grow_child(arrays, t, i, value) if child == NONE else child
                set_weight(arrays, child, add_stat(arrays, t, child, arrays.observers[o].code), weight)


@njit(**PART)
def _split_off(arrays: TreeArrays, t: int, i: int, place: int, value: int) -> None:
    """Give a leaf a child for one value, on the left, and one for the rest."""
    node = arrays.nodes[i]
    node.left, node.right = take_leaf(arrays, t, node.depth + 1), take_leaf(arrays, t, node.depth + 1)
    o = node.observers
    while o != NONE:
        observer, weight = arrays.observers[o], arrays.categories.counts[o, place, value]
        if weight > 0.0:
            set_weight(arrays, node.left, add_stat(arrays, t, node.left, observer.code), weight)
        if weight < observer.weight:
            set_weight(arrays, node.right, add_stat(arrays, t, node.right, observer.code), observer.weight - weight)
        o = observer.next


@njit(**PART)
def _split_at(arrays: TreeArrays, t: int, i: int, f: int, threshold: float) -> None:
    """Give a leaf a child for the values of a feature up to a threshold, and one for those above."""
    node = arrays.nodes[i]
    left, right = take_leaf(arrays, t, node.depth + 1), take_leaf(arrays, t, node.depth + 1)
    o = node.observers
    while o != NONE:
        observer = arrays.observers[o]
        below = weight_below(arrays, o, f, threshold)
        if threshold >= arrays.moments[o, LOWEST, f]:
            set_weight(arrays, left, add_stat(arrays, t, left, observer.code), below)
        if threshold < arrays.moments[o, HIGHEST, f]:
            set_weight(arrays, right, add_stat(arrays, t, right, observer.code), observer.weight - below)
        o = observer.next
    node.left, node.right = left, right
