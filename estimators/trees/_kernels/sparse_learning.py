"""Hoeffding trees on CSR rows: what `hoeffding` does, at the cost of the values that are not zero."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, JIT, LOOP, PART, Direct, njit
from estimators._kernels.extend import extend
from estimators._typing import Array
from estimators.trees._kernels.hoeffding import (
    MAX_SHARE_TO_SPLIT,
    SKIP,
    TreeParams,
    describe_classes,
    hoeffding_bound,
    split,
)
from estimators.trees._kernels.leaf_budget import deactivate, keep_promising
from estimators.trees._kernels.leaf_learning import Row, observer_for
from estimators.trees._kernels.sparse_moments import (
    DEGREE,
    SparseRows,
    SparseTrees,
    clear_observer,
    log_likelihood_of,
    observe_values,
    with_zeros,
)
from estimators.trees._kernels.splitting import best_two_splits, is_futile
from estimators.trees._kernels.tree_arrays import NONE, drop_observers, grow, has_room, new_trees, size_bytes
from estimators.trees._kernels.voting import find_leaf, vote


class SparseChunk(NamedTuple):
    """Rows to predict, or none if these are the rows to learn, and rows to learn: see `hoeffding.TreeChunk`."""

    X_predict: SparseRows
    X: SparseRows
    codes: Array
    weights: Array
    first_column: int


def new_sparse_trees(n_trees: int, n_features: int) -> SparseTrees:
    """Make untrained trees: each is one empty leaf."""
    arrays = new_trees(n_trees, n_features)
    n = len(arrays.observers)
    return SparseTrees(
        arrays,
        series=np.zeros((n, DEGREE + 1)),
        heavy=np.zeros((n, n_features), np.int32),
        n_heavy=np.zeros(n, np.int64),
        n_light=np.zeros(n, np.int64),
        kinds=np.zeros((n, n_features), np.uint8),
        x=np.zeros((1, n_features)),
    )


def sparse_size_bytes(trees: SparseTrees) -> int:
    """Sum the sizes of the arrays."""
    return size_bytes(trees.arrays) + sum(array.nbytes for array in trees[1:])


def learn_sparse(trees: SparseTrees, chunk: SparseChunk, params: TreeParams, votes: Array) -> SparseTrees:
    """Predict each row from the rows before it, then learn it; votes (n_rows, n_columns, n_classes) may be empty."""
    done, n_steps, scores = 0, len(chunk.codes) * len(trees.arrays.trees), np.empty((2, votes.shape[2]))
    while True:
        done = _learn_from(trees, chunk, params, votes, scores, done)
        if done == n_steps:
            return trees
        trees = _grown(trees, votes.shape[2])


def predict_sparse(trees: SparseTrees, rows: SparseRows, votes: Array, first_column: int) -> None:
    """Write the votes of every tree to `votes` of shape (n_rows, n_columns, n_classes), from the first column on."""
    _predict(trees, rows, votes, np.empty((2, votes.shape[2])), first_column)


def _grown(trees: SparseTrees, n_classes: int) -> SparseTrees:
    arrays = grow(trees.arrays, n_classes)
    n_more = len(arrays.observers) - len(trees.kinds)
    series, heavy, n_heavy, n_light, kinds = (extend(part, n_more) for part in trees[1:-1])
    return SparseTrees(arrays, series, heavy, n_heavy, n_light, kinds, trees.x)


@Direct
@njit(**LOOP)
def _predict(trees: SparseTrees, rows: SparseRows, votes: Array, scores: Array, first_column: int) -> None:
    for t in range(len(trees.arrays.trees)):
        for r in range(len(votes)):
            _predict_row(trees, t, rows, r, scores, True)
            _write(votes, r, first_column + t, scores)


@Direct
@njit(**JIT)
def _learn_from(
    trees: SparseTrees, chunk: SparseChunk, params: TreeParams, votes: Array, scores: Array, done: int
) -> int:
    """Go on from step `done`, tree by tree; return the step before which places ran out, or the number of steps."""
    n_rows, n_classes = len(chunk.codes), votes.shape[2]
    for t in range(done // n_rows, len(trees.arrays.trees)):
        for r in range(done - t * n_rows if done > t * n_rows else 0, n_rows):
            if not has_room(trees.arrays, n_classes):
                return t * n_rows + r
            leaf, row = _vote_on_row(trees, t, chunk, r, scores, votes)
            if row.weight > 0.0:
                _update(trees, t, leaf, chunk.X, r, row, params)
    return n_rows * len(trees.arrays.trees)


@njit(**HOT)
def _vote_on_row(
    trees: SparseTrees, t: int, chunk: SparseChunk, r: int, scores: Array, votes: Array
) -> tuple[int, Row]:
    """Write the votes for a row; return the leaf that learns it and the row to learn, of weight 0 if it is skipped."""
    column, leaf, guess = chunk.first_column + t, NONE, NONE
    differs = len(chunk.X_predict.starts) > 1
    # the row to predict, if it differs, then the row to learn
    for own in range(0 if differs else 1, 2):
        rows, voting = chunk.X if own else chunk.X_predict, len(votes) > 0 and own != differs
        leaf, guess = _predict_row(trees, t, rows, r, scores, voting)
        if voting:
            _write(votes, r, column, scores)
    weight = chunk.weights[r] if len(chunk.weights) else 1.0
    code = chunk.codes[r, column]
    return leaf, Row(code, weight if code != SKIP else 0.0, guess)


@njit(**HOT)
def _write(votes: Array, r: int, column: int, scores: Array) -> None:
    for code in range(votes.shape[2]):
        votes[r, column, code] = scores[1, code]


@njit(**PART)
def _predict_row(trees: SparseTrees, t: int, rows: SparseRows, r: int, scores: Array, voting: bool) -> tuple[int, int]:
    """Return the leaf of a row and the class that naive Bayes guesses there; if voting, write votes to scores[1]."""
    arrays, guess = trees.arrays, NONE
    for q in range(rows.starts[r], rows.starts[r + 1]):
        trees.x[0, rows.columns[q]] = rows.values[q]
    i = find_leaf(arrays, t, trees.x, 0)
    if arrays.nodes[i].active and arrays.nodes[i].weight > 0.0:
        guess = _bayes_scores(trees, i, rows, r, scores[0])
    for q in range(rows.starts[r], rows.starts[r + 1]):
        trees.x[0, rows.columns[q]] = 0.0
    if voting:
        vote(arrays, i, scores[0], scores[1])
    return i, guess


@njit(**HOT)
def _bayes_scores(trees: SparseTrees, i: int, rows: SparseRows, r: int, scores: Array) -> int:
    """Write the scores of the classes and return the most probable one, as `voting.bayes_scores` does."""
    arrays, code, most = trees.arrays, NONE, -np.inf
    s, k = arrays.nodes[i].stats, 0
    while s != NONE:
        stat = arrays.stats[s]
        score = stat.log_weight if stat.weight > 0.0 else math.log(arrays.nodes[i].weight)
        if stat.weight > 0.0 and stat.observer != NONE:
            score += log_likelihood_of(trees, stat.observer, rows, r)
        scores[k] = score
        if score > most:
            code, most = stat.code, score
        s, k = stat.next, k + 1
    return code


@njit(**PART)
def _update(trees: SparseTrees, t: int, i: int, rows: SparseRows, r: int, row: Row, params: TreeParams) -> None:
    """Learn a row in its leaf, and try to split the leaf once in a grace period."""
    arrays, node = trees.arrays, trees.arrays.nodes[i]
    o = observer_for(arrays, t, i, row, params.max_bytes)
    if o == NONE:
        return
    if arrays.observers[o].weight == 0.0:
        clear_observer(trees, o)
    observe_values(trees, o, rows, r, row.weight)
    if node.depth >= params.max_depth:
        deactivate(arrays, t, i)
    elif node.weight - node.last_attempt >= params.grace_period:
        node.last_attempt = node.weight
        _attempt_split(trees, t, i, node.weight, params)


@njit(**BUILD)
def _attempt_split(trees: SparseTrees, t: int, i: int, total: float, params: TreeParams) -> None:
    """Split the leaf, or let its observers start again, as `hoeffding` does."""
    arrays = trees.arrays
    n_classes, n_present, most = describe_classes(arrays, i)
    if n_present < 2:
        return
    bound = hoeffding_bound(n_classes, total, params.delta)
    if most / total > MAX_SHARE_TO_SPLIT or _split_if_best(trees, t, i, bound, params.tau):
        drop_observers(arrays, t, i)
        keep_promising(arrays, t, params.max_bytes, params.max_depth)


@njit(**BUILD)
def _split_if_best(trees: SparseTrees, t: int, i: int, bound: float, tau: float) -> bool:
    """Split the leaf if a feature is best; return whether the attempt is decided, with or without a split."""
    node = trees.arrays.nodes[i]
    columns, seen = with_zeros(trees, i)
    own, is_decided = node.observers, False
    node.observers = 0
    if bound < tau or not is_futile(seen, i, bound):
        feature, threshold, best, second = best_two_splits(seen, i)
        is_decided = best - second > bound or bound < tau
        if is_decided and feature != NONE:
            split(seen, t, i, feature, threshold)
            node.feature = columns[feature]
    node.observers = own
    return is_decided
