"""From votes for sets of labels to labels: the most probable set of each row, and the marginals."""

import numpy as np

from estimators._kernels.compile import LOOP, Direct, njit
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
