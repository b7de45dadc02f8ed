"""The multi-label Hoeffding adaptive tree: predict, learn, split, and replace branches by their alternates."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.adwin import detect_change, reset
from estimators._kernels.compile import HOT, LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.trees._kernels.label_sets import is_crowded
from estimators.trees._kernels.mlhat_arrays import (
    NONE,
    AdaptiveTree,
    child_of,
    drop_slot,
    error_of,
    free_subtree,
    grow,
    leaf_of,
    new_leaf,
    restart_error,
    size_bytes,
    slot_bytes,
    total_weight,
)
from estimators.trees._kernels.mlhat_leaves import (
    LeafParams,
    Scratch,
    begin_row,
    count_labels,
    keep_row,
    learn_regressions,
    observe_labels,
    poisson,
    votes_of,
)
from estimators.trees._kernels.mlhat_splits import best_split, write_sides

ADWIN_DELTA = 0.002
MAX_SHARE_TO_SPLIT = 0.99
# what a row may do to the tree
KEPT, REPLACED = 0, 1


class AdaptiveParams(NamedTuple):
    """Parameters of a tree; `poisson_limit` is exp(-rate)."""

    grace_period: float
    delta: float
    tau: float
    drift_window: float
    switch_significance: float
    poisson_limit: float
    max_bytes: float
    leaf: LeafParams


class Chunk(NamedTuple):
    """Rows to predict and to learn: features, labels, and weights (if empty, all are 1)."""

    X: Array
    Y: Array
    weights: Array


def learn(tree: AdaptiveTree, chunk: Chunk, params: AdaptiveParams, scratch: Scratch, votes: Array) -> AdaptiveTree:
    """Predict each row, unless `votes` (n_rows, n_labels, 2) has no rows, then learn it; return the new tree."""
    done, needed, may_grow = 0, np.zeros(2, np.int64), True
    while True:
        done = _learn_from(tree, chunk, params, scratch, votes, needed, may_grow, done)
        if done == len(chunk.X):
            return tree
        # without memory, leaves do not split and branches get no alternates
        allowed = (params.max_bytes - size_bytes(tree)) // slot_bytes(tree) + tree.state["n_free_slots"][0]
        may_grow = allowed >= needed[1]
        tree = grow(tree, int(needed[0]), int(min(needed[1], max(allowed, 0))))


def predict(tree: AdaptiveTree, X: Array, params: AdaptiveParams, scratch: Scratch, votes: Array) -> None:
    """Write the votes (n_rows, n_labels, 2) for each row, which sum to 1 where a leaf votes."""
    _predict(tree, X, params, scratch, votes)


@Direct
@njit(**LOOP)
def _predict(tree: AdaptiveTree, X: Array, params: AdaptiveParams, scratch: Scratch, votes: Array) -> None:
    for r in range(len(X)):
        begin_row(scratch, X[r])
        _predict_row(tree, X[r], params, scratch, votes[r])


@Direct
@njit(**LOOP)
def _learn_from(
    tree: AdaptiveTree,
    chunk: Chunk,
    params: AdaptiveParams,
    scratch: Scratch,
    votes: Array,
    needed: Array,
    may_grow: bool,
    done: int,
) -> int:
    """Go on from row `done`; return the row before which free places ran out, or the number of rows."""
    state = tree.state[0]
    for r in range(done, len(chunk.X)):
        x, weight = chunk.X[r], chunk.weights[r] if len(chunk.weights) else 1.0
        k, draws = poisson(state.draws, params.poisson_limit)
        if k > 0:
            weight *= k
        if not _has_room(tree, x, weight, params, needed, may_grow):
            return r
        begin_row(scratch, x)
        if len(votes):
            _predict_row(tree, x, params, scratch, votes[r])
        if weight > 0.0:
            state.draws = draws
            _learn_row(tree, x, chunk.Y[r], weight, params, scratch)
    return len(chunk.X)


# --------------------------------------------------------------- predicting
@njit(**PART)
def _predict_row(tree: AdaptiveTree, x: Array, params: AdaptiveParams, scratch: Scratch, votes: Array) -> None:
    """Sum the votes of the leaves that the row reaches, in the foreground and in alternates with enough weight."""
    votes[:] = 0.0
    i = tree.state[0].root
    while tree.nodes[i].feature != NONE:
        alternate = tree.nodes[i].alternate
        if alternate != NONE:
            _add_votes(tree, leaf_of(tree, alternate, x), x, params, scratch, votes)
        i = child_of(tree, i, x)
    _add_votes(tree, i, x, params, scratch, votes)
    for j in range(len(votes)):
        total = votes[j, 0] + votes[j, 1]
        if total > 0.0:
            votes[j, 0] /= total
            votes[j, 1] /= total


@njit(**PART)
def _add_votes(tree: AdaptiveTree, i: int, x: Array, params: AdaptiveParams, scratch: Scratch, votes: Array) -> None:
    if tree.nodes[i].background and not total_weight(tree, i) > params.drift_window:
        return
    k = votes_of(tree, i, x, scratch, params.leaf)
    if k != NONE:
        error = error_of(tree, i)
        for j in range(len(votes)):
            scale = _scale(scratch.votes[k, j, 0] + scratch.votes[k, j, 1], error)
            votes[j, 0] += scratch.votes[k, j, 0] / scale
            votes[j, 1] += scratch.votes[k, j, 1] / scale


@njit(**HOT)
def _scale(total: float, error: float) -> float:
    scale = total * (error * error)
    return scale if scale > 0.0 else 1.0


@njit(**PART)
def _loss(tree: AdaptiveTree, leaf: int, k: int, y: Array, scratch: Scratch) -> float:
    """Return the share of labels that a leaf predicts wrong; of equal votes, the value in its first label set wins."""
    error, s, wrong = error_of(tree, leaf), tree.nodes[leaf].slot, 0
    for j in range(len(y)):
        zero, one = scratch.votes[k, j, 0], scratch.votes[k, j, 1]
        scale = _scale(zero + one, error)
        zero, one = zero / scale, one / scale
        predicted = one > zero if zero != one else tree.labels[s, tree.rows.shape[1], j] == 1
        wrong += predicted != (y[j] == 1)
    return wrong / len(y)


# ----------------------------------------------------------------- learning
@njit(**PART)
def _learn_row(tree: AdaptiveTree, x: Array, y: Array, weight: float, params: AdaptiveParams, scratch: Scratch) -> None:
    while True:
        root = tree.state[0].root
        if tree.nodes[root].feature == NONE:
            _learn_in_leaf(tree, root, NONE, x, y, weight, params, scratch)
            return
        if _enter_branch(tree, root, NONE, x, y, weight, params, scratch) == KEPT:
            break
        # the alternate is the root now, and learns the row
    if tree.nodes[root].alternate != NONE:
        _learn_below(tree, tree.nodes[root].alternate, NONE, x, y, weight, params, scratch)
    _learn_below(tree, child_of(tree, root, x), root, x, y, weight, params, scratch)


@njit(**PART)
def _learn_below(
    tree: AdaptiveTree,
    i: int,
    parent: int,
    x: Array,
    y: Array,
    weight: float,
    params: AdaptiveParams,
    scratch: Scratch,
) -> None:
    """Learn a row in a subtree of the root, or in the alternate of the root, which has no parent."""
    while tree.nodes[i].feature != NONE:
        if _enter_branch(tree, i, parent, x, y, weight, params, scratch) == REPLACED:
            return
        alternate = tree.nodes[i].alternate
        if alternate != NONE:
            _learn_in_leaf(tree, alternate, parent, x, y, weight, params, scratch)
            if tree.nodes[alternate].feature != NONE:
                # as in the code of the authors, an alternate below the root that splits takes the place of its branch
                _replace(tree, i, parent, x)
                return
        parent, i = i, child_of(tree, i, x)
    _learn_in_leaf(tree, i, parent, x, y, weight, params, scratch)


@njit(**PART)
def _enter_branch(
    tree: AdaptiveTree,
    i: int,
    parent: int,
    x: Array,
    y: Array,
    weight: float,
    params: AdaptiveParams,
    scratch: Scratch,
) -> int:
    """Count a row in a branch, measure the error of the leaf below, and build, prune or promote the alternate."""
    node = tree.nodes[i]
    count_labels(tree, i, y, weight)
    node.post_weight += weight
    leaf = leaf_of(tree, i, x)
    k = votes_of(tree, leaf, x, scratch, params.leaf)
    if k == NONE:
        return KEPT
    before = node.error
    has_changed = _add_error(tree, i, _loss(tree, leaf, k, y, scratch), weight)
    if node.alternate == NONE and not node.background and node.error > before and tree.state[0].n_free_slots > 0:
        node.alternate = new_leaf(tree, 1)
    if node.alternate == NONE or not total_weight(tree, node.alternate) > params.drift_window:
        return KEPT
    if node.post_weight > params.drift_window:
        gain = before - error_of(tree, node.alternate)
        bound = _switch_bound(tree, i, before, params)
        if gain > bound:
            tree.state[0].n_switched += 1
            _replace(tree, i, parent, x)
            return REPLACED
        if -gain > bound:
            tree.state[0].n_pruned += 1
            free_subtree(tree, node.alternate, NONE)
            node.alternate = NONE
    if has_changed and node.error < before:
        _restart(tree, i)
    return KEPT


@njit(**HOT)
def _switch_bound(tree: AdaptiveTree, i: int, error: float, params: AdaptiveParams) -> float:
    node = tree.nodes[i]
    n = 1.0 / total_weight(tree, node.alternate) + 1.0 / node.post_weight
    return math.sqrt(2.0 * error * (1.0 - error) * math.log(2.0 / params.switch_significance) * n)


@njit(**HOT)
def _add_error(tree: AdaptiveTree, i: int, loss: float, weight: float) -> bool:
    """Add a loss to the mean of a node; return whether the window over these means has changed."""
    node = tree.nodes[i]
    node.error_weight += weight
    node.error += (weight / node.error_weight) * (loss - node.error)
    return detect_change(tree.windows, i, node.error, ADWIN_DELTA)


@njit(**PART)
def _restart(tree: AdaptiveTree, i: int) -> None:
    """Forget the error of a node; leaves that share it keep what they have until their next row."""
    for leaf in range(len(tree.nodes)):
        node = tree.nodes[leaf]
        if node.used and node.feature == NONE and node.shares == i:
            node.error, node.shares = tree.nodes[i].error, NONE
    restart_error(tree, i)


@njit(**PART)
def _replace(tree: AdaptiveTree, i: int, parent: int, x: Array) -> None:
    """Put the alternate of a branch in its place, in the foreground if it was promoted, and free the branch."""
    alternate = tree.nodes[i].alternate
    if tree.nodes[alternate].feature == NONE or parent == NONE:
        _bring_to_front(tree, alternate)
    if parent == NONE:
        tree.state[0].root = alternate
    elif child_of(tree, parent, x) == tree.nodes[parent].left:
        tree.nodes[parent].left = alternate
    else:
        tree.nodes[parent].right = alternate
    free_subtree(tree, i, alternate)


@njit(**PART)
def _bring_to_front(tree: AdaptiveTree, i: int) -> None:
    """Mark a subtree without alternates as foreground; nodes that wait are chained by `alternate`, unused in it."""
    waiting = i
    while waiting != NONE:
        node = tree.nodes[waiting]
        waiting = node.alternate
        node.alternate = NONE
        node.background = 0
        if node.feature != NONE:
            tree.nodes[node.left].alternate, tree.nodes[node.right].alternate = waiting, node.left
            waiting = node.right


@njit(**PART)
def _learn_in_leaf(
    tree: AdaptiveTree,
    i: int,
    parent: int,
    x: Array,
    y: Array,
    weight: float,
    params: AdaptiveParams,
    scratch: Scratch,
) -> None:
    node = tree.nodes[i]
    if parent == NONE:
        _measure_leaf(tree, i, x, y, weight, params, scratch)
    else:
        node.shares = parent
    _absorb(tree, i, x, y, weight, params, scratch)
    if node.weight - node.last_attempt >= params.grace_period and node.active:
        if tree.slots[node.slot].n_sets > 1 and _attempt_split(tree, i, params, scratch):
            child = child_of(tree, i, x)
            count_labels(tree, i, y, weight)
            node.post_weight += weight
            tree.nodes[child].shares = i
            _absorb(tree, child, x, y, weight, params, scratch)
            if tree.nodes[child].weight - tree.nodes[child].last_attempt >= params.grace_period:
                tree.nodes[child].last_attempt = tree.nodes[child].weight
        else:
            node.last_attempt = node.weight


@njit(**PART)
def _measure_leaf(
    tree: AdaptiveTree, i: int, x: Array, y: Array, weight: float, params: AdaptiveParams, scratch: Scratch
) -> None:
    """Measure the error of a leaf without a parent, before it learns the row."""
    node = tree.nodes[i]
    k = votes_of(tree, i, x, scratch, params.leaf)
    if k == NONE:
        return
    before = node.error
    has_changed = _add_error(tree, i, _loss(tree, i, k, y, scratch), weight)
    if has_changed and node.error < before:
        restart_error(tree, i)


@njit(**PART)
def _absorb(
    tree: AdaptiveTree, i: int, x: Array, y: Array, weight: float, params: AdaptiveParams, scratch: Scratch
) -> None:
    node = tree.nodes[i]
    node.weight += weight
    count_labels(tree, i, y, weight)
    if node.active:
        observe_labels(tree, node.slot, x, y, weight)
    keep_row(tree, node.slot, x, y)
    learn_regressions(tree, node.slot, x, y, scratch, params.leaf)


# ---------------------------------------------------------------- splitting
@njit(**PART)
def _attempt_split(tree: AdaptiveTree, i: int, params: AdaptiveParams, scratch: Scratch) -> bool:
    """Turn a leaf into a branch if a feature is good enough; where none can split it, its observers start again."""
    node, last = tree.nodes[i], tree.counts.shape[1] - 1
    most = 0.0
    for o in range(last):
        most = max(most, tree.counts[i, o])
    feature, threshold, best, second = NONE, 0.0, -np.inf, -np.inf
    if not most / tree.counts[i, last] > MAX_SHARE_TO_SPLIT:
        feature, threshold, best, second = best_split(tree, i, scratch.sides)
        merit_range = max(math.log2(tree.slots[node.slot].n_sets), 1.0)
        bound = math.sqrt(merit_range * merit_range * math.log(1.0 / params.delta) / (2.0 * node.weight))
        if not (best - second > bound or bound < params.tau):
            return False
    if feature == NONE:
        tree.observed[node.slot] = 0.0
        node.active = 0
        tree.state[0].n_inactive += 1
    elif tree.state[0].n_free_slots > 0:
        _split(tree, i, feature, threshold, scratch)
    else:
        return False
    _activate(tree)
    return feature != NONE


@njit(**PART)
def _split(tree: AdaptiveTree, i: int, feature: int, threshold: float, scratch: Scratch) -> None:
    node, last = tree.nodes[i], tree.counts.shape[1] - 1
    write_sides(tree, i, feature, threshold, scratch.sides)
    drop_slot(tree, i)
    node.left, node.right = new_leaf(tree, node.background), new_leaf(tree, node.background)
    for side in range(2):
        child = node.left if side == 0 else node.right
        for o in range(last + 1):
            tree.counts[child, o] = scratch.sides[side, o]
        tree.nodes[child].last_attempt = scratch.sides[side, last]
    node.feature, node.threshold, node.shares = feature, threshold, NONE
    restart_error(tree, i)
    reset(tree.windows, i)
    tree.state[0].n_splits += 1


@njit(**PART)
def _activate(tree: AdaptiveTree) -> None:
    """Let leaves observe again, except below the alternate of the root."""
    state = tree.state[0]
    if state.n_inactive == 0:
        return
    _mark(tree, tree.nodes[state.root].alternate, 2)
    for i in range(len(tree.nodes)):
        node = tree.nodes[i]
        if node.used == 1 and node.feature == NONE and not node.active:
            node.active = 1
            state.n_inactive -= 1
    _mark(tree, tree.nodes[state.root].alternate, 1)


@njit(**PART)
def _mark(tree: AdaptiveTree, i: int, mark: int) -> None:
    """Mark the nodes of the alternate of the root; nodes that wait are chained by `alternate`, unused in it."""
    waiting = i
    while waiting != NONE:
        node = tree.nodes[waiting]
        waiting = node.alternate
        node.alternate = NONE
        node.used = mark
        if node.feature != NONE:
            tree.nodes[node.left].alternate, tree.nodes[node.right].alternate = waiting, node.left
            waiting = node.right


# --------------------------------------------------------------------- room
@njit(**PART)
def _has_room(
    tree: AdaptiveTree, x: Array, weight: float, params: AdaptiveParams, needed: Array, may_grow: bool
) -> bool:
    """Return whether places suffice for whatever the row may do to the tree; `needed` says how many nodes and slots."""
    needed[:] = 0
    state = tree.state[0]
    i = state.root
    while tree.nodes[i].feature != NONE:
        alternate = tree.nodes[i].alternate
        if alternate != NONE:
            _need(tree, alternate, x, weight, params, needed)
        i = child_of(tree, i, x)
    _need(tree, state.root, x, weight, params, needed)
    has_slots = not may_grow or state.n_free_slots >= needed[1]
    return state.n_free_nodes >= needed[0] and has_slots and not is_crowded(tree.sets, state.n_sets)


@njit(**PART)
def _need(tree: AdaptiveTree, i: int, x: Array, weight: float, params: AdaptiveParams, needed: Array) -> None:
    """Add a node and a slot for each alternate that a path may get, two and one for a split of its leaf."""
    while tree.nodes[i].feature != NONE:
        if tree.nodes[i].alternate == NONE:
            needed += 1
        i = child_of(tree, i, x)
    node = tree.nodes[i]
    if node.weight + weight - node.last_attempt >= params.grace_period:
        needed[0] += 2
        needed[1] += 1
