"""Calibration of scores: equal to a slow loop, inside (0, 1); late labels are believed as far as they hold."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators import StreamRidgeClassifier
from estimators.ridge._calibration import Calibration
from metrics import nce
from tests.estimators.ridge.slow_calibration import sigmoid, slow_evidence, slow_loop


def stream(n=400, n_labels=3, seed=0):
    """Draw scores that tell something of their labels, a mask, weights."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < rng.uniform(0.05, 0.6, n_labels)).astype(np.uint8)
    scores = 0.2 + 0.3 * Y + rng.normal(size=Y.shape) * 0.3
    return scores, Y, rng.random(Y.shape) < 0.8, rng.choice([0.5, 1.0, 2.0], n)


def runs_of_labels(length, n=3000, seed=1):
    """Draw labels that stay as they are for some rows, and scores that tell little."""
    rng = np.random.default_rng(seed)
    Y = np.repeat(rng.random((n // length, 4)) < 0.3, length, axis=0).astype(np.uint8)
    return 0.3 + 0.05 * Y + rng.normal(size=Y.shape) * 0.1, Y


def learn(scores, Y, counted=None, weight=None, memory=20.0):
    counted = np.ones(Y.shape, dtype=bool) if counted is None else counted
    weight = np.ones(len(Y)) if weight is None else weight
    return Calibration.start(Y.shape[1], memory).estimate_then_learn(scores, Y, counted, weight)


@pytest.mark.parametrize("memory", [20.0, 3.0])
def test_a_slow_loop_finds_the_same(memory):
    scores, Y, counted, weight = stream(n=120)
    Y[:, 2] = 0
    counted[:40, 0] = False
    decided, proba, after = learn(scores, Y, counted, weight, memory)
    *expected, mean, steady, labels = slow_loop(scores, Y, counted, weight, memory)
    np.testing.assert_allclose(proba, expected[1], rtol=1e-9)
    np.testing.assert_array_equal(decided, expected[0])
    evidence = slow_evidence(scores[0], labels, memory)
    assert np.ptp(evidence[:, 4:7]) > 0.1
    np.testing.assert_allclose(after.estimate(scores[:1], late=True)[1][0], sigmoid(evidence @ mean), rtol=1e-9)
    evidence[:, 4:7] = 0
    np.testing.assert_allclose(after.estimate(scores[:1], late=False)[1][0], sigmoid(evidence @ steady), rtol=1e-9)


# ---------------------------------------------------------------- properties
def test_cuts_change_no_bit_and_nothing_is_changed_in_place():
    scores, Y, counted, weight = stream()
    _, proba, after = learn(scores, Y, counted, weight)
    one = Calibration.start(3, 20.0)
    start = [part.copy() for part in one]
    first = one
    for i in range(0, 400, 7):
        rows = slice(i, i + 7)
        next_row = one.estimate(scores[i : i + 1], late=True)[1]
        np.testing.assert_array_equal(next_row, proba[i : i + 1])
        _, found, one = one.estimate_then_learn(scores[rows], Y[rows], counted[rows], weight[rows])
        np.testing.assert_array_equal(found, proba[rows])
    for part, other in zip(one, after, strict=True):
        np.testing.assert_array_equal(part, other)
    for part, other in zip(first, start, strict=True):
        np.testing.assert_array_equal(part, other)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(), min_size=12, max_size=12), st.integers(0, 2**12 - 1), st.floats(1e-3, 1e12))
def test_any_scores_give_probabilities_inside_zero_and_one(values, labels, weight):
    scores = np.array(values).reshape(6, 2)
    Y = np.array([labels >> i & 1 for i in range(12)], dtype=np.uint8).reshape(6, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, proba, after = learn(scores, Y, weight=np.full(6, weight))
    for found in (proba, after.estimate(scores, late=True)[1], after.estimate(scores, late=False)[1]):
        assert ((found > 0) & (found < 1)).all()
    assert all(np.isfinite(part).all() for part in after)
    assert np.linalg.eigvalsh(after.covariance).min() > 0


def test_labels_that_stay_for_a_while_are_believed_and_others_are_not():
    (_, _, lasting), (_, _, mixed) = (learn(*runs_of_labels(length)) for length in (30, 1))
    assert lasting.weights[4:7].sum() > 0.9
    assert abs(mixed.weights[4:7].sum()) < 0.3


def test_where_rows_need_not_follow_those_learnt_labels_are_as_frequent_as_usual():
    scores, Y = runs_of_labels(30)
    Y[-30:] = [1, 0, 0, 0]
    after = learn(scores, Y)[2]
    late, usual = (after.estimate(np.full((1, 4), 0.3), late=late)[1][0] for late in (True, False))
    assert late[0] > 0.7
    assert 0.2 < usual[0] < 0.45
    assert late[1] < 0.1 < usual[1]


def test_probabilities_are_those_that_drew_the_labels():
    rng = np.random.default_rng(3)
    truth = 1 / (1 + np.exp(-rng.normal(-1, 1.5, (4000, 3))))
    Y = (rng.random(truth.shape) < truth).astype(np.uint8)
    # scores that are too careful, as those of a strongly penalised regression are
    found = learn(0.2 + 0.4 * truth, Y)[1]
    assert nce(Y[1000:], found[1000:]) < nce(Y[1000:], truth[1000:]) + 0.02
    assert nce(Y[1000:], np.clip(0.2 + 0.4 * truth[1000:], 0, 1)) > nce(Y[1000:], truth[1000:]) + 0.05


def test_ridge_calibrates_its_own_scores_row_by_row():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(260, 4))
    Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(260, 3)) > 0.7).astype(np.uint8)
    ridge = StreamRidgeClassifier(random_state=0, hidden_units=4, knots=1, memory=8.0, follow_drift=False)
    scores, found = [], []
    for start in range(260):
        row = slice(start, start + 1)
        scores.append(ridge._score(ridge._features(X[row])) if start else np.full((1, 3), 0.5))
        found.append(ridge.predict_then_fit(X[row], Y[row]))
    expected = learn(np.concatenate(scores), Y, memory=8.0)
    for one, two in zip(zip(*found, strict=True), expected[:2], strict=True):
        np.testing.assert_array_equal(np.concatenate(one), two)
