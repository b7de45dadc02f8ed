"""Votes of the nodes of a tree by the shares of classes in them and in the nodes above; their sums over rows."""

import numpy as np

from estimators._kernels.compile import JIT, njit
from estimators._typing import Array


@njit(**JIT)
def shrink(values: Array, weights: Array, left: Array, right: Array, strength: float) -> Array:
    """Return, for each node, the mean of its shares (n_nodes, width) and of these shrunken along its path.

    Shrunken (Agarwal et al., ICML 2022): from the root on, a step down to a child counts by N / (N + strength), N being
    the rows of the upper node. Children have greater numbers than their parent.
    """
    out, width = np.empty_like(values), values.shape[1]
    out[0] = values[0]
    for node in range(len(left)):
        one, two, part = left[node], right[node], weights[node] / (weights[node] + strength)
        for k in range(width):
            above, share = out[node, k], values[node, k]
            out[node, k] = (above + share) / 2.0
            if one >= 0:
                out[one, k] = above + part * (values[one, k] - share)
                out[two, k] = above + part * (values[two, k] - share)
    return out


@njit(**JIT)
def add_shares(shares: Array, leaves: Array, rows: Array, total: Array) -> None:
    """Add the shares of the leaf of each listed row."""
    for i in range(len(rows)):
        for k in range(shares.shape[1]):
            total[rows[i], k] += shares[leaves[i], k]


@njit(**JIT)
def keep_greatest(votes: Array, n: int) -> None:
    """Set all votes of a row but the n greatest to 0, in place; votes that tie with the smallest of these stay."""
    greatest = np.empty(n)
    for i in range(len(votes)):
        greatest[:] = 0.0
        for k in range(votes.shape[1]):
            vote, at = votes[i, k], n - 1
            if vote > greatest[at]:
                while at > 0 and greatest[at - 1] < vote:
                    greatest[at] = greatest[at - 1]
                    at -= 1
                greatest[at] = vote
        for k in range(votes.shape[1]):
            if votes[i, k] < greatest[n - 1]:
                votes[i, k] = 0.0
