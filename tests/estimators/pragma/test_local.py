"""Losses other than the plane: the search is held to the public metric with the same function."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from estimators import PragmaForestClassifier, PragmaStreamForestClassifier, PragmaThreshold, PragmaTreeClassifier
from estimators.pragma._kernels.vote_search import search_line
from estimators.pragma._kernels.votes import decide
from estimators.pragma._preferences import Preferences
from estimators.pragma._vote_search import store
from metrics import pragma
from tests.loops import check_all


def f1_loss(recall, precision):
    return 1 - 2 * recall * precision / (recall + precision) if recall + precision else 1.0


def worst_rate(recall, precision):
    return 1 - min(recall, precision)


def three_classes(n_rows=300):
    return make_classification(
        n_rows, n_classes=3, n_informative=4, weights=[0.7, 0.2], flip_y=0.1, class_sep=0.5, random_state=0
    )


def test_a_line_search_finds_the_best_of_its_line():
    def check(local, seed):
        rng = np.random.default_rng(seed)
        truth, shares, weights = (
            rng.integers(3, size=60),
            rng.dirichlet(np.ones(3), size=60),
            rng.uniform(0.5, 2, size=3),
        )
        importance = {0: 1.0, 1: 5.0, 2: 2.0}
        preferences = Preferences.from_options(importance, (0.5, 0.5), [0, 1, 2], local=local)
        stored = store(shares, truth)
        for c in range(3):
            others = (np.delete(shares, c, axis=1) * np.delete(weights, c)).max(axis=1)
            points = np.sort(others / shares[:, c])
            tried = []
            for weight in [points[0] / 2, *np.sqrt(points[1:] * points[:-1]), points[-1] * 2, weights[c]]:
                predicted = (shares * np.where(np.arange(3) == c, weight, weights)).argmax(axis=1)
                tried.append(pragma(truth, predicted, importance=importance, local=local))
            found = weights.copy()
            found[c] = search_line(stored, preferences.losses(truth), decide(stored, weights), c, np.inf)
            value = pragma(truth, (shares * found).argmax(axis=1), importance=importance, local=local)
            assert value == pytest.approx(min(tried), abs=1e-9)

    check_all(product([f1_loss, worst_rate], range(3)), lambda case: check(*case))


@pytest.mark.parametrize("search", ["exact", "annealing"])
def test_a_threshold_minimises_the_metric_with_the_same_function(search):
    X, y = three_classes()
    importance = {0: 1, 1: 5, 2: 2}
    model = PragmaThreshold(
        GaussianNB(), importance=importance, local=worst_rate, search=search, n_moves=2000, random_state=0
    ).fit(X, y)
    proba = cross_val_predict(GaussianNB(), X, y, method="predict_proba")
    grid = np.geomspace(0.2, 5, 12)
    tried = [
        pragma(y, (proba * (1, a, b)).argmax(axis=1), importance=importance, local=worst_rate)
        for a in grid
        for b in grid
    ]
    measured = pragma(y, (proba * model.vote_weights_).argmax(axis=1), importance=importance, local=worst_rate)
    assert model.pragma_ == pytest.approx(measured)
    assert model.pragma_ <= min(tried) + (0 if search == "exact" else 0.01)
    plane = PragmaThreshold(GaussianNB(), importance=importance, random_state=0).fit(X, y)
    assert not np.array_equal(plane.vote_weights_, model.vote_weights_)


def test_the_plane_written_as_a_function_finds_the_same_weights():
    X, y = three_classes()
    plane = PragmaForestClassifier(10, compromise=(0.5, 0.5), random_state=0).fit(X, y)
    written = PragmaForestClassifier(10, local=lambda r, p: 1.0 + -0.5 * r + -0.5 * p, random_state=0).fit(X, y)
    assert np.array_equal(plane.vote_weights_, written.vote_weights_)
    assert plane.pragma_ == written.pragma_


def test_labels_are_weighed_by_it():
    X, Y = make_multilabel_classification(200, n_classes=3, n_labels=1, random_state=0)
    trees = RandomForestClassifier(10, random_state=0)
    model = PragmaThreshold(trees, local=f1_loss, cv=2, random_state=0).fit(X, Y)
    halves = [(np.arange(100, 200), np.arange(100)), (np.arange(100), np.arange(100, 200))]
    proba = np.zeros(Y.shape)
    for train, test in halves:
        fitted = RandomForestClassifier(10, random_state=0).fit(X[train], Y[train])
        proba[test] = np.column_stack([one[:, 1] for one in fitted.predict_proba(X[test])])
    decided = (proba * model.vote_weights_ > 1 - proba).astype(int)
    assert model.pragma_ == pytest.approx(pragma(Y, decided, local=f1_loss))


def test_a_stream_is_weighed_by_it():
    X, y = three_classes()
    model = PragmaStreamForestClassifier(period=100, local=worst_rate, random_state=0).partial_fit(X, y)
    window = model._window.current(0, 0, 99)
    decided = (window.votes * model.vote_weights_).argmax(axis=1)
    assert model.pragma_ == pytest.approx(pragma(window.codes, decided, local=worst_rate))


def test_a_tree_splits_by_it():
    X, y = three_classes(60)
    X = X.astype(np.float32)
    tree = PragmaTreeClassifier(max_depth=1, local=f1_loss).fit(X, y)

    def expected(side):
        counts = [np.bincount(y[rows], minlength=3) for rows in (side, ~side)]
        total = np.sum(counts, axis=0)
        chances = [count / total / np.sum(count / total) for count in counts]
        hits = sum(count * chance for count, chance in zip(counts, chances, strict=True))
        predicted = sum(count.sum() * chance for count, chance in zip(counts, chances, strict=True))
        return np.mean([f1_loss(h / n, h / p) for h, n, p in zip(hits, total, predicted, strict=True)])

    losses = [
        expected(X[:, f] <= threshold)
        for f in range(X.shape[1])
        for values in [np.unique(X[:, f]).astype(float)]
        for threshold in (values[1:] + values[:-1]) / 2
    ]
    assert expected(X[:, tree.tree_.feature[0]] <= tree.tree_.threshold[0]) == pytest.approx(min(losses))
    grown = PragmaForestClassifier(3, criterion="pragma", max_depth=1, local=f1_loss, random_state=0).fit(X, y)
    assert all(one.local is f1_loss for one in grown.forest_.estimators_)


def test_an_error_in_the_function_is_raised():
    X, y = three_classes(60)

    def broken(recall, precision):
        raise ZeroDivisionError("of the user")

    models = [
        PragmaThreshold(GaussianNB(), local=broken),
        PragmaForestClassifier(3, local=broken),
        PragmaTreeClassifier(local=broken),
        PragmaStreamForestClassifier(period=20, local=broken),
    ]
    for model in models:
        with pytest.raises(ZeroDivisionError, match="of the user"):
            model.fit(X, y)


@pytest.mark.parametrize(
    ("local", "message"),
    [
        (lambda r, p: float("nan"), r"local\(r, p\) must be a finite number"),
        (lambda r, p: "low", r"local\(r, p\) must be a finite number"),
        (0.5, r"local must be a function of \(recall, precision\) or None. Got 0.5"),
    ],
)
def test_what_is_no_loss_is_refused(local, message):
    X, y = three_classes(60)
    for model in (PragmaThreshold(GaussianNB(), local=local), PragmaTreeClassifier(local=local)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
        assert not hasattr(model, "classes_")
