"""Hoeffding adaptive trees: predict, learn, split, and replace branches whose errors have grown, as River does."""

import math
from typing import NamedTuple

from estimators._kernels.adwin import detect_change
from estimators._kernels.compile import BUILD, HOT, LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.trees._kernels.adaptive_arrays import (
    AdaptiveTrees,
    begin_alternate,
    bytes_left,
    free_alternate,
    free_alternates_below,
    free_replaced,
    grow_adaptive,
    has_levels,
    keep_promising_leaves,
    put_in_place,
    restart_error,
    start_monitor,
)
from estimators.trees._kernels.categories import child_of, next_child
from estimators.trees._kernels.hoeffding import (
    MAX_SHARE_TO_SPLIT,
    SKIP,
    TreeChunk,
    TreeParams,
    describe_classes,
    grow_child,
    hoeffding_bound,
    is_same_row,
    split,
)
from estimators.trees._kernels.leaf_budget import deactivate
from estimators.trees._kernels.leaf_learning import Row, find_class, learn_in_leaf
from estimators.trees._kernels.splitting import best_two_splits, is_futile
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays, add_stat, drop_observers, has_room
from estimators.trees._kernels.twister import draw_poisson
from estimators.trees._kernels.voting import Scratch, bayes_scores, gather, new_buffer, node_after, split_buffer, vote

# how the errors of a node have changed with a row
STEADY, FALLING, RISING = range(3)


class AdaptiveParams(NamedTuple):
    """Parameters of the trees."""

    tree: TreeParams
    window: float  # rows after which a branch and its alternate leaf are compared
    log_significance: float  # logarithm of 2 over the significance of that comparison
    drift_delta: float  # confidence of the windows over the errors


def learn(trees: AdaptiveTrees, chunk: TreeChunk, params: AdaptiveParams, votes: Array) -> AdaptiveTrees:
    """Predict each row from the rows before it, then learn it; return the trees to be used from now on.

    Trees are changed in place, and extended when free places run out. `votes`, (n_rows, n_columns, n_classes), receives
    the votes, unless it has no rows.
    """
    done, n_steps, buffer = 0, len(chunk.codes) * len(trees.arrays.trees), new_buffer(trees.arrays, votes.shape[2])
    while True:
        done, n_rows = _learn_from(trees, chunk, params, votes, buffer, done)
        if done == n_steps:
            return trees
        trees = grow_adaptive(trees, votes.shape[2], n_rows)


def predict(trees: AdaptiveTrees, X: Array, votes: Array, first_column: int) -> None:
    """Write the votes of every tree to `votes` of shape (n_rows, n_columns, n_classes), from the first column on."""
    _predict(trees, X, votes, new_buffer(trees.arrays, votes.shape[2]), first_column)


@Direct
@njit(**LOOP)
def _predict(trees: AdaptiveTrees, X: Array, votes: Array, buffer: Array, first_column: int) -> None:
    scratch = split_buffer(trees.arrays, buffer, votes.shape[2])
    for t in range(len(trees.arrays.trees)):
        for r in range(len(X)):
            predict_row(trees, t, X, r, scratch, votes, first_column + t)


