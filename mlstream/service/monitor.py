"""A monitor beside a served learner: how it does, and what has changed, window by window."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Self, get_args

import numpy as np
import numpy.typing as npt

from estimators._typing import Attributes, MatrixLike
from estimators.contract.locks import Locked, lock_of
from estimators.drift import ADWIN, DriftDetector
from metrics.validation import check_number, require_choice, require_integer, shown
from mlstream.service.feature_drift import LEAST_ROWS, FeatureRows, Floats
from mlstream.service.labelled_rows import (
    LabelledRows,
    are_probabilities,
    can_be_taken,
    new_detectors,
    read_labels,
    read_probabilities,
)
from mlstream.service.monitor_page import write_page
from mlstream.service.windows import TABLES, History, Table, Window
from mlstream.streams.frames import make_frame

if TYPE_CHECKING:
    import pandas as pd


class Monitor(Locked):
    """Watch a learner in service: its scores, alarms, probabilities and errors, and the features of its rows.

    Give it each row with what was predicted (`update`), and labels, at once or when they come (`feedback`). After
    every `window` rows it looks: at the rows since the last look, and at the labels that came with them or later.

    Parameters
    ----------
    window : int
        Rows between looks, at least 10.
    n_reference : int, optional
        The first so many rows are those that features are compared with, and windows until then have no drift; by
        default those of the first window.
    reference : array-like or sparse matrix of shape (n_rows, n_features), optional
        Rows to compare with instead, at least 10, in the order in which they came.
    categorical : sequence of int or str
        Features whose numbers are codes without an order, by position or name.
    alpha : float
        The chance that a look finds a drift of any feature where none is, at most.
    budget : float, optional
        Alarms that may be raised per window: predicted labels of rows.
    detector : DriftDetector, optional
        The detector of drift in the errors of each label; by default ``ADWIN()``.
    feature_names : sequence of str, optional
        Names of the features; by default x0, x1, ...
    label_names : sequence of str, optional
        Names of the labels; by default, and for labels that are added later, y0, y1, ...
    history : int
        Windows that are kept.

    Attributes
    ----------
    windows_ : deque of Window
        What was found, oldest first. `to_frame` shows it.
    n_rows_, n_labelled_ : int
        Rows so far; and those of them of which a label is known.
    n_alarms_ : ndarray of int, shape (n_labels,)
        Alarms of each label so far.
    n_windows_ : int
        Looks so far.
    n_drifted_ : ndarray of int, shape (n_features,)
        Windows so far in which each feature was unlike the reference.
    n_error_drifts_ : ndarray of int, shape (n_labels,)
        Drifts of the errors of each label so far.

    See Also
    --------
    MonitorCollector : The numbers of monitors, for Prometheus.
    FeedbackBuffer : Keeps rows until their labels come.

    Notes
    -----
    A feature is compared by the test of Kolmogorov and Smirnov. If it is a category, or has at most 10 values, the
    share of each value is compared by an exact test, with the second half of the reference. Holm's method corrects for
    the number of features: of looks at a world that does not change, at most ``1000 * alpha`` in 1000 find a drift in
    the mean, whatever the number of features. They share a reference, so that false ones may come one after another.

    A row that resembles the one before it counts for less: for ``(1 - r) / (1 + r)`` rows, where r is their correlation
    in the reference. This is right for processes of first order. Where rows have cycles, such as days, a window or a
    reference that is shorter than a cycle differs from others.

    The population stability index compares 10 bins of equal frequency, or shares of values, of which each counts as
    0.0001 at least. It is 0 for a feature that is constant, until it varies. Chance alone makes it about
    ``9 * (1 / n_reference + 1 / window)``; above 0.25 is often called a large change.

    Scores are those of `metrics` over the labels that came since the last look; a label that cannot be scored is not in
    means, and is NaN in tables. Expected calibration errors are those of 10 bins of equal width. Errors of a label go
    to its detector in the order in which labels came; the confidence of the detector, if it has one, is divided by the
    number of labels. A detector finds that errors become fewer, too.

    Whatever the chunks, windows are the same. The monitor keeps ``window + n_reference`` rows of features and `window`
    of labels, as float64, and in each window of the history 24 bytes a feature and some 300 a label. It never touches a
    learner: several can watch one. Calls from several threads run one after another. A call that fails changes nothing.
    One that is pickled goes on exactly.

    References
    ----------
    S. Rabanser, S. Günnemann, Z. Lipton, "Failing loudly: an empirical study of methods for detecting dataset shift",
    NeurIPS 2019. B. Yurdakul, J. Naranjo, "Statistical properties of the population stability index", Journal of Risk
    Model Validation 14(4), 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from mlstream.service import Monitor
    >>> X = np.random.default_rng(0).normal(size=(1500, 3))
    >>> X[1000:, 1] += 1
    >>> Y_pred = (X[:, :1] > 1).astype(int)
    >>> monitor = Monitor(window=500, feature_names=["bytes", "seconds", "ports"])
    >>> monitor.update(X, Y_pred, Y_pred)
    >>> windows = monitor.to_frame()
    >>> windows["f1_macro"].tolist(), windows["drifted"].tolist()
    ([1.0, 1.0, 1.0], ['', '', 'seconds'])
    """

    def __init__(  # noqa: PLR0913 - each is independent of the others
        self,
        *,
        window: int = 1000,
        n_reference: int | None = None,
        reference: MatrixLike | None = None,
        categorical: Sequence[int | str] = (),
        alpha: float = 0.001,
        budget: float | None = None,
        detector: DriftDetector | None = None,
        feature_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        history: int = 1000,
    ) -> None:
        self.window = require_integer(window, "window", LEAST_ROWS)
        self.n_reference = window if n_reference is None else require_integer(n_reference, "n_reference", LEAST_ROWS)
        self.categorical = tuple(categorical)
        self.alpha = check_number(alpha, "alpha", low=0.0, high=1.0)
        self.budget = None if budget is None else check_number(budget, "budget", low=0.0)
        self.detector = ADWIN() if detector is None else detector
        self.feature_names = _check_names(feature_names, "feature_names")
        self.label_names = _check_names(label_names, "label_names")
        # refuses a detector, or parameters of it, that are of no use
        new_detectors(self.detector).update([0.0])
        self.windows_: deque[Window] = deque(maxlen=require_integer(history, "history", 1))
        self.n_rows_ = self.n_labelled_ = self.n_windows_ = 0
        self.n_alarms_, self.n_error_drifts_, self.n_drifted_ = (np.zeros(0, dtype=np.int64) for _ in range(3))
        # rows since the last look, their decisions, and the labels that have come
        self._n = 0
        self._features = FeatureRows(window, self.n_reference, self.feature_names, self.categorical)
        self._Y_pred: Floats = np.empty((window, 0))
        self._labelled = LabelledRows(window, self.detector)
        self._y_shape: tuple[int, ...] = (-1,)
        if reference is not None:
            self.set_reference(reference)

    def update(
        self,
        x: MatrixLike,
        y_pred: npt.ArrayLike,
        y_true: npt.ArrayLike | None = None,
        *,
        y_proba: npt.ArrayLike | None = None,
    ) -> None:
        """Take a row, or a chunk of rows, with what was predicted for them.

        Parameters
        ----------
        x : array-like of shape (n_features,), or array-like or sparse matrix of shape (n_rows, n_features)
            Features: finite numbers.
        y_pred : array-like of shape (n_labels,) or (n_rows, n_labels)
            Predicted labels, 0 or 1, of which each 1 is an alarm. Later calls may have further labels at the end.
        y_true : array-like, optional
            True labels, of the same shape, NaN where unknown; leave them out where `feedback` gives them later.
        y_proba : array-like, optional
            Probabilities, of the same shape. They are read where labels are known.

        Raises
        ------
        ValueError
            If shapes or values are wrong. Nothing is taken.
        """
        with lock_of(self):
            if not self._take_row(x, y_pred, y_true, y_proba):
                self._take_rows(x, y_pred, y_true, y_proba)

    def feedback(self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, y_proba: npt.ArrayLike | None = None) -> None:
        """Take the labels of a row, or of rows, that `update` had without them, and what had been predicted.

        Parameters
        ----------
        y_true : array-like of shape (n_labels,) or (n_rows, n_labels)
            True labels, NaN where unknown.
        y_pred : array-like
            Predicted labels, of the same shape. They may lack labels that were added since.
        y_proba : array-like, optional
            Probabilities, of the same shape.

        Raises
        ------
        ValueError
            If shapes or values are wrong. Nothing is taken.

        Notes
        -----
        They count in the window in which they come, not in that of their rows.
        """
        with lock_of(self):
            if not self._take_labels(y_true, y_pred, y_proba):
                Y_pred, Y, Y_proba = _read_predicted(y_pred, y_true, y_proba)
                self._widen(Y_pred.shape[1])
                self.n_labelled_ += self._labelled.put(Y, Y_pred, Y_proba)

    def set_reference(self, X: MatrixLike | None = None) -> Self:
        """Compare features with other rows from now on, say after a drift that has been understood.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features), optional
            At least 10 rows, in the order in which they came; by default the next `n_reference` rows.

        Returns
        -------
        self
            The monitor.

        Raises
        ------
        ValueError
            If X has too few rows, another width, or values that are not finite. The reference stays as it was.
        """
        with lock_of(self):
            if X is None:
                self._features.set_reference(None)
                return self
            rows = self._features.read(X)
            if len(rows) < LEAST_ROWS:
                raise ValueError(f"X must have at least {LEAST_ROWS} rows to compare with. Got {len(rows)} instead.")
            self._begin(rows.shape[1])
            self._features.set_reference(rows)
            return self

    def to_frame(self, table: Table = "windows") -> pd.DataFrame:
        """Return the windows of the history as a frame of pandas, which must be installed.

        Parameters
        ----------
        table : {"windows", "features", "labels"}
            A row for each window; for each window and feature; or for each window and label.

        Returns
        -------
        DataFrame
            Windows are named by their first row, from 0. NaN stands for what is not defined.
        """
        require_choice(table, "table", get_args(Table))
        with lock_of(self):
            return make_frame(TABLES[table](self._history()))

    def page(self, path: str | os.PathLike[str]) -> Path:
        """Write a page in HTML that needs nothing else: first what has changed, then scores, labels and features.

        Parameters
        ----------
        path : path
            The page. One that exists is replaced, at once and as a whole.

        Returns
        -------
        Path
            The page.
        """
        with lock_of(self):
            return write_page(self._history(), path)

    def snapshot(self) -> tuple[History, Attributes]:
        """Return the windows of the history, and the attributes, at one moment."""
        with lock_of(self):
            return self._history(), vars(self).copy()

    # ------------------------------------------------------------------ rows
    def _take_row(self, x: object, y_pred: object, y_true: object, y_proba: object) -> bool:
        """Take one row if it needs no more than the shortest checks."""
        shape = self._features.row_shape
        if type(x) is not np.ndarray or x.shape != shape or x.dtype.kind not in "fiub" or not isfinite(x.dot(x)):
            return False
        if not can_be_taken(y_pred, self._y_shape):
            return False
        if y_true is None:
            if y_proba is not None and not are_probabilities(y_proba, self._y_shape):
                return False
        elif not self._take_labels(y_true, y_pred, y_proba):
            return False
        self._features.table[self._n], self._Y_pred[self._n] = x, y_pred
        self._count(1)
        return True

    def _take_labels(self, y: object, y_pred: object, y_proba: object) -> bool:
        """Take the labels of one row if they need no more than the shortest checks."""
        shape = self._y_shape
        if not can_be_taken(y, shape) or not can_be_taken(y_pred, shape):
            return False
        if y_proba is not None and not are_probabilities(y_proba, shape):
            return False
        self._labelled.put_row(y, y_pred, y_proba)
        self.n_labelled_ += 1
        return True

    def _take_rows(
        self, x: MatrixLike, y_pred: npt.ArrayLike, y_true: npt.ArrayLike | None, y_proba: npt.ArrayLike | None
    ) -> None:
        X = self._features.read(x)
        Y_pred, Y, Y_proba = _read_predicted(y_pred, y_true, y_proba)
        if Y_pred.shape[1] < self._Y_pred.shape[1] or len(Y_pred) != len(X):
            rule = f"(n_rows, n_labels), here {(len(X), self._Y_pred.shape[1] or 'n_labels')}"
            raise ValueError(f"y_pred must have shape {rule}, or further labels. Got {Y_pred.shape} instead.")
        self._begin(X.shape[1])
        self._widen(Y_pred.shape[1])
        start = 0
        while start < len(X):
            stop = min(len(X), start + self.window - self._n)
            piece, places = slice(start, stop), slice(self._n, self._n + stop - start)
            self._features.table[places], self._Y_pred[places] = X[piece], Y_pred[piece]
            self.n_labelled_ += self._labelled.put(Y[piece], Y_pred[piece], Y_proba[piece])
            self._count(stop - start)
            start = stop

    def _count(self, n_rows: int) -> None:
        self.n_rows_ += n_rows
        self._n += n_rows
        if self._n == self.window:
            self._look()

    def _look(self) -> None:
        """Say what the rows and labels since the last look show, and begin a window."""
        n_labelled, sums, errors_drifted = self._labelled.take()
        n_alarms = np.count_nonzero(self._Y_pred, axis=0)
        features = self._features.compare()
        drifted = (
            np.zeros(self._features.n_features, dtype=np.bool_) if features is None else features.p_value <= self.alpha
        )
        first_row = self.n_rows_ - self.window
        self.windows_.append(Window(first_row, n_labelled, n_alarms, sums, errors_drifted, features, drifted))
        self.n_alarms_ = self.n_alarms_ + n_alarms
        self.n_drifted_ = self.n_drifted_ + drifted
        self.n_error_drifts_ = self.n_error_drifts_ + errors_drifted
        self.n_windows_, self._n = self.n_windows_ + 1, 0

    def _history(self) -> History:
        features = self.feature_names or tuple(f"x{place}" for place in range(self._features.n_features))
        labels = self.label_names + tuple(f"y{place}" for place in range(len(self.label_names), len(self.n_alarms_)))
        return History(tuple(self.windows_), features, labels, self.window, self.budget, self.alpha)

    # ---------------------------------------------------------------- widths
    def _begin(self, n_features: int) -> None:
        if self._features.begin(n_features):
            self.n_drifted_ = np.zeros(n_features, dtype=np.int64)

    def _widen(self, n_labels: int) -> None:
        n_new = n_labels - self._Y_pred.shape[1]
        if n_new > 0:
            self._labelled.widen(n_labels)
            self._Y_pred = np.pad(self._Y_pred, ((0, 0), (0, n_new)))
            self.n_alarms_ = np.pad(self.n_alarms_, (0, n_new))
            self.n_error_drifts_ = np.pad(self.n_error_drifts_, (0, n_new))
            self._y_shape = (n_labels,)


def _check_names(names: Sequence[str] | None, option: str) -> tuple[str, ...]:
    listed = () if names is None else tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in listed) or len(set(listed)) < len(listed):
        raise ValueError(f"{option} must be different texts. Got {shown(names)} instead.")
    return listed


def _read_predicted(
    y_pred: npt.ArrayLike, y_true: npt.ArrayLike | None, y_proba: npt.ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """Return decisions, labels and probabilities of a row, or of rows, with NaN for those that are not known."""
    if np.ndim(y_pred) == 1:
        y_pred = np.asarray(y_pred)[np.newaxis]
        y_true, y_proba = (None if part is None else np.asarray(part)[np.newaxis] for part in (y_true, y_proba))
    Y_pred = read_labels(y_pred, "y_pred")
    unknown = np.full(Y_pred.shape, np.nan)
    Y = unknown if y_true is None else read_labels(y_true, "y_true", Y_pred.shape, unknown=True)
    return Y_pred, Y, unknown if y_proba is None else read_probabilities(y_proba, Y_pred.shape)
