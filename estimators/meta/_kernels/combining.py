"""Many answers combined into one: votes for sets of labels, scores of label rankers, and mixtures of probabilities.

Each row is summed by itself and in one order, so that bits do not depend on the rows around it.
"""

import math

import numpy as np

from estimators._kernels.compile import HOT, JIT, LOOP, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array


@Direct
@njit(**LOOP)
def combine(votes: Array, n_known: Array, sets: Array, doubt: float, decided: Array, proba: Array) -> None:
    """Write the decisions and the marginals (n_rows, n_labels), all zeros before, of rows that have votes.

    `votes`, (n_rows, n_classes), are for the sets in the order of their codes; those for sets from ``n_known[row]`` on
    do not count. `sets`, (n_sets, n_labels), are the labels of each set. All labels are inverted where the probability
    of the most probable set is below `doubt`.
    """
    for r in range(len(votes)):
        total, best, most = 0.0, 0, -np.inf
        for k in range(n_known[r]):
            total += votes[r, k]
        if not total > 0.0:
            continue
        for k in range(n_known[r]):
            share = votes[r, k] / total
            if share > most:
                best, most = k, share
            for j in range(proba.shape[1]):
                proba[r, j] += share * sets[k, j]
        for j in range(proba.shape[1]):
            decided[r, j] = (sets[best, j] == 1) != (most < doubt)


@njit(**JIT)
def rescale(votes: Array) -> None:
    """Make the votes (n_rows, n_labels) of each row scores, in place: from 0 up, with the sum 1."""
    for row in range(len(votes)):
        rescale_row(votes[row])


@njit(**HOT)
def rescale_row(votes: Array) -> None:
    """Subtract the least vote and divide by the sum; votes that are all alike give the same score to all labels."""
    least, total = votes[0], 0.0
    for label in range(1, votes.size):
        least = min(least, votes[label])
    for label in range(votes.size):
        votes[label] -= least
        total += votes[label]
    for label in range(votes.size):
        votes[label] = votes[label] / total if total > 0.0 else 1.0 / votes.size


@njit(**JIT)
def combine_scores(scores: Array, weights: Array, combined: Array) -> None:
    """Write the weighted sums of the scores (n_members, n_rows, n_labels), made scores again."""
    for row in range(combined.shape[0]):
        for label in range(combined.shape[1]):
            total = 0.0
            for member in range(weights.size):
                total += weights[member] * scores[member, row, label]
            combined[row, label] = total
        rescale_row(combined[row])


@njit(**JIT)
def add_products(scores: Array, Y: Array, row_weight: Array, products: Array, targets: Array) -> None:
    """Add up the products of the scores of members with each other, and with the labels; unknown labels are left out.

    `products` (n_members, n_members) and `targets` (n_members,) are sums over rows and labels.
    """
    n_members, n_rows, n_labels = scores.shape
    for row in range(n_rows):
        for label in range(n_labels):
            if Y[row, label] == UNKNOWN:
                continue
            for one in range(n_members):
                score = row_weight[row] * scores[one, row, label]
                targets[one] += score * Y[row, label]
                for other in range(n_members):
                    products[one, other] += score * scores[other, row, label]


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
