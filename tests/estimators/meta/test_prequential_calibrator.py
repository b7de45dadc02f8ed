"""Calibrated probabilities come near the true ones, in the same ranking."""

import numpy as np
import pytest
from scipy.special import expit, logit

from estimators import BinaryRelevance, DivergedError, OnlineLogisticRegression, PrequentialCalibrator
from estimators.contract.base import StreamClassifier
from estimators.contract.traits import Traits
from metrics import brier_score


class Given(StreamClassifier):
    """A learner whose probabilities are its features."""

    _traits = Traits(learns_unknown=True)
    on_new_labels = "error"

    def _start(self):
        pass

    def _learn(self, X, Y, mask, weight):
        pass

    def _predict_proba(self, X):
        return X


def make_world(seed, base, n_rows=6000, n_labels=6):
    rng = np.random.default_rng(seed)
    log_odds = base + rng.normal(size=n_labels) + 1.5 * rng.normal(size=(n_rows, n_labels))
    return log_odds, (rng.random(log_odds.shape) < expit(log_odds)).astype(int), rng


DISTORTED = {
    "true": lambda odds: odds,
    "too sure": lambda odds: 3 * odds,
    "too cautious": lambda odds: 0.4 * odds,
    "too high": lambda odds: odds + 2,
    "uneven": lambda odds: odds * np.geomspace(0.4, 2.5, odds.shape[1]),
    "bent": lambda odds: logit(expit(odds) ** 0.4),
}


@pytest.mark.parametrize("base", [-1.0, -5.0])
@pytest.mark.parametrize("name", DISTORTED)
def test_probabilities_come_near_the_true_ones(name, base):
    for seed in (101, 102):
        odds, Y, _ = make_world(seed, base)
        raw, late = expit(DISTORTED[name](odds)), slice(2000, None)
        proba = PrequentialCalibrator(Given()).fit(raw[:1], Y[:1]).predict_then_fit(raw, Y)[1]
        best, before, after = (brier_score(Y[late], p[late]) for p in (expit(odds), raw, proba))
        assert after - best < 0.0015
        assert after < before + 0.0005


def test_a_change_of_the_distortion_is_followed():
    odds, Y, _ = make_world(103, -1.0)
    raw = expit(np.where(np.arange(len(odds))[:, np.newaxis] < 3000, 3 * odds, 0.5 * odds + 1))
    proba = PrequentialCalibrator(Given(), memory=500).predict_then_fit(raw, Y)[1]
    late = slice(4500, None)
    best, before, after = (brier_score(Y[late], p[late]) for p in (expit(odds), raw, proba))
    assert after - best < 0.2 * (before - best)


@pytest.mark.parametrize("method", ["beta", "sigmoid"])
@pytest.mark.parametrize("said", [0.0, 0.01, 0.9, 1.0, None])
@pytest.mark.parametrize("share", [0.1, 0.7])
def test_scores_that_say_nothing_become_the_share_of_the_label(share, said, method):
    rng = np.random.default_rng(0)
    Y = (rng.random((3000, 2)) < share).astype(int)
    scores = (rng.random(Y.shape) < 1 - share) * 1.0 if said is None else np.full(Y.shape, said)
    _, proba = PrequentialCalibrator(Given(), method=method).predict_then_fit(scores, Y)
    assert brier_score(Y[1500:], proba[1500:]) < share * (1 - share) + 0.01


def test_a_rare_label_is_calibrated_as_the_others_are():
    odds, Y, _ = make_world(104, -1.0, n_rows=3000)
    odds[:, 0] -= 6
    Y[:, 0] = np.random.default_rng(0).random(len(Y)) < expit(odds[:, 0])
    raw = expit(odds + 2)
    proba = PrequentialCalibrator(Given()).predict_then_fit(raw, Y)[1]
    assert Y[:, 0].sum() < 30
    assert abs(proba[1000:, 0].mean() / Y[1000:, 0].mean() - 1) < 0.5 < raw[1000:, 0].mean() / Y[1000:, 0].mean() - 1


@pytest.mark.parametrize("method", ["beta", "sigmoid"])
def test_more_probable_stays_more_probable(method):
    odds, Y, rng = make_world(105, -1.0, n_rows=500)
    learner = PrequentialCalibrator(Given(), method=method).fit(expit(-2 * odds), Y)
    grid = np.sort(rng.random((200, 6)), axis=0)
    grid[0], grid[-1] = 0, 1
    proba = learner.predict_proba(grid)
    assert (np.diff(proba, axis=0) > 0).all()
    assert (proba > 0).all()
    assert (proba < 1).all()


def test_maps_are_the_formula_of_the_documentation():
    odds, Y, _ = make_world(106, -2.0, n_rows=2000)
    learner = PrequentialCalibrator(Given()).fit(expit(2 * odds + 1), Y)
    a, b, c = learner.maps_.T
    usual = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    p = (300 * expit(odds[:50]) + usual) / 301
    np.testing.assert_allclose(learner.predict_proba(expit(odds[:50])), expit(a * np.log(p) - b * np.log(1 - p) + c))


def test_classes_are_calibrated_against_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = np.argmax(X + rng.gumbel(size=X.shape), axis=1)
    plain, calibrated = (
        learner.predict_then_fit(X, np.array(["a", "b", "c"])[y])
        for learner in (OnlineLogisticRegression(1.0), PrequentialCalibrator(OnlineLogisticRegression(1.0)))
    )
    np.testing.assert_allclose(calibrated[1].sum(axis=1), 1)
    np.testing.assert_array_equal(calibrated[0], np.array(["a", "b", "c"])[calibrated[1].argmax(axis=1)])
    scores = [brier_score(np.eye(3)[y], proba) for _, proba in (plain, calibrated)]
    assert scores[1] < scores[0] + 0.001


def test_unknown_labels_and_rows_of_no_weight_teach_nothing():
    odds, Y, rng = make_world(107, -1.0, n_rows=300)
    raw, known = expit(3 * odds), rng.random(Y.shape) < 0.7
    known[:100, 2] = False
    hidden = np.where(known, Y, np.nan)
    parts = [PrequentialCalibrator(Given(), memory=1e12).fit(raw[:, [j]], hidden[:, [j]]) for j in range(6)]
    for j, part in enumerate(parts):
        rows = known[:, j]
        alone = PrequentialCalibrator(Given(), memory=1e12).fit(raw[rows][:, [j]], Y[rows][:, [j]])
        np.testing.assert_allclose(part.maps_, alone.maps_, rtol=1e-6)
    weighted = PrequentialCalibrator(Given()).fit(raw, Y, sample_weight=(np.arange(300) < 200).astype(float))
    np.testing.assert_allclose(weighted.maps_, PrequentialCalibrator(Given()).fit(raw[:200], Y[:200]).maps_)


def test_what_is_not_a_probability_is_refused_and_marks_the_learner():
    class Wrong(Given):
        def _predict_proba(self, X):
            return X * np.nan

    learner = PrequentialCalibrator(Wrong())
    with pytest.raises(DivergedError, match=r"estimator must return probabilities in \[0, 1\]. Got nan in row 0"):
        learner.fit(np.full((3, 2), 0.5), np.zeros((3, 2), int))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"method": "isotonic"}, "method must be one of"), ({"memory": 0}, "memory must be a number of rows, at least 1")],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PrequentialCalibrator(BinaryRelevance(Given()), **options).fit([[0.5]], [[1]])
