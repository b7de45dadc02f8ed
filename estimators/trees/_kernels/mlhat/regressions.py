"""Votes of bagged logistic regressions in a leaf, and their descent; semantics are River's."""

import math

from estimators._kernels.compile import HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.mlhat.arrays import AdaptiveTree
from estimators.trees._kernels.mlhat.scratch import LeafParams, Row, Scratch, poisson

# logits beyond these bounds are treated as in River
FLAT_GRADIENT, FLAT_SIGMOID = 18.0, 30.0
BAG_LIMIT = math.exp(-1.0)


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
