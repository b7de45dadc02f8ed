"""Leaves of the multi-label Hoeffding adaptive tree: which classifier votes, how wrong it is, and learning."""

from estimators._kernels.compile import HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.mlhat.arrays import NONE, AdaptiveTree, error_of, total_weight
from estimators.trees._kernels.mlhat.neighbours import keep_row, vote_of_neighbours
from estimators.trees._kernels.mlhat.regressions import learn_regressions, vote_of_regressions
from estimators.trees._kernels.mlhat.scratch import AdaptiveParams, LeafParams, Row, Scratch
from estimators.trees._kernels.mlhat.splits import entropy, observe


@njit(**PART)
def votes_of(tree: AdaptiveTree, i: int, x: Array, scratch: Scratch, params: LeafParams) -> int:
    """Return the place in `scratch.votes` of the votes of a leaf, absent and present; `NONE` if it is empty."""
    if tree.slots[tree.nodes[i].slot].n_sets == 0:
        return NONE
    n_kept, n_asked = len(scratch.votes), scratch.owners[-1]
    for k in range(min(n_asked, n_kept)):
        if scratch.owners[k] == i:
            return k
    k = n_asked % n_kept
    scratch.owners[k] = i
    scratch.owners[-1] += 1
    _vote(tree, i, x, scratch, scratch.votes[k], params)
    return k


@njit(**PART)
def _vote(tree: AdaptiveTree, i: int, x: Array, scratch: Scratch, votes: Array, params: LeafParams) -> None:
    s = tree.nodes[i].slot
    if tree.slots[s].n_sets == 1:
        first = tree.labels[s, tree.rows.shape[1]]
        for j in range(len(votes)):
            votes[j, 0], votes[j, 1] = 1.0 - first[j], 1.0 * first[j]
    elif tree.nodes[i].weight < params.cardinality or entropy(tree.counts[i]) < params.entropy:
        vote_of_neighbours(tree, s, x, scratch, votes)
    else:
        vote_of_regressions(tree, s, x, scratch, votes)


@njit(**PART)
def add_votes(tree: AdaptiveTree, i: int, x: Array, params: AdaptiveParams, scratch: Scratch, votes: Array) -> None:
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
def loss(tree: AdaptiveTree, leaf: int, k: int, y: Array, scratch: Scratch) -> float:
    """Return the share of labels that a leaf predicts wrong; of equal votes, the value in its first label set wins."""
    error, s, wrong = error_of(tree, leaf), tree.nodes[leaf].slot, 0
    for j in range(len(y)):
        zero, one = scratch.votes[k, j, 0], scratch.votes[k, j, 1]
        scale = _scale(zero + one, error)
        zero, one = zero / scale, one / scale
        predicted = one > zero if zero != one else tree.labels[s, tree.rows.shape[1], j] == 1
        wrong += predicted != (y[j] == 1)
    return wrong / len(y)


@njit(**PART)
def absorb(tree: AdaptiveTree, i: int, row: Row, params: AdaptiveParams, scratch: Scratch) -> None:
    node = tree.nodes[i]
    node.weight += row.weight
    count_labels(tree, i, row.y, row.weight)
    if node.active:
        observe_labels(tree, node.slot, row.x, row.y, row.weight)
    keep_row(tree, node.slot, row.x, row.y)
    learn_regressions(tree, node.slot, row, scratch, params.leaf)


@njit(**HOT)
def count_labels(tree: AdaptiveTree, i: int, y: Array, weight: float) -> None:
    """Add a row to the counts of a node."""
    counts, n_labels, is_empty = tree.counts[i], len(y), True
    for j in range(n_labels):
        if y[j]:
            is_empty = False
            counts[j] = max(counts[j], 0.0) + weight
    if is_empty:
        counts[n_labels] = max(counts[n_labels], 0.0) + weight
    counts[n_labels + 1] = max(counts[n_labels + 1], 0.0) + weight


@njit(**PART)
def observe_labels(tree: AdaptiveTree, s: int, x: Array, y: Array, weight: float) -> None:
    """Add a row to the observers of its labels, or of rows without one, and of all rows."""
    is_empty = True
    for j in range(len(y)):
        if y[j]:
            is_empty = False
            observe(tree, s, j, x, weight)
    if is_empty:
        observe(tree, s, len(y), x, weight)
    observe(tree, s, len(y) + 1, x, weight)
