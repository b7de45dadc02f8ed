"""Budgets of labels are kept in every window, and nothing but what was asked for is learnt."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from estimators import (
    BinaryRelevance,
    DivergedError,
    HoeffdingTreeClassifier,
    LabelBudget,
    OnlineLogisticRegression,
    StreamRidgeClassifier,
)
from estimators.contract.base import StreamClassifier
from estimators.contract.traits import Traits
from tests.loops import check_all

STRATEGIES = ["random", "uncertainty", "cardinality", "rarity"]
LEARNERS = {
    "logistic": OnlineLogisticRegression(0.3),
    "trees": BinaryRelevance(HoeffdingTreeClassifier(grace_period=10)),
    "ridge with the task": StreamRidgeClassifier(random_state=0),
}


class Given(StreamClassifier):
    """A learner whose probabilities are its features; it notes which labels it has learnt of each row."""

    on_new_labels = "error"
    _traits = Traits(learns_unknown=True)

    def __init__(self, with_task=False):
        self.with_task = with_task

    @property
    def uses_task(self):
        return self.with_task

    def _start(self):
        self.learnt_ = {}

    def _learn(self, X, Y, mask, weight):
        known = (Y != 2) if mask is None else mask
        self.learnt_ |= {tuple(x): np.flatnonzero(cells).tolist() for x, cells in zip(X, known, strict=True)}

    def _predict_proba(self, X):
        return X


class WholeRows(Given):
    """The same, of rows whose labels are all known."""

    _traits = Traits()


def world(n_rows=400, n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, :n_labels] + 0.3 * rng.normal(size=(n_rows, n_labels)) > 0.5).astype(int)


@given(
    n_rows=st.integers(1, 250),
    budget=st.floats(0.02, 1),
    window=st.integers(50, 90) | st.none(),
    strategy=st.sampled_from(STRATEGIES),
    ask=st.sampled_from(["rows", "labels"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_window_and_no_beginning_is_overspent(n_rows, budget, window, strategy, ask, seed):
    X = np.random.default_rng(seed).random((n_rows, 2))
    learner = LabelBudget(Given(), budget, strategy=strategy, ask=ask, window=window, random_state=seed % 2**32)
    asked = learner.begin(X[:1], np.zeros((1, 2))).query(X)
    spent = np.append(0, asked.mean(axis=1).cumsum())
    length = window or math.ceil(10 / budget)
    assert (spent <= budget * np.arange(n_rows + 1) + 1e-6).all()
    for multiple in range(length, n_rows + 1, length):
        assert (spent[multiple:] - spent[:-multiple]).max() <= budget * multiple + 1e-6
    assert math.isclose(learner.share_asked_, spent[-1] / n_rows, abs_tol=1e-9)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("ask", ["rows", "labels"])
def test_most_of_the_budget_is_spent(strategy, ask):
    X, Y = world(3000)
    for budget in (0.02, 0.1, 0.5, 0.9):
        learner = LabelBudget(OnlineLogisticRegression(), budget, strategy=strategy, ask=ask, random_state=0)
        assert learner.partial_fit(X, Y).share_asked_ > 0.9 * budget


@pytest.mark.parametrize("name", LEARNERS)
def test_a_label_that_is_not_asked_for_changes_nothing(name):
    def check(how):
        strategy, ask = how
        X, Y = world()
        learner = LabelBudget(LEARNERS[name], 0.3, strategy=strategy, ask=ask, random_state=1)
        live = LabelBudget(LEARNERS[name], 0.3, strategy=strategy, ask=ask, random_state=1)
        live.begin(X[:1], Y[:1])
        asked = []
        for x, y in zip(X, Y, strict=True):
            asked.append(live.query(x[np.newaxis])[0])
            live.teach(x[np.newaxis], np.where(asked[-1], y, np.nan)[np.newaxis])
        _, proba = learner.predict_then_fit(X, Y)
        other = LabelBudget(LEARNERS[name], 0.3, strategy=strategy, ask=ask, random_state=1)
        np.testing.assert_array_equal(other.predict_then_fit(X, np.where(asked, Y, 1 - Y))[1], proba)
        np.testing.assert_array_equal(live.predict_proba(X), learner.predict_proba(X))

    check_all([(strategy, ask) for strategy in STRATEGIES for ask in ("rows", "labels")], check)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_whole_budget_is_the_learner_without_one(name):
    X, Y = world()
    learner = LabelBudget(LEARNERS[name], 1, ask="rows").partial_fit(X, Y)
    plain = clone(LEARNERS[name]).partial_fit(X, Y)
    np.testing.assert_array_equal(learner.predict_proba(X), plain.predict_proba(X))
    assert learner.share_asked_ == 1


def test_an_answer_that_nobody_knows_is_paid_for_and_a_row_without_any_costs_nothing():
    X, Y = world(200)
    unknown = Y.astype(float)
    unknown[:, 1] = np.nan
    learner = LabelBudget(OnlineLogisticRegression(), 0.5, random_state=0)
    learner.partial_fit(X, unknown, classes=3)
    assert learner.share_asked_ > 0.45
    assert learner.n_answers_[1].sum() == 0
    before = learner.n_rows_
    learner.predict_then_fit(X, np.full(Y.shape, np.nan))
    assert learner.n_rows_ == before


def test_rows_without_weight_are_not_decided_for():
    X, Y = world(100)
    learner = LabelBudget(OnlineLogisticRegression(), 0.5, random_state=0)
    learner.partial_fit(X, Y, sample_weight=np.arange(100) % 2)
    alone = LabelBudget(OnlineLogisticRegression(), 0.5, random_state=0).partial_fit(X[1::2], Y[1::2])
    np.testing.assert_array_equal(learner.predict_proba(X), alone.predict_proba(X))
    assert learner.n_rows_ == learner.partial_fit(X, Y, sample_weight=np.zeros(100)).n_rows_ == 50


def test_one_class_a_row_is_asked_for():
    X, Y = world(300)
    y = np.array(["none", "scan", "worm", "scan"])[Y[:, 0] + 2 * Y[:, 1]]
    learner = LabelBudget(HoeffdingTreeClassifier(grace_period=10), 0.2, random_state=0).fit(X, y)
    assert 50 <= learner.n_answers_[:, 1].sum() <= 60
    asked = learner.query(X)
    assert asked.shape == (300,)
    learner.teach(X[asked], y[asked])
    assert (learner.predict(X) == y).mean() > 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be a share of the labels, from 0.00001 to 1"),
        ({"budget": 1.5}, "Got 1.5"),
        ({"budget": math.nan}, "Got nan"),
        ({"budget": "0.1"}, "Got '0.1'"),
        ({"budget": True}, "Got True"),
        ({"strategy": "margin"}, "strategy must be"),
        ({"ask": "cells"}, "ask must be"),
        ({"budget": 1e-9}, "Got 1e-09"),
        ({"window": 0}, "window must be"),
        ({"window": 10**8}, "at most 10,000,000"),
        ({"window": 9, "ask": "rows"}, "window must be at least 10 rows"),
        ({"window": 3}, "window must be at least 4 rows"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    X, Y = world(40)
    learner = LabelBudget(OnlineLogisticRegression(), **options)
    with pytest.raises(ValueError, match=message):
        learner.partial_fit(X, Y)


def test_a_window_that_the_error_asks_for_is_taken():
    X, Y = world(400)
    learner = LabelBudget(OnlineLogisticRegression(), 0.01, ask="rows", window=100, strategy="random")
    assert learner.partial_fit(X, Y).n_answers_[0].sum() >= 2


def test_a_number_of_classes_and_single_labels_of_whole_rows_are_refused():
    X, Y = world(40)
    learner = LabelBudget(HoeffdingTreeClassifier(), strategy="cardinality")
    with pytest.raises(ValueError, match="strategy must be another one"):
        learner.partial_fit(X, Y[:, 0] + Y[:, 1])
    with pytest.raises(ValueError, match="ask must be 'rows' for WholeRows"):
        LabelBudget(WholeRows(), ask="labels").partial_fit(X, Y)
    learner = LabelBudget(WholeRows()).partial_fit(X, Y)
    assert set(map(len, learner.estimator_.learnt_.values())) == {3}
    with pytest.raises(NotFittedError):
        LabelBudget(WholeRows()).query(X)


def test_a_learner_without_probabilities_is_refused_and_nan_ends_it():
    X, Y = world(40)

    class Undecided(Given):
        def _predict_proba(self, X):
            return np.full((len(X), self.n_labels_), np.nan)

    with pytest.raises(DivergedError, match="must return probabilities"):
        LabelBudget(Undecided()).partial_fit(X, Y)


def test_a_row_that_is_refused_leaves_the_budget_as_it_was():
    X, Y = world(100)
    learner = LabelBudget(OnlineLogisticRegression(), 0.5, random_state=0).partial_fit(X, Y)
    before = learner.share_asked_, learner.n_rows_, learner.predict_proba(X)
    with pytest.raises(ValueError, match="infinity"):
        learner.partial_fit(np.full((1, 4), np.inf), Y[:1])
    np.testing.assert_array_equal(learner.predict_proba(X), before[2])
    assert (learner.share_asked_, learner.n_rows_) == before[:2]


def test_new_labels_are_asked_for_from_then_on():
    X, Y = world(300)
    learner = LabelBudget(OnlineLogisticRegression(on_new_labels="grow"), 0.5, random_state=0)
    learner.partial_fit(X[:100], Y[:100, :2]).partial_fit(X[100:], Y[100:])
    assert learner.n_answers_.shape == (3, 2)
    assert 60 < learner.n_answers_[2].sum() < 140
