"""Learners that decide labels by scores of their own, which are log-odds."""

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
            class; for one of several, those of each class against the others, the greatest being predicted.
        """
        with lock_of(self):
            scores = self._log_odds(self._check_features(X))
            one_column = isinstance(self._target, ClassTarget) and self.n_labels_ == 1
            return scores[:, 0] if one_column else scores

    def _log_odds(self, X: Features) -> Array:
        raise NotImplementedError
