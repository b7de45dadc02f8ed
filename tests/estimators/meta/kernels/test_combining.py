"""Votes for sets of labels become decisions and marginals as by a dictionary of shares."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.meta._kernels.combining import combine
from tests.scattered import tables


def slow_row(votes, sets, doubt):
    """Return the labels of the most probable set, turned round if that is too doubtful, and the marginals."""
    total = math.fsum(votes)
    if total <= 0:
        return [False] * len(sets[0]), [0.0] * len(sets[0])
    shares = [vote / total for vote in votes]
    best = shares.index(max(shares))
    marginals = [
        math.fsum(share for share, one in zip(shares, sets, strict=True) if one[j]) for j in range(len(sets[0]))
    ]
    return [bool(label) != (shares[best] < doubt) for label in sets[best]], marginals


@settings(max_examples=100)
@given(st.integers(0, 4), st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.0, 0.5]), st.data())
def test_rows_are_combined_as_by_the_slow_loop(n, n_sets, n_labels, doubt, data):
    votes = data.draw(tables((n, n_sets), (0.0, 1.0, 1.0, 2.0)))
    n_known = data.draw(tables((n,), tuple(range(n_sets + 1)), np.int64))
    sets = data.draw(tables((n_sets, n_labels), (0, 1), np.uint8))
    decided, proba = np.zeros((n, n_labels), bool), np.zeros((n, n_labels))
    combine(votes, n_known, sets, doubt, decided, proba)
    for i in range(n):
        k = int(n_known[i])
        known = (votes[i, :k].tolist(), sets[:k].tolist()) if k else ([0.0], [[0] * n_labels])
        expected, marginals = slow_row(*known, doubt)
        assert decided[i].tolist() == expected
        # shares are added in another order
        np.testing.assert_allclose(proba[i], marginals, rtol=1e-12)
