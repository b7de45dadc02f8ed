"""A detector for each label set that occurs, with a confidence that holds for all of them together."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from estimators.contract.locks import Locked, lock_of
from estimators.drift._checks import check_values, whole
from estimators.drift._kernels.signals import DRIFT
from estimators.drift.base import DriftDetector, Streams, forget
from estimators.drift.label_drift import Correction, corrects, detector_or_default


class LabelSetDrift(Locked, BaseEstimator):
    """Detect drift of each set of labels that occur together.

    A learner may lose one combination of labels while the error of every label hardly moves.

    Parameters
    ----------
    detector : DriftDetector, default=None
        The detector of each label set; None is ``ADWIN()``. It is not changed.
    correction : {'bonferroni'} or None, default='bonferroni'
        'bonferroni' lets the i-th label set that occurs spend 1 / (i (i + 1)) of the confidence: however many
        occur, all together spend no more than one detector. None leaves it; detectors without a confidence need that.
    max_sets : int, default=1000
        Label sets that have a detector, the first to occur. Others are not watched.

    Attributes
    ----------
    label_sets_ : ndarray of uint8, shape (n_sets, n_labels)
        Label sets that have a detector, in the order in which they occurred.
    n_drifts_ : ndarray of int, shape (n_sets,)
        Drifts of each of them so far.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators.drift import LabelSetDrift
    >>> Y = np.tile([[1, 0], [0, 1], [1, 1]], (600, 1))
    >>> errors = np.zeros(1800)
    >>> errors[902::3] = 1  # rows with both labels, from the middle on
    >>> drift = LabelSetDrift()
    >>> set(map(tuple, Y[drift.update_many(errors, Y)].tolist()))
    {(1, 1)}
    """

    def __init__(
        self,
        detector: DriftDetector | None = None,
        *,
        correction: Correction = "bonferroni",
        max_sets: int = 1000,
    ) -> None:
        self.detector = detector
        self.correction = correction
        self.max_sets = max_sets

    def update(self, value: float, labels: npt.ArrayLike) -> bool:
        """Pass the value of a row.

        Parameters
        ----------
        value : float
            A value in the range of the detector, such as 1 if the labels of the row were predicted wrongly.
        labels : array-like of shape (n_labels,)
            The labels of the row, 0 or 1.

        Returns
        -------
        bool
            Whether a drift of this label set is detected.

        Raises
        ------
        ValueError
            If a value, a parameter or a shape is wrong. Nothing is changed.
        """
        return bool(self.update_many([value], np.asarray(labels)[np.newaxis])[0])

    def update_many(self, values: npt.ArrayLike, Y: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Pass the values of rows, one after another.

        Parameters
        ----------
        values : array-like of shape (n_rows,)
            A value for each row, in the range of the detector.
        Y : array-like of shape (n_rows, n_labels)
            The labels of the rows, 0 or 1.

        Returns
        -------
        ndarray of bool, shape (n_rows,)
            Rows at which a drift of their label set is detected.

        Raises
        ------
        ValueError
            If a value, a parameter or a shape is wrong. Nothing is changed.
        """
        with lock_of(self):
            detector = detector_or_default(self.detector)
            column = check_values(values, 1, detector._range)
            sets = self._check_sets(Y, len(column))
            limit = int(whole("max_sets", self.max_sets, 1))
            corrected = corrects(self.correction, detector)
            detector._settings(1.0)
            places = self._place(sets, limit)
            drifts = np.zeros(len(column), dtype=np.bool_)
            for place in np.unique(places[places >= 0]):
                rows = np.flatnonzero(places == place)
                drifts[rows] = self._advance(int(place), column[rows], detector, corrected)
            return drifts

    def reset(self) -> Self:
        """Forget all values and label sets.

        Returns
        -------
        self
            The detectors as they were before the first row.
        """
        with lock_of(self):
            forget(self, "_streams", "_places", "label_sets_", "n_drifts_")
            return self

    def _check_sets(self, Y: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.uint8]:
        table = np.asarray(Y)
        width = self.label_sets_.shape[1] if hasattr(self, "label_sets_") else "n_labels"
        if table.ndim != 2 or len(table) != n_rows or width not in (table.shape[1], "n_labels"):
            raise ValueError(f"Y must have shape ({n_rows}, {width}). Got {table.shape} instead.")
        if not np.isin(table, (0, 1)).all():
            raise ValueError(f"Y must hold 0 and 1 only. Got {table[~np.isin(table, (0, 1))][0]} instead.")
        return np.ascontiguousarray(table, dtype=np.uint8)

    def _place(self, sets: npt.NDArray[np.uint8], limit: int) -> npt.NDArray[np.int64]:
        """Return the place of each row's label set, -1 for those that are not watched; new ones get a place."""
        if not hasattr(self, "_streams"):
            self._streams: list[Streams | None] = []
            self._places: dict[bytes, int] = {}
            self.label_sets_ = np.zeros((0, sets.shape[1]), dtype=np.uint8)
            self.n_drifts_ = np.zeros(0, dtype=np.int64)
        places = np.full(len(sets), -1, dtype=np.int64)
        for row, labels in enumerate(sets):
            key = labels.tobytes()
            if key not in self._places and len(self._places) < limit:
                self._places[key] = len(self._places)
                self._streams.append(None)
            places[row] = self._places.get(key, -1)
        known = [np.frombuffer(key, dtype=np.uint8) for key in self._places]
        self.label_sets_ = np.array(known, dtype=np.uint8).reshape(len(known), sets.shape[1])
        self.n_drifts_ = np.pad(self.n_drifts_, (0, len(known) - len(self.n_drifts_)))
        return places

    def _advance(self, place: int, values: Any, detector: DriftDetector, corrected: bool) -> npt.NDArray[np.bool_]:
        streams = self._streams[place]
        if streams is None:
            share = 1.0 / ((place + 1) * (place + 2)) if corrected else 1.0
            streams = self._streams[place] = Streams(clone(detector), np.array([share]))
        column = np.ascontiguousarray(values)[:, np.newaxis]
        drifts = streams.advance(column, np.ones(column.shape, dtype=np.bool_))[:, 0] == DRIFT
        self.n_drifts_[place] += np.count_nonzero(drifts)
        return np.asarray(drifts)
