"""Boosted logistic regressions learn as slow models with sums in dictionaries; with them, coordinate_boosting."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from estimators._kernels.label_codes import UNKNOWN
from estimators.ensembles._kernels.coordinate_boosting import (
    Answers,
    Boosted,
    Memory,
    Params,
    learn,
    new_boosting,
    new_votes,
    predict,
)
from estimators.linear._kernels.logistic import Step, new_models, new_work
from estimators.linear._rows import as_rows
from tests.estimators.ensembles.kernels.slow_boosting import SlowBoosting
from tests.estimators.linear.kernels.slow_model import SlowModel
from tests.scattered import tables

D, N_LABELS = 2, 2
VALUES = (0.0, 1.0, -0.5, 3.0)


def new_answers(n):
    return Answers(np.zeros((n, N_LABELS), bool), np.full((n, N_LABELS), np.nan))


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@settings(max_examples=100)
@given(st.integers(0, 10), st.integers(1, 3), st.booleans(), st.sampled_from([0.5, 1e-3]), st.data())
def test_every_prediction_and_coefficient_is_that_of_the_slow_loop(kind, n, n_models, derived, smoothing, data):
    X, codes = data.draw(tables((n, D), VALUES)), data.draw(tables((n, N_LABELS), (0, 1, UNKNOWN), np.uint8))
    weights = data.draw(tables((n if data.draw(st.booleans()) else 0,), (1.0, 0.0, 2.5)))
    step = Step(0.1, 0.1, 1e12)
    models, boosting = new_models(D, N_LABELS * n_models), new_boosting(N_LABELS, n_models, smoothing)
    memory, answers = Memory(new_work(models), new_votes(n_models)), new_answers(n)
    weak = [[SlowModel(D, step) for _ in range(n_models)] for _ in range(N_LABELS)]
    slow = [SlowBoosting(one, smoothing, derived=derived) for one in weak]
    rows = as_rows(kind(X))
    assert learn(Boosted(models, boosting), rows, codes, weights, Params(step, derived), memory, answers)
    for i, x in enumerate(X.tolist()):
        for k, label in enumerate(slow):
            score = label.score(x)
            # what is zero but for rounding may have either sign
            assert abs(score) < 1e-9 or answers.decided[i, k] == (score > 0)
            assert abs(answers.proba[i, k] - 1 / (1 + math.exp(-2 * score))) < 1e-9
            weight = weights[i] if len(weights) else 1.0
            if codes[i, k] != UNKNOWN and weight > 0:
                label.learn(x, codes[i, k], weight)
    np.testing.assert_allclose(boosting.alphas, [label.alpha for label in slow], rtol=1e-9, atol=1e-9)
    again = new_answers(n)
    assert predict(Boosted(models, boosting), rows, memory, again)
    expected = [[1 / (1 + math.exp(-2 * label.score(x))) for label in slow] for x in X.tolist()]
    np.testing.assert_allclose(again.proba, np.array(expected).reshape(n, N_LABELS), rtol=1e-8)


def test_features_beyond_float32_change_nothing():
    models, boosting, step = new_models(D, 2 * N_LABELS), new_boosting(N_LABELS, 2, 0.5), Step(0.1, 0.1, 1.0)
    memory, rows = Memory(new_work(models), new_votes(2)), as_rows(np.array([[1.0, 3.5e38]]))
    ones = np.ones((1, N_LABELS), np.uint8)
    boosted = Boosted(models, boosting)
    assert not learn(boosted, rows, ones, np.zeros(0), Params(step, True), memory, new_answers(1))
    assert not predict(boosted, rows, memory, new_answers(1))
    assert not boosting.alphas.any()
