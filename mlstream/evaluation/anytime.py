"""Any-time scores of a stream that is read in pieces: exact, whatever the pieces and the checkpoints are."""

from __future__ import annotations

import numpy as np

from metrics import (
    LabelCounts,
    ba_macro_from_counts,
    counts_by_row,
    cumulative_counts,
    precision_at_k_by_row,
    rmse_by_row,
    running_mean,
)
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.scoring import CORE_METRICS, Scored
from mlstream.evaluation.settings import OneClass

# Counts of single rows and their temporaries take about 200 bytes a cell.
_CELLS_PER_BLOCK = 2**17


def anytime_name(metric: str) -> str:
    """Return the name of the any-time score of a metric."""
    return f"{metric}_anytime"


class AnytimeScores:
    """Means, over the rows of a stream, of the scores over the rows so far; see `metrics.anytime_score`."""

    def __init__(self, k: int, one_class: OneClass) -> None:
        self._k = k
        self._one_class = one_class
        self._counts: LabelCounts | None = None
        self._values = {name: _Sum() for name in CORE_METRICS}
        self._readings = {name: _Sum() for name in CORE_METRICS}

    def add(self, scored: Scored) -> None:
        """Add the next rows."""
        n_rows, n_labels = scored.Y.shape
        step = max(1, _CELLS_PER_BLOCK // n_labels)
        for start in range(0, n_rows, step):
            block = scored.rows(start, start + step)
            self._readings["ba_macro"].add(self._read_accuracy(block))
            self._read_means("rmse", _errors(block))
            self._read_means("precision_at_k", _precisions(block, self._k))

    def finish(self) -> dict[str, float]:
        """Return the any-time score of each metric; NaN where it was never defined."""
        return {anytime_name(name): one.mean for name, one in self._readings.items()}

    def _read_accuracy(self, scored: Scored) -> Floats:
        if not scored.mask.any():
            # The score stays as it is.
            readings = np.full(len(scored.Y), np.nan)
            if self._counts is not None:
                readings[:] = ba_macro_from_counts(self._counts, one_class=self._one_class)
            return readings
        counts = cumulative_counts(counts_by_row(scored.Y, scored.predictions.decided, label_mask=scored.mask))
        if self._counts is not None:
            counts = counts + self._counts
        self._counts = LabelCounts(*(part[-1] for part in (counts.tp, counts.fp, counts.fn, counts.tn)))
        return np.asarray(ba_macro_from_counts(counts, one_class=self._one_class))

    def _read_means(self, name: str, values: Floats) -> None:
        before = self._values[name]
        self._readings[name].add(running_mean(values, sum_before=before.total, n_before=before.n))
        before.add(values)


class _Sum:
    """A sum of numbers, and how many there are, NaN left out; added one by one, so that pieces do not matter."""

    def __init__(self) -> None:
        self.total = 0.0
        self.n = 0

    @property
    def mean(self) -> float:
        return self.total / self.n if self.n else float("nan")

    def add(self, values: Floats) -> None:
        defined = values[~np.isnan(values)]
        self.total = float(np.cumsum(np.concatenate([[self.total], defined]))[-1])
        self.n += len(defined)


def _errors(scored: Scored) -> Floats:
    if not scored.mask.any():
        return np.full(len(scored.Y), np.nan)
    return rmse_by_row(scored.Y, scored.predictions.proba, label_mask=scored.mask)


def _precisions(scored: Scored, k: int) -> Floats:
    """Return the precision of each row; NaN where fewer than k labels count."""
    values = np.full(len(scored.Y), np.nan)
    ranked = np.broadcast_to(scored.mask.sum(axis=-1), len(values)) >= k
    if ranked.any():
        rows = scored.where(ranked)
        values[ranked] = precision_at_k_by_row(rows.Y, rows.predictions.proba, k, label_mask=rows.mask)
    return values
