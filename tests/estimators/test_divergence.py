"""Numbers that diverge inside a step: the learner refuses to go on until it is fitted again."""

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from estimators import (
    BinaryRelevance,
    ClassifierChain,
    DivergedError,
    FIFOMemory,
    GDumbClassifier,
    GOOWEMLClassifier,
    LabelCombination,
    MeanLabelsClassifier,
    OnlineNeuralClassifier,
    PragmaThreshold,
    PrequentialStack,
    ReplayClassifier,
    ReservoirMemory,
    StreamClassifier,
    StreamPipeline,
)
from estimators.checks._check_data import stream
from estimators.contract.traits import Traits
from tests.loops import check_all

A, B, TEST = stream().parts(40, 40)
HUGE = np.full((2, 6), 1e200)


class Sums(StreamClassifier):
    """Add rows to sums in place, and notice afterwards that these are infinite."""

    _traits = Traits(fails_late=False)

    def __init__(self, learning_rate=1.0):
        self.learning_rate = learning_rate

    def _start(self):
        self.sums_ = np.ones(self.n_labels_)

    def _learn(self, X, Y, mask, weight):
        with np.errstate(over="ignore", invalid="ignore"):
            self.sums_ += self.learning_rate * (np.asarray(X) ** 2).sum() * Y.sum(axis=0)
        if not np.isfinite(self.sums_).all():
            raise DivergedError("Sums must stay finite. Got infinity instead.")

    def _predict_proba(self, X):
        return np.tile(self.sums_ / (1 + self.sums_.sum()), (X.shape[0], 1))


def _diverge(learner, method="partial_fit"):
    with pytest.raises(DivergedError, match=r"Sums must stay finite"):
        getattr(learner, method)(HUGE, np.ones((2, 4), dtype=int))
    return learner


@pytest.mark.parametrize("method", ["predict", "predict_proba", "partial_fit", "predict_then_fit"])
def test_a_learner_that_diverged_refuses_to_go_on(method):
    learner = _diverge(Sums().fit(*A))
    arguments = TEST if "fit" in method else TEST[:1]
    with pytest.raises(DivergedError, match=r"This Sums has diverged: call `fit`.*learning_rate.*must stay finite"):
        getattr(learner, method)(*arguments)
    with pytest.raises(NotFittedError):
        check_is_fitted(learner)


def test_the_reason_is_the_same_however_often_it_is_asked_for():
    learner, messages = _diverge(Sums().fit(*A)), set()
    for _ in range(3):
        with pytest.raises(DivergedError) as refused:
            learner.partial_fit(*B)
        messages.add(str(refused.value))
    assert len(messages) == 1
    assert messages.pop().count("has diverged") == 1


@pytest.mark.parametrize("start_again", [lambda one: one.fit(*B), lambda one: one.begin(*B).partial_fit(*B)])
def test_fit_and_begin_start_again(start_again):
    learner = start_again(_diverge(Sums().fit(*A)))
    assert np.array_equal(learner.predict_proba(TEST.X), Sums().fit(*B).predict_proba(TEST.X))
    assert np.array_equal(learner.partial_fit(*A).sums_, Sums().fit(*B).partial_fit(*A).sums_)


def test_the_mark_is_saved_and_is_not_cloned():
    learner = _diverge(Sums().fit(*A))
    with pytest.raises(DivergedError, match="has diverged"):
        pickle.loads(pickle.dumps(learner)).predict(TEST.X)  # noqa: S301 - our own bytes
    clone(learner).fit(*A).predict(TEST.X)


@pytest.mark.parametrize("method", ["partial_fit", "predict_then_fit", "fit"])
def test_a_first_call_that_diverges_counts_as_none(method):
    learner = _diverge(Sums(), method)
    with pytest.raises(NotFittedError):
        learner.predict(TEST.X)
    assert np.array_equal(learner.partial_fit(*A).sums_, Sums().fit(*A).sums_)


def test_a_fit_that_diverges_keeps_what_was_learnt():
    learner = _diverge(Sums().fit(*A), "fit")
    assert np.array_equal(learner.predict_proba(TEST.X), Sums().fit(*A).predict_proba(TEST.X))


def test_a_refused_call_changes_nothing_and_marks_nothing():
    learner = Sums().fit(*A)
    before = pickle.dumps(learner)
    with pytest.raises(ValueError, match="X must be finite"):
        learner.partial_fit(np.full((2, 6), np.nan), np.ones((2, 4), dtype=int))
    assert pickle.dumps(learner) == before


class Copied(Sums):
    """Names its sums, so that a copy of them is given back."""

    def _at_risk(self, n_rows, *, testing):
        return ["sums_"]


def test_a_learner_that_is_copied_first_goes_on():
    learner = _diverge(Copied().fit(*A))
    assert np.array_equal(learner.partial_fit(*B).sums_, Copied().fit(*A).partial_fit(*B).sums_)


