"""A score of tables of labels of which some are unknown."""

import numpy as np
from sklearn.base import ClassifierMixin

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import MaskLike, MatrixLike, RowValues
from estimators.contract.locks import lock_of
from estimators.contract.targets import LabelTarget
from estimators.contract.validation import check_sample_weight, read_mask


class KnownLabelScore(ClassifierMixin):
    """scikit-learn's mixin of classifiers, with a score that leaves out unknown labels; it reads ``_target``."""

    def score(
        self, X: MatrixLike, y: MatrixLike, sample_weight: RowValues = None, *, label_mask: MaskLike = None
    ) -> float:
        """Return the subset accuracy: the share of rows whose known labels are all predicted right; higher is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            True labels, NaN where a label is unknown; or one class a row.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        label_mask : bool ndarray of shape (n_labels,) or (n_samples, n_labels), optional
            Labels that count, for any learner. A search passes it if ``set_score_request(label_mask=True)`` asks for
            it, where metadata routing is on.

        Returns
        -------
        float
            In [0, 1]. A row without a label that is known and counts is left out.

        Raises
        ------
        ValueError
            If no row has a label that is known and counts, or anything in the call is wrong.

        Examples
        --------
        >>> import numpy as np
        >>> from estimators import PriorLabelsClassifier
        >>> X, Y = np.zeros((3, 1)), [[1, 0], [1, np.nan], [np.nan, np.nan]]
        >>> PriorLabelsClassifier().fit(X, Y).score(X, [[1, np.nan], [0, 0], [np.nan, np.nan]])
        0.5
        """
        with lock_of(self):
            target = getattr(self, "_target", None)
            if not isinstance(target, LabelTarget):
                if label_mask is not None and target is not None:
                    raise ValueError("label_mask must be None where each row has one class, which always counts.")
                return float(super().score(X, y, sample_weight))
            predicted, codes = self.predict(X), target.encode(y)
        if len(predicted) != len(codes):
            raise ValueError(
                f"X and y must have the same number of rows. Got {len(predicted)} and {len(codes)} instead."
            )
        weight = check_sample_weight(sample_weight, codes)
        counted = codes != UNKNOWN
        if label_mask is not None:
            counted &= read_mask(label_mask, *codes.shape)
        rows = counted.any(axis=1)
        if weight is not None:
            rows &= weight > 0
        if not rows.any():
            way_out = "Got 0 of them in rows of positive weight instead: there is nothing to score."
            raise ValueError(f"y must hold a known label that counts. {way_out}")
        right = ((codes == predicted) | ~counted).all(axis=1)
        return float(np.average(right[rows], weights=None if weight is None else weight[rows]))
