"""Leaves of the multi-label Hoeffding adaptive tree: which classifier votes, how wrong it is, and learning."""

import math

from estimators._kernels.compile import HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.mlhat.arrays import NONE, AdaptiveTree, error_of, total_weight
from estimators.trees._kernels.mlhat.neighbours import keep_row, vote_of_neighbours
from estimators.trees._kernels.mlhat.scratch import AdaptiveParams, LeafParams, Row, Scratch, poisson
from estimators.trees._kernels.mlhat.splits import entropy, observe

# logits beyond these bounds are treated as in River
FLAT_GRADIENT, FLAT_SIGMOID = 18.0, 30.0
BAG_LIMIT = math.exp(-1.0)


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


@njit(**PART)
def vote_of_regressions(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch, votes: Array) -> None:
    """Write the mean probabilities of the regressions of each label; those without a number vote for both values."""
    write_logits(tree, s, x, scratch, 0, len(scratch.logits))
    for j in range(len(votes)):
        votes[j, 0] = votes[j, 1] = 0.0
    for c in range(len(scratch.logits)):
        j = c % len(votes)
        p = _sigmoid(scratch.logits[c])
        votes[j, 0] += 1.0 - p
        votes[j, 1] += p
    for j in range(len(votes)):
        total = votes[j, 0] + votes[j, 1]
        votes[j, 0] /= total
        votes[j, 1] /= total


@njit(**HOT)
def _sigmoid(logit: float) -> float:
    if logit < -FLAT_SIGMOID:
        return 0.0
    if logit > FLAT_SIGMOID:
        return 1.0
    return 1.0 / (1.0 + math.exp(-logit)) if logit == logit else 0.5  # noqa: PLR0124 - not NaN


@njit(**HOT)
def write_logits(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch, begin: int, end: int) -> None:
    """Write the logits of the regressions from `begin` to before `end`."""
    logits, coefs = scratch.logits, tree.coefs[s]
    for c in range(begin, end):
        logits[c] = 0.0
    for a in range(scratch.filled[-1]):
        f = scratch.filled[a]
        for c in range(begin, end):
            logits[c] += coefs[f, c] * x[f]
    for c in range(begin, end):
        logits[c] += coefs[len(x), c]


@njit(**PART)
def learn_regressions(tree: AdaptiveTree, s: int, row: Row, scratch: Scratch, params: LeafParams) -> None:
    """Learn a row with each regression as often as a draw from Poisson(1) says, the same for all labels.

    The weight of the row multiplies each of its steps.
    """
    x, y, repeats = row.x, row.y, scratch.repeats
    slot, n_labels = tree.slots[s], len(y)
    state = slot.draws
    for m in range(len(repeats)):
        repeats[m], state = poisson(state, BAG_LIMIT)
    slot.draws = state
    write_logits(tree, s, x, scratch, 0, len(scratch.logits))
    for m in range(len(repeats)):
        for j in range(n_labels):
            c = m * n_labels + j
            scratch.logits[c] = row.weight * _gradient(y[j], scratch.logits[c]) if repeats[m] > 0 else 0.0
    _descend(tree, s, x, scratch, 0, len(scratch.logits), params)
    for m in range(len(repeats)):
        begin, end = m * n_labels, (m + 1) * n_labels
        for _ in range(1, repeats[m]):
            write_logits(tree, s, x, scratch, begin, end)
            for c in range(begin, end):
                scratch.logits[c] = row.weight * _gradient(y[c - begin], scratch.logits[c])
            _descend(tree, s, x, scratch, begin, end, params)


@njit(**HOT)
def _gradient(present: int, logit: float) -> float:
    """Return the slope of the logistic loss; 0 where numbers left their range."""
    sign = 1.0 if present else -1.0
    z = logit * sign
    if z > FLAT_GRADIENT:
        return math.exp(-z) * -sign
    if z < -FLAT_GRADIENT:
        return -sign
    return -sign / (math.exp(z) + 1.0) if z == z else 0.0  # noqa: PLR0124 - not NaN


@njit(**HOT)
def _descend(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch, begin: int, end: int, params: LeafParams) -> None:
    coefs, slopes = tree.coefs[s], scratch.logits
    for c in range(begin, end):
        coefs[len(x), c] -= params.intercept_rate * slopes[c]
    for a in range(scratch.filled[-1]):
        f = scratch.filled[a]
        for c in range(begin, end):
            coefs[f, c] -= params.learning_rate * (slopes[c] * x[f])
