"""From votes for sets of labels to labels: the most probable set of each row, and the marginals."""

import numpy as np

from estimators._kernels.compile import LOOP, Direct, njit
from estimators._typing import Array


@Direct
@njit(**LOOP)
def combine(votes: Array, n_known: Array, sets: Array, doubt: float, decided: Array, proba: Array) -> None:
    """Write the decisions and the marginals (n_rows, n_labels) of rows that have votes.

    Parameters
    ----------
    votes : ndarray of shape (n_rows, n_classes)
        Votes for the sets, in the order of their codes.
    n_known : int64 ndarray of shape (n_rows,)
        Number of sets with a code at each row; votes for later sets do not count.
    sets : uint8 ndarray of shape (n_sets, n_labels)
        The labels of each set.
    doubt : float
        All labels are inverted where the probability of the most probable set is below this.
    decided, proba : bool and float64 ndarray of shape (n_rows, n_labels)
        Receive the predictions; all zeros before.
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
