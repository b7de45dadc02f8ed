"""Scores of label rankers, and the sums of the least squares that weigh them.

Rows are summed one after another and each by itself, so that bits do not depend on the cut of a stream.
"""

from estimators._kernels.compile import HOT, JIT, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array


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
def combine(scores: Array, weights: Array, combined: Array) -> None:
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
