"""Predictions and counts, and how another weight changes them, are those of a new computation from all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.pragma._kernels import votes as kernels
from tests.estimators.pragma.kernels.slow_votes import objective, predict, problems
from tests.scattered import tables

WEIGHTS = (1.0, 0.5, 2.0, 3.0)


def assert_state(state, votes, truth, losses, weights):
    predicted, n_classes = predict(votes, weights), len(weights)
    assert state.weights.tolist() == weights
    assert state.winner.tolist() == predicted
    assert state.predicted.tolist() == [predicted.count(c) for c in range(n_classes)]
    pairs = list(zip(truth, predicted, strict=True))
    assert state.hits.tolist() == [pairs.count((c, c)) for c in range(n_classes)]
    total, value = objective(truth, predicted, losses)
    found, shortfall = kernels.totals(losses, state)
    # the same sums in the same order: to the bit
    assert found == total
    assert abs(kernels.objective(found, shortfall) - value) <= 1e-9 * (1 + value)
    for i, row in enumerate(votes):
        scores = [w * vote for w, vote in zip(weights, row, strict=True)]
        others = [score for c, score in enumerate(scores) if c != predicted[i]]
        assert state.top_score[i] == max(scores)
        assert state.bound[i] >= max(others)


@settings(max_examples=100)
@given(
    problems(),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.25, 0.5, 2.0, 1.5, 3.0])), max_size=6),
    st.data(),
)
def test_changes_of_weights_are_new_computations(problem, moves, data):
    votes, truth, stored, losses = problem
    weights = data.draw(tables((len(losses.share),), WEIGHTS)).tolist()
    state, buffer = kernels.decide(stored, np.array(weights)), np.empty(2 * len(truth), np.int64)
    assert_state(state, votes, truth, losses, weights)
    for number, factor in moves:
        c = number % len(weights)
        weight, lost = weights[c] * factor, factor < 1
        entries = kernels.try_weight(stored, state, c, weight, lost, buffer)
        tried = predict(votes, [weight if k == c else w for k, w in enumerate(weights)])
        assert state.predicted.tolist() == [tried.count(k) for k in range(len(weights))]
        if data.draw(st.booleans()):
            kernels.count(stored, state, c, entries, lost, True)
        else:
            kernels.set_weight(stored, state, c, weight, entries, lost)
            weights[c] = weight
        assert_state(state, votes, truth, losses, weights)


@pytest.mark.slow
@settings(max_examples=100)
@given(problems(), st.integers(-1, 3))
def test_the_best_of_a_row_is_found_without_a_class(problem, without):
    votes, _, stored, losses = problem
    weights = np.ones(len(losses.share))
    for i, row in enumerate(votes):
        entry = kernels.best_entry(
            stored.row_class, stored.row_vote, stored.row_start[i], stored.row_start[i + 1], weights, without
        )
        others = [vote for c, vote in enumerate(row) if c != without]
        assert (entry < 0) == (max(others) == 0)
        if entry >= 0:
            left = [0.0 if c == without else vote for c, vote in enumerate(row)]
            assert stored.row_class[entry] == left.index(max(left))
