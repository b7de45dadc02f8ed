"""GOOWE-ML predicts what a slow loop, written from its description, predicts."""

import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB

from estimators import (
    BinaryRelevance,
    ClassifierChain,
    GOOWEMLClassifier,
    HoeffdingTreeClassifier,
    MeanLabelsClassifier,
    make_strategy,
)
from tests.estimators.streams import drawn, tasks_that_return, yeast
from tests.loops import check_all

TREES = BinaryRelevance(HoeffdingTreeClassifier(grace_period=10))


def made(estimator=TREES, **parameters):
    return GOOWEMLClassifier(estimator, **{"chunk_size": 15, "n_members": 4, "random_state": 0, **parameters})


# ------------------------------------------------------------------------ oracle
def as_scores(votes):
    low = min(votes)
    total = sum(vote - low for vote in votes)
    return [(vote - low) / total if total > 0 else 1 / len(votes) for vote in votes]


def solved(A, b):
    """Solve by Gauss and Jordan with exact fractions; None if there is no one solution."""
    rows = [[Fraction(float(a)) for a in (*row, end)] for row, end in zip(A, b, strict=True)]
    for k in range(len(rows)):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], [a / rows[pivot][k] for a in rows[pivot]]
        for r in set(range(len(rows))) - {k}:
            rows[r] = [a - rows[r][k] * c for a, c in zip(rows[r], rows[k], strict=True)]
    return [float(row[-1]) for row in rows]


class SlowGoowe:
    def __init__(self, model, size, n_members):
        self.model, self.size, self.n_members = model, size, n_members
        self.members, self.weights, self.chunk = [], [], []

    def predict(self, x):
        scores = [as_scores(one.predict_proba([x])[0]) for one in self.members]
        n_labels = len(scores[0])
        return as_scores([sum(w * s[j] for w, s in zip(self.weights, scores, strict=True)) for j in range(n_labels)])

    def learn(self, x, y, weight=1):
        self.chunk.append((x, y, weight))
        if len(self.chunk) == self.size:
            self.weigh()
            self.train()
            self.chunk = []

    def weigh(self):
        n = len(self.members)
        A, b = np.zeros((n, n)), np.zeros(n)
        for x, y, weight in self.chunk:
            scores = [as_scores(one.predict_proba([x])[0]) for one in self.members]
            for j in np.flatnonzero(~np.isnan(y)):
                for q in range(n):
                    b[q] += weight * scores[q][j] * y[j]
                    for k in range(n):
                        A[q, k] += weight * scores[q][j] * scores[k][j]
        found = solved(A, b) if n > 1 else None
        self.weights = [1.0] * n if found is None else found
        low, high = min(self.weights, default=0), max(self.weights, default=0)
        if n > 1 and high > low:
            self.weights = [(w - low) / (high - low) for w in self.weights]

    def train(self):
        X, Y, weight = (np.array(part) for part in zip(*self.chunk, strict=True))
        new = clone(self.model).begin(X, np.zeros(Y.shape, dtype=int)).partial_fit(X, Y, sample_weight=weight)
        if len(self.members) < self.n_members:
            self.members, self.weights = [*self.members, new], [*self.weights, 1.0]
        else:
            worst = self.weights.index(min(self.weights))
            self.members[worst], self.weights[worst] = new, 1.0
        for one in self.members:
            one.partial_fit(X[::-1], Y[::-1], sample_weight=weight[::-1])


def hidden(Y, share, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(Y.shape) < share, np.nan, Y)


@pytest.mark.slow
def test_it_predicts_what_a_slow_loop_predicts():
    def check(unknown, n_members):
        X, Y = drawn(120, n_labels=4)
        Y = hidden(Y.astype(float), unknown)
        Y[np.isnan(Y).all(axis=1), 0] = 1
        learner, slow = made(n_members=n_members), SlowGoowe(TREES, 15, n_members)
        decided, proba = learner.predict_then_fit(X, Y)
        for i in range(len(Y)):
            if i >= 15:
                scores = np.array(slow.predict(X[i]))
                np.testing.assert_allclose(proba[i], (scores / (scores + 0.25)).clip(1e-300), atol=1e-7)
                clear = abs(scores - 0.25) > 1e-7
                np.testing.assert_array_equal(decided[i][clear], (scores > 0.25)[clear])
            slow.learn(X[i], Y[i])
        np.testing.assert_allclose(learner.weights_, slow.weights, atol=1e-6)
        assert not decided[:15].any()
        assert len(learner.estimators_) == min(n_members, 8)

    check_all(product([0.0, 0.3], [1, 3, 10]), lambda case: check(*case))


def test_rows_have_weights():
    X, Y, _, weight = tasks_that_return(90)
    learner, slow = made().begin(X, Y), SlowGoowe(TREES, 15, 4)
    learner.partial_fit(X, Y, sample_weight=weight)
    for i in np.flatnonzero(weight):
        slow.learn(X[i], Y[i].astype(float), weight[i])
    scores = np.array([slow.predict(x) for x in X])
    np.testing.assert_allclose(learner.predict_proba(X), scores / (scores + 0.2), atol=1e-7)


def test_members_that_are_alike_have_equal_weights():
    X, Y = drawn(100)
    learner = made(MeanLabelsClassifier(), n_members=2).partial_fit(X, np.tile(Y[:1] * 0 + [1, 0, 0], (100, 1)))
    np.testing.assert_array_equal(learner.weights_, [1, 1])
    assert (learner.predict(X) == [1, 0, 0]).all()


