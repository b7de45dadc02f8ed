"""Drift in StreamRidge: models and weights equal to slow loops, recall of concepts, no drift where there is none."""

from copy import deepcopy

import numpy as np
import pytest

from estimators import StreamRidgeClassifier
from estimators.ridge import _concepts
from estimators.ridge._concepts import Concepts, Expert
from estimators.ridge._kernels.ridge import reweigh
from estimators.ridge._sums import Block, Model, Sums, solve
from metrics import ba_macro
from tests.estimators.ridge.concepts_oracle import SlowConcepts


def drifting_rows(lengths, concepts, seed=0, n_features=4, noise=0.5):
    """Draw rows whose labels depend on the features by the coefficients of one concept after another."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(max(concepts) + 1, n_features, 3))
    X = rng.normal(size=(sum(lengths), n_features))
    parts = np.split(X, np.cumsum(lengths)[:-1])
    scores = np.vstack([part @ weights[concept] for part, concept in zip(parts, concepts, strict=True)])
    Y = (scores + noise * rng.normal(size=scores.shape) > 0.8).astype(int)
    return X, Y


def plain_ridge(**params):
    return StreamRidgeClassifier(knots=0, hidden_units=0, random_state=0, **params)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lengths", "concepts", "seed", "max_stored", "events"),
    [
        ((500, 400, 300), (0, 1, 0), 0, 4, ["begin", "recall"]),
        ((400, 350, 350, 350), (0, 1, 2, 0), 5, 1, ["begin", "begin"]),
    ],
)
def test_models_and_weights_are_those_of_slow_loops(monkeypatch, lengths, concepts, seed, max_stored, events):
    monkeypatch.setattr(_concepts, "_MAX_STORED", max_stored)
    X, Y = drifting_rows(lengths, concepts, seed)
    mask = np.random.default_rng(1).random(Y.shape) < 0.9
    mask[:, 0] |= ~mask.any(axis=1)
    # a refresh of nothing computes the coefficients of all rows after every row
    ridge = plain_ridge(refresh=1e-9, l2=1.0)
    slow, n = None, 0
    for stop in (50, 180, 300, 560, 700, 950, 1100, len(X)):
        ridge.partial_fit(X[n:stop], Y[n:stop], label_mask=mask[n:stop])
        F = ridge._basis_.expand(X)
        slow = slow or SlowConcepts(F[:, 1:], Y, mask, max_stored)
        slow.learn(stop)
        np.testing.assert_allclose(ridge._late_score(F[-30:]), slow.scores(F[-30:, 1:]), atol=1e-7)
        expected = [fact["weight"] for fact in slow.facts]
        np.testing.assert_allclose(ridge._concepts_.contest.weights, expected, atol=1e-7)
        n = stop
    assert slow.events[:2] == events


def test_a_concept_that_returns_is_recalled_and_predicted_at_once():
    X, Y = drifting_rows((1000, 1000, 1000), (0, 1, 0), seed=3, n_features=6)
    ridge = plain_ridge()
    ridge.partial_fit(X[:2000], Y[:2000])
    assert len(ridge._concepts_.experts) == 3
    assert ridge._concepts_.is_new
    decided, _ = ridge.predict_then_fit(X[2000:], Y[2000:])
    assert not ridge._concepts_.is_new
    assert ridge._concepts_.experts[1].n_rows > 1700
    forgetful, _ = plain_ridge().partial_fit(X[1000:2000], Y[1000:2000]).predict_then_fit(X[2000:], Y[2000:])
    first = slice(0, 200)
    recalled, forgot = (ba_macro(Y[2000:][first], one[first]) for one in (decided, forgetful))
    assert recalled > forgot + 0.05


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_forgotten_where_nothing_drifts(seed):
    X, Y = drifting_rows((3000,), (0,), seed)
    ridge = plain_ridge()
    ridge.partial_fit(X, Y)
    assert len(ridge._concepts_.experts) == 1


def test_frequencies_that_change_are_no_drift():
    X, Y = drifting_rows((6000,), (0,))
    often = Y[:, 0] == 1
    rows = np.r_[np.flatnonzero(~often)[:1500], np.flatnonzero(often)[:500]]
    ridge = plain_ridge()
    ridge.partial_fit(X[rows], Y[rows])
    assert len(ridge._concepts_.experts) == 1


def test_following_drifts_is_better_than_not_following_them():
    X, Y = drifting_rows((800, 800, 800), (0, 1, 2), seed=5)
    scores = [ba_macro(Y, plain_ridge(follow_drift=follow).predict_then_fit(X, Y)[0]) for follow in (False, True)]
    assert scores[1] > scores[0] + 0.05


@pytest.mark.parametrize("late_in_predict", [False, True])
def test_cuts_and_copies_leave_the_bits_where_concepts_change(late_in_predict):
    X, Y = drifting_rows((700, 500, 400), (0, 1, 0), seed=3)
    ridge = plain_ridge(late_in_predict=late_in_predict)
    decided, proba = ridge.predict_then_fit(X, Y)
    assert len(ridge._concepts_.experts) > 2
    cut, parts = plain_ridge(late_in_predict=late_in_predict), []
    for start in range(0, len(X), 37):
        parts.append(cut.predict_then_fit(X[start : start + 37], Y[start : start + 37]))
        cut = deepcopy(cut)
    np.testing.assert_array_equal(np.vstack([part[1] for part in parts]), proba)
    np.testing.assert_array_equal(np.vstack([part[0] for part in parts]), decided)
    np.testing.assert_array_equal(cut.predict_proba(X), ridge.predict_proba(X))


def test_predict_expects_the_current_concept_if_asked_and_the_mean_of_all_rows_otherwise():
    X, Y = drifting_rows((700, 500), (0, 1), seed=3)
    follow = plain_ridge(late_in_predict=True)
    follow.partial_fit(X[:1100], Y[:1100])
    one, two = deepcopy(follow), follow
    for row in range(1100, 1110):
        expected = one.predict_then_fit(X[row : row + 1], Y[row : row + 1])
        np.testing.assert_array_equal(two.predict_proba(X[row : row + 1]), expected[1])
        two.partial_fit(X[row : row + 1], Y[row : row + 1])
    usual = plain_ridge().partial_fit(X, Y)
    never = plain_ridge(follow_drift=False).partial_fit(X, Y)
    np.testing.assert_allclose(usual.model_.coef, never.model_.coef, atol=1e-10)


def test_labels_that_appear_after_a_drift_are_learnt():
    X, Y = drifting_rows((700, 500, 500), (0, 1, 0), seed=3)
    ridge = plain_ridge(on_new_labels="grow")
    ridge.partial_fit(X[:1100], Y[:1100, :2])
    ridge.partial_fit(X[1100:], Y[1100:])
    assert [expert.model.coef.shape[1] for expert in ridge._concepts_.experts] == [3] * len(ridge._concepts_.experts)
    assert ba_macro(Y[1200:], ridge.predict(X[1200:])) > 0.7


def test_a_model_that_never_saw_a_label_does_not_hide_what_that_of_all_rows_knows():
    everything = Model(np.array([[0.2, 0.1], [1.0, 2.0]]), np.array([0.3, 0.4]))
    concepts = Concepts.start(2, 2)
    sums = Sums.zeros(2, 2)._replace(in_mask=np.full((2, 2), 60.0))
    recent = Expert(sums, 60, 99, Model(np.array([[0.5, 0.0], [3.0, 0.0]]), np.array([0.5, 0.0])))
    coef = concepts._replace(experts=(recent,)).with_models(everything).coef
    np.testing.assert_allclose(coef, [[0.2, 0.1, 0.3, 0.1], [1.0, 2.0, 3.0, 2.0]])


def test_weights_keep_the_bound_of_fixed_share():
    # that of Herbster and Warmuth 1998, for the loss of the mixture, -log(sum(w * exp(-rate * loss))) / rate
    rng = np.random.default_rng(0)
    n_rows, n_models, rate, share = 600, 4, 2.0, 0.002
    losses = rng.random((n_rows, n_models))
    best = np.repeat([2, 0, 2], 200)
    losses[np.arange(n_rows), best] *= 0.5
    weights, mixed = np.full(n_models, 1 / n_models), 0.0
    for row in losses:
        before = weights.copy()
        mixed -= np.log(before @ np.exp(-rate * row)) / rate
        reweigh(row, weights)
        expected = before * np.exp(-rate * row)
        expected = (1 - share) * expected / expected.sum() + share / n_models
        np.testing.assert_allclose(weights, expected, rtol=1e-12)
    switches = 2
    stay, leave = 1 - share + share / n_models, share / n_models
    regret = np.log(n_models) - switches * np.log(leave) - (n_rows - 1 - switches) * np.log(stay)
    assert mixed <= losses[np.arange(n_rows), best].sum() + regret / rate


def rows_with_features_of_one_concept():
    X, Y = drifting_rows((700, 500, 400), (0, 1, 0), seed=3)
    loud = 1e6 * np.random.default_rng(0).random((len(X), 30))
    loud[:700], loud[1200:] = 0.1, 0.1
    return np.hstack([X, loud]), Y


def test_features_that_vary_in_one_concept_only_are_constants_of_the_others():
    X, Y = rows_with_features_of_one_concept()
    ridge = StreamRidgeClassifier(random_state=0)
    for start in range(0, len(X), 100):
        ridge.partial_fit(X[start : start + 100], Y[start : start + 100])
    assert len(ridge._concepts_.experts) == 3
    assert np.isfinite(ridge.predict_proba(X)).all()


def test_sums_without_some_rows_have_the_model_of_the_other_rows():
    X, Y = rows_with_features_of_one_concept()
    F, ones = np.hstack([np.ones((1200, 1)), X[:1200]]), np.ones((1200, 3))
    mask = ones * [1, 1, 0]
    mask[700:, 2] = 1
    blocks = [
        Block(F[rows], Y[rows] * mask[rows], mask[rows], ones[rows, 0]) for rows in (slice(700), slice(700, 1200))
    ]
    left = Sums.of(blocks).minus(Sums.of(blocks[1:]))
    penalty = np.full(X.shape[1], 1e-3)
    for model, expected in zip(solve(left, penalty), solve(Sums.of(blocks[:1]), penalty), strict=True):
        np.testing.assert_allclose(model, expected, atol=1e-9)
