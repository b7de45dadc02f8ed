"""A challenger is promoted when it is better, hardly ever when it is not, and harms no champion."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.naive_bayes import GaussianNB

from estimators import (
    AlarmBudget,
    BinaryRelevance,
    HoeffdingTreeClassifier,
    OnlineLogisticRegression,
    PriorLabelsClassifier,
)
from mlstream.service import FeedbackBuffer, Shadow

RNG = np.random.default_rng(0)
X = RNG.random((600, 4))
Y = (X[:, :2] > 0.6).astype(int)


class Says:
    """A learner that says the probabilities that it is given with the rows, in these columns."""

    on_new_labels = "error"
    n_features_in_, n_labels_ = 2, 1
    classes_ = np.array([[0, 1]])

    def __init__(self, column):
        self.column = column

    def predict_with_proba(self, X):
        proba = np.asarray(X)[:, [self.column]]
        return (proba >= 0.5).astype(int), proba

    def predict_then_fit(self, X, Y, classes=None):
        return self.predict_with_proba(X)

    def partial_fit(self, X, Y, classes=None):
        return self


def begun(learner=None, **options):
    return (learner or OnlineLogisticRegression(0.1, **options)).begin(X[:1], Y[:1], classes=["scan", "worm"])


def wealth(losses, alpha):
    """Return the row that promotes, and the wealth then, by one bettor for each share and start."""
    bettors = []
    for place, start in enumerate([0, *(2**i for i in range(6, 40))]):
        part = 1 / ((place + 1) * (place + 2))
        bettors += [[part / 10, start, 0.5**share] for share in range(1, 11)]
    rest = 1 - sum(part for part, _, _ in bettors)
    for row, (champion, challenger) in enumerate(losses):
        for bettor in bettors:
            if row >= bettor[1]:
                bettor[0] *= 1 + bettor[2] * (champion - challenger)
        if (total := rest + sum(part for part, _, _ in bettors)) >= 1 / alpha:
            return row + 1, total
    return None, total


@pytest.mark.parametrize("loss", ["brier", "hamming"])
@pytest.mark.parametrize("better", [0, 1])
def test_the_wealth_is_that_of_bettors_one_by_one(loss, better):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, (300, 1)).astype(float)
    said = np.abs(y - rng.random((300, 2)) * [0.9, 0.9 if not better else 0.4])
    served = Shadow(Says(0), Says(1), loss=loss, alpha=0.05)
    for start in range(0, 300, 7):
        served.predict_then_fit(said[start : start + 7], y[start : start + 7])
    losses = (said - y) ** 2 if loss == "brier" else (said >= 0.5) != y
    row, total = wealth(losses.astype(float), 0.05)
    assert served.promoted_ == row
    assert served.evidence_ == pytest.approx(total, rel=1e-9)
    assert (served.champion_.column, row is not None) == (better, bool(better))


def test_an_equal_challenger_is_promoted_less_often_than_stated():
    """200 worlds whose losses have equal means; the seeds are fixed."""
    promoted = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.zeros((500, 1))
        served = Shadow(Says(0), Says(1), alpha=0.1)
        served.predict_then_fit(rng.integers(0, 2, (500, 2)), y)
        promoted += served.promoted_ is not None
    assert promoted <= 20


def test_a_better_challenger_takes_over_and_goes_on_alone():
    served = Shadow(begun(PriorLabelsClassifier()), OnlineLogisticRegression(0.1))
    served.predict_then_fit(X[:300], Y[:300])
    assert isinstance(served.champion_, OnlineLogisticRegression)
    assert served.challenger_ is None
    assert served.champion_loss_ > served.challenger_loss_
    _, Y_proba = served.predict_then_fit(X[300:400], Y[300:400])
    alone = begun()
    alone.predict_then_fit(X[:300], Y[:300])
    assert_array_equal(Y_proba, alone.predict_then_fit(X[300:400], Y[300:400])[1])
    served.challenge(PriorLabelsClassifier())
    served.predict_then_fit(X[400:], Y[400:])
    assert isinstance(served.champion_, OnlineLogisticRegression)


def test_until_then_it_is_the_champion_bit_for_bit_also_in_a_buffer():
    def budget():
        return begun(AlarmBudget(OnlineLogisticRegression(0.1, on_new_labels="grow"), budget=5, period=20))

    alone = FeedbackBuffer(budget())
    served = FeedbackBuffer(Shadow(budget(), OnlineLogisticRegression(0.001, on_new_labels="grow"), alpha=1e-9))
    for i in range(150):
        for found, expected in zip(served.predict_one(i, X[i]), alone.predict_one(i, X[i]), strict=True):
            assert_array_equal(found, expected)
        if i >= 10:
            labels = {"scan": Y[i - 10, 0], **({"new": i % 2} if i > 80 else {})}
            served.learn_one(i - 10, labels)
            alone.learn_one(i - 10, labels)
        if i == 100:
            served = pickle.loads(pickle.dumps(served))  # noqa: S301 - our own bytes
    assert served.learner.n_compared_ == 140
    assert served.learner.challenger_.label_names_ == ["scan", "worm", "new"]


def test_names_in_another_order_are_compared_in_that_of_the_champion():
    straight, turned = (Shadow(begun(), HoeffdingTreeClassifier()) for _ in range(2))
    straight.partial_fit(X[:50], Y[:50])
    straight.partial_fit(X[50:90], Y[50:90])
    turned.partial_fit(X[:50], Y[:50])
    turned.partial_fit(X[50:90], Y[50:90], ["scan", "worm"])
    assert turned.evidence_ == straight.evidence_
    grown = [Shadow(begun(on_new_labels="grow"), begun(on_new_labels="grow")) for _ in range(2)]
    grown[0].partial_fit(X[:50], Y[:50], ["scan", "worm"])
    grown[1].partial_fit(X[:50], Y[:50, ::-1], ["worm", "scan"])
    assert grown[0].champion_loss_ == grown[1].champion_loss_


def test_a_challenger_that_fails_is_dropped_and_the_champion_goes_on():
    served = Shadow(begun(), begun())
    served.challenger_.partial_fit = None
    with pytest.warns(RuntimeWarning, match="failed and was dropped"):
        served.partial_fit(X[:50], Y[:50])
    assert "TypeError" in served.failure_
    assert_array_equal(served.predict_with_proba(X)[1], begun().partial_fit(X[:50], Y[:50]).predict_proba(X))


def test_what_the_champion_refuses_the_challenger_does_not_see():
    served = Shadow(begun(), begun())
    before = pickle.dumps(served)
    with pytest.raises(ValueError, match="features"):
        served.partial_fit(X[:, :2], Y)
    assert pickle.dumps(served) == before


def test_rows_without_labels_are_not_compared():
    served = Shadow(begun(), begun())
    served.predict_then_fit(X[:10], np.where(np.arange(10)[:, None] < 4, np.nan, Y[:10]))
    assert served.n_compared_ == 6


def test_learners_that_do_not_suit_are_refused():
    champion = begun()
    for make, message in (
        (lambda: Shadow(OnlineLogisticRegression(), begun()), "champion must have begun"),
        (lambda: Shadow(champion, champion), "another object"),
        (lambda: Shadow(champion, OnlineLogisticRegression().begin(X[:1, :2], Y[:1])), "the features of the champion"),
        (lambda: Shadow(champion, OnlineLogisticRegression().begin(X[:1], Y[:1, :1])), "the labels of the champion"),
        (lambda: Shadow(champion, GaussianNB()), "challenger must have learnt"),
        (lambda: Shadow(champion, BinaryRelevance(GaussianNB()), alpha=0), "alpha must be"),
        (lambda: Shadow(champion, BinaryRelevance(GaussianNB()), alpha="x"), "alpha must be"),
        (lambda: Shadow(champion, begun(), loss="log"), "loss must be"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
