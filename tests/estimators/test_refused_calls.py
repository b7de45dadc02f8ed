"""A call that is refused leaves the estimator as it was, in depth, whatever the estimators inside have done."""

import pickle
from itertools import product

import numpy as np
import pytest
from river.naive_bayes import GaussianNB as RiverGaussianNB
from river.preprocessing import StandardScaler as RiverStandardScaler
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler

from estimators import (
    BinaryRelevance,
    ClassifierChain,
    ContextWindowClassifier,
    GOOWEMLClassifier,
    LabelCombination,
    MeanLabelsClassifier,
    PragmaStreamForestClassifier,
    PragmaThreshold,
    PrequentialStack,
    ReplayClassifier,
    ReservoirMemory,
    RiverClassifier,
    StreamPipeline,
    as_river,
)
from estimators.checks._check_data import LIMIT, REFUSED, Fragile, Rows, fresh, learn, predictions, same, spoilt, stream
from estimators.interop._redo_log import RedoLog
from tests.loops import check_all

A, B, TEST = stream().parts(40, 40)
REFUSAL = r"fails|Got a large value"


class HalfLearner(ClassifierMixin, BaseEstimator):
    """Another's classifier: it counts in place, row by row, and fails on the row that `Fragile` refuses."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if classes is not None:
            self.classes_, self.counts_ = np.asarray(classes), np.ones(len(classes))
        for row, code in zip(X, y, strict=True):
            self.counts_[code] += row[1]
            if row[0] == REFUSED and code:
                raise RuntimeError("HalfLearner fails.")
        return self

    def predict(self, X):
        return np.full(len(X), self.counts_.argmax())

    def predict_proba(self, X):
        return np.tile(self.counts_ / self.counts_.sum(), (len(X), 1))


class OnlyLast(Fragile):
    """Refuses the row by itself, after it has changed its counts in place."""

    def _learn(self, X, Y, mask, weight):
        for i in range(len(Y)):
            self.counts_[1] += Y[i]
            super()._learn(X[i : i + 1], Y[i : i + 1], mask, weight)

    def _at_risk(self, n_rows, *, testing):
        return ["counts_"]


class FailingRiver(RiverGaussianNB):
    """Fails on the row that `Fragile` refuses, after it has learnt it."""

    def learn_one(self, x, y):
        super().learn_one(x, y)
        if x["x0"] > LIMIT and y:
            raise RuntimeError("FailingRiver fails.")


META = {
    "binary relevance": BinaryRelevance(HalfLearner()),
    "binary relevance in threads": BinaryRelevance(HalfLearner(), n_jobs=2),
    "binary relevance from the first positive": BinaryRelevance(HalfLearner(), start="first-positive"),
    "chain": ClassifierChain(HalfLearner()),
    "chain on predictions": ClassifierChain(HalfLearner(), chain_features="predicted"),
    "two chains": ClassifierChain(HalfLearner(), n_chains=2, order="random", random_state=0),
    "label combination": LabelCombination(HalfLearner()),
    "pruned label combination": LabelCombination(HalfLearner(), pruning=1, buffer_size=3),
    "context window": ContextWindowClassifier(Fragile(), context_size=60),
    "GOOWE-ML": GOOWEMLClassifier(Fragile(), chunk_size=15),
    "GOOWE-ML of others": GOOWEMLClassifier(BinaryRelevance(HalfLearner()), chunk_size=15),
    "threshold": PragmaThreshold(BinaryRelevance(HalfLearner()), period=1000, random_state=0),
    "pipeline": StreamPipeline([("scale", StandardScaler()), ("learn", Fragile())]),
    "pipeline of others": StreamPipeline([("scale", StandardScaler()), ("learn", BinaryRelevance(Fragile()))]),
    "stack": PrequentialStack([("one", OnlyLast()), ("other", Fragile()), ("third", HalfLearner())], random_state=0),
    "stack of one that fails late": PrequentialStack([("mean", MeanLabelsClassifier()), ("other", OnlyLast())]),
    "patient stack": PrequentialStack([("mean", MeanLabelsClassifier()), ("other", OnlyLast())], patience=7),
    "replay": ReplayClassifier(Fragile(), reservoir=ReservoirMemory(30), random_state=0),
    "river, a copy a label": RiverClassifier(FailingRiver()),
    "river pipeline": RiverClassifier(RiverStandardScaler() | FailingRiver()),
    "the default loop": OnlyLast(),
}


@pytest.mark.slow
def test_a_refused_chunk_changes_nothing():
    def check(method, name):
        learnt, twin = (learn(fresh(META[name]), A) for _ in range(2))
        with pytest.raises((RuntimeError, ValueError), match=REFUSAL):
            getattr(learnt, method)(*spoilt(B))
        assert same(predictions(twin, TEST), predictions(learnt, TEST))
        assert same(predictions(learn(twin, B, 1), TEST), predictions(learn(learnt, B, 1), TEST))

    check_all(product(["partial_fit", "predict_then_fit"], META), lambda case: check(*case))


@pytest.mark.parametrize("name", ["binary relevance", "chain", "label combination", "river, a copy a label"])
def test_a_refused_row_changes_nothing(name):
    learnt, twin = (learn(fresh(META[name]), A) for _ in range(2))
    bad = spoilt(B)
    with pytest.raises(RuntimeError, match="fails"):
        learnt.partial_fit(bad.X[20:21], bad.Y[20:21])
    assert same(predictions(learn(twin, B), TEST), predictions(learn(learnt, B), TEST))


def test_a_refused_first_chunk_counts_as_none():
    def check(name):
        learnt = fresh(META[name])
        with pytest.raises((RuntimeError, ValueError), match=REFUSAL):
            learnt.partial_fit(*spoilt(A))
        assert same(predictions(learn(learnt, B), TEST), predictions(learn(fresh(META[name]), B), TEST))

    check_all(META, check)


def test_weights_in_a_memory_do_not_let_half_a_chunk_through():
    learnt, twin = (fresh(META["replay"]).partial_fit(*A, sample_weight=np.full(len(A.Y), 2.0)) for _ in range(2))
    with pytest.raises(ValueError, match="Got a large value"):
        learnt.predict_then_fit(*spoilt(B))
    assert same(predictions(learn(twin, B), TEST), predictions(learn(learnt, B), TEST))


def test_wishes_that_became_senseless_are_refused_before_rows_are_learnt():
    forest = PragmaStreamForestClassifier(period=20, random_state=0).partial_fit(*A)
    before = forest.predict_proba(TEST.X)
    with pytest.raises(ValueError, match="importance"):
        forest.set_params(importance=-1.0).partial_fit(*B)
    assert np.array_equal(before, forest.predict_proba(TEST.X))


def test_behind_rivers_interface_a_refused_row_changes_nothing():
    model, twin = as_river(HalfLearners()), as_river(HalfLearners())
    rows = [({"a": x[0], "b": x[1]}, {"u": bool(y[0]), "v": bool(y[1])}) for x, y in zip(*A, strict=True)]
    for one in (model, twin):
        for row in rows[:10]:
            one.learn_one(*row)
    with pytest.raises(RuntimeError, match="fails"):
        model.learn_one({"a": REFUSED, "b": 1.0}, {"u": True, "v": True})
    assert model.predict_proba_one({"a": 1.0, "b": 1.0}) == twin.predict_proba_one({"a": 1.0, "b": 1.0})


class HalfLearners(ClassifierMixin, BaseEstimator):
    """Another's multi-label classifier that counts in place, and then fails."""

    def partial_fit(self, X, Y, classes=None):
        self.counts_ = getattr(self, "counts_", np.ones(Y.shape[1]))
        self.counts_ += Y.sum(axis=0)
        if (X[:, 0] == REFUSED).any():
            raise RuntimeError("HalfLearners fails.")
        return self

    def predict_proba(self, X):
        return np.tile(self.counts_ / (1 + self.counts_.sum()), (len(X), 1))


