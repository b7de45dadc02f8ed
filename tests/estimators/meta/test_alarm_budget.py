"""Alarm budgets: limits that no world breaks, the recall of hindsight in worlds that stay as they are, and the loop."""

import math
import pickle
from datetime import UTC, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB

from estimators import (
    AlarmBudget,
    DivergedError,
    MeanLabelsClassifier,
    OnlineLogisticRegression,
    PrevalenceThreshold,
    StreamRidgeClassifier,
)
from tests.estimators.learners import Given, Logistic

HOUR = np.timedelta64(1, "h")
MIDNIGHT = np.datetime64("2024-03-01T00:00")


def most_within(positions, span):
    """Return the greatest number of positions within any span, both ends counted."""
    positions = np.sort(np.asarray(positions))
    return max((np.searchsorted(positions, p + span, "right") - i for i, p in enumerate(positions)), default=0)


def spent(P, **parameters):
    """Return the alarms of a learner that knows these probabilities."""
    keys = parameters.pop("keys", None)
    learner = AlarmBudget(Given(), **parameters).begin(P[:1], np.zeros(P[:1].shape, dtype=int))
    return learner.raise_alarms(P, keys)


def world(kind, n_rows, seed, n_labels=4):
    """Draw probabilities that are true, heavy-tailed, sharp, or few as those of a tree; and labels."""
    rng = np.random.default_rng(seed)
    shape = n_rows, n_labels
    Z = {
        "normal": lambda: rng.normal(-6, 2, shape),
        "exponential": lambda: rng.exponential(1.2, shape) - 6,
        "sharp": lambda: np.where(rng.random(shape) < 0.004, rng.normal(1, 1.5, shape), rng.normal(-7, 1, shape)),
        "tied": lambda: np.round(rng.normal(-6, 2, shape)),
    }[kind]()
    return expit(Z), rng.random(shape) < expit(Z)


def best_in_hindsight(scores, Y, n_alarms):
    """Return the recall of the lowest threshold with no more alarms."""
    order = np.argsort(-scores, axis=None, kind="stable")
    ranked, n_above = scores.ravel()[order], min(n_alarms, scores.size - 1)
    while n_above and ranked[n_above - 1] == ranked[n_above]:
        n_above -= 1
    return Y.ravel()[order[:n_above]].sum() / Y.sum()


# ------------------------------------------------------------------ limits
@settings(max_examples=60)
@given(
    st.sampled_from([0.1, 0.7, 1, 3, 20.5]),
    st.sampled_from([1, 8, 30]),
    st.sampled_from([1.0, 10.0]),
    st.integers(0, 2**32 - 1),
)
def test_no_world_breaks_the_budget_of_rows(budget, period, memory, seed):
    rng = np.random.default_rng(seed)
    level = rng.choice([-9.0, 0.0, 9.0], 20).repeat(rng.integers(1, 60, 20))
    P = expit(level[:, np.newaxis] + rng.normal(0, rng.choice([0, 1, 4]), (len(level), 3)))
    rows = np.nonzero(spent(P, budget=budget, period=period, memory=memory))[0]
    assert most_within(rows, 10 * period - 1) <= 10.5 * budget
    for n_periods in (1, 2, 5):
        # one period's worth is saved at most, or one alarm
        assert most_within(rows, n_periods * period - 1) <= n_periods * budget + max(budget, 1) + 1e-6


@settings(max_examples=60)
@given(st.sampled_from([0.3, 2, 15]), st.sampled_from([None, 1, 2]), st.integers(0, 2**32 - 1))
def test_no_world_breaks_the_budget_of_time_or_of_a_key(budget, key_budget, seed):
    rng = np.random.default_rng(seed)
    minutes = rng.choice([0, 1, 20, 900], 400, p=[0.4, 0.4, 0.17, 0.03]).cumsum()
    P = expit(rng.normal(rng.choice([-5, 0, 5], 4).repeat(100)[:, np.newaxis], 2, (400, 2)))
    hosts = rng.choice(["a", "b", "c"], 400)
    keys = {"host": hosts, "at": MIDNIGHT + minutes * np.timedelta64(1, "m")}
    at, _ = np.nonzero(spent(P, budget=budget, period="1h", key_budget=key_budget, keys=keys))
    assert most_within(minutes[at], 600) <= 10.5 * budget
    for host in "abc":
        assert most_within(minutes[at][hosts[at] == host], 60) <= (key_budget or math.inf)


