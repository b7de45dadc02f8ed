"""Base of thresholds: predictions of a classifier for rows not yet learnt, and searches on the last of them."""

from typing import Any

import numpy as np

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Estimator
from estimators.contract.failed_calls import check_not_diverged
from estimators.contract.new_labels import grown
from estimators.contract.targets import ClassTarget, Target, as_table
from estimators.contract.unknown_labels import runs
from estimators.contract.validation import Features, is_fitted
from estimators.pragma._vote_weights import FittedWeights, shares
from estimators.pragma._weighted_votes import WeightedVotes, rows_with_a_label
from metrics.validation import positive_columns


class PrequentialWeights(WeightedVotes):
    """Learn rows after predicting them, and search weights on the predictions for a window, once in a period."""

    estimator: Estimator
    estimator_: Any
    window: int
    period: int
    _seed: int
    _n_since_search: int
    _window_proba: Array
    _window_truth: Array

    def _test_then_train(self, X: Features, truth: Array) -> Array:
        """Return the shares before each row; a row whose labels are all unknown is only predicted."""
        check_not_diverged(self.estimator_)  # it is not fitted then, but must not begin again in silence
        learnt = rows_with_a_label(truth)
        if _tests_then_trains(self.estimator_) and not is_fitted(self.estimator_):
            announced = len(self.classes_) if self._target.multilabel else self.classes_
            self.estimator_.begin(X, self._values(truth), announced)
        if learnt is None:
            return self._learn_in_periods(X, truth)
        return np.concatenate(
            [
                self._learn_in_periods(X[rows], truth[rows])
                if learnt[rows.start]
                else shares(self._probabilities_of(X[rows]), self.vote_weights_)
                for rows in runs(learnt)
            ]
        )

    def _learn_in_periods(self, X: Features, truth: Array) -> Array:
        """Learn rows until the next search is due, search, and continue; return the shares before each row."""
        shares_before, begin = [], 0
        while begin < len(truth):
            rows = slice(begin, min(begin + self.period - self._n_since_search, len(truth)))
            proba = self._learn_rows(X[rows], truth[rows])
            shares_before.append(shares(proba, self.vote_weights_))
            self._append_to_window(proba, truth[rows])
            self._n_since_search = (self._n_since_search + len(proba)) % self.period
            if self._n_since_search == 0:
                self._search(self._window_proba, self._window_truth)
            begin = rows.stop
        return np.concatenate(shares_before)

    def _learn_rows(self, X: Features, truth: Array) -> Array:
        """Return the probabilities of each row before it is learnt."""
        model, y = self.estimator_, self._values(truth)
        if _tests_then_trains(model):
            return self._aligned(model, model.predict_then_fit(X, y)[1])
        proba = np.empty((len(truth), *self._window_proba.shape[1:]))
        for i in range(len(truth)):
            row = slice(i, i + 1)
            proba[row] = self._probabilities_of(X[row])
            model.partial_fit(X[row], y[row], **({} if is_fitted(model) else {"classes": self._announced()}))
        return proba

    def _probabilities_of(self, X: Features) -> Array:
        """Return the probabilities of rows, each as if alone; zeros where the estimator has learnt nothing."""
        if not is_fitted(self.estimator_):
            return np.zeros((X.shape[0], *self._window_proba.shape[1:]))
        each = [slice(None)] if _tests_then_trains(self.estimator_) else [slice(i, i + 1) for i in range(X.shape[0])]
        return np.concatenate([self._aligned(self.estimator_, self.estimator_.predict_proba(X[rows])) for rows in each])

    @property
    def _rows_to_compile(self) -> int:
        # the first search
        return self.period

    def _search(self, proba: Array, truth: Array) -> FittedWeights:
        # the same seed for every search: how a stream is cut must not matter
        fitted = self._weighting().fit(proba, truth, np.random.RandomState(self._seed))
        self._take_weights(fitted)
        return fitted

    def _grow(self, target: Target) -> None:
        """Take in new labels: of weight 1 until a search, and unknown in the rows of the window."""
        n_new = target.width - self._target.width
        self._take_target(target)
        self.vote_weights_ = np.append(self.vote_weights_, np.ones(n_new))
        self.search_trace_ = [*self.search_trace_, *[np.empty(0)] * n_new]
        self._window_proba = np.pad(self._window_proba, [(0, 0), (0, n_new), (0, 0)])
        self._window_truth = np.pad(self._window_truth, [(0, 0), (0, n_new)], constant_values=UNKNOWN)
        self.estimator_ = grown(self.estimator_, target.width)

    def _append_to_window(self, proba: Array, truth: Array) -> None:
        self._window_proba = np.concatenate([self._window_proba, proba])[-self.window :].copy()
        self._window_truth = np.concatenate([self._window_truth, truth])[-self.window :].copy()

    def _announced(self) -> Array:
        """Return the classes, or the numbers of the labels, as other estimators take them at their first call."""
        return np.array([0, 1] if self._is_one_column() else self._keys())

    def _values(self, truth: Array) -> Array:
        if isinstance(self._target, ClassTarget):
            return self.classes_[truth]
        return truth.ravel() if self._is_one_column() else as_table(truth)

    def _is_one_column(self) -> bool:
        """Return whether a single label is learnt by an estimator that takes it for one class a row."""
        return self._target.multilabel and self._target.width == 1 and not _tests_then_trains(self.estimator)

    def _aligned(self, model: Any, proba: Any) -> Array:
        """Return probabilities of an estimator as (n_samples, n_classes), or (n_samples, n_labels, 2)."""
        if not all(np.isfinite(one).all() for one in proba):
            raise ValueError(f"Probabilities must be finite. Got NaN or infinity from {model!r} instead.")
        if isinstance(self._target, ClassTarget):
            aligned = np.zeros((len(proba), len(self.classes_)))
            aligned[:, np.searchsorted(self.classes_, model.classes_)] = proba
            return aligned
        one_column = self._is_one_column()
        if one_column or isinstance(proba, list):  # of each label, the values that occurred
            proba = positive_columns(*([proba], [model.classes_]) if one_column else (proba, model.classes_))
        return np.stack([1.0 - proba, proba], axis=-1)


def _tests_then_trains(model: Estimator) -> bool:
    return hasattr(model, "begin") and hasattr(model, "predict_then_fit")