@Direct
@njit(**LOOP)
def _learn_from(
    trees: AdaptiveTrees, chunk: TreeChunk, params: AdaptiveParams, votes: Array, buffer: Array, done: int
) -> tuple[int, int]:
    """Go on from step `done`, tree by tree; return the next step, and for how many rows it needs more places, or 0."""
    n_rows, n_classes = len(chunk.codes), votes.shape[2]
    scratch = split_buffer(trees.arrays, buffer, n_classes)
    for t in range(done // n_rows, len(trees.arrays.trees)):
        column = chunk.first_column + t
        for r in range(done - t * n_rows if done > t * n_rows else 0, n_rows):
            differs = len(chunk.X_predict) > 0 and not is_same_row(chunk, r)
            leaf, guess, n_above = NONE, NONE, 0
            # the row to predict, if it differs, then the row to learn
            for own in range(0 if differs else 1, 2):
                X, voting = chunk.X if own else chunk.X_predict, len(votes) > 0 and own != differs
                leaf, guess, n_above = predict_row(trees, t, X, r, scratch, votes, column if voting else NONE)
            # each branch above may get an alternate leaf, which may split, as may the leaf
            n_needed = 1 + 2 * n_above
            if not has_room(trees.arrays, n_classes, n_needed) or not has_levels(trees, t):
                return t * n_rows + r, n_needed
            weight = chunk.weights[r] if len(chunk.weights) else 1.0
            code = chunk.codes[r, column]
            if code != SKIP and weight > 0.0:
                _learn_row(trees, t, leaf, scratch, Row(code, weight, guess), params)
    return n_rows * len(trees.arrays.trees), 0


@njit(**HOT)
def _learn_row(trees: AdaptiveTrees, t: int, leaf: int, scratch: Scratch, row: Row, params: AdaptiveParams) -> None:
    """Learn a row in the branches above its leaf, in their alternate leaves, and in the leaf, from the root down.

    A branch that is replaced on the way goes on to learn the row, and is freed afterwards: as in River, what happens
    under it counts, and draws random numbers.
    """
    arrays = trees.arrays
    wrong = _is_wrong(arrays, leaf, row)
    above, i = NONE, arrays.trees[t].root
    while arrays.nodes[i].feature != NONE:
        _count_in_branch(arrays, t, i, row)
        trees.monitors[i].above = above
        _monitor_branch(trees, t, i, wrong, params)
        if trees.monitors[i].alternate != NONE and _learn_alternate(trees, t, i, scratch, row, params):
            # the leaf may observe again
            row = Row(row.code, row.weight, _guess_again(arrays, leaf, scratch))
            wrong = _is_wrong(arrays, leaf, row)
        value = scratch.values[arrays.nodes[i].feature]
        child = child_of(arrays, i, value)
        if child == NONE:
            child = grow_child(arrays, t, i, value)
            start_monitor(trees, child)
            row = Row(row.code, row.weight, NONE)
        above, i = i, child
    if _learn_leaf(trees, t, i, scratch, row, params):
        keep_promising_leaves(trees, t, params.tree.max_bytes, params.tree.max_depth)
    if trees.histories[t].last_replaced != NONE:
        free_replaced(trees, t)


@njit(**PART)
def _guess_again(arrays: TreeArrays, i: int, scratch: Scratch) -> int:
    return guess_class(arrays, i, scratch)


@njit(**HOT)
def _is_wrong(arrays: TreeArrays, i: int, row: Row) -> float:
    """Return 0 if a leaf predicts the class of a row, else 1."""
    decided = row.guess
    if not arrays.nodes[i].active or arrays.nodes[i].bayes_hits < arrays.nodes[i].majority_hits:
        _, decided = find_class(arrays, i, row.code)
    return 0.0 if decided == row.code else 1.0


@njit(**HOT)
def _count_in_branch(arrays: TreeArrays, t: int, i: int, row: Row) -> None:
    s, _ = find_class(arrays, i, row.code)
    if s == NONE:
        s = add_stat(arrays, t, i, row.code)
    arrays.stats[s].weight += row.weight


@njit(**HOT)
def _monitor(trees: AdaptiveTrees, t: int, i: int, wrong: float, delta: float) -> int:
    """Add an error to those of a node, and return how they have changed."""
    monitor, history = trees.monitors[i], trees.histories[t]
    before = monitor.error
    changed = detect_change(trees.windows, i, wrong, delta)
    history.n_levels = max(history.n_levels, trees.windows.heads[i].n_levels)
    monitor.n_rows += 1.0
    monitor.error += (1.0 / monitor.n_rows) * (wrong - monitor.error)
    if not changed:
        return STEADY
    return FALLING if before > monitor.error else RISING


@njit(**HOT)
def _monitor_branch(trees: AdaptiveTrees, t: int, i: int, wrong: float, params: AdaptiveParams) -> None:
    """Begin an alternate leaf when the errors under a branch rise; otherwise compare the two, if there are two."""
    change = _monitor(trees, t, i, wrong, params.drift_delta)
    if change != STEADY:
        restart_error(trees, i)
    if change == RISING:
        begin_alternate(trees, t, i)
    elif trees.monitors[i].alternate != NONE:
        _compare(trees, t, i, params)


@njit(**BUILD)
def _compare(trees: AdaptiveTrees, t: int, i: int, params: AdaptiveParams) -> None:
    """Replace a branch by its alternate leaf, or give that leaf up, once either errs more by more than chance."""
    branch, alternate, history = trees.monitors[i], trees.monitors[trees.monitors[i].alternate], trees.histories[t]
    if not (alternate.n_rows > params.window and branch.n_rows > params.window):
        return
    share = 1.0 / alternate.n_rows + 1.0 / branch.n_rows
    bound = math.sqrt(2.0 * branch.error * (1.0 - branch.error) * params.log_significance * share)
    if bound < branch.error - alternate.error:
        history.n_pruned += free_alternates_below(trees, t, i)
        put_in_place(trees, t, i, branch.alternate)
        if branch.above != NONE:
            # as in River, only the alternate leaf of a root learns the row that puts it in its place
            branch.alternate = NONE
        history.n_switched += 1
    elif bound < alternate.error - branch.error:
        free_alternate(trees, t, i)
        history.n_pruned += 1


@njit(**BUILD)
def _learn_alternate(trees: AdaptiveTrees, t: int, i: int, scratch: Scratch, row: Row, params: AdaptiveParams) -> bool:
    """Learn a row in the alternate leaf of a branch; return whether the leaf was ready for a decision.

    As in River, an alternate leaf that splits takes the place of the branch at once, however the two compare.
    """
    arrays, alternate = trees.arrays, trees.monitors[i].alternate
    guessed = Row(row.code, row.weight, _guess_again(arrays, alternate, scratch))
    ready = _learn_leaf(trees, t, alternate, scratch, guessed, params)
    in_place = arrays.trees[t].root == alternate
    if arrays.nodes[alternate].feature != NONE and not in_place:
        put_in_place(trees, t, i, alternate)
        in_place = True
    if in_place:
        trees.monitors[i].alternate = NONE
    if ready:
        keep_promising_leaves(trees, t, params.tree.max_bytes, params.tree.max_depth)
    return ready


@njit(**HOT)
def _learn_leaf(trees: AdaptiveTrees, t: int, i: int, scratch: Scratch, row: Row, params: AdaptiveParams) -> bool:
    """Learn a row in a leaf as often as is drawn, at least once; return whether it was ready for a decision."""
    arrays, node, weight = trees.arrays, trees.arrays.nodes[i], row.weight
    if len(trees.random):
        weight *= max(draw_poisson(trees.random, t), 1)
    if _monitor(trees, t, i, _is_wrong(arrays, i, row), params.drift_delta) == FALLING:
        restart_error(trees, i)
    learnt = Row(row.code, weight, row.guess)
    learn_in_leaf(arrays, t, i, scratch, learnt, bytes_left(trees, t, params.tree.max_bytes))
    if not node.active or node.weight - node.last_attempt < params.tree.grace_period:
        return False
    if node.depth >= params.tree.max_depth:
        deactivate(arrays, t, i)
        return False
    # set before the attempt: after a split the node is a branch, which makes no attempts
    node.last_attempt = node.weight
    return _attempt_split(trees, t, i, params.tree)


@njit(**BUILD)
def _attempt_split(trees: AdaptiveTrees, t: int, i: int, params: TreeParams) -> bool:
    """Split a leaf if that pays, or stop it if no split gains anything; return whether it was ready for a decision."""
    arrays = trees.arrays
    ready, feature, threshold = _choose_split(arrays, i, params)
    if not ready:
        return False
    if feature == NONE:
        deactivate(arrays, t, i)
        return True
    split(arrays, t, i, feature, threshold)
    drop_observers(arrays, t, i)
    start_monitor(trees, i)
    child = arrays.nodes[i].left
    while child != NONE:
        start_monitor(trees, child)
        child = next_child(arrays, i, child)
    return True


@njit(**BUILD)
def _choose_split(arrays: TreeArrays, i: int, params: TreeParams) -> tuple[bool, int, float]:
    """Return whether a leaf is ready for a decision, and the feature, `NONE` for no split, and threshold of it."""
    n_classes, n_present, most = describe_classes(arrays, i)
    total = arrays.nodes[i].weight
    if n_present < 2:
        return False, NONE, 0.0
    if most / total > MAX_SHARE_TO_SPLIT:
        return True, NONE, 0.0
    bound = hoeffding_bound(n_classes, total, params.delta)
    if bound >= params.tau and is_futile(arrays, i, bound):
        return False, NONE, 0.0
    feature, threshold, best, second = best_two_splits(arrays, i)
    return best - second > bound or bound < params.tau, feature, threshold


@njit(**HOT)
def predict_row(
    trees: AdaptiveTrees, t: int, X: Array, r: int, scratch: Scratch, votes: Array, column: int
) -> tuple[int, int, int]:
    """Return the leaf of a row, the class that naive Bayes guesses there, and the number of branches above.

    Unless the column is `NONE`, write the votes: those of the leaf, and of the alternate leaves of branches above.
    """
    arrays, voting = trees.arrays, column != NONE
    if voting:
        for code in range(votes.shape[2]):
            votes[r, column, code] = 0.0
    i, n_above = arrays.trees[t].root, 0
    gather(arrays, i, X, r, scratch)
    while arrays.nodes[i].feature != NONE:
        alternate = trees.monitors[i].alternate
        if voting and alternate != NONE:
            _let_alternate_vote(trees, alternate, scratch, votes, r, column)
        i, n_above = node_after(arrays, i, scratch.values[arrays.nodes[i].feature]), n_above + 1
    guess = guess_class(arrays, i, scratch)
    if voting:
        _add_votes(trees, i, scratch, votes, r, column)
        _normalise(votes, r, column)
    return i, guess, n_above


@njit(**PART)
def _let_alternate_vote(trees: AdaptiveTrees, i: int, scratch: Scratch, votes: Array, r: int, column: int) -> None:
    guess_class(trees.arrays, i, scratch)
    _add_votes(trees, i, scratch, votes, r, column)


@njit(**HOT)
def guess_class(arrays: TreeArrays, i: int, scratch: Scratch) -> int:
    """Score the classes by naive Bayes, and return the most probable one, or `NONE` where a leaf cannot tell."""
    if arrays.nodes[i].active and arrays.nodes[i].weight > 0.0:
        return bayes_scores(arrays, i, scratch)
    return NONE


@njit(**HOT)
def _add_votes(trees: AdaptiveTrees, i: int, scratch: Scratch, votes: Array, r: int, column: int) -> None:
    """Add the votes of a leaf, divided by the square of its mean error unless that is zero."""
    vote(trees.arrays, i, scratch.scores, scratch.votes)
    total, error = 0.0, trees.monitors[i].error
    for code in range(len(scratch.votes)):
        total += scratch.votes[code]
    factor = total * error * error
    scale = 1.0 / factor if factor > 0.0 else 1.0
    for code in range(len(scratch.votes)):
        votes[r, column, code] += scratch.votes[code] * scale


@njit(**HOT)
def _normalise(votes: Array, r: int, column: int) -> None:
    total = 0.0
    for code in range(votes.shape[2]):
        total += votes[r, column, code]
    if total > 0.0:
        for code in range(votes.shape[2]):
            votes[r, column, code] *= 1.0 / total