def test_a_large_budget_needs_no_log_of_its_alarms():
    P = expit(np.random.default_rng(0).normal(size=(3000, 30)) + np.repeat([0, 5, -5, 5, 0, 5], 500)[:, np.newaxis])
    learner = AlarmBudget(Given(), budget=1500, period=100).begin(P[:1], np.zeros((1, 30), dtype=int))
    alarms = learner.raise_alarms(P).sum(axis=1)
    assert np.convolve(alarms, np.ones(1000, dtype=int)).max() <= 15750
    assert alarms.sum() > 0.9 * 30 * 1500
    assert learner.memory_bytes_ < 40_000


def test_a_key_alone_is_limited_where_the_budget_is_infinite():
    P = np.array([[0.6, 0.9], [0.9, 0.4], [0.7, 0.7], [0.8, 0.2], [0.9, 0.9]])
    alarms = spent(P, key_budget=1, period=2, keys={"host": list("aabaa")})
    assert alarms.tolist() == [[0, 1], [0, 0], [1, 0], [1, 0], [0, 0]]


def test_only_keys_with_an_alarm_within_the_last_period_are_remembered():
    rng = np.random.default_rng(0)
    learner = AlarmBudget(Given(), budget=5, period=20, key_budget=2).begin([[0.5]], [[0]])
    for start in range(0, 2000, 50):
        P, keys = expit(rng.normal(-2, 3, (50, 1))), {"host": np.arange(start, start + 50)}
        learner.raise_alarms(P, keys)
    assert 0 < len(learner._meter.of_keys) <= 10


# --------------------------------------------------------------------- recall
@pytest.mark.parametrize("kind", ["normal", "exponential", "sharp", "tied"])
@pytest.mark.parametrize(("budget", "period"), [(20, 1000), (50, 500), (200, 5000)])
def test_recall_is_that_of_the_best_threshold_in_hindsight(kind, budget, period):
    losses = []
    for seed in (11, 12):
        P, Y = world(kind, 60 * period, seed)
        # scores need not be probabilities: their order counts
        scores = P if seed == 11 else P**0.3
        recall = (spent(scores, budget=budget, period=period).astype(bool) & Y).sum() / Y.sum()
        losses.append(best_in_hindsight(scores, Y, 60 * budget) - recall)
    assert max(losses) < 0.02


def under_limits(P, threshold, budget, period):
    """Return the alarms from a fixed threshold on, with the limits of an alarm budget."""
    alarms, saved, before, log = np.zeros(P.shape, dtype=bool), 0.0, -1, []
    for row, label in np.argwhere(threshold <= P):
        saved, before = min(saved + (row - before) * budget / period, budget), row
        recent = [at for at in log if row - at < 10 * period]
        if saved >= 1 and len(recent) < 10.5 * budget - 1:
            alarms[row, label] = True
            saved, log = saved - 1, [*recent, row]
    return alarms


@pytest.mark.parametrize("kind", ["normal", "exponential", "sharp", "tied"])
def test_a_small_budget_finds_what_a_fixed_threshold_finds_under_its_limits(kind):
    P, Y = world(kind, 30_000, 13)
    recall = (spent(P, budget=5, period=500).astype(bool) & Y).sum() / Y.sum()
    thresholds = np.quantile(P, 1 - 300 / P.size * np.array([0.7, 0.9, 1.0, 1.1, 1.4]))
    limited = max((under_limits(P, threshold, 5, 500) & Y).sum() / Y.sum() for threshold in thresholds)
    assert recall > limited - 0.02
    # sharp scores come in bursts that may not be spent on
    assert kind == "sharp" or recall > best_in_hindsight(P, Y, 300) - 0.02


