"""Predictions are read in every form that scikit-learn uses, and refused if they are not valid."""

import numpy as np
import pytest
from scipy import sparse

from mlstream.evaluation.predictions import join_predictions, no_predictions, read_predictions

DECIDED = [[1, 0], [0, 1], [1, 1]]
PROBA = [[0.9, 0.5], [0.2, 0.7], [0.4, 0.6]]


@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_matrix, sparse.csr_array, lambda Y: np.array(Y, dtype=float), list]
)
def test_decisions_of_any_kind_of_matrix_become_bytes(form):
    predictions = read_predictions("Learner", form(DECIDED), PROBA, (3, 2))
    assert predictions.decided.dtype == np.uint8
    assert predictions.decided.tolist() == DECIDED
    assert predictions.proba.tolist() == PROBA


def test_probabilities_decide_where_the_learner_does_not_and_decisions_are_certain_without_probabilities():
    assert read_predictions("Learner", None, PROBA, (3, 2)).decided.tolist() == [[1, 1], [0, 1], [0, 1]]
    assert read_predictions("Learner", DECIDED, None, (3, 2)).proba.tolist() == DECIDED


def test_probabilities_may_leave_the_unit_interval_by_rounding_only():
    proba = np.array([[1 + 1e-9, -1e-9]])
    assert read_predictions("Learner", None, proba, (1, 2)).proba.tolist() == [[1.0, 0.0]]
    with pytest.raises(ValueError, match=r"The result of Learner.predict_proba must be in \[0, 1\]. Got 1.01"):
        read_predictions("Learner", None, proba + 0.01, (1, 2))


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.5, -1.0])
def test_a_decision_is_zero_or_one(value):
    with pytest.raises(ValueError, match=f"must be 0 or 1. Got {value} for label 1"):
        read_predictions("Learner", [[0.0, value]], None, (1, 2))


def test_no_answer_is_refused():
    with pytest.raises(ValueError, match=r"L must have predict or predict_proba\."):
        read_predictions("L", None, None, (1, 2))


def test_answers_are_put_together_in_order():
    parts = [read_predictions("Learner", DECIDED, PROBA, (3, 2)), no_predictions(1, 2)]
    joined = join_predictions(parts)
    assert joined.decided.tolist() == [*DECIDED, [0, 0]]
    assert joined.proba.tolist() == [*PROBA, [0.0, 0.0]]
