"""Scores of rankers, their sums and their products are those of lists."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.label_codes import UNKNOWN
from estimators.meta._kernels.least_squares import add_products, combine, rescale
from tests.scattered import tables

VOTES = (0.0, 1.0, 0.25, -3.0, 1e6)


def slow_scores(votes):
    """Return votes from 0 up, with the sum 1; the same for all where they are alike."""
    above = [vote - min(votes) for vote in votes]
    return [value / math.fsum(above) if any(above) else 1 / len(votes) for value in above]


@settings(max_examples=100)
@given(st.integers(0, 4), st.integers(1, 4), st.data())
def test_votes_become_scores(n, n_labels, data):
    votes = data.draw(tables((n, n_labels), VOTES))
    expected = [slow_scores(row) for row in votes.tolist()]
    rescale(votes)
    np.testing.assert_allclose(votes, np.array(expected).reshape(n, n_labels), rtol=1e-12)


@settings(max_examples=100)
@given(st.integers(1, 3), st.integers(0, 4), st.integers(1, 3), st.data())
def test_members_are_weighed_and_multiplied(n_members, n, n_labels, data):
    scores = data.draw(tables((n_members, n, n_labels), (0.0, 0.5, 0.125, 1.0)))
    weights, row_weight = data.draw(tables((n_members,), (0.0, 1.0, 0.5))), data.draw(tables((n,), (0.0, 1.0, 2.5)))
    Y = data.draw(tables((n, n_labels), (0, 1, UNKNOWN), np.uint8))
    combined, products, targets = np.empty((n, n_labels)), np.zeros((n_members, n_members)), np.zeros(n_members)
    combine(scores, weights, combined)
    add_products(scores, Y, row_weight, products, targets)
    for i in range(n):
        sums = [math.fsum(weights[m] * scores[m, i, k] for m in range(n_members)) for k in range(n_labels)]
        np.testing.assert_allclose(combined[i], slow_scores(sums), rtol=1e-12)
    cells = [(i, k) for i in range(n) for k in range(n_labels) if Y[i, k] != UNKNOWN]
    for one in range(n_members):
        # eighths and halves: sums are exact in any order
        assert targets[one] == sum(row_weight[i] * scores[one, i, k] * Y[i, k] for i, k in cells)
        for other in range(n_members):
            products_of_cells = (row_weight[i] * scores[one, i, k] * scores[other, i, k] for i, k in cells)
            assert products[one, other] == sum(products_of_cells)