@pytest.mark.parametrize("shift", [-3, 3])
def test_the_threshold_follows_scores_that_fall_or_rise(shift):
    P, Y = world("normal", 40_000, 14)
    P[20_000:] = expit(np.log(P[20_000:] / (1 - P[20_000:])) + shift)
    late = slice(23_000, None)
    alarms = spent(P, budget=20, period=1000).astype(bool)
    assert alarms[late].sum() > 0.9 * 17 * 20
    assert (alarms & Y)[late].sum() / Y[late].sum() > best_in_hindsight(P[late], Y[late], 340) - 0.05


@pytest.mark.parametrize("factor", [0.9, 0.5])
@pytest.mark.parametrize("n_together", [1, 25])
def test_scores_that_fall_every_day_have_alarms_every_day(factor, n_together):
    rows = np.arange(20 * 1200)
    days, times = rows // 1200, MIDNIGHT + rows // n_together * n_together * HOUR * 24 // 1200
    P = np.random.default_rng(0).random((len(rows), 1)) * factor ** days[:, np.newaxis]
    alarms = spent(P, budget=20, period="1d", keys={"at": times})[:, 0]
    assert np.bincount(days, alarms)[2:].min() > 5


@pytest.mark.parametrize("low", [0.0, 0.1])
def test_of_hits_that_tie_as_many_are_found_as_the_budget_permits(low):
    rng = np.random.default_rng(0)
    is_hit = np.zeros((20, 1200), dtype=bool)
    is_hit[:, 400:800] = rng.random((20, 400)) < 0.12
    P = np.where(is_hit, 0.9, rng.uniform(0, low, is_hit.shape)).reshape(-1, 1)
    alarms = spent(P, budget=30, period=1200)
    assert alarms.sum() > 0.93 * 20 * 30
    assert (P[alarms == 1] == 0.9).mean() > 0.97


def test_cells_without_any_worth_are_no_alarms():
    assert not spent(np.zeros((500, 2)), budget=20, period=100).any()


def test_most_of_the_budget_is_used_by_day_and_night():
    rng = np.random.default_rng(0)
    hours = np.arange(40 * 24)
    times = (MIDNIGHT + hours * HOUR).repeat(np.where(hours % 24 < 8, 1, 30))
    P = expit(rng.normal(-6, 2, (len(times), 2)))
    alarms = spent(P, budget=10, period="1d", keys={"at": times})
    assert 0.9 * 400 < alarms.sum() <= 420
    late = len(times) // 10
    assert P[late:][alarms[late:] == 1].min() > np.quantile(P, 0.95)


# ---------------------------------------------------------------------- gains
def test_of_cells_that_tie_the_earlier_row_then_the_lower_column_is_an_alarm():
    alarms = spent(np.full((40, 3), 0.2), budget=2, period=10)
    assert np.argwhere(alarms)[:3].tolist() == [[5, 0], [10, 0], [15, 0]]


def test_a_finite_budget_goes_to_the_greatest_gains():
    rng = np.random.default_rng(0)
    P = expit(rng.normal(-7, 1, (20_000, 2)))
    alarms = spent(P, budget=20, period=1000, weights=[1.0, 9.0])
    gains = np.array([1.0, 9.0]) * P - (1 - P)
    best = gains > np.sort(gains, axis=None)[-400]
    assert (alarms.astype(bool) & best)[2000:].sum() > 0.85 * alarms[2000:].sum()
    # all of them lose in the mean
    assert gains[best].min() < 0
    np.testing.assert_array_equal(alarms, spent(P, budget=20, period=1000, weights={1: 9.0}))


def test_an_infinite_budget_raises_all_alarms_that_gain():
    P = np.array([[0.5, 0.5], [0.3, 0.3], [0.1, 0.1]])
    learner = AlarmBudget(Given(), weights={1: 3.0}).begin(P, [[0, 0]] * 3)
    assert learner.predict(P).tolist() == learner.raise_alarms(P).tolist() == [[1, 1], [0, 1], [0, 0]]
    assert learner.threshold_ == 0
    assert learner.saved_ == math.inf


