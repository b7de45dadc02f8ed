"""Weights of votes are searched on known labels only."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from estimators.meta.binary_relevance import BinaryRelevance
from estimators.pragma.forest import PragmaForestClassifier
from estimators.pragma.threshold import PragmaThreshold
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from tests.estimators import streams
from tests.estimators.trees.test_unknown_in_trees import partly_known

WANTED = {"importance": {0: 1, 1: 10, 2: 1}, "compromise": (0.3, 0.9)}
ALONE = {"compromise": (0.3, 0.9)}
TREES = BinaryRelevance(HoeffdingTreeClassifier(grace_period=50, delta=1e-2, tau=0.2))


def test_a_stream_searches_the_weight_of_a_label_where_it_is_known():
    X, Y = partly_known(300)
    n_rows = int((~np.isnan(Y)).any(axis=1).sum())
    model = PragmaThreshold(TREES, **WANTED, window=300, period=n_rows, random_state=0).partial_fit(X, Y)
    for j in range(3):
        known = ~np.isnan(Y[:, j])
        alone = PragmaThreshold(TREES, **ALONE, window=300, period=int(known.sum()), random_state=0)
        alone.partial_fit(X[known], Y[known, j : j + 1].astype(int))
        assert model.vote_weights_[j] == alone.vote_weights_[0] != 1
        assert np.array_equal(model.predict_proba(X)[:, j], alone.predict_proba(X)[:, 0])


@pytest.mark.parametrize("size", [1, 70, 300])
def test_rows_without_a_known_label_are_predicted_only(size):
    X, Y = partly_known(300)
    some = ~np.isnan(Y).all(axis=1)
    options = {**WANTED, "window": 90, "period": 40, "random_state": 0}
    # the first row, which starts the stream, has a label
    some[0], Y[0] = True, [1, 0, 1]
    model, twin = PragmaThreshold(TREES, **options), PragmaThreshold(TREES, **options)
    expected = twin.predict_then_fit(X[some], Y[some])
    parts = [model.predict_then_fit(X[i : i + size], Y[i : i + size]) for i in range(0, 300, size)]
    for one, two in zip(zip(*parts, strict=True), expected, strict=True):
        assert np.array_equal(np.concatenate(one)[some], two)
    assert np.array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_a_stream_may_begin_with_rows_without_a_known_label():
    X, Y = partly_known(100)
    Y[:30] = np.nan
    for base in (TREES, BinaryRelevance(GaussianNB())):
        with warnings.catch_warnings():
            # GaussianNB divides by the variances of one row, which are 0
            warnings.simplefilter("ignore", RuntimeWarning)
            decided, proba = PragmaThreshold(base, period=20, random_state=0).predict_then_fit(X, Y)
        assert not decided[:30].any()
        assert np.isfinite(proba).all()


def test_out_of_fold_probabilities_are_weighed_on_known_labels():
    X, Y = partly_known(400)
    some = ~np.isnan(Y).all(axis=1)
    model = PragmaThreshold(TREES, **WANTED, cv=3, random_state=0).fit(X, Y)
    twin = PragmaThreshold(TREES, **WANTED, cv=3, random_state=0).fit(X[some], Y[some])
    assert np.array_equal(model.predict_proba(X), twin.predict_proba(X))
    assert (model.vote_weights_ != 1).all()


@pytest.mark.parametrize("votes", ["out_of_bag", "in_bag"])
def test_the_forest_of_a_label_is_grown_from_the_rows_where_it_is_known(votes):
    X, Y = partly_known(400)
    options = {"n_estimators": 10, "votes": votes, "n_bags": 0, "random_state": 0}
    model = PragmaForestClassifier(**WANTED, **options).fit(X, Y)
    known = ~np.isnan(Y[:, 0])
    alone = PragmaForestClassifier(**ALONE, **options).fit(X[known], Y[known, :1].astype(int))
    assert model.vote_weights_[0] == alone.vote_weights_[0] != 1
    assert np.array_equal(model.predict_proba(X)[:, 0], alone.predict_proba(X)[:, 0])
    assert model.feature_importances_.shape == (6,)
    some = ~np.isnan(Y).all(axis=1)
    twin = PragmaForestClassifier(**WANTED, **options).fit(X[some], Y[some])
    assert np.array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_a_complete_table_with_rows_of_unknown_labels_gives_the_forest_of_the_table():
    X, Y = streams.drawn(200)
    plain = PragmaForestClassifier(5, random_state=0).fit(X, Y)
    more = np.vstack([Y.astype(float), np.full((20, 3), np.nan)])
    model = PragmaForestClassifier(5, random_state=0).fit(np.vstack([X, X[:20]]), more)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_a_label_that_is_never_known_is_never_predicted():
    X, Y = partly_known(200)
    Y[:, 1] = np.nan
    with pytest.warns(UserWarning, match="No out-of-bag vote is for class 1"):
        model = PragmaForestClassifier(5, random_state=0).fit(X, Y)
    assert model.forest_[1] is None
    assert (model.predict_proba(X)[:, 1] == 0.5).all()
    assert not model.predict(X)[:, 1].any()
    assert model.vote_weights_[1] == 1


@pytest.mark.parametrize("model", [PragmaForestClassifier(), PragmaThreshold(RandomForestClassifier())])
def test_a_table_without_a_known_label_is_refused(model):
    with pytest.raises(ValueError, match="y must have a known label in at least one row"):
        model.fit(np.zeros((3, 2)), np.full((3, 2), np.nan))
