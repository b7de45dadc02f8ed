"""Scores by metrics that were asked for by name, from additive sums: no row is read twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metrics import LabelCounts, stack_counts
from metrics.named import NamedMetric
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.scoring import Scored, Tally, accumulate

Metrics = tuple[NamedMetric, ...]


def sum_rows(scored: Scored, k: int, metrics: Metrics) -> Floats:
    """Sum over rows, at least one, the contribution of a row to each metric, (n_metrics,).

    A row in which no label counts adds nothing, nor does one with fewer than k to metrics of the k best; 0 for metrics
    that follow from counts.
    """
    if not metrics:
        # Most evaluations ask for none, and choosing rows copies them.
        return np.zeros(0)
    n_counted = np.broadcast_to(scored.mask.sum(axis=-1), len(scored.Y))
    rows = {"decisions": scored.where(n_counted > 0), "best": scored.where(n_counted >= k)}
    rows["scores"] = rows["decisions"]
    return np.array([_sum(one, rows[one.form], k) if one.form in rows else 0.0 for one in metrics], dtype=np.float64)


class NamedSums:
    """Sums from the start of a stream to the end of each consecutive piece; differences are the sums in between.

    `sums` has the result of `sum_rows` for each piece.
    """

    def __init__(self, pieces: Sequence[Tally], sums: Sequence[Floats], metrics: Metrics) -> None:
        numbers = [(piece.n_rows, piece.n_scored, piece.n_ranked) for piece in pieces]
        self._ends, self._n_scored, self._n_ranked = accumulate(np.array(numbers)).T
        stacked = stack_counts(piece.counts for piece in pieces)
        self._counts = [accumulate(part) for part in (stacked.tp, stacked.fp, stacked.fn, stacked.tn)]
        self._sums = accumulate(np.stack(sums))
        self._metrics = metrics

    def between(self, starts: Sequence[int], stops: Sequence[int]) -> dict[str, Floats]:
        """Return the scores over stretches of the stream; all numbers must be ends of pieces, or 0."""
        left, right = np.searchsorted(self._ends, starts), np.searchsorted(self._ends, stops)
        counts = LabelCounts(*(part[right] - part[left] for part in self._counts))
        n_scored, n_ranked, sums = (part[right] - part[left] for part in (self._n_scored, self._n_ranked, self._sums))
        found = {}
        for place, one in enumerate(self._metrics):
            if one.form == "counts":
                found[one.name] = np.asarray(one.function(counts))
            else:
                n = n_ranked if one.form == "best" else n_scored
                found[one.name] = np.divide(sums[:, place], n, out=np.full(len(n), np.nan), where=n > 0)
        return found


def score_sums(pieces: Sequence[Tally], sums: Sequence[Floats], metrics: Metrics) -> dict[str, float]:
    """Score all rows of some pieces together, at least one, by metric; NaN where a score is not defined.

    `sums` has the result of `sum_rows` for each piece.
    """
    found = NamedSums(pieces, sums, metrics).between([0], [sum(piece.n_rows for piece in pieces)])
    return {name: float(values[0]) for name, values in found.items()}


def _sum(one: NamedMetric, scored: Scored, k: int) -> float:
    if not len(scored.Y):
        return 0.0
    decided, proba = scored.predictions
    read: tuple[object, ...] = {"decisions": (decided,), "scores": (proba,), "best": (proba, k)}[one.form]
    return len(scored.Y) * float(one.function(scored.Y, *read, label_mask=scored.mask))