@pytest.mark.parametrize("weights", [1.0, 7.0, [7.0, 7.0]])
def test_an_infinite_budget_with_equal_weights_is_the_learner(weights):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    Y = (X[:, :2] + rng.normal(size=(300, 2)) > 2).astype(int)
    plain = PrevalenceThreshold(OnlineLogisticRegression())
    learner = AlarmBudget(plain, weights=weights)
    for one, two in zip(learner.predict_then_fit(X, Y), plain.predict_then_fit(X, Y), strict=True):
        np.testing.assert_array_equal(one, two)
    for one, two in zip(learner.predict_with_proba(X), plain.predict_with_proba(X), strict=True):
        np.testing.assert_array_equal(one, two)
    assert math.isnan(learner.threshold_)


def test_a_budget_may_be_inside_another_learner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    Y = (X[:, :2] > 1).astype(int)
    inside = AlarmBudget(OnlineLogisticRegression(), budget=20, period=100)
    expected = PrevalenceThreshold(OnlineLogisticRegression()).fit(X, Y).predict_with_proba(X)
    for one, two in zip(PrevalenceThreshold(inside).fit(X, Y).predict_with_proba(X), expected, strict=True):
        np.testing.assert_array_equal(one, two)


def test_predictions_are_at_the_threshold_and_spend_nothing():
    P = world("normal", 5000, 1)[0]
    learner = AlarmBudget(Given(), budget=10, period=500).begin(P, np.zeros(P.shape, dtype=int))
    assert learner.threshold_ == math.inf
    assert not learner.predict(np.ones((1, 4))).any()
    learner.raise_alarms(P)
    before = pickle.dumps(learner)
    predicted = learner.predict(P)
    learner.partial_fit(P, np.zeros(P.shape, dtype=int))
    assert pickle.dumps(learner) == before
    np.testing.assert_array_equal(predicted, learner.threshold_ <= P - (1 - P))
    assert 0.5 < predicted.sum() / 100 < 2


