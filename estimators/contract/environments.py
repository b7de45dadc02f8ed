"""Learners that take the environment of each row when they learn."""

from typing import Self

from estimators._typing import Array, Classes, MaskLike, MatrixLike, RowValues
from estimators.contract.base import StreamClassifier


class EnvironmentClassifier(StreamClassifier):
    """Base of classifiers whose methods that learn have a parameter `environment`, which predictions never need."""

    def partial_fit(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        classes: Classes = None,
        *,
        environment: RowValues = None,
        label_mask: MaskLike = None,
        sample_weight: RowValues = None,
    ) -> Self:
        """Learn the rows of a chunk, in order, in addition to all rows before.

        Parameters
        ----------
        X, Y, classes, label_mask, sample_weight
            As for every learner of a stream.
        environment : array-like of shape (n_samples,), optional
            Environment of each row: numbers or names, for a learner, or one inside it, that takes them. Pass it in
            every call, or in none. scikit-learn's meta-estimators pass it on after
            ``set_partial_fit_request(environment=True)``.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.
        """
        return self._learn_chunk(X, Y, classes, label_mask, sample_weight, {"environment": environment})

    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        *,
        environment: RowValues = None,
        label_mask: MaskLike = None,
        sample_weight: RowValues = None,
    ) -> Self:
        """Forget everything, then learn the rows in one pass.

        Parameters
        ----------
        X, y, environment, label_mask, sample_weight
            As in `partial_fit`, `y` as its `Y`.

        Returns
        -------
        self
            The estimator; unchanged if anything in the call is wrong.
        """
        return self._learn_once(X, y, label_mask, sample_weight, {"environment": environment})

    def predict_then_fit(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        classes: Classes = None,
        *,
        environment: RowValues = None,
        label_mask: MaskLike = None,
    ) -> tuple[Array, Array]:
        """Test, then train: predict each row with what was learnt from the rows before it, then learn it.

        Parameters
        ----------
        X, Y, classes, environment, label_mask
            As in `partial_fit`.

        Returns
        -------
        Y_pred : ndarray of shape (n_samples, n_labels) or (n_samples,)
            As `predict` returns row by row.
        Y_proba : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            As `predict_proba` returns row by row.
        """
        return self._predict_then_learn_chunk(X, Y, classes, label_mask, {"environment": environment})