class Tally:
    """A model that counts rows, for the log."""

    def __init__(self):
        self.rows = []


def _teach(model, X, Y, weight):
    model.rows += X[:, 0].tolist()


def _teach_half(model):
    model.rows.append(-1.0)
    raise RuntimeError("halfway")


def test_the_log_makes_the_model_again_on_either_side_of_a_checkpoint():
    def check(n_chunks):
        log, model, expected = RedoLog(max_rows=5), Tally(), []
        chunk = np.empty((2, 1)), np.empty((2, 1)), None
        for i in range(n_chunks):
            chunk[0][:] = i  # the caller's array is used again
            with log.restored_on_error(model, _teach, chunk):
                _teach(model, *chunk)
            expected += [float(i)] * 2
        with pytest.raises(RuntimeError, match="halfway"), log.restored_on_error(model, _teach, chunk):
            _teach_half(model)
        assert model.rows == expected

    check_all(range(8), check)


def test_the_log_is_neither_saved_nor_counted():
    learnt = learn(RiverClassifier(RiverGaussianNB()), A)
    size = learnt.memory_bytes_
    for _ in range(3):
        learn(learnt, A)
    assert learnt.memory_bytes_ < 1.1 * size
    assert not pickle.loads(pickle.dumps(learnt))._log._chunks  # noqa: S301 - our own bytes


def test_a_chain_of_many_labels_is_no_deep_recursion():
    Y = np.tile(A.Y, (1, 300))
    chain = ClassifierChain(HalfLearner(), chain_features="true").partial_fit(A.X[:3], Y[:3])
    loaded = pickle.loads(pickle.dumps(chain))  # noqa: S301 - our own bytes
    assert predictions(loaded, Rows(A.X[:2], None))[0].shape == (2, 1200)
