"""scikit-learn's splitters and scorers, given labels of which some are unknown, as the documentation has it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SelectKBest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, f1_score, hamming_loss
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.multioutput import MultiOutputClassifier

from estimators import OnlineLogisticRegression, OnlineNeuralClassifier, PragmaForestClassifier, PragmaThreshold
from tests.loops import check_all

NETWORK = OnlineNeuralClassifier(learning_rate=0.1, random_state=0)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    return X, np.where(rng.random(X.shape) < 0.3, np.nan, X > 0.5)


def known_accuracy(estimator, X, Y):
    known = ~np.isnan(Y)
    return (estimator.predict(X) == Y)[known].mean()


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_it_refuses_unknown_labels(data):
    def check(call):
        with pytest.raises(ValueError, match="contains NaN"):
            call(*data)

    check_all(
        [
            lambda X, Y: list(StratifiedKFold(3).split(X, Y)),
            lambda X, Y: train_test_split(X, Y, stratify=Y),
            lambda X, Y: cross_val_score(NETWORK, X, Y, cv=3, scoring=known_accuracy),
            lambda X, Y: GridSearchCV(NETWORK, {"learning_rate": [0.1]}, cv=3, scoring=known_accuracy).fit(X, Y),
            lambda X, Y: f1_score(Y, np.nan_to_num(Y), average="macro"),
            lambda X, Y: hamming_loss(Y, np.nan_to_num(Y)),
            lambda X, Y: MultiOutputClassifier(SGDClassifier()).fit(X, Y),
            lambda X, Y: BaggingClassifier(NETWORK).fit(X, Y),
            lambda X, Y: VotingClassifier([("network", NETWORK)]).fit(X, Y),
            lambda X, Y: RFE(OnlineLogisticRegression()).fit(X, Y),
            lambda X, Y: RFECV(OnlineLogisticRegression(), cv=KFold(3)).fit(X, Y),
            lambda X, Y: SelectKBest(k=1).fit(X, Y),
        ],
        check,
    )


def test_score_is_the_share_of_rows_whose_known_labels_are_all_right(data):
    def check(weight, mask):
        X, Y = data
        Y[:5] = np.nan
        predicted = NETWORK.fit(X, Y).predict(X)
        right, weights = [], []
        for i in range(200):
            cells = [j for j in range(3) if not np.isnan(Y[i, j]) and (mask is None or mask[i, j])]
            if cells:
                right.append(all(predicted[i, j] == Y[i, j] for j in cells))
                weights.append(1 if weight is None else weight[i])
        assert 0 < np.mean(right) < 1
        wanted = pytest.approx(np.average(right, weights=weights))
        for given in (Y, pd.DataFrame(Y), pd.DataFrame(Y).astype("Int8"), pl.DataFrame(Y)):
            assert NETWORK.score(X, given, weight, label_mask=mask) == wanted

    rng = np.random.default_rng(1)
    check_all([None, rng.random(200)], lambda weight: check(weight, None))
    check(rng.random(200), rng.random((200, 3)) < 0.5)


def test_without_unknown_labels_score_is_that_of_scikit_learn(data):
    X, Y = data[0], (data[0] > 0.5).astype(int)
    weight = np.random.default_rng(0).random(200)
    for truth in (Y, Y[:, :1], Y[:, 0], np.array(["b", "a", "c"])[Y[:, 0] + Y[:, 1]], csr_array(Y)):
        predicted = NETWORK.fit(X[:20], truth[:20]).predict(X)
        assert NETWORK.score(X, truth) == accuracy_score(truth, predicted)
        assert NETWORK.score(X, truth, weight) == accuracy_score(truth, predicted, sample_weight=weight)


def test_learners_that_weight_votes_score_known_labels_too(data):
    X, Y = data
    for learner in (PragmaThreshold(NETWORK, random_state=0), PragmaForestClassifier(3, n_bags=0, random_state=0)):
        predicted = learner.fit(X, Y).predict(X)
        kept = ~np.isnan(Y).all(axis=1)
        assert learner.score(X, Y) == ((predicted == Y) | np.isnan(Y))[kept].all(axis=1).mean()


def test_score_of_nothing_that_counts_is_an_error(data):
    X, Y = data
    hidden, first = np.where(np.arange(200)[:, None] == 0, np.nan, Y), np.arange(200) == 0
    for truth, weight in ((Y * np.nan, None), (Y, np.zeros(200)), (hidden, first)):
        with pytest.raises(ValueError, match=r"y must hold a known label that counts\. Got 0 of them in rows"):
            NETWORK.fit(X, Y).score(X, truth, sample_weight=weight)


def test_masks_of_score_are_sparse_too_but_not_for_one_class_a_row(data):
    X, Y = data
    fitted, mask = clone(NETWORK).fit(X, Y), X > 0.3
    assert fitted.score(X, Y, label_mask=csr_array(mask)) == fitted.score(X, Y, label_mask=mask)
    with pytest.raises(ValueError, match=r"label_mask must say of each cell whether it counts. Got masked cells"):
        fitted.score(X, Y, label_mask=np.ma.array(mask, mask=mask))
    with pytest.raises(ValueError, match="label_mask must be None where each row has one class"):
        clone(NETWORK).fit(X, X[:, 0] > 0.5).score(X, X[:, 0] > 0.5, label_mask=mask[:, :1])


def test_searches_pass_a_mask_to_score_where_routing_is_on(data):
    X, Y = data
    mask = ~np.isnan(Y)
    mask[:, 0] |= ~mask.any(axis=1)
    with sklearn.config_context(enable_metadata_routing=True):
        network = clone(NETWORK).set_fit_request(label_mask=False).set_score_request(label_mask=True)
        truth = (X > 0.5).astype(int)
        routed = cross_validate(network, X, truth, cv=KFold(3), params={"label_mask": mask}, return_estimator=True)
    for score, model, (_, test) in zip(routed["test_score"], routed["estimator"], KFold(3).split(X), strict=True):
        assert score == model.score(X[test], np.where(mask, truth, np.nan)[test])


def test_splitters_that_do_not_look_at_labels_and_scorers_of_known_labels_work(data):
    X, Y = data
    assert len(train_test_split(X, Y)) == 4
    assert cross_val_score(NETWORK, X, Y, cv=KFold(3), scoring=known_accuracy).min() > 0.6
    assert cross_val_score(NETWORK, X, Y, cv=KFold(3), error_score="raise", n_jobs=2).min() > 0.3
    assert SelectFromModel(OnlineLogisticRegression()).fit(X, Y).transform(X).shape[1] < 3
    for n_labels in (1, 2, 3):
        options = {"cv": KFold(3), "train_sizes": [40, 80, 120], "error_score": "raise"}
        plain, at_once = (
            learning_curve(NETWORK, X, Y[:, :n_labels], exploit_incremental_learning=incremental, **options)
            for incremental in (False, True)
        )
        np.testing.assert_array_equal(at_once[2], plain[2])
    assert len(cross_val_score(NETWORK, X, Y, cv=TimeSeriesSplit(3), scoring=known_accuracy)) == 3
    search = GridSearchCV(NETWORK, {"learning_rate": [0.1, 1e-6]}, cv=KFold(3), scoring=known_accuracy).fit(X, Y)
    assert search.best_params_ == {"learning_rate": 0.1}
