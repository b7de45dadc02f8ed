"""Numbers that diverge inside a step: the learner refuses to go on until it is fitted again."""

import pickle

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
    LabelCombination,
    PragmaThreshold,
    StreamClassifier,
    StreamPipeline,
)
from estimators._check_data import stream

A, B, TEST = stream().parts(40, 40)
HUGE = np.full((2, 6), 1e200)


class Sums(StreamClassifier):
    """Add rows to sums in place, and notice afterwards that these are infinite."""

    _fails_late = False

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


@pytest.mark.parametrize(
    "meta",
    [
        BinaryRelevance(Sums()),
        ClassifierChain(Sums()),
        LabelCombination(Sums()),
        PragmaThreshold(Sums()),
        StreamPipeline([("scale", StandardScaler(with_mean=False, with_std=False)), ("learn", Sums())]),
    ],
    ids=lambda meta: type(meta).__name__,
)
def test_a_meta_estimator_refuses_with_the_learner_inside_until_it_is_fitted_again(meta):
    learner = clone(meta).partial_fit(*A)
    _diverge(learner)
    for call in (lambda: learner.predict(TEST.X), lambda: learner.partial_fit(*B)):
        with pytest.raises(DivergedError, match="has diverged: call `fit`"):
            call()
    assert np.array_equal(learner.fit(*B).predict_proba(TEST.X), clone(meta).fit(*B).predict_proba(TEST.X))