# ------------------------------------------------------------------- the loop
def rows_with_keys(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    Y = np.where(rng.random((n_rows, 2)) < 0.2, np.nan, X[:, :2] + rng.normal(size=(n_rows, 2)) > 1.5)
    Y[rng.random(n_rows) < 0.1] = np.nan
    keys = np.empty(n_rows, dtype=[("at", "datetime64[ms]"), ("host", "U4")])
    keys["at"] = MIDNIGHT + rng.integers(0, 2000, n_rows).cumsum() * np.timedelta64(1, "s")
    keys["host"] = rng.choice(["a", "bb", "c"], n_rows)
    return X, Y, keys


LIMITED = {
    "rows": {"budget": 4, "period": 50},
    "time": {"budget": 10, "period": "1d", "key_budget": 2, "time": "at", "key": "host"},
    "key": {"key_budget": 1, "period": 20, "weights": {0: 2.0}},
}


@pytest.mark.parametrize(
    ("name", "inner"),
    [
        *((name, OnlineLogisticRegression(0.3)) for name in LIMITED),
        *((name, PrevalenceThreshold(Logistic(0.3))) for name in LIMITED),
        # a learner of another package is many times as slow
        ("rows", BernoulliNB()),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_a_chunk_is_the_loop_over_its_rows(name, inner):
    X, Y, keys = rows_with_keys()
    learner = AlarmBudget(inner, **LIMITED[name])
    loop, one_by_one, cut = (clone(learner).begin(X, Y) for _ in range(3))
    whole, proba = learner.predict_then_fit(X, Y, keys=keys)
    assert whole.sum() > 0
    parts = []
    for start, stop in ((0, 1), (1, 90), (90, 400)):
        rows = slice(start, stop)
        parts.append(cut.predict_then_fit(X[rows], Y[rows], keys=keys[rows])[0])
        cut = pickle.loads(pickle.dumps(cut))  # noqa: S301 - our own
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    for i, row in enumerate(slice(i, i + 1) for i in range(len(X))):
        np.testing.assert_array_equal(loop.predict_proba(X[row])[0], proba[i])
        np.testing.assert_array_equal(loop.raise_alarms(X[row], keys[row])[0], whole[i])
        loop.partial_fit(X[row], Y[row])
        both = one_by_one.predict_then_fit_one(X[i], Y[i], keys=keys[i])
        np.testing.assert_array_equal(both, (whole[i], proba[i]))


def test_labels_that_come_later_share_the_budget_and_have_weights_by_name():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    Y = (X > 1.5).astype(int)
    inner = OnlineLogisticRegression(0.5, on_new_labels="grow")
    learner = AlarmBudget(inner, budget=20, period=200, weights={"worm": 5.0})
    learner.predict_then_fit(X[:1000], Y[:1000, :1], classes=["scan"])
    for i in range(1000, 3000):
        alarms, _ = learner.predict_then_fit_one(X[i], Y[i], classes=["scan", "worm"])
        assert alarms.shape == (2,)
    predicted = learner.predict(X)
    assert (predicted[Y == 1].reshape(-1).mean()) > 0.3
    assert learner._weights.of_labels.tolist() == [1.0, 5.0]


def test_keys_may_be_arrays_mappings_or_frames():
    X, Y, keys = rows_with_keys(60)
    learner = AlarmBudget(MeanLabelsClassifier(), **LIMITED["time"])
    expected = clone(learner).predict_then_fit(X, Y, keys=keys)[0]
    columns = {"other": np.arange(60), "at": keys["at"], "host": keys["host"]}
    moments = [at.replace(tzinfo=UTC).astimezone(timezone(timedelta(hours=2))) for at in keys["at"].tolist()]
    for form in (columns, pd.DataFrame(columns), pl.DataFrame(columns), {"at": moments, "host": keys["host"]}):
        np.testing.assert_array_equal(clone(learner).predict_then_fit(X, Y, keys=form)[0], expected)


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 0}, "budget must be a number of alarms a period, at least 0.1"),
        ({"budget": -1}, "budget must be"),
        ({"budget": math.nan}, "budget must be"),
        ({"budget": True}, "budget must be"),
        ({"budget": "5"}, "budget must be"),
        ({"period": 0}, "period must be an integer of at least 1"),
        ({"period": 2.5}, "period must be an integer"),
        ({"period": "0d"}, "period must be a whole number, at least 1, and a unit"),
        ({"period": "1 week"}, "period must be"),
        ({"weights": 0}, "weights must be finite and greater than 0. Got 0"),
        ({"weights": {0: -1}}, "weights must be finite"),
        ({"weights": [1, math.nan]}, "weights must be finite"),
        ({"weights": [1, 2, 3]}, "one number for each of the 2 labels"),
        ({"weights": {"worm": 2}}, "weights must be of labels"),
        ({"key_budget": 0}, "key_budget must be an integer of at least 1"),
        ({"key": 3}, "key must be the name of a field"),
        ({"memory": 0.5}, "memory must be a number of periods, at least 1"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    learner = AlarmBudget(Given(), **parameters)
    with pytest.raises(ValueError, match=message):
        learner.partial_fit([[0.5, 0.5]], [[0, 1]])
    assert vars(learner) == learner.get_params(deep=False)


AT = [MIDNIGHT, MIDNIGHT + HOUR]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (None, "keys must be passed"),
        ([1, 2], "keys must have named fields"),
        ({"host": ["a", "b"]}, "time must name one of the fields"),
        ({"at": AT, "since": AT, "host": ["a", "b"]}, "time must name one of the fields .* 2 that can"),
        ({"at": AT}, "key must name one of the fields"),
        ({"at": AT[:1], "host": ["a"]}, "an entry for each of the 2 rows"),
        ({"at": AT[::-1], "host": ["a", "b"]}, "Times of rows must not fall. Got 2024-03-01T00:00:00.000000 in row 1"),
        (
            {"at": [AT[0], np.datetime64("NaT", "us")], "host": ["a", "b"]},
            "times in 'at' must hold one for each row. Got NaT in row 1",
        ),
        *(
            ({"at": [pd.Timestamp(MIDNIGHT), missing], "host": ["a", "b"]}, "Got NaT in row 1")
            for missing in (pd.NaT, None)
        ),
        (
            {"at": AT, "host": pd.array(["a", None], dtype="string")},
            "keys must hold a key for each row. Got <NA> in row 1",
        ),
        ({"at": AT, "host": ["a", None]}, "keys must hold a key for each row. Got None in row 1 of 'host'"),
        ({"at": [MIDNIGHT - HOUR, MIDNIGHT], "host": ["a", "b"]}, "must not fall. Got .* in row 0 after"),
    ],
)
def test_wrong_keys_are_refused_and_change_nothing(keys, message):
    X, Y = np.full((2, 1), 0.5), np.zeros((2, 1), dtype=int)
    learner = AlarmBudget(OnlineLogisticRegression(), 5, period="1h", key_budget=1)
    learner.predict_then_fit(X[:1], Y[:1], keys={"at": [MIDNIGHT], "host": ["a"]})
    before = pickle.dumps(learner)
    for spend in (lambda: learner.predict_then_fit(X, Y, keys=keys), lambda: learner.raise_alarms(X, keys)):
        with pytest.raises(ValueError, match=message):
            spend()
    assert pickle.dumps(learner) == before


