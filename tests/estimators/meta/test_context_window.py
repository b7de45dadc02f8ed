"""A context holds the rows that a slow loop holds, and is learnt when, and as, the loop learns it."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.random import RandomState
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from estimators import (
    ContextWindowClassifier,
    DivergedError,
    HoeffdingTreeClassifier,
    OnlineNeuralClassifier,
    make_strategy,
)
from estimators.strategies import STRATEGIES
from tests.estimators import instances
from tests.estimators.streams import drawn, tasks_that_return
from tests.loops import check_all, in_two_tiers

TREE = DecisionTreeClassifier(splitter="random", max_depth=4)


def made(estimator=TREE, **parameters):
    return ContextWindowClassifier(estimator, **{"context_size": 30, "random_state": 0, **parameters})


# ------------------------------------------------------------------------ oracle
class SlowContext:
    """The definition, row by row: lists of rows, groups counted again for each."""

    def __init__(self, size, policy, change, refit_every):
        self.size, self.policy, self.change, self.refit_every = size, policy, change, refit_every
        self.held, self.known, self.n_seen, self.n_since, self.n_positive = [], set(), 0, 0, {}

    def group(self, y, counts):
        if self.policy == "last":
            return 0
        if self.policy == "task":
            return tuple(counts)
        labels = [j for j in range(len(y)) if y[j] and counts[j]]
        found = min(labels, key=lambda j: (self.n_positive.get(j, 0), j)) if labels else None
        for j in labels:
            self.n_positive[j] = self.n_positive.get(j, 0) + 1
        return found

    def learn(self, y, counts):
        """Take in the next row; return the numbers of the rows to fit to, oldest first, or None."""
        group = self.group(y, counts)
        if len(self.held) == self.size:
            groups = [one for _, one in self.held] + [group]
            largest = max(groups.count(one) for one in groups)
            self.held.remove(next(row for row in self.held if groups.count(row[1]) == largest))
        self.held.append((self.n_seen, group))
        self.n_seen, self.n_since = self.n_seen + 1, self.n_since + 1
        rows = [row for row, _ in self.held]
        n_new = len(set(rows) - self.known)
        if self.n_since >= self.refit_every or (self.change is not None and n_new >= self.change * len(rows)):
            self.known, self.n_since = set(rows), 0
            return rows
        return None


def slow_predictions(learner, X, Y, counts, weight=None):
    """Predict each row with classifiers fitted by hand, label by label."""
    slow = SlowContext(
        learner.context_size, learner.policy, learner.change, learner.refit_every or learner.context_size
    )
    n_labels, kept = Y.shape[1], []
    models, proba, n_fits = [0.0] * n_labels, [], 0
    for i in range(len(Y)):
        proba.append([m if isinstance(m, float) else m.predict_proba(X[i : i + 1])[0, 1] for m in models])
        if weight is not None and weight[i] == 0:
            continue
        kept.append(i)
        rows = slow.learn(Y[i], counts[i])
        if rows is None:
            continue
        n_fits, rows = n_fits + 1, np.array(kept)[rows]
        for j in range(n_labels):
            own = rows[counts[rows, j]]
            y = Y[own, j].astype(int)
            if min((y == 0).sum(), (y == 1).sum()) < learner.min_count:
                models[j] = float(y.mean()) if len(y) else 0.0
                continue
            model = clone(learner.estimator)
            if "random_state" in model.get_params():
                model.set_params(random_state=RandomState([learner._seed, n_fits, j]).randint(2**31 - 1))
            models[j] = model.fit(X[own], y)
    return np.array(proba).clip(np.finfo(float).tiny, 1 - 2**-53), n_fits


@in_two_tiers(
    product(
        ["last", "task", "label"],
        [
            (TREE, {}),
            (TREE, {"change": None, "refit_every": 25}),
            (TREE, {"change": 0.5, "refit_every": 20, "min_count": 3}),
            (LogisticRegression(), {"change": 0.7}),
        ],
    )
)
def test_it_predicts_what_a_slow_loop_of_fits_predicts(cases):
    def check(policy, estimator, schedule):
        X, Y, mask, _ = tasks_that_return()
        X, Y, mask = X[:150], Y[:150], mask[:150]
        learner = made(estimator, policy=policy, **schedule).begin(X, Y)
        _, proba = learner.predict_then_fit(X, Y, label_mask=mask)
        expected, n_fits = slow_predictions(learner, X, Y, mask)
        np.testing.assert_array_equal(proba, expected)
        assert learner.n_fits_ == n_fits > 3

    check_all(cases, lambda case: check(case[0], *case[1]))


@pytest.mark.parametrize("name", ["window_gradient_boosting", "window_logistic", "window_LightGBM"])
def test_classifiers_of_other_packages_predict_what_the_loop_predicts_dense_or_not(name):
    if package := STRATEGIES[name].to_install:
        pytest.skip(f"needs {package}")
    X, Y = drawn(230)
    X *= np.arange(X.shape[1]) + 1.0
    X[X < 0] = 0
    learner = instances.made(name).set_params(context_size=150).begin(X, Y)
    from_csr = clone(learner).begin(sparse.csr_array(X), Y)
    _, proba = learner.predict_then_fit(X, Y)
    expected, n_fits = slow_predictions(learner, X, Y, np.ones(Y.shape, dtype=bool))
    np.testing.assert_array_equal(proba, expected)
    assert learner.n_fits_ == n_fits == 2
    _, proba = from_csr.predict_then_fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(proba, expected, atol=1e-3)
    each = np.vstack([from_csr.predict_proba(sparse.csr_array(X[i : i + 1])) for i in range(30)])
    np.testing.assert_array_equal(from_csr.predict_then_fit(sparse.csr_array(X[:30]), Y[:30])[1], each)


def test_rows_are_numbered_without_those_of_weight_zero():
    X, Y, mask, weight = tasks_that_return()
    X, Y, mask, weight = X[:150], Y[:150], mask[:150], (weight[:150] > 0).astype(float)
    assert 0 < weight.sum() < 150
    learner = made(policy="label").begin(X, Y)
    learner.partial_fit(X, Y, label_mask=mask, sample_weight=weight)
    more = np.vstack([X, X[:1]]), np.vstack([Y, Y[:1]]), np.vstack([mask, mask[:1]])
    expected, _ = slow_predictions(learner, *more, np.append(weight, 1))
    np.testing.assert_array_equal(learner.predict_proba(X[:1])[0], expected[-1])


def test_classes_have_equal_shares_of_the_context():
    X, Y = drawn(300)
    y = np.array(["a", "b", "c"])[Y.sum(axis=1).clip(max=2)]
    learner = made(policy="label").fit(X, y)
    rows = np.sort(np.concatenate([np.flatnonzero(y == name)[-10:] for name in "abc"]))
    model = clone(TREE).set_params(random_state=RandomState([learner._seed, learner.n_fits_, 0]).randint(2**31 - 1))
    np.testing.assert_array_equal(learner.predict_proba(X), model.fit(X[rows], y[rows]).predict_proba(X))
    np.testing.assert_array_equal(learner.predict(X), model.predict(X))


def test_classes_that_are_too_few_are_predicted_with_their_share():
    X, y = np.arange(20.0)[:, np.newaxis], np.repeat([0, 1, 2, 0], [10, 8, 1, 1])
    learner = made(min_count=3).fit(X, y)
    expected = clone(TREE).set_params(random_state=RandomState([learner._seed, learner.n_fits_, 0]).randint(2**31 - 1))
    kept = y != 2
    proba = np.column_stack([expected.fit(X[kept], y[kept]).predict_proba(X), np.full(20, 1 / 20)])
    np.testing.assert_allclose(learner.predict_proba(X), proba / proba.sum(axis=1, keepdims=True))


# -------------------------------------------------------------- all labels at once
NATIVE = {
    "tree": TREE,
    "forest": RandomForestClassifier(3),
    "neighbours": KNeighborsClassifier(1),
    "network": MLPClassifier(4, max_iter=3),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NATIVE)
def test_one_classifier_of_all_labels_learns_the_complete_rows(name):
    X, Y = drawn(80)
    Y = Y.astype(float)
    Y[::7, 1] = np.nan
    Y = np.hstack([Y, np.zeros((80, 1))])  # a label that never occurs
    complete = np.flatnonzero(~np.isnan(Y).any(axis=1))[-30:]
    learner = made(NATIVE[name], multilabel="native").fit(X, Y)
    model = clone(NATIVE[name])
    if "random_state" in model.get_params():
        model.set_params(random_state=RandomState([learner._seed, learner.n_fits_, 0]).randint(2**31 - 1))
    proba = model.fit(X[complete], Y[complete, :3].astype(int)).predict_proba(X)
    if isinstance(proba, list):
        proba = np.column_stack([one[:, 1] for one in proba])
    np.testing.assert_allclose(learner.predict_proba(X)[:, :3], proba, atol=1e-300)
    assert (learner.predict(X)[:, 3] == 0).all()


# ------------------------------------------------------------------- any classifier
ANY = {
    "regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "boosting": HistGradientBoostingClassifier(max_iter=1, max_depth=2),
    "neighbours": KNeighborsClassifier(3),
    "bayes": GaussianNB(),
    "without probabilities": RidgeClassifier(),
    "of ours": HoeffdingTreeClassifier(grace_period=10),
    "a network of ours": OnlineNeuralClassifier(),
}


@in_two_tiers(ANY)
def test_any_classifier_is_cut_anywhere_and_saved_in_between(cases):
    def check(name):
        X, Y, mask, _ = tasks_that_return(120)
        whole = made(ANY[name], min_count=3, change=None, refit_every=40).begin(X, Y)
        cut = clone(whole).begin(X, Y)
        expected = whole.predict_then_fit(X, Y, label_mask=mask)
        parts = []
        for start, stop in ((0, 1), (1, 8), (8, 90), (90, 91), (91, 120)):
            cut, rows = pickle.loads(pickle.dumps(cut)), slice(start, stop)  # noqa: S301 - our own bytes
            parts.append(cut.predict_then_fit(X[rows], Y[rows], label_mask=mask[rows]))
        for one, two in zip(expected, map(np.concatenate, zip(*parts, strict=True)), strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(cut.predict_proba(X), whole.predict_proba(X))

    check_all(cases, check)


def test_labels_in_threads_are_learnt_alike():
    X, Y = drawn(100)
    one, two = (made(n_jobs=n_jobs).partial_fit(X, Y) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


class Counted(DecisionTreeClassifier):
    n_fits = 0

    def fit(self, X, y, **parameters):
        Counted.n_fits += 1
        return super().fit(X, y, **parameters)


def test_a_chunk_that_is_only_learnt_is_fitted_to_once():
    X, Y = drawn(300, n_labels=2)
    Counted.n_fits = 0
    learner = made(Counted()).partial_fit(X, Y)
    assert Counted.n_fits == 2
    assert learner.n_fits_ > 40


# -------------------------------------------------------------------------- laws
# --------------------------------------------------------------------- bad input
def test_a_fit_that_fails_changes_nothing():
    X, Y = drawn(200)
    learner = made(OnlineNeuralClassifier()).partial_fit(X[:100], Y[:100])
    before = learner.predict_proba(X)
    with pytest.raises(DivergedError, match="The network diverged"):
        learner.partial_fit(np.full((60, X.shape[1]), 1e30), Y[:60])
    np.testing.assert_array_equal(learner.predict_proba(X), before)
    twin = made(OnlineNeuralClassifier()).partial_fit(X[:100], Y[:100])
    np.testing.assert_array_equal(learner.partial_fit(X, Y).predict_proba(X), twin.partial_fit(X, Y).predict_proba(X))


def test_parameters_that_make_no_sense_are_refused():
    def check(parameters, error, message):
        X, Y = drawn(20)
        learner = made(**parameters)
        with pytest.raises(error, match=message):
            learner.partial_fit(X, Y)
        assert not hasattr(learner, "classes_")

    check_all(
        [
            ({"context_size": 0}, ValueError, "context_size must be an integer of at least 1. Got 0 instead"),
            ({"policy": "first"}, ValueError, "policy must be one of 'last', 'task', 'label'. Got 'first' instead"),
            ({"change": 2}, ValueError, "change must be a finite number from 0 to 1. Got 2 instead"),
            ({"refit_every": 0.5}, ValueError, "refit_every must be an integer of at least 1. Got 0.5 instead"),
            ({"min_count": 0}, ValueError, "min_count must be an integer of at least 1. Got 0 instead"),
            ({"multilabel": "both"}, ValueError, "multilabel must be one of 'binary', 'native'. Got 'both' instead"),
            ({"multilabel": "native", "policy": "task"}, ValueError, "policy must be 'last' or 'label' with"),
            ({"multilabel": "native", "on_new_labels": "grow"}, ValueError, "on_new_labels must be 'error' with"),
            ({"estimator": StandardScaler()}, TypeError, r"estimator must be a classifier .* Got StandardScaler\(\)"),
        ],
        lambda case: check(*case),
    )


def test_weights_are_refused_where_they_cannot_be_learnt():
    X, Y = drawn(20)
    with pytest.raises(ValueError, match="sample_weight must be None, 0 or 1: KNeighborsClassifier does not learn"):
        made(KNeighborsClassifier()).partial_fit(X, Y, sample_weight=np.full(20, 2.0))
    heavy = made().partial_fit(X, Y, sample_weight=np.arange(20) % 3)
    assert (
        heavy.predict_proba(X) != made().partial_fit(X, Y, sample_weight=np.arange(20) % 3 > 0).predict_proba(X)
    ).any()


@pytest.mark.slow
def test_the_default_is_a_strategy():
    X, Y = drawn(600)
    learner = make_strategy("ContextWindow", random_state=0)
    decided, _ = learner.predict_then_fit(X[:400], Y[:400])
    assert (decided[200:] == Y[200:400]).mean() > 0.75
    sparse_twin = make_strategy("ContextWindow", random_state=0).partial_fit(sparse.csr_array(X[:400]), Y[:400])
    np.testing.assert_allclose(sparse_twin.predict_proba(sparse.csr_array(X[400:])), learner.predict_proba(X[400:]))
