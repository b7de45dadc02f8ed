"""Adaptive random forests: members bag rows, monitor their errors, and replace their trees when these change."""

from typing import Any, NamedTuple

import numpy as np

from estimators._kernels.adwin import Windows, detect_change, new_windows, reset
from estimators._kernels.compile import BUILD, HOT, LOOP, Direct, njit
from estimators._kernels.randomness import advance, uniform
from estimators._typing import Array
from estimators.trees._kernels.categories import ALL_NUMBERS
from estimators.trees._kernels.hoeffding import (
    SKIP,
    TreeParams,
    leaf_to_learn,
    predict_row,
    update,
)
from estimators.trees._kernels.leaf_learning import Row
from estimators.trees._kernels.tree_arrays import (
    NONE,
    TreeArrays,
    free_tree,
    grow,
    has_room,
    new_root,
    new_trees,
    size_bytes,
)
from estimators.trees._kernels.voting import Scratch, gather, new_buffer, split_buffer

# a row may split both trees of a member and add a third
RESERVED_ROWS = 3

# member j has trees 2j and 2j + 1 of the arrays: 2j + `side` is in the foreground (it votes), the other one in the
# background, if it has a root; and windows 2j and 2j + 1, for warnings and for drifts
MEMBER = np.dtype(
    [
        ("target", "i4"),
        ("side", "i4"),
        ("n_right", "f8"),
        ("n_tried", "f8"),
        ("n_warnings", "i8"),
        ("n_drifts", "i8"),
        ("random", "u8"),
    ],
    align=True,
)


class Forest(NamedTuple):
    """Members, each of which learns one target: one column of the codes."""

    arrays: TreeArrays
    windows: Windows
    members: Array


class ForestParams(NamedTuple):
    """Parameters of the members."""

    tree: TreeParams
    bagging: Array  # cumulative probabilities of learning a row 0, 1, 2, ... times; empty: always once
    warning: float  # confidence of the windows; 0 turns them off
    drift: float  # the same


class Output(NamedTuple):
    """Array that receives the votes, and working memory."""

    votes: Array
    buffer: Array


class ForestChunk(NamedTuple):
    """Rows to predict and to learn: features, a code or `SKIP` for each target, and weights (if empty, all are 1)."""

    X: Array
    codes: Array
    weights: Array


def new_forest(
    targets: Array, n_features: int, width: int | None, seeds: Array, nominal: Array = ALL_NUMBERS
) -> Forest:
    """Make untrained members.

    Each has a target in `targets`, and in `seeds`, uint64 of shape (n_members, 3), random states of its own and of its
    two trees. A leaf draws `width` features; under None it observes all.
    """
    members = np.zeros(len(targets), MEMBER)
    members["target"], members["random"] = targets, seeds[:, 0]
    arrays = new_trees(
        2 * len(targets), n_features, width=width, seeds=np.ascontiguousarray(seeds[:, 1:]).ravel(), nominal=nominal
    )
    _free_backgrounds(arrays)
    return Forest(arrays, new_windows(2 * len(targets)), members)


def _free_backgrounds(arrays: TreeArrays) -> None:
    """Free the roots of the background trees, which are at the places of the trees."""
    roots, free = np.arange(1, len(arrays.trees), 2), arrays.free
    arrays.nodes["left"][roots] = [*free["node"], *roots[:-1]]
    free["node"] = roots[-1]
    free["n_nodes"] += len(roots)
    arrays.trees["root"][roots] = NONE
    arrays.trees["n_nodes"][roots] = 0


def learn(forest: Forest, chunk: ForestChunk, params: ForestParams, votes: Array) -> Forest:
    """Predict each row from the rows before it, then learn it; return the members to be used from now on.

    Members are changed in place, and extended when free places run out. `votes`, (n_rows, n_members, n_classes),
    receives the votes of each member, weighted by its accuracy.
    """
    done, n_steps, buffer = 0, len(chunk.X) * len(forest.members), new_buffer(forest.arrays, votes.shape[2])
    while True:
        done = _learn_from(forest, chunk, params, Output(votes, buffer), done)
        if done == n_steps:
            return forest
        forest = forest._replace(arrays=grow(forest.arrays, votes.shape[2], RESERVED_ROWS))


def predict(forest: Forest, X: Array, votes: Array) -> None:
    """Write the votes of each member for each row to `votes` of shape (n_rows, n_members, n_classes)."""
    _predict(forest, X, votes, new_buffer(forest.arrays, votes.shape[2]))


@Direct
@njit(**LOOP)
def _predict(forest: Forest, X: Array, votes: Array, buffer: Array) -> None:
    scratch = split_buffer(forest.arrays, buffer, votes.shape[2])
    for j in range(len(forest.members)):
        t = _foreground(forest, j)
        for r in range(len(X)):
            predict_row(forest.arrays, t, X, r, scratch, True)
            _write(votes, r, j, scratch, _accuracy_weight(forest.members[j]))


def forest_bytes(forest: Forest) -> int:
    """Sum the sizes of the arrays."""
    return size_bytes(forest.arrays) + sum(array.nbytes for array in forest.windows) + int(forest.members.nbytes)


