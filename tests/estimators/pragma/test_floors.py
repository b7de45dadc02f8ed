"""Floors on recall and precision, held to every weight of a grid, evaluated by metrics of scikit-learn."""

import itertools
import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from estimators import PragmaForestClassifier, PragmaStreamForestClassifier, PragmaThreshold
from estimators.pragma._preferences import Preferences
from estimators.pragma._vote_search import SearchOptions, find_weights, measure, store
from metrics import pragma
from tests.loops import check_all, in_two_tiers

MINORITY = {"importance": {0: 1, 1: 10}, "compromise": {0: (0.8, 0.8), 1: (0.1, 0.9)}}


def two_classes(n_rows=400, seed=0):
    return make_classification(n_rows, weights=[0.85], class_sep=0.6, flip_y=0.05, random_state=seed)


def some_shares(seed, n_rows=80, n_classes=3):
    rng = np.random.default_rng(seed)
    truth = np.append(np.arange(n_classes), rng.integers(n_classes, size=n_rows - n_classes))
    shares = rng.dirichlet(np.ones(n_classes), size=n_rows)
    shares[np.arange(n_rows), truth] += 0.3
    return shares / shares.sum(axis=1, keepdims=True), truth


def lacks(truth, predicted, min_recall, min_precision):
    """Sum what rates lack to floors, by scikit-learn's rates."""
    labels = sorted(min_recall)
    recall = recall_score(truth, predicted, labels=labels, average=None, zero_division=0)
    precision = precision_score(truth, predicted, labels=labels, average=None, zero_division=0)
    below = [
        np.maximum(np.array([by[c] for c in labels]) - rate, 0)
        for by, rate in ((min_recall, recall), (min_precision, precision))
    ]
    return float(np.sum(below))


def search(shares, truth, wanted, options, **floors):
    preferences = Preferences.from_options(*wanted.values(), list(range(shares.shape[1])), **floors)
    stored, losses = store(shares, truth), preferences.losses(truth)
    found = find_weights(stored, losses, options, np.random.RandomState(0))
    return found, measure(stored, losses, found.weights)


def best_ratio(shares, truth, wanted, floors):
    """Return the least shortfall and the lowest PRAGMA with it, over every interval of the ratio of two weights."""
    points = np.unique(shares[:, 0] / shares[:, 1])
    ratios = [points[0] / 2, *np.sqrt(points[1:] * points[:-1]), points[-1] * 2]
    predictions = [(shares[:, 1] * ratio > shares[:, 0]).astype(int) for ratio in ratios]
    return min((lacks(truth, p, *floors), pragma(truth, p, **wanted)) for p in predictions)


@in_two_tiers(product(range(5), [0.3, 0.6, 0.8, 1.0]), n_fast=4)
def test_of_two_classes_the_best_ratio_above_the_floors_is_found(cases):
    def check(seed, precision):
        shares, truth = some_shares(seed, n_classes=2)
        floors = {0: 0.2, 1: 0.0}, {0: 0.0, 1: precision}
        found, (value, lacking) = search(
            shares, truth, MINORITY, SearchOptions("exact", 0, 1), min_recall=floors[0], min_precision={1: precision}
        )
        shortfall, lowest = best_ratio(shares, truth, MINORITY, floors)
        assert lacking.sum() == pytest.approx(shortfall, abs=1e-9)
        assert value == pytest.approx(lowest)
        assert found.trace[-1] == pytest.approx(value)

    check_all(cases, lambda case: check(*case))


def test_floors_that_no_ratio_reaches_are_missed_by_least():
    shares, truth = some_shares(3, n_classes=2)
    floors = {0: 0.95, 1: 0.95}, {0: 0.95, 1: 0.95}
    _, (value, lacking) = search(
        shares, truth, MINORITY, SearchOptions("exact", 0, 1), min_recall=0.95, min_precision=0.95
    )
    shortfall, lowest = best_ratio(shares, truth, MINORITY, floors)
    assert shortfall > 0.1
    assert (lacking.sum(), value) == pytest.approx((shortfall, lowest), abs=1e-9)


@in_two_tiers(product(range(4), ["exact", "both"]))
def test_of_three_classes_no_weights_of_a_grid_are_better(cases):
    def check(seed, search_by):
        shares, truth = some_shares(seed)
        wanted = {"importance": {0: 1, 1: 4, 2: 2}, "compromise": {0: (0.8, 0.8), 1: (0.1, 0.9), 2: (0.5, 0.2)}}
        floors = {0: 0.6, 1: 0.0, 2: 0.4}, {0: 0.0, 1: 0.6, 2: 0.4}
        options = SearchOptions(search_by, 5, 5000)
        _, (value, lacking) = search(shares, truth, wanted, options, min_recall=floors[0], min_precision=floors[1])
        grid = np.geomspace(0.2, 5, 15)
        tried = [(shares * (1, *weights)).argmax(axis=1) for weights in itertools.product(grid, grid)]
        shortfall, lowest = min((lacks(truth, p, *floors), pragma(truth, p, **wanted)) for p in tried)
        assert shortfall == lacking.sum() == 0
        assert value <= lowest + 1e-9
        _, (free, below) = search(shares, truth, wanted, options)
        assert free < value
        assert not below.any()

    check_all(cases, lambda case: check(*case))


