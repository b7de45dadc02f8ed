"""A learner that cannot begin with one row waits for as many as it needs; each row is predicted before it is learnt."""

from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from estimators import BinaryRelevance, StreamRidgeClassifier
from mlstream import Search, evaluate, run_campaign
from mlstream.evaluation.learners import adapt, fresh
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.settings import Settings
from mlstream.generators import missing_labels
from tests.estimators.learners import Logistic
from tests.loops import check_all, in_two_tiers
from tests.mlstream.evaluation.streams import SIZES, Online, Targeted, make_stream

STREAM = make_stream()
FIRST, NEXT = STREAM.experiences[:2]
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


class Neighbours(BaseEstimator):
    """Nearest rows of all rows so far, as many as there must be before it can learn."""

    def __init__(self, n_neighbors=4):
        self.n_neighbors = n_neighbors

    def partial_fit(self, X, Y, label_mask=None):
        self.debris_ = True
        if len(X) < self.n_neighbors and not hasattr(self, "rows_"):
            raise ValueError(f"Needs {self.n_neighbors} rows. Got {len(X)}.")
        X, Y = np.asarray(X), np.asarray(Y)
        if hasattr(self, "rows_"):
            X, Y = np.vstack([self.rows_[0], X]), np.vstack([self.rows_[1], Y])
        self.rows_ = X, Y
        return self

    def predict(self, X):
        if not hasattr(self, "rows_"):
            raise NotFittedError
        rows, labels = self.rows_
        distances = np.linalg.norm(np.asarray(X)[:, np.newaxis] - rows, axis=2)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, : self.n_neighbors]
        return (labels[nearest].mean(axis=1) > 0.5).astype(int)


class BothClasses(ClassifierMixin, BaseEstimator):
    """A classifier of one class a row that must see both in its first call, and learns single rows then."""

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "inner_"):
            if len(np.unique(y)) < 2:
                raise ValueError("Needs two classes.")
            self.inner_ = SGDClassifier(loss="log_loss", shuffle=False)
        self.inner_.partial_fit(X, y, classes=[0, 1])
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


def slowly(estimator, n_wait, X=FIRST.X, Y=FIRST.Y):
    """Return the predictions of a loop over rows that learns the first ones together."""
    alone, decided = clone(estimator), np.zeros(Y.shape)
    for i in range(len(Y)):
        if i >= n_wait:
            decided[i] = alone.predict(X[i : i + 1])[0]
            alone.partial_fit(X[i : i + 1], Y[i : i + 1])
        elif i == n_wait - 1:
            alone.partial_fit(X[:n_wait], Y[:n_wait])
    return decided, alone


def learner_of(estimator, warm_up_rows=None):
    settings = Settings(warm_up_rows=warm_up_rows)
    return adapt(fresh(estimator, 0), STREAM.n_labels, ResourceMeter("none"), settings=settings)


def in_chunks(learner, cuts, X=FIRST.X, Y=FIRST.Y, mask=FIRST.label_mask):
    bounds = [0, *cuts, len(Y)]
    parts = [learner.test_then_train(X[a:b], Y[a:b], mask) for a, b in pairwise(bounds)]
    return np.concatenate([part.decided for part in parts])


CUTS = [[], [1], [3, 5], [2, 9, 20]]


def test_a_learner_waits_for_as_few_rows_as_it_accepts():
    def check(case):
        cuts, n_neighbors = case
        learner = learner_of(Neighbours(n_neighbors))
        expected, alone = slowly(Neighbours(n_neighbors), n_neighbors)
        np.testing.assert_array_equal(in_chunks(learner, cuts), expected)
        np.testing.assert_array_equal(learner.predict(NEXT.X).decided, alone.predict(NEXT.X))
        assert learner.first_rows.n_together == (n_neighbors if n_neighbors > 1 else 0)

    check_all(product(CUTS, [1, 4, 7]), check)


@in_two_tiers(product(CUTS, [2, 6, 23], [Online(), Neighbours(2), BinaryRelevance(GaussianNB())]), n_fast=9)
def test_a_number_of_rows_may_be_asked_for(cases):
    def check(case):
        cuts, n_wait, estimator = case
        learner = learner_of(estimator, n_wait)
        expected, _ = slowly(fresh(estimator, 0), n_wait)
        np.testing.assert_array_equal(in_chunks(learner, cuts), expected)
        assert learner.first_rows.n_together == n_wait

    check_all(cases, check)


def test_a_learner_with_a_start_state_predicts_from_it_while_it_waits():
    learner, alone = learner_of(Logistic(), 9), Logistic().begin(FIRST.X, FIRST.Y)
    learner.begin(FIRST.X, FIRST.Y)
    proba = learner.test_then_train(FIRST.X, FIRST.Y, FIRST.label_mask).proba
    np.testing.assert_array_equal(proba[:9], alone.predict_proba(FIRST.X[:9]))
    alone.partial_fit(FIRST.X[:9], FIRST.Y[:9])
    np.testing.assert_array_equal(proba[9:], alone.predict_then_fit(FIRST.X[9:], FIRST.Y[9:])[1])