def test_what_remains_of_a_chunk_is_learnt_by_fit():
    X, Y = drawn(50)
    whole, slow = made().fit(X, Y), SlowGoowe(TREES, 15, 4)
    for i in range(50):
        if i == 45:
            slow.size = 5
        slow.learn(X[i], Y[i].astype(float))
    scores = np.array([slow.predict(x) for x in X])
    np.testing.assert_allclose(whole.predict_proba(X), scores / (scores + 1 / 3), atol=1e-7)


def test_labels_outside_the_mask_are_left_out_where_members_use_the_task():
    X, Y, mask, _ = tasks_that_return(120)
    targeted = made(BinaryRelevance(HoeffdingTreeClassifier(grace_period=10), targeted=True))
    of_mask = targeted.predict_then_fit(X, Y, label_mask=mask)
    of_nan = made().predict_then_fit(X, np.where(mask, Y, np.nan))
    for one, two in zip(of_mask, of_nan, strict=True):
        np.testing.assert_array_equal(one, two)


# -------------------------------------------------------------------------- laws
@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("estimator", [TREES, ClassifierChain(HoeffdingTreeClassifier(), chain_features="predicted")])
def test_cut_anywhere_and_saved_in_between_it_goes_on_bit_for_bit(estimator, kind):
    X, Y = drawn(150)
    X = kind(X)
    whole, cut = made(estimator), made(estimator)
    expected, parts = whole.predict_then_fit(X, Y), []
    for start, stop in ((0, 1), (1, 8), (8, 100), (100, 101), (101, 150)):
        cut, rows = pickle.loads(pickle.dumps(cut)), slice(start, stop)  # noqa: S301 - our own bytes
        parts.append(cut.predict_then_fit(X[rows], Y[rows]))
    for one, two in zip(expected, map(np.concatenate, zip(*parts, strict=True)), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(cut.predict_proba(X), whole.predict_proba(X))


def test_a_single_label_is_learnt_with_its_contrary():
    X, Y = drawn(600)
    learner = make_strategy("GOOWE_ML").fit(X, Y[:, :1])
    assert (learner.predict(X) == Y[:, :1]).mean() > 0.8
    np.testing.assert_array_equal(make_strategy("GOOWE_ML").fit(X, Y[:, 0]).predict(X), learner.predict(X)[:, 0])


# --------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"chunk_size": 0}, ValueError, "chunk_size must be an integer of at least 1. Got 0 instead"),
        ({"n_members": 1.5}, ValueError, "n_members must be an integer of at least 1. Got 1.5 instead"),
        ({"estimator": Perceptron()}, TypeError, r"estimator must be a StreamClassifier of labels. Got Perceptron\(\)"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, error, message):
    X, Y = drawn(20)
    learner = made(**parameters)
    with pytest.raises(error, match=message):
        learner.partial_fit(X, Y)
    assert not hasattr(learner, "classes_")


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
def test_members_of_another_package_are_cut_anywhere_too():
    X, Y = drawn(60)
    bayes = BinaryRelevance(GaussianNB())
    expected = made(bayes, n_members=2).predict_then_fit(X, Y)
    learner = made(bayes, n_members=2)
    parts = [learner.predict_then_fit(X[i : i + 7], Y[i : i + 7]) for i in range(0, 60, 7)]
    for one, two in zip(expected, map(np.concatenate, zip(*parts, strict=True)), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("parameters", [{"chunk_size": 3}, {"chunk_size": 40}, {"n_members": 1}, {"chunk_size": "x"}])
def test_sizes_set_later_count_from_the_next_fit(parameters):
    X, Y = drawn(200)
    learner, twin = (made().partial_fit(X[:100], Y[:100]) for _ in range(2))
    got = learner.set_params(**parameters).predict_then_fit(X[100:], Y[100:])
    for one, two in zip(got, twin.predict_then_fit(X[100:], Y[100:]), strict=True):
        np.testing.assert_array_equal(one, two)


def test_an_estimator_set_later_is_checked():
    X, Y = drawn(100)
    learner, twin = (made().partial_fit(X, Y) for _ in range(2))
    with pytest.raises(TypeError, match=r"estimator must be a StreamClassifier of labels\. Got 'tree' instead\."):
        learner.set_params(estimator="tree").partial_fit(X, Y)
    np.testing.assert_array_equal(learner.predict_proba(X), twin.predict_proba(X))


# --------------------------------------------------------------------- published
def test_yeast_has_the_published_scores(shared_data):
    # results-produced-cikm-2018/.../Yeast.arff-goowe-1 of the authors' repository; their rows are in another order
    X, Y = yeast(shared_data)
    decided, _ = make_strategy("GOOWE_ML").predict_then_fit(X.astype(float), Y)
    truth, decided = Y[101:].astype(int), decided[101:]
    right, predicted, present = (truth & decided).sum(axis=0), decided.sum(axis=0), truth.sum(axis=0)
    precision, recall = (np.mean(right / np.maximum(n, 1)) for n in (predicted, present))
    ours = {
        "subset accuracy": (truth == decided).all(axis=1).mean(),
        "Hamming score": (truth == decided).mean(),
        "micro-F1": 2 * right.sum() / (predicted.sum() + present.sum()),
        "macro-F1, from mean precision and recall": 2 * precision * recall / (precision + recall),
    }
    for (score, value), published in zip(ours.items(), (0.111, 0.769, 0.638, 0.400), strict=True):
        assert value == pytest.approx(published, abs=0.006), score
