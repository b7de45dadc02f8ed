"""Learners that decide labels by scores of their own, which are log-odds."""

import numpy as np

from estimators._typing import Array, MatrixLike
from estimators.contract.base import StreamClassifier
from estimators.contract.locks import lock_of
from estimators.contract.targets import ClassTarget
from estimators.contract.validation import Features


class LogOddsClassifier(StreamClassifier):
    """Base of classifiers that predict a label where its log-odds, returned by the hook `_log_odds`, are positive."""

    def decision_function(self, X: MatrixLike) -> Array:
        """Return the log-odds of each row, before they become probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), (n_samples,) or (n_samples, n_classes)
            Log-odds of each label, positive where it is predicted; for one of two classes a row, those of the second
            class; for one of several, those of each class against the others, the greatest being predicted. Where
            rounding would contradict `predict`, as on ties, they are moved by as little as possible.
        """
        with lock_of(self):
            X = self._check_features(X)
            decided, proba = self._infer(X)
            scores = self._log_odds(X, proba)
            if not isinstance(self._target, ClassTarget):
                return _with_signs(scores, decided)
            codes = self._target.probabilities(proba).argmax(axis=1)
            if self.n_labels_ == 1:
                return _with_signs(scores[:, 0], codes)
            wrong = scores.argmax(axis=1) != codes
            scores[wrong, codes[wrong]] = np.nextafter(scores[wrong].max(axis=1), np.inf)
            return scores

    def _log_odds(self, X: Features, proba: Array) -> Array:
        """Return the log-odds of rows, from their features or from the probabilities that `_infer` returns."""
        raise NotImplementedError


def _with_signs(scores: Array, decided: Array) -> Array:
    """Return scores that are positive where a label is decided, and nowhere else."""
    return np.where(decided, np.maximum(scores, np.finfo(np.float64).tiny), np.minimum(scores, 0.0))
