"""Rows whose labels have come: read, by name as well, and summed as soon as they are many."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from estimators._typing import Array
from estimators.contract.new_labels import advise_growth, grows
from estimators.drift import DriftDetector, LabelDrift
from metrics.balanced_accuracy import ba_macro_from_counts
from metrics.calibration import (
    CalibrationSums,
    brier_score_from_sums,
    calibration_sums,
    expected_calibration_error_from_sums,
)
from metrics.counts import LabelCounts, label_counts
from metrics.from_counts import f1_from_counts, precision_from_counts, recall_from_counts
from metrics.validation import as_numbers, check_binary_values, check_finite, check_probabilities, check_table

Floats = npt.NDArray[np.float64]

_RATIOS = {"precision": precision_from_counts, "recall": recall_from_counts, "f1": f1_from_counts}
_ERRORS = {"brier": brier_score_from_sums, "ece": expected_calibration_error_from_sums}


@dataclass(frozen=True, eq=False)
class LabelSums:
    """Counts of decisions, and sums of probabilities."""

    counts: LabelCounts
    calibration: CalibrationSums

    @classmethod
    def nothing(cls, n_labels: int) -> LabelSums:
        """Return the sums over no row."""
        counts = LabelCounts(*np.zeros((4, n_labels), dtype=np.int64))
        return cls(counts, CalibrationSums.empty(n_labels))

    @classmethod
    def of(cls, Y: Floats, Y_pred: Floats, Y_proba: Floats) -> LabelSums:
        """Sum rows, of which each has a known label; NaN stands for labels and probabilities that are not known."""
        counts, known = label_counts(Y, Y_pred), ~np.isnan(Y_proba)
        if not known.any():
            return cls(counts, CalibrationSums.empty(Y.shape[1]))
        return cls(counts, calibration_sums(Y, np.where(known, Y_proba, 0.0), label_mask=known))

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.counts.tp)

    def __add__(self, other: LabelSums) -> LabelSums:
        return LabelSums(self.counts + other.counts, self.calibration + other.calibration)

    def widened(self, n_labels: int) -> LabelSums:
        """Return the same sums with further labels, of which nothing is known."""
        return LabelSums(self.counts.widened(n_labels), self.calibration.widened(n_labels))

    def means(self) -> dict[str, float]:
        """Return scores over all labels; NaN where no label has one."""
        scores = {"ba_macro": float(ba_macro_from_counts(self.counts))}
        for name, ratio in _RATIOS.items():
            for average in ("macro", "micro"):
                scores[f"{name}_{average}"] = float(ratio(self.counts, average=average, zero_division=np.nan))
        return scores | {f"{name}_macro": float(error(self.calibration)) for name, error in _ERRORS.items()}

    def by_label(self) -> dict[str, Floats]:
        """Return scores of each label; NaN where it has none."""
        counts = self.counts
        with np.errstate(invalid="ignore", divide="ignore"):
            balanced = (counts.tp / (counts.tp + counts.fn) + counts.tn / (counts.tn + counts.fp)) / 2
        ratios = {name: ratio(counts, average=None, zero_division=np.nan) for name, ratio in _RATIOS.items()}
        errors = {name: error(self.calibration, average=None) for name, error in _ERRORS.items()}
        return {"ba": balanced} | {name: np.asarray(score) for name, score in (ratios | errors).items()}

    def n_known(self) -> npt.NDArray[np.int64]:
        """Return how many rows say whether they have a label, for each one."""
        return self.counts.tp + self.counts.fp + self.counts.fn + self.counts.tn


Flags = npt.NDArray[np.bool_]

_BINARY = frozenset((0, 1))


class LabelledRows:
    """Labels, decisions and probabilities of at most `capacity` rows, and the sums over the others."""

    def __init__(self, capacity: int, detector: DriftDetector) -> None:
        self.n_labelled = self._n = 0
        self._detector = detector
        # labels that are added later have detectors of their own
        self._detectors: list[tuple[slice, LabelDrift]] = []
        self._table = np.full((capacity, 3, 0), np.nan)
        self._sums, self._drifted = LabelSums.nothing(0), np.zeros(0, dtype=np.bool_)

    def widen(self, n_labels: int) -> None:
        """Take in further labels, which no row has had."""
        self._sum()
        n_known = self._table.shape[2]
        self._table = np.full((*self._table.shape[:2], n_labels), np.nan)
        self._sums = self._sums.widened(n_labels)
        self._drifted = np.append(self._drifted, np.zeros(n_labels - n_known, dtype=np.bool_))
        self._detectors.append((slice(n_known, n_labels), new_detectors(self._detector)))

    def put_row(self, y: Array, y_pred: Array, y_proba: Array | None) -> None:
        """Take a row of the width of the table, of which a label is known."""
        row = self._table[self._n]
        row[0], row[1], row[2] = y, y_pred, np.nan if y_proba is None else y_proba
        self._n += 1
        if self._n == len(self._table):
            self._sum()

    def put(self, Y: Floats, Y_pred: Floats, Y_proba: Floats) -> int:
        """Take the rows of which a label is known, and return how many these are."""
        known = ~np.isnan(Y).all(axis=1)
        for y, y_pred, y_proba in zip(Y[known], Y_pred[known], Y_proba[known], strict=True):
            width = self._table.shape[2]
            self.put_row(_widened(y, width, np.nan), _widened(y_pred, width, 0.0), _widened(y_proba, width, np.nan))
        return int(known.sum())

    def take(self) -> tuple[int, LabelSums, Flags]:
        """Return the number of rows since the last call, their sums, and labels whose errors drifted; begin again."""
        self._sum()
        taken = self.n_labelled, self._sums, self._drifted
        width = self._table.shape[2]
        self.n_labelled, self._sums, self._drifted = 0, LabelSums.nothing(width), np.zeros(width, dtype=np.bool_)
        return taken

    def _sum(self) -> None:
        if not self._n:
            return
        Y, Y_pred, Y_proba = self._table[: self._n].transpose(1, 0, 2)
        self._sums += LabelSums.of(Y, Y_pred, Y_proba)
        # NaN where the label is unknown
        errors = np.abs(Y - Y_pred)
        for columns, detectors in self._detectors:
            self._drifted[columns] |= detectors.update_many(errors[:, columns]).any(axis=0)
        self.n_labelled, self._n = self.n_labelled + self._n, 0


def new_detectors(detector: DriftDetector) -> LabelDrift:
    """Return detectors of drift for labels, whose number need not be known."""
    has_confidence = isinstance(detector, DriftDetector) and detector._confidence is not None
    return LabelDrift(clone(detector, safe=False), correction="bonferroni" if has_confidence else None)


def can_be_taken(y: object, shape: tuple[int, ...]) -> TypeGuard[Array]:
    """Return whether this is one row of known 0/1 labels of this shape, which needs no further check."""
    return type(y) is np.ndarray and y.shape == shape and _BINARY.issuperset(y.tolist())


def are_probabilities(p: object, shape: tuple[int, ...]) -> TypeGuard[Array]:
    """Return whether this is one row of probabilities of this shape, which needs no further check."""
    if type(p) is not np.ndarray or p.shape != shape:
        return False
    values = p.tolist()
    # a NaN among them may escape the others, not the sum
    return bool(min(values) >= 0 and max(values) <= 1 and sum(values) >= 0)


def read_labels(Y: npt.ArrayLike, name: str, shape: tuple[int, ...] | None = None, *, unknown: bool = False) -> Floats:
    """Return 0/1 labels of a shape as float64, with NaN where they are unknown, if they may be."""
    table = check_table(as_numbers(Y), name).astype(np.float64)
    _require_shape(table, name, shape)
    check_binary_values(np.where(np.isnan(table), 0.0, table) if unknown else table, name)
    return table


def read_probabilities(Y: npt.ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Return probabilities of a shape as float64."""
    table = check_table(as_numbers(Y), "y_proba").astype(np.float64)
    _require_shape(table, "y_proba", shape)
    check_finite(table, "y_proba")
    check_probabilities(table, "y_proba", 0)
    return table


