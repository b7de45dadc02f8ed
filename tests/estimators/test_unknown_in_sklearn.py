"""scikit-learn's splitters and scorers, given labels of which some are unknown, as the documentation has it."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score, hamming_loss
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
    train_test_split,
)
from sklearn.multioutput import MultiOutputClassifier

from estimators import OnlineNeuralClassifier
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
            lambda X, Y: NETWORK.fit(X, Y).score(X, Y),
            lambda X, Y: f1_score(Y, np.nan_to_num(Y), average="macro"),
            lambda X, Y: hamming_loss(Y, np.nan_to_num(Y)),
            lambda X, Y: MultiOutputClassifier(SGDClassifier()).fit(X, Y),
        ],
        check,
    )


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_a_scorer_that_fails_is_a_score_of_nan(data):
    assert np.isnan(cross_val_score(NETWORK, *data, cv=KFold(3))).all()


def test_splitters_that_do_not_look_at_labels_and_scorers_of_known_labels_work(data):
    X, Y = data
    assert len(train_test_split(X, Y)) == 4
    assert cross_val_score(NETWORK, X, Y, cv=KFold(3), scoring=known_accuracy).min() > 0.6
    assert len(cross_val_score(NETWORK, X, Y, cv=TimeSeriesSplit(3), scoring=known_accuracy)) == 3
    search = GridSearchCV(NETWORK, {"learning_rate": [0.1, 1e-6]}, cv=KFold(3), scoring=known_accuracy).fit(X, Y)
    assert search.best_params_ == {"learning_rate": 0.1}
