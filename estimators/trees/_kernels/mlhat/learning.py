"""The multi-label Hoeffding adaptive tree: predict, learn, and replace branches by their alternates."""

import math

import numpy as np

from estimators._kernels.adwin import detect_change
from estimators._kernels.compile import HOT, LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import add_child, next_child, replace_child
from estimators.trees._kernels.categories import child_of as child_to
from estimators.trees._kernels.label_sets import is_crowded
from estimators.trees._kernels.mlhat.arrays import (
    NONE,
    AdaptiveTree,
    child_of,
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
from estimators.trees._kernels.mlhat.leaves import absorb, add_votes, count_labels, loss, votes_of
from estimators.trees._kernels.mlhat.scratch import AdaptiveParams, Chunk, Row, Scratch, begin_row, poisson
from estimators.trees._kernels.mlhat.splits import attempt_split

ADWIN_DELTA = 0.002
# what a row may do to a branch
KEPT, REPLACED = 0, 1
# rows that are done, free places that the next row may need, and whether memory is left for more
DONE, NODES, SLOTS, MAY_GROW = range(4)


def learn(tree: AdaptiveTree, chunk: Chunk, params: AdaptiveParams, scratch: Scratch, votes: Array) -> AdaptiveTree:
    """Predict each row, unless `votes` (n_rows, n_labels, 2) has no rows, then learn it; return the new tree."""
    progress = np.zeros(4, np.int64)
    progress[MAY_GROW] = 1
    while True:
        _learn_from(tree, chunk, params, scratch, votes, progress)
        if progress[DONE] == len(chunk.X):
            return tree
        # without memory, leaves do not split and branches get no alternates
        free = int(tree.state["n_free_slots"][0])
        allowed = max(int((params.max_bytes - size_bytes(tree)) // slot_bytes(tree)) + free, free)
        progress[MAY_GROW] = allowed >= progress[SLOTS]
        tree = grow(tree, int(progress[NODES]), min(int(progress[SLOTS]), allowed))


def predict(tree: AdaptiveTree, X: Array, params: AdaptiveParams, scratch: Scratch, votes: Array) -> None:
    """Write the votes (n_rows, n_labels, 2) for each row, which sum to 1 where a leaf votes."""
    _predict(tree, X, params, scratch, votes)


@Direct
@njit(**LOOP)
def _predict(tree: AdaptiveTree, X: Array, params: AdaptiveParams, scratch: Scratch, votes: Array) -> None:
    for r in range(len(X)):
        begin_row(scratch, X[r], tree.categories.places)
        _predict_row(tree, X[r], params, scratch, votes[r])


@Direct
@njit(**LOOP)
def _learn_from(
    tree: AdaptiveTree, chunk: Chunk, params: AdaptiveParams, scratch: Scratch, votes: Array, progress: Array
) -> None:
    """Go on after the rows that are done, until all are or free places run out."""
    state = tree.state[0]
    for r in range(progress[DONE], len(chunk.X)):
        weight = chunk.weights[r] if len(chunk.weights) else 1.0
        k, draws = poisson(state.draws, params.poisson_limit)
        row = Row(chunk.X[r], chunk.Y[r], weight * max(k, 1))
        if not _has_room(tree, row, params, progress):
            return
        begin_row(scratch, row.x, tree.categories.places)
        if len(votes):
            _predict_row(tree, row.x, params, scratch, votes[r])
        if weight > 0.0:
            state.draws = draws
            _learn_row(tree, row, params, scratch)
        progress[DONE] = r + 1


@njit(**PART)
def _has_room(tree: AdaptiveTree, row: Row, params: AdaptiveParams, progress: Array) -> bool:
    """Return whether places suffice for whatever the row may do to the tree, and count those that it may need."""
    progress[NODES] = progress[SLOTS] = 0
    state = tree.state[0]
    i = state.root
    while tree.nodes[i].feature != NONE:
        if tree.nodes[i].alternate != NONE:
            _need(tree, tree.nodes[i].alternate, row, params, progress)
        i = child_of(tree, i, row.x)
    _need(tree, state.root, row, params, progress)
    has_slots = not progress[MAY_GROW] or state.n_free_slots >= progress[SLOTS]
    return state.n_free_nodes >= progress[NODES] and has_slots and not is_crowded(tree.sets, state.n_sets)


@njit(**PART)
def _need(tree: AdaptiveTree, i: int, row: Row, params: AdaptiveParams, progress: Array) -> None:
    """Add a node and a slot for each alternate that a path may get, two and one for a split of its leaf."""
    while tree.nodes[i].feature != NONE:
        if tree.nodes[i].alternate == NONE:
            progress[NODES] += 1
            progress[SLOTS] += 1
        i = child_of(tree, i, row.x)
    node, n_values = tree.nodes[i], tree.categories.counts.shape[2]
    # a value may be new to a branch
    progress[NODES] += n_values > 0
    progress[SLOTS] += n_values > 0
    if node.weight + row.weight - node.last_attempt >= params.grace_period:
        progress[NODES] += max(2, n_values)
        progress[SLOTS] += max(1, n_values)


@njit(**PART)
def _predict_row(tree: AdaptiveTree, x: Array, params: AdaptiveParams, scratch: Scratch, votes: Array) -> None:
    """Sum the votes of the leaves that the row reaches, in the foreground and in alternates with enough weight."""
    for j in range(len(votes)):
        votes[j, 0] = votes[j, 1] = 0.0
    i = tree.state[0].root
    while tree.nodes[i].feature != NONE:
        alternate = tree.nodes[i].alternate
        if alternate != NONE:
            add_votes(tree, leaf_of(tree, alternate, x), x, params, scratch, votes)
        i = child_of(tree, i, x)
    add_votes(tree, i, x, params, scratch, votes)
    for j in range(len(votes)):
        total = votes[j, 0] + votes[j, 1]
        if total > 0.0:
            votes[j, 0] /= total
            votes[j, 1] /= total


@njit(**PART)
def _learn_row(tree: AdaptiveTree, row: Row, params: AdaptiveParams, scratch: Scratch) -> None:
    while True:
        root = tree.state[0].root
        if tree.nodes[root].feature == NONE:
            _learn_in_leaf(tree, root, NONE, row, params, scratch)
            return
        if _enter_branch(tree, root, NONE, row, params, scratch) == KEPT:
            break
        # the alternate is the root now, and learns the row
    if tree.nodes[root].alternate != NONE:
        _learn_below(tree, tree.nodes[root].alternate, NONE, row, params, scratch)
    _learn_below(tree, _child_to_learn(tree, root, row.x), root, row, params, scratch)


@njit(**PART)
def _learn_below(tree: AdaptiveTree, i: int, parent: int, row: Row, params: AdaptiveParams, scratch: Scratch) -> None:
    """Learn a row in a subtree of the root, or in the alternate of the root, which has no parent."""
    while tree.nodes[i].feature != NONE:
        if _enter_branch(tree, i, parent, row, params, scratch) == REPLACED:
            return
        alternate = tree.nodes[i].alternate
        if alternate != NONE:
            _learn_in_leaf(tree, alternate, parent, row, params, scratch)
            if tree.nodes[alternate].feature != NONE:
                # as in the code of the authors, an alternate below the root that splits takes the place of its branch
                _replace(tree, i, parent)
                return
        parent, i = i, _child_to_learn(tree, i, row.x)
    _learn_in_leaf(tree, i, parent, row, params, scratch)


@njit(**PART)
def _child_to_learn(tree: AdaptiveTree, i: int, x: Array) -> int:
    """Return the child of a branch that learns a row: a new leaf for a new value, if there is memory for it."""
    value = x[tree.nodes[i].feature]
    if child_to(tree, i, value) == NONE and tree.state[0].n_free_slots > 0:
        add_child(tree, i, new_leaf(tree, tree.nodes[i].background), int(value))
    return child_of(tree, i, x)


@njit(**PART)
def _enter_branch(tree: AdaptiveTree, i: int, parent: int, row: Row, params: AdaptiveParams, scratch: Scratch) -> int:
    """Count a row in a branch, measure the error of the leaf below, and build, prune or promote the alternate."""
    node = tree.nodes[i]
    count_labels(tree, i, row.y, row.weight)
    node.post_weight += row.weight
    leaf = leaf_of(tree, i, row.x)
    k = votes_of(tree, leaf, row.x, scratch, params.leaf)
    if k == NONE:
        return KEPT
    before = node.error
    has_changed = _add_error(tree, i, loss(tree, leaf, k, row.y, scratch), row.weight)
    if node.alternate == NONE and not node.background and node.error > before and tree.state[0].n_free_slots > 0:
        node.alternate = new_leaf(tree, 1)
    if node.alternate == NONE or not total_weight(tree, node.alternate) > params.drift_window:
        return KEPT
    if node.post_weight > params.drift_window:
        gain = before - error_of(tree, node.alternate)
        bound = _switch_bound(tree, i, before, params)
        if gain > bound:
            tree.state[0].n_switched += 1
            _replace(tree, i, parent)
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
def _replace(tree: AdaptiveTree, i: int, parent: int) -> None:
    """Put the alternate of a branch in its place, in the foreground if it was promoted, and free the branch."""
    alternate = tree.nodes[i].alternate
    if tree.nodes[alternate].feature == NONE or parent == NONE:
        _bring_to_front(tree, alternate)
    if parent == NONE:
        tree.state[0].root = alternate
    else:
        replace_child(tree, parent, i, alternate)
    free_subtree(tree, i, alternate)


@njit(**PART)
def _bring_to_front(tree: AdaptiveTree, i: int) -> None:
    """Mark a subtree without alternates as foreground; nodes that wait are chained by `alternate`, unused in it."""
    waiting = i
    while waiting != NONE:
        node, place = tree.nodes[waiting], waiting
        waiting = node.alternate
        node.alternate = NONE
        node.background = 0
        child = node.left if node.feature != NONE else NONE
        while child != NONE:
            tree.nodes[child].alternate, waiting = waiting, child
            child = next_child(tree, place, child)


@njit(**PART)
def _learn_in_leaf(tree: AdaptiveTree, i: int, parent: int, row: Row, params: AdaptiveParams, scratch: Scratch) -> None:
    node = tree.nodes[i]
    if parent == NONE:
        _measure_leaf(tree, i, row, params, scratch)
    else:
        node.shares = parent
    absorb(tree, i, row, params, scratch)
    if node.weight - node.last_attempt >= params.grace_period and node.active:
        if tree.slots[node.slot].n_sets > 1 and attempt_split(tree, i, params, scratch):
            child = child_of(tree, i, row.x)
            count_labels(tree, i, row.y, row.weight)
            node.post_weight += row.weight
            tree.nodes[child].shares = i
            absorb(tree, child, row, params, scratch)
            if tree.nodes[child].weight - tree.nodes[child].last_attempt >= params.grace_period:
                tree.nodes[child].last_attempt = tree.nodes[child].weight
        else:
            node.last_attempt = node.weight


@njit(**PART)
def _measure_leaf(tree: AdaptiveTree, i: int, row: Row, params: AdaptiveParams, scratch: Scratch) -> None:
    """Measure the error of a leaf without a parent, before it learns the row."""
    node = tree.nodes[i]
    k = votes_of(tree, i, row.x, scratch, params.leaf)
    if k == NONE:
        return
    before = node.error
    has_changed = _add_error(tree, i, loss(tree, i, k, row.y, scratch), row.weight)
    if has_changed and node.error < before:
        restart_error(tree, i)