def _require_shape(table: Floats, name: str, shape: tuple[int, ...] | None) -> None:
    if shape is not None and table.shape != shape:
        advice = "; a label that the learner did not know yet is 0 in y_pred" if name == "y_true" else ""
        raise ValueError(f"{name} must have the shape of y_pred, {shape}{advice}. Got {table.shape} instead.")


def _widened(row: Floats, width: int, value: float) -> Floats:
    return np.pad(row, (0, width - len(row)), constant_values=value)


def place_labels(
    learner: Any, rows: Sequence[Mapping[Hashable, float]], classes: object
) -> tuple[npt.NDArray[np.float64], list[Hashable] | None]:
    """Return a table of labels by name, and the names of its columns where some are new."""
    if classes is not None:
        raise ValueError(f"classes must be None where labels are named. Got {classes!r} instead.")
    names = getattr(learner, "label_names_", None)
    # learners of one class a row have one label
    n_labels = len(learner.classes_) if learner.classes_.ndim == 2 else 1
    known = list(range(n_labels)) if names is None else names
    new = list(dict.fromkeys(name for labels in rows for name in labels if name not in known))
    if new:
        _require_growth(learner, names, known, new)
    columns = {name: column for column, name in enumerate([*known, *new])}
    Y = np.full((len(rows), len(columns)), np.nan)
    cells = ((row, name, value) for row, labels in enumerate(rows) for name, value in labels.items())
    for row, name, value in cells:
        _require_label(value, name)
        Y[row, columns[name]] = value
    return Y, [*known, *new] if names is not None and new else None


def _require_label(value: float, name: object) -> None:
    if hasattr(value, "__len__") or (value not in (0, 1) and value == value):  # noqa: PLR0124 - NaN
        raise ValueError(f"labels must be 0, 1, or NaN (unknown). Got {value!r} for {name!r} instead.")


def _require_growth(learner: object, names: object, known: Sequence[Hashable], new: list[Hashable]) -> None:
    """Refuse new labels that the learner cannot take in."""
    if not grows(learner):
        way_out = advise_growth(learner, "leave the others out")
        raise ValueError(f"labels must name those of the learner, {known[:8]}. Got {new[0]!r} instead; {way_out}.")
    if names is None and set(new) != set(range(len(known), len(known) + len(new))):
        raise ValueError(
            f"labels must be named by index where the learner has no names, new ones from {len(known)} on. "
            f"Got {new[0]!r} instead; `begin(X, Y, classes=[...])` names them."
        )