def test_a_meta_estimator_refuses_with_the_learner_inside_until_it_is_fitted_again():
    def check(meta):
        learner = clone(meta).partial_fit(*A)
        _diverge(learner)
        for call in (lambda: learner.predict(TEST.X), lambda: learner.partial_fit(*B)):
            with pytest.raises(DivergedError, match="has diverged: call `fit`"):
                call()
        assert np.array_equal(learner.fit(*B).predict_proba(TEST.X), clone(meta).fit(*B).predict_proba(TEST.X))

    check_all(
        [
            BinaryRelevance(Sums()),
            ClassifierChain(Sums()),
            GOOWEMLClassifier(Sums(), chunk_size=1),
            LabelCombination(Sums()),
            PragmaThreshold(Sums()),
            PrequentialStack([("mean", MeanLabelsClassifier()), ("sums", Sums())]),
            StreamPipeline([("scale", StandardScaler(with_mean=False, with_std=False)), ("learn", Sums())]),
        ],
        check,
        lambda meta: type(meta).__name__,
    )


# -------------------------------------------------------------- around a network
def spoilt(value):
    """Return rows that are large from the middle on, and count for the last label only there."""
    X, mask = B.X.copy(), np.ones(B.Y.shape, dtype=bool)
    X[20:, 2], mask[20:] = value, np.arange(B.Y.shape[1]) == B.Y.shape[1] - 1
    return X, mask


def in_a_replay(**parameters):
    network = OnlineNeuralClassifier(random_state=0)
    return ReplayClassifier(network, reservoir=ReservoirMemory(30), fifo=FIFOMemory(30), random_state=0, **parameters)


AROUND = {
    "binary relevance": BinaryRelevance(OnlineNeuralClassifier(random_state=0), targeted=True),
    "chain": ClassifierChain(OnlineNeuralClassifier(random_state=0)),
    "label combination": LabelCombination(OnlineNeuralClassifier(random_state=0)),
    "GOOWE-ML": GOOWEMLClassifier(OnlineNeuralClassifier(random_state=0), chunk_size=15, random_state=0),
    "threshold": PragmaThreshold(OnlineNeuralClassifier(random_state=0), period=8),
    "replay": in_a_replay(),
    "stack": PrequentialStack(
        [
            ("mean", MeanLabelsClassifier()),
            ("network", OnlineNeuralClassifier(targeted_loss="signature", random_state=0)),
        ],
        random_state=0,
    ),
}


def _call(learner, method, X, mask):
    masks = {"label_mask": mask} if getattr(learner, "uses_task", False) else {}
    return getattr(learner, method)(X, B.Y, **masks)


def test_features_too_large_for_a_network_inside_change_nothing(monkeypatch):
    def check(method, name):
        monkeypatch.setattr("estimators.meta.label_combination.BLOCK", 8)
        learner, twin = (clone(AROUND[name]).partial_fit(*A) for _ in range(2))
        with pytest.raises(ValueError, match="X must fit float32"):
            _call(learner, method, *spoilt(1e300))
        assert np.array_equal(learner.predict_proba(TEST.X), twin.predict_proba(TEST.X))
        assert np.array_equal(learner.partial_fit(*B).predict_proba(TEST.X), twin.partial_fit(*B).predict_proba(TEST.X))

    check_all(product(["partial_fit", "predict_then_fit"], AROUND), lambda case: check(*case))


def test_features_too_large_for_a_network_inside_are_refused_while_rows_have_weights():
    learner, twin = (in_a_replay().partial_fit(*A, sample_weight=np.full(40, 2.0)) for _ in range(2))
    with pytest.raises(ValueError, match="X must fit float32"):
        learner.predict_then_fit(spoilt(1e300)[0], B.Y)
    assert np.array_equal(learner.predict_proba(TEST.X), twin.predict_proba(TEST.X))


def test_a_network_that_diverges_inside_asks_for_fit():
    def check(method, name):
        learner = clone(AROUND[name]).partial_fit(*A)
        with pytest.raises(DivergedError, match="The network diverged at row"):
            _call(learner, method, *spoilt(1e30))
        for call in (lambda: learner.predict(TEST.X), lambda: learner.partial_fit(*B)):
            with pytest.raises(DivergedError, match="has diverged: call `fit`"):
                call()
        assert np.array_equal(learner.fit(*B).predict_proba(TEST.X), clone(AROUND[name]).fit(*B).predict_proba(TEST.X))

    check_all(product(["partial_fit", "predict_then_fit"], AROUND), lambda case: check(*case))


def test_a_network_that_diverges_in_a_later_block_asks_for_fit(monkeypatch):
    monkeypatch.setattr("estimators.replay.replay_classifier.BLOCK", 8)
    learner = in_a_replay().partial_fit(*A)
    with pytest.raises(DivergedError, match="The network diverged"):
        learner.partial_fit(spoilt(1e30)[0], B.Y)
    with pytest.raises(DivergedError, match="has diverged: call `fit`"):
        learner.predict(TEST.X)


def test_no_network_is_copied_before_a_call(monkeypatch):
    learners = [clone(one).partial_fit(*A) for one in AROUND.values()]
    monkeypatch.setattr(OnlineNeuralClassifier, "__deepcopy__", _refuse_to_copy, raising=False)
    for learner in learners:
        learner.partial_fit(*B).predict_then_fit(*B)


def _refuse_to_copy(network, memo):
    raise AssertionError("A network was copied.")


def test_a_new_training_that_diverges_leaves_the_old_one():
    learner = GDumbClassifier(OnlineNeuralClassifier(random_state=0), size=30, random_state=0).partial_fit(*A)
    before = learner.predict_proba(TEST.X)
    with pytest.raises(DivergedError, match="The network diverged"):
        learner.partial_fit(np.full(B.X.shape, 1e30), B.Y)
    assert np.array_equal(learner.predict_proba(TEST.X), before)
