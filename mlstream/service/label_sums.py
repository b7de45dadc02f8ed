"""Sums over rows whose labels are known, which add up over chunks, and the scores that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.balanced_accuracy import ba_macro_from_counts
from metrics.calibration import (
    CalibrationSums,
    brier_score_from_sums,
    calibration_sums,
    expected_calibration_error_from_sums,
)
from metrics.counts import LabelCounts, label_counts
from metrics.from_counts import f1_from_counts, precision_from_counts, recall_from_counts

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
