"""Prequential scores: every row is scored before it is learnt, cumulatively and over a sliding window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mlstream.evaluation.anytime import AnytimeScores
from mlstream.evaluation.no_change import Mistakes, NoChangePredictor, NoChangeSums
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.scoring import (
    CORE_METRICS,
    CumulativeSums,
    Metrics,
    NamedSums,
    Scored,
    Tally,
    join_scored,
    sum_rows,
    tally,
)
from mlstream.evaluation.settings import OneClass
from mlstream.records.run_record import Curve, to_score

_CHECKPOINTS_PER_WINDOW = 5


class Plan(NamedTuple):
    """Points of a stream at which scores are read, as numbers of rows, rising."""

    checkpoints: tuple[int, ...]  # The last is the length of the stream.
    window: int  # Number of rows that a windowed score covers.
    # Checkpoints, where their windows begin, and where experiences end, because their masks differ.
    cuts: tuple[int, ...]


def plan_curves(experience_sizes: Sequence[int], n_checkpoints: int, window: int | None) -> Plan:
    """Spread checkpoints evenly over a stream, a whole number of rows apart; the last is the last row.

    `n_checkpoints` is the largest number of them. By default a window goes from one checkpoint to the fifth after it.
    """
    ends = np.cumsum(experience_sizes).tolist()
    n_rows = ends[-1]
    step = max(1, -(-n_rows // n_checkpoints))
    window = window or _CHECKPOINTS_PER_WINDOW * step
    checkpoints = (*range(step, n_rows, step), n_rows)
    cuts = {*checkpoints, *ends, *(checkpoint - window for checkpoint in checkpoints)}
    return Plan(checkpoints, window, tuple(sorted(cut for cut in cuts if cut > 0)))


class PrequentialScorer:
    """A scorer that collects rows in stream order, in chunks of any size, and scores them piece by piece.

    Pieces end at the cuts of the plan, wherever chunks end: results do not depend on chunks, and no more than a piece
    is kept. `metrics` come beside those of every run.
    """

    def __init__(self, plan: Plan, k: int, one_class: OneClass, metrics: Metrics = ()) -> None:
        self._plan = plan
        self._k = k
        self._one_class = one_class
        self._pending: list[Scored] = []
        self._pieces: list[Tally] = []
        self._metrics = metrics
        self._sums: list[Floats] = []
        self._no_change: NoChangePredictor | None = None
        self._mistakes: list[Mistakes] = []
        self._anytime = AnytimeScores(k, one_class)
        self._n_rows = 0

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return self._n_rows

    def add(self, scored: Scored) -> None:
        """Add the next rows."""
        start, n_rows = 0, len(scored.Y)
        while start < n_rows:
            stop = min(n_rows, start + self._plan.cuts[len(self._pieces)] - self._n_rows)
            self._pending.append(scored.rows(start, stop))
            self._n_rows += stop - start
            start = stop
            if self._n_rows == self._plan.cuts[len(self._pieces)]:
                self._close()

    def finish(self) -> tuple[dict[str, float], dict[str, Curve]]:
        """Return each score over all rows and its curve up to the last checkpoint reached; nothing without rows.

        Beside the scores stand their any-time scores, the means of the scores over the rows so far, after each row, and
        scores against a predictor that repeats the last labels.
        """
        if self._pending:
            self._close()
        if not self._pieces:
            return {}, {}
        reached = [checkpoint for checkpoint in self._plan.checkpoints if checkpoint <= self._n_rows]
        final = {name: float(values[0]) for name, values in self._between([0], [self._n_rows]).items()}
        return final | self._anytime.finish(), self._curves(reached) if reached else {}

    def _between(self, starts: list[int], stops: list[int]) -> dict[str, Floats]:
        core = CumulativeSums(self._pieces, self._k, self._one_class)
        named = NamedSums(self._pieces, self._sums, self._metrics)
        no_change = NoChangeSums(self._mistakes)
        return core.between(starts, stops) | no_change.between(starts, stops) | named.between(starts, stops)

    def _curves(self, reached: list[int]) -> dict[str, Curve]:
        window = self._plan.window
        cumulative = self._between([0] * len(reached), reached)
        windowed = self._between([max(0, checkpoint - window) for checkpoint in reached], reached)
        return {
            name: Curve(
                n_rows=reached,
                cumulative=[to_score(value) for value in cumulative[name]],
                windowed=[to_score(value) for value in windowed[name]],
                window=window,
            )
            for name in (*CORE_METRICS, "kappa_temporal", *(one.name for one in self._metrics))
        }

    def _close(self) -> None:
        piece = join_scored(self._pending)
        self._pieces.append(tally(piece, self._k))
        self._sums.append(sum_rows(piece, self._k, self._metrics))
        if self._no_change is None:
            self._no_change = NoChangePredictor(piece.Y.shape[1])
        self._mistakes.append(self._no_change.count_mistakes(piece))
        self._anytime.add(piece)
        self._pending.clear()