def test_milliseconds_are_no_seconds():
    learner = AlarmBudget(OnlineLogisticRegression(), 5, period="1h", time="at").begin([[0.5]], [[0]])
    with pytest.raises(ValueError, match=r"below 1e11.* Got 1767225600000; divide milliseconds by 1000"):
        learner.raise_alarms([[0.5]], {"at": [1767225600000]})
    learner.raise_alarms([[0.5]], {"at": [1767225600]})


def test_the_advised_fields_may_be_named():
    with pytest.raises(ValueError, match=r"keys must have the field 'ip'\. Got at, host instead"):
        spent(np.ones((2, 1)), budget=1, key="ip", key_budget=1, keys={"at": AT, "host": ["a", "b"]})
    with pytest.raises(ValueError, match="times in 'host' must be datetimes, ISO 8601 texts, or seconds"):
        spent(np.ones((2, 1)), budget=1, period="1d", time="host", keys={"at": AT, "host": ["a", "b"]})


class Unsure(Logistic):
    """Return NaN for rows of NaN's sign."""

    def _predict_proba(self, X):
        return np.where(X[:, :1] < 0, np.nan, super()._predict_proba(X))


NO_PROBABILITY = r"estimator must return probabilities\. Got NaN in row"


def test_probabilities_that_are_nan_change_nothing():
    X, Y = np.array([[1.0], [-1.0]]), np.array([[1], [0]])
    learner = AlarmBudget(Unsure(), budget=2, period=1).partial_fit(X, Y)
    before, unknown = pickle.dumps(learner), np.full((2, 1), np.nan)
    for spend in (
        lambda: learner.raise_alarms(X),
        lambda: learner.predict_then_fit(X, unknown),
        lambda: learner.predict_then_fit_one(X[1], unknown[1]),
    ):
        with pytest.raises(ValueError, match=NO_PROBABILITY):
            spend()
        assert pickle.dumps(learner) == before


def test_a_classifier_that_has_learnt_after_nan_has_diverged():
    X, Y = np.array([[1.0], [-1.0]]), np.array([[1], [0]])
    learner = AlarmBudget(Unsure(), budget=2, period=1).partial_fit(X, Y)
    with pytest.raises(DivergedError, match=NO_PROBABILITY):
        learner.predict_then_fit(X, Y)
    with pytest.raises(DivergedError, match="call `fit` to start again"):
        learner.predict(X)


def test_a_row_copies_no_classifier(monkeypatch):
    X, Y = np.arange(20.0).reshape(10, 2), np.eye(2, dtype=int)[np.arange(10) % 2]
    learner = AlarmBudget(StreamRidgeClassifier(), budget=2, period=5).partial_fit(X, Y)
    monkeypatch.setattr(StreamRidgeClassifier, "__deepcopy__", None)
    learner.predict_then_fit_one(X[0], Y[0])
    learner.predict_then_fit(X, np.full((10, 2), np.nan))


def test_classes_need_an_infinite_budget():
    X, y = np.arange(8.0)[:, np.newaxis], np.array(list("aabbccaa"))
    plain = AlarmBudget(BernoulliNB()).fit(X, y)
    assert plain.predict(X).tolist() == plain.raise_alarms(X).tolist()
    with pytest.raises(ValueError, match="y must be a table of labels"):
        AlarmBudget(BernoulliNB(), budget=5).fit(X, y)
    assert not AlarmBudget(BernoulliNB(), period=5).uses_keys