@Direct
@njit(**LOOP)
def _learn_from(forest: Forest, chunk: ForestChunk, params: ForestParams, output: Output, done: int) -> int:
    """Go on from step `done`, member by member; return the step before which places ran out, or the number of steps."""
    arrays, members, votes = forest.arrays, forest.members, output.votes
    X, codes, weights = chunk.X, chunk.codes, chunk.weights
    n_rows, n_classes = len(X), votes.shape[2]
    scratch = split_buffer(arrays, output.buffer, n_classes)
    for j in range(done // n_rows, len(members)):
        for r in range(done - j * n_rows if done > j * n_rows else 0, n_rows):
            if not has_room(arrays, n_classes, RESERVED_ROWS):
                return j * n_rows + r
            code = codes[r, members[j].target]
            weight = weights[r] if len(weights) else 1.0
            learning = code != SKIP and weight > 0.0
            times = _draw_times(members[j], params.bagging) if learning else 0
            right = _test_then_train(forest, j, X, r, Row(code, weight * times, NONE), params.tree, scratch)
            _write(votes, r, j, scratch, _accuracy_weight(members[j]))
            if learning:
                members[j].n_tried += 1.0
                members[j].n_right += right
            if times > 0:
                _monitor(forest, j, 1.0 - right, params)
    return n_rows * len(members)


@njit(**HOT)
def _test_then_train(
    forest: Forest, j: int, X: Array, r: int, row: Row, tree_params: TreeParams, scratch: Scratch
) -> float:
    """Predict a row, then update both trees of a member; return 1 if the prediction was right, or 0."""
    arrays, right = forest.arrays, 0.0
    for in_background in range(2):
        t = _background(forest, j) if in_background else _foreground(forest, j)
        if in_background and (arrays.trees[t].root == NONE or row.weight == 0.0):
            break
        leaf, guess = predict_row(arrays, t, X, r, scratch, not in_background)
        if not in_background:
            right = 1.0 if _decision(scratch.votes) == row.code else 0.0
        if row.weight > 0.0:
            found, learnt = leaf, Row(row.code, row.weight, guess)
            leaf, learnt = leaf_to_learn(arrays, t, X, r, found, learnt)
            if leaf != found:
                # a new leaf observes a subset of its own
                gather(arrays, leaf, X, r, scratch)
            update(arrays, t, leaf, scratch, learnt, tree_params)
    return right


@njit(**HOT)
def _monitor(forest: Forest, j: int, error: float, params: ForestParams) -> None:
    """Start a background tree at a warning; at a drift, replace the foreground tree by it or by an empty tree."""
    member = forest.members[j]
    if params.warning > 0.0 and detect_change(forest.windows, 2 * j, error, params.warning):
        member.n_warnings += 1
        _restart_tree(forest.arrays, _background(forest, j))
    if params.drift > 0.0 and detect_change(forest.windows, 2 * j + 1, error, params.drift):
        member.n_drifts += 1
        _replace_foreground(forest, j)


@njit(**BUILD)
def _replace_foreground(forest: Forest, j: int) -> None:
    arrays, member = forest.arrays, forest.members[j]
    if arrays.trees[_background(forest, j)].root == NONE:
        new_root(arrays, _background(forest, j))
    else:
        reset(forest.windows, 2 * j)
    free_tree(arrays, _foreground(forest, j))
    member.side = 1 - member.side
    member.n_right = member.n_tried = 0.0


@njit(**BUILD)
def _restart_tree(arrays: TreeArrays, t: int) -> None:
    free_tree(arrays, t)
    new_root(arrays, t)


@njit(**HOT)
def _foreground(forest: Forest, j: int) -> int:
    """Return the tree of a member that votes."""
    return 2 * j + forest.members[j].side


@njit(**HOT)
def _background(forest: Forest, j: int) -> int:
    """Return the other tree of a member, which grows if it has a root."""
    return 2 * j + 1 - forest.members[j].side


@njit(**HOT)
def _accuracy_weight(member: Any) -> float:
    """Return the accuracy of a member, or 1 while it has never been right."""
    return member.n_right / member.n_tried if member.n_right > 0.0 else 1.0


@njit(**HOT)
def _write(votes: Array, r: int, j: int, scratch: Scratch, accuracy_weight: float) -> None:
    for code in range(votes.shape[2]):
        votes[r, j, code] = accuracy_weight * scratch.votes[code]


@njit(**HOT)
def _decision(votes: Array) -> int:
    """Return the class of most votes (ties: the first), or `NONE` without votes."""
    code, most = NONE, 0.0
    for k in range(len(votes)):
        if votes[k] > most:
            code, most = k, votes[k]
    return code


@njit(**HOT)
def _draw_times(member: Any, bagging: Array) -> int:
    """Draw the number of times that a row is learnt."""
    if len(bagging) == 0:
        return 1
    member.random = advance(member.random)
    u = uniform(member.random)
    times = 0
    while times < len(bagging) and u >= bagging[times]:
        times += 1
    return times