def test_annealing_ends_above_floors():
    shares, truth = some_shares(1, n_classes=2)
    _, (_, lacking) = search(shares, truth, MINORITY, SearchOptions("annealing", 0, 5000), min_precision={1: 0.7})
    assert not lacking.any()


def test_a_mean_over_bags_keeps_the_floors():
    def check(seed):
        shares, truth = some_shares(seed, n_classes=2)
        once, _ = search(shares, truth, MINORITY, SearchOptions("exact", 0, 1), min_precision={1: 0.7})
        bagged, (_, lacking) = search(shares, truth, MINORITY, SearchOptions("exact", 0, 1, 20), min_precision={1: 0.7})
        predicted = (shares * bagged.weights).argmax(axis=1)
        assert precision_score(truth, predicted) >= 0.7
        assert not lacking.any()
        assert not np.array_equal(once.weights, bagged.weights)

    check_all(range(6), check)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["forest", "threshold"])
def test_precision_on_honest_votes_is_no_less_than_asked_for(kind):
    X, y = two_classes()
    if kind == "forest":
        model = PragmaForestClassifier(30, random_state=0, **MINORITY)
    else:
        model = PragmaThreshold(LogisticRegression(), random_state=0, **MINORITY)
    free = model.fit(X, y)
    loose, recall = free.pragma_, free.predict(X).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(min_precision={1: 0.6}).fit(X, y)
    assert model.shortfall_ == 0
    assert model.pragma_ > loose
    assert model.predict(X).sum() < recall
    if kind == "threshold":
        proba = cross_val_predict(LogisticRegression(), X, y, method="predict_proba")
        assert precision_score(y, (proba * model.vote_weights_).argmax(axis=1)) >= 0.6


def test_one_number_is_the_floor_of_every_class():
    X, y = two_classes()
    one = PragmaThreshold(GaussianNB(), random_state=0, min_recall=0.6, **MINORITY).fit(X, y)
    two = PragmaThreshold(GaussianNB(), random_state=0, min_recall={0: 0.6, 1: 0.6}, **MINORITY).fit(X, y)
    none = PragmaThreshold(GaussianNB(), random_state=0, min_recall=0, **MINORITY).fit(X, y)
    free = PragmaThreshold(GaussianNB(), random_state=0, **MINORITY).fit(X, y)
    assert np.array_equal(one.vote_weights_, two.vote_weights_)
    assert np.array_equal(none.vote_weights_, free.vote_weights_)
    assert not np.array_equal(one.vote_weights_, free.vote_weights_)


@pytest.mark.parametrize("kind", ["forest", "threshold"])
def test_a_floor_out_of_reach_is_a_warning_that_names_it(kind):
    X, y = two_classes(150)
    names = np.array(["many", "few"])[y]
    model = (
        PragmaForestClassifier(20, random_state=0)
        if kind == "forest"
        else PragmaThreshold(GaussianNB(), random_state=0)
    )
    model.set_params(min_recall={"few": 0.99}, min_precision={"few": 0.99})
    votes = {"forest": "out-of-bag votes", "threshold": "out-of-fold predictions"}[kind]
    with pytest.warns(UserWarning, match=rf"min_.*=0\.99 of class 'few' \(it is 0\..*\) on {votes}: the nearest"):
        model.fit(X, names)
    assert model.shortfall_ > 0
    assert 0 <= model.pragma_ <= 1


def test_labels_have_floors_by_index():
    X, Y = make_multilabel_classification(300, n_classes=3, n_labels=1, random_state=0)
    forest = PragmaForestClassifier(20, compromise=(0.1, 0.9), random_state=0, n_bags=0).fit(X, Y)
    floored = PragmaForestClassifier(20, compromise=(0.1, 0.9), random_state=0, n_bags=0, min_precision={1: 0.8})
    floored.fit(X, Y)
    same = np.array([True, False, True])
    assert np.array_equal(floored.vote_weights_ == forest.vote_weights_, same)
    assert floored.vote_weights_[1] < forest.vote_weights_[1]
    assert floored.shortfall_ == 0


def test_a_stream_keeps_floors_on_its_window():
    X, y = two_classes(600)
    free = PragmaStreamForestClassifier(period=100, random_state=0, **MINORITY).partial_fit(X, y)
    floored = PragmaStreamForestClassifier(period=100, random_state=0, min_precision={1: 0.5}, **MINORITY)
    floored.partial_fit(X, y)
    window = floored._window.current(0, 0, 99)
    decided = (window.votes * floored.vote_weights_).argmax(axis=1)
    assert floored.shortfall_ == pytest.approx(max(0.5 - precision_score(window.codes, decided), 0))
    assert floored.pragma_ > free.pragma_


@pytest.mark.parametrize(
    ("floors", "message"),
    [
        ({"min_precision": 1.5}, r"min_precision must be in \[0, 1\]. Got 1.5 for class 0"),
        ({"min_recall": {1: -0.1}}, r"min_recall must be in \[0, 1\]. Got -0.1 for class 1"),
        ({"min_recall": {7: 0.1}}, "min_recall must name classes of the data only. Got class 7"),
        ({"min_precision": "half"}, r"min_precision must be in \[0, 1\]. Got 'half'"),
    ],
)
def test_invalid_floors_are_refused(floors, message):
    for model in (PragmaForestClassifier(5, **floors), PragmaThreshold(GaussianNB(), **floors)):
        with pytest.raises(ValueError, match=message):
            model.fit(*two_classes(60))
