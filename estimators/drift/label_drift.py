"""A detector for each label, with a confidence that holds for all labels together."""

from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from estimators._typing import Array, MaskLike
from estimators.contract.locks import Locked, lock_of
from estimators.contract.validation import check_label_mask
from estimators.drift._checks import check_values
from estimators.drift._kernels.signals import DRIFT, WARNING
from estimators.drift.adwin import ADWIN
from estimators.drift.base import DriftDetector, Signals, Streams, forget

Correction = Literal["bonferroni"] | None


class LabelDrift(Locked, BaseEstimator):
    """Detect drift of each label: of its error, its prevalence, or any other number that rows have for labels.

    Parameters
    ----------
    detector : DriftDetector, default=None
        The detector of each label; None is ``ADWIN()``. It is not changed.
    correction : {'bonferroni'} or None, default='bonferroni'
        'bonferroni' divides the confidence of the detector by the number of labels, so that false alarms of all labels
        together are as rare as those of one detector. None leaves it; detectors without a confidence need that.

    Attributes
    ----------
    n_labels_ : int
        Number of labels, that of the first values.
    n_drifts_ : ndarray of int, shape (n_labels,)
        Drifts of each label so far.
    warning_ : ndarray of bool, shape (n_labels,)
        Labels whose detector warned at the last value that counted.

    Notes
    -----
    Each label has the decisions of one detector that gets the counted values of this label only. All run in one
    compiled loop.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import LabelDrift
    >>> errors = np.zeros((1000, 3))
    >>> errors[500:, 1] = 1
    >>> drifts = LabelDrift().update_many(errors)
    >>> [label.tolist() for label in np.argwhere(drifts)]
    [[511, 1]]
    """

    n_drifts_: npt.NDArray[np.int64]
    warning_: npt.NDArray[np.bool_]

    def __init__(self, detector: DriftDetector | None = None, *, correction: Correction = "bonferroni") -> None:
        self.detector = detector
        self.correction = correction

    def update(self, values: npt.ArrayLike, *, label_mask: MaskLike = None) -> npt.NDArray[np.bool_]:
        """Pass the values of a row.

        Parameters
        ----------
        values : array-like of shape (n_labels,)
            A value for each label, in the range of the detector, NaN if unknown.
        label_mask : array-like of bool, shape (n_labels,), optional
            Labels that count; the others are left out.

        Returns
        -------
        ndarray of bool, shape (n_labels,)
            Labels at which a drift is detected.

        Raises
        ------
        ValueError
            If a value, a parameter or a shape is wrong. Nothing is changed.
        """
        return np.asarray(self.update_many(np.asarray(values)[np.newaxis], label_mask=label_mask)[0])

    def update_many(self, values: npt.ArrayLike, *, label_mask: MaskLike = None) -> npt.NDArray[np.bool_]:
        """Pass the values of rows, one after another.

        Parameters
        ----------
        values : array-like of shape (n_rows, n_labels)
            Values in the range of the detector, NaN where unknown. Errors of a learner are ``Y_pred != Y``.
        label_mask : array-like of bool, shape (n_labels,) or (n_rows, n_labels), optional
            Labels that count; the others are left out.

        Returns
        -------
        ndarray of bool, shape (n_rows, n_labels)
            Rows and labels at which a drift is detected.

        Raises
        ------
        ValueError
            If a value, a parameter or a shape is wrong. Nothing is changed.
        """
        with lock_of(self):
            detector = detector_or_default(self.detector)
            table = check_values(values, 2, detector._range, unknown=True)
            n_rows, n_labels = table.shape
            self._check_width(n_labels)
            mask = check_label_mask(label_mask, n_rows, n_labels)
            counted = ~np.isnan(table) if mask is None else mask & ~np.isnan(table)
            if not hasattr(self, "_streams"):
                self._start(detector, n_labels)
            signals = self._streams.advance(table, counted)
            self.n_drifts_ = self.n_drifts_ + (signals == DRIFT).sum(axis=0)
            self.warning_ = _last(signals, counted, self.warning_)
            return np.asarray(signals == DRIFT)

    def reset(self) -> Self:
        """Forget all values.

        Returns
        -------
        self
            The detectors as they were before the first row.
        """
        with lock_of(self):
            forget(self, "_streams", "n_labels_", "n_drifts_", "warning_")
            return self

    def _check_width(self, n_labels: int) -> None:
        expected = getattr(self, "n_labels_", n_labels)
        if n_labels != expected or not n_labels:
            rule = f"{expected} labels, as at the first call" if hasattr(self, "n_labels_") else "at least one label"
            raise ValueError(f"values must have {rule}. Got {n_labels} instead.")

    def _start(self, detector: DriftDetector, n_labels: int) -> None:
        share = 1.0 / n_labels if corrects(self.correction, detector) else 1.0
        self._streams = Streams(clone(detector), np.full(n_labels, share))
        self.n_labels_ = n_labels
        self.n_drifts_ = np.zeros(n_labels, dtype=np.int64)
        self.warning_ = np.zeros(n_labels, dtype=np.bool_)


def detector_or_default(detector: DriftDetector | None) -> DriftDetector:
    """Return the detector, or ADWIN for None; refuse anything else."""
    if detector is None:
        return ADWIN()
    if not isinstance(detector, DriftDetector):
        raise TypeError(
            "detector must be a detector of single values: ADWIN, DDM, EDDM, HDDMA, HDDMW, KSWIN or PageHinkley. "
            f"Got {type(detector).__name__} instead."
        )
    return detector


def corrects(correction: Correction, detector: DriftDetector) -> bool:
    """Return whether the confidence is shared between labels; refuse what the detector cannot do."""
    if correction not in ("bonferroni", None):
        raise ValueError(f"correction must be 'bonferroni' or None. Got {correction!r} instead.")
    if correction is not None and detector._confidence is None:
        raise ValueError(
            f"correction must be None for {type(detector).__name__}, which has no confidence to divide. "
            f"Got {correction!r} instead."
        )
    return correction is not None


def _last(signals: Signals, counted: Array, before: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return whether the last counted value of each label was a warning; labels without one stay as they were."""
    if not len(signals):
        return before
    rows = np.where(counted, np.arange(len(signals))[:, np.newaxis], -1).max(axis=0)
    latest = signals[rows, np.arange(len(rows))] == WARNING
    return np.where(rows >= 0, latest, before)
