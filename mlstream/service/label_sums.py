"""Sums over rows whose labels are known, which add up over chunks, and the scores that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.balanced_accuracy import ba_macro_from_counts
from metrics.counts import LabelCounts, label_counts
from metrics.from_counts import f1_from_counts, precision_from_counts, recall_from_counts

Floats = npt.NDArray[np.float64]

N_BINS = 10
_RATIOS = {"precision": precision_from_counts, "recall": recall_from_counts, "f1": f1_from_counts}


@dataclass(frozen=True, eq=False)
class LabelSums:
    """Counts of decisions; and of probabilities, by bins of equal width, the squares of their errors.

    `bins` has shape (n_labels, N_BINS, 3): cells, the sum of their probabilities, and how many of them are true.
    """

    counts: LabelCounts
    bins: Floats
    squares: Floats

    @classmethod
    def nothing(cls, n_labels: int) -> LabelSums:
        """Return the sums over no row."""
        zeros = (np.zeros(n_labels, dtype=np.int64) for _ in range(4))
        return cls(LabelCounts(*zeros), np.zeros((n_labels, N_BINS, 3)), np.zeros(n_labels))

    @classmethod
    def of(cls, Y: Floats, Y_pred: Floats, Y_proba: Floats) -> LabelSums:
        """Sum rows, of which each has a known label; NaN stands for labels and probabilities that are not known."""
        label, value = np.broadcast_to(np.arange(Y.shape[1]), Y.shape), ~np.isnan(Y) & ~np.isnan(Y_proba)
        label, p, y = label[value], Y_proba[value], Y[value]
        cell = label * N_BINS + np.minimum((p * N_BINS).astype(np.int64), N_BINS - 1)
        size = Y.shape[1] * N_BINS
        sums = [np.bincount(cell, weights, size) for weights in (None, p, y)]
        squares = np.bincount(label, (p - y) ** 2, Y.shape[1]).astype(float)
        return cls(label_counts(Y, Y_pred), np.stack(sums, axis=-1).reshape(-1, N_BINS, 3).astype(float), squares)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.squares)

    def __add__(self, other: LabelSums) -> LabelSums:
        return LabelSums(self.counts + other.counts, self.bins + other.bins, self.squares + other.squares)

    def widened(self, n_labels: int) -> LabelSums:
        """Return the same sums with further labels, of which nothing is known."""
        return self if n_labels == self.n_labels else _join(self, LabelSums.nothing(n_labels - self.n_labels))

    def means(self) -> dict[str, float]:
        """Return scores over all labels; NaN where no label has one."""
        scores = {"ba_macro": float(ba_macro_from_counts(self.counts))}
        for name, ratio in _RATIOS.items():
            for average in ("macro", "micro"):
                scores[f"{name}_{average}"] = float(ratio(self.counts, average=average, zero_division=np.nan))
        by_label = self.by_label()
        return scores | {f"{name}_macro": _mean(by_label[name]) for name in ("brier", "ece")}

    def by_label(self) -> dict[str, Floats]:
        """Return scores of each label; NaN where it has none."""
        counts, cells = self.counts, self.bins[..., 0].sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            recalls = counts.tp / (counts.tp + counts.fn), counts.tn / (counts.tn + counts.fp)
            gaps = np.abs(self.bins[..., 1] - self.bins[..., 2]).sum(axis=1)
            scores = {"ba": sum(recalls) / 2, "brier": self.squares / cells, "ece": gaps / cells}
        return scores | {
            name: np.asarray(ratio(counts, average=None, zero_division=np.nan)) for name, ratio in _RATIOS.items()
        }

    def n_known(self) -> npt.NDArray[np.int64]:
        """Return how many rows say whether they have a label, for each one."""
        return self.counts.tp + self.counts.fp + self.counts.fn + self.counts.tn


def _join(first: LabelSums, second: LabelSums) -> LabelSums:
    fields = ("tp", "fp", "fn", "tn")
    counts = (np.concatenate([getattr(sums.counts, field) for sums in (first, second)]) for field in fields)
    bins, squares = (np.concatenate([getattr(sums, name) for sums in (first, second)]) for name in ("bins", "squares"))
    return LabelSums(LabelCounts(*counts), bins, squares)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