@pytest.mark.slow
@pytest.mark.parametrize("cuts", CUTS)
def test_a_wrapped_classifier_waits_until_every_label_has_both_classes(cuts):
    Y = FIRST.Y.copy()
    Y[:, 3:] = Y[:, :2]
    n_wait = max(int((column != column[0]).argmax()) for column in Y.T) + 1
    learner = learner_of(BothClasses())
    expected, _ = slowly(BinaryRelevance(BothClasses()), n_wait, Y=Y)
    np.testing.assert_array_equal(in_chunks(learner, cuts, Y=Y), expected)
    assert learner.first_rows.n_together == n_wait > 1


def test_the_mask_of_every_row_reaches_a_learner_that_waits():
    class Recorder(Targeted):
        def partial_fit(self, X, Y, label_mask=None):
            self.masks_ = [*getattr(self, "masks_", []), np.array(label_mask)]
            return self

        def predict_proba(self, X):
            return np.zeros((len(X), 5))

    mixed = STREAM.experiences[2]
    learner = learner_of(Recorder(), 7)
    learner.test_then_train(mixed.X, mixed.Y, mixed.label_mask)
    np.testing.assert_array_equal(learner.estimator.masks_[0], mixed.label_mask[:7])
    assert [mask.shape[0] for mask in learner.estimator.masks_[1:]] == [1] * (len(mixed) - 7)


def test_rows_of_unknown_labels_are_not_waited_for():
    Y = FIRST.Y.astype(np.float32)
    Y[[0, 2, 3, 11]] = np.nan
    known = ~np.isnan(Y).any(axis=1)
    learner = learner_of(Neighbours(4))
    decided = in_chunks(learner, [3, 5], Y=Y)
    expected, _ = slowly(Neighbours(4), 4, FIRST.X[known], FIRST.Y[known])
    np.testing.assert_array_equal(decided[known], expected)
    assert learner.first_rows.n_together == 4


def test_the_record_has_the_rows_waited_for_and_the_references_wait_too():
    waited, at_once = (evaluate(Neighbours(n), STREAM, energy="none", references=True) for n in (5, 1))
    asked = evaluate(Neighbours(5), STREAM, energy="none", references=True, warm_up_rows=5)
    assert (waited.warm_up_rows, at_once.warm_up_rows, asked.warm_up_rows) == (5, 0, 5)
    assert (waited.settings.get("warm_up_rows"), asked.settings["warm_up_rows"]) == (None, 5)
    assert waited.scores == asked.scores
    assert waited.references == asked.references
    assert waited.scores != at_once.scores


@pytest.mark.slow
def test_the_way_streams_are_cut_does_not_matter_to_the_scores():
    results = [evaluate(BothClasses(), STREAM, energy="none", warm_up_rows=30, chunk_size=n) for n in (1, 7, 256)]
    assert results[0].scores == results[1].scores == results[2].scores


class Broken(Online):
    """Never learns."""

    def partial_fit(self, X, Y):
        raise ValueError(f"Broken with {len(X)} rows.")


def test_an_error_that_no_row_mends_is_raised():
    with pytest.raises(ValueError, match=f"Broken with {sum(SIZES)} rows"):
        evaluate(Broken(), STREAM, energy="none")
    with pytest.raises(ValueError, match="Broken with 1 rows"):
        evaluate(Broken(), STREAM, energy="none", warm_up_rows=0)
    with pytest.raises(ValueError, match="Broken with 100 rows"):
        evaluate(Broken(), make_stream(sizes=(123, 17, 29, 11)), energy="none")
    with pytest.raises(ValueError, match="alpha"):
        evaluate(SGDClassifier(alpha=-1.0), STREAM, energy="none", time_cap_s=60)


def test_errors_of_rows_later_on_are_raised_as_before():
    with pytest.raises(ValueError, match="BinaryRelevance"):
        evaluate(Online(), missing_labels(STREAM, rate=0.3), energy="none")


def test_waiting_for_more_rows_than_there_are_is_refused(tmp_path):
    with pytest.raises(ValueError, match=f"warm_up_rows must be at most {sum(SIZES)}, .* Got 81 instead"):
        evaluate(Online(), STREAM, energy="none", warm_up_rows=81)
    assert evaluate(Online(), STREAM, energy="none", warm_up_rows=80).warm_up_rows == 80
    with pytest.raises(ValueError, match="warm_up_rows must be a whole number, at least 0"):
        evaluate(Online(), STREAM, energy="none", warm_up_rows=-1)


def test_campaigns_and_searches_wait(tmp_path):
    learners = {"waits": Neighbours(3), "searched": Search(Neighbours(), {"n_neighbors": [2, 3]}, n_configurations=2)}
    results = run_campaign(learners, [STREAM], [0], tmp_path, energy="none")
    assert [result.error for result in results] == [None, None]
    assert results[0].warm_up_rows == 3
    assert {trial.status for trial in results[1].selection.trials} == {"done"}
    assert run_campaign(learners, [STREAM], [0], tmp_path, energy="none") == results


def test_learners_of_ours_never_wait():
    assert evaluate(StreamRidgeClassifier(), STREAM, energy="none").warm_up_rows == 0
