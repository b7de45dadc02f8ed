"""Mixtures of the probabilities of several learners, by weights that follow their losses, label by label.

Each label and row is summed by itself and in one order, so that bits do not depend on the rows around it.
"""

import math

from estimators._kernels.compile import HOT, LOOP, Direct, njit
from estimators._typing import Array

# Logarithm of the least likelihood: its exponential is far from the smallest number there is.
_LEAST = -600.0


@njit(**HOT)
def likelihood(proba: float, y: int, row_weight: float, margin: float) -> float:
    """Return the probability of a label, known to be y in so many rows; never 0."""
    given = margin + (1.0 - 2.0 * margin) * proba
    if y == 0:
        given = 1.0 - given
    return given if row_weight == 1.0 else math.exp(max(row_weight * math.log(given), _LEAST))


@njit(**HOT)
def mixture(proba: Array, weights: Array, margin: float, row: int, label: int) -> float:
    """Return the mixture of a label of a row, drawn together into [margin, 1 - margin]."""
    total = 0.0
    for member in range(len(proba)):
        total += weights[member, label] * proba[member, row, label]
    return margin + (1.0 - 2.0 * margin) * total


@njit(**LOOP)
def mix(proba: Array, weights: Array, margin: float, mixed: Array) -> None:
    """Write mixtures of probabilities (n_members, n_rows, n_labels) by weights (n_members, n_labels).

    Probabilities are drawn together into [margin, 1 - margin], in their order.
    """
    for row in range(proba.shape[1]):
        for label in range(proba.shape[2]):
            mixed[row, label] = mixture(proba, weights, margin, row, label)


@Direct
@njit(**LOOP)
def mix_then_weigh(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    proba: Array,
    Y: Array,
    counted: Array,
    row_weight: Array,
    share: float,
    margin: float,
    weights: Array,
    used: Array,
    mixed: Array,
) -> None:
    """Mix each row, then weigh the members by the probability that each gave its labels, in place.

    `proba` has shape (n_members, n_rows, n_labels), and is first drawn together into [margin, 1 - margin]. A row of
    weight 0 does not count. After each row, `share` of the weights, (n_members, n_labels) of sum 1 for each label, is
    spread over all members. `used`, (n_members + 1, n_labels), sums the weights of each member over the rows that
    count, and, last, these rows; `mixed`, (n_rows, n_labels), receives the mixtures.
    """
    n_members = len(proba)
    for row in range(proba.shape[1]):
        for label in range(proba.shape[2]):
            mixed[row, label] = mixture(proba, weights, margin, row, label)
            if not (counted[row, label] and row_weight[row] > 0.0):
                continue
            norm = 0.0
            for member in range(n_members):
                used[member, label] += weights[member, label]
                weights[member, label] *= likelihood(proba[member, row, label], Y[row, label], row_weight[row], margin)
                norm += weights[member, label]
            used[n_members, label] += 1.0
            for member in range(n_members):
                weights[member, label] = (1.0 - share) * weights[member, label] / norm + share / n_members
