"""Prequential scores: of all rows, over a sliding window, at any time, and beside a predictor that repeats labels."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metrics import (
    LabelCounts,
    ba_macro_from_counts,
    counts_by_row,
    cumulative_counts,
    no_change_predictions,
    precision_at_k_by_row,
    rmse_by_row,
    running_mean,
)
from mlstream.evaluation.predictions import Floats, widen_columns
from mlstream.evaluation.scoring import (
    CORE_METRICS,
    UNDECIDED,
    CumulativeSums,
    Metrics,
    NamedSums,
    NamedTally,
    Scored,
    Tally,
    Value,
    accumulate,
    join_scored,
    join_sums,
    metrics_of_rules,
    sum_rows,
    tally,
    tally_again,
    widen_scored,
    with_ending,
)
from mlstream.evaluation.settings import OneClass, Settings, Ties
from mlstream.records.run_result import Curve, to_score
from mlstream.streams.stream import Indicator

_CHECKPOINTS_PER_WINDOW = 5

# Counts of single rows and their temporaries take about 200 bytes a cell.
_CELLS_PER_BLOCK = 2**17
# Rows that wait for a cut of an open plan take memory.
_MAX_PIECE = 2**11

Counts = npt.NDArray[np.int64]


class Plan(NamedTuple):
    """Points of a stream at which scores are read, as numbers of rows, rising."""

    checkpoints: tuple[int, ...]  # The last is the length of the stream.
    window: int  # Number of rows that a windowed score covers.
    # Checkpoints, where their windows begin, and where experiences end, because their masks differ.
    cuts: tuple[int, ...]

    def next_cut(self, n_rows: int) -> int:
        """Return the first cut after a number of rows."""
        return self.cuts[bisect_right(self.cuts, n_rows)]

    def keeps(self, n_rows: int) -> bool:  # noqa: ARG002 - an open plan does not keep all
        """Return whether pieces on both sides of a cut stay apart."""
        return True

    def thin(self, n_rows: int) -> bool:  # noqa: ARG002
        """Return whether fewer cuts are kept from a number of rows on."""
        return False

    def reached(self, n_rows: int) -> list[int]:
        """Return the checkpoints among a number of rows."""
        return [checkpoint for checkpoint in self.checkpoints if checkpoint <= n_rows]


class OpenPlan:
    """The plan of a stream whose length is not known: whenever there are too many checkpoints, every other one goes.

    Checkpoints are multiples of a step, which doubles; `window` is the number of rows that a windowed score covers, by
    default five steps.
    """

    def __init__(self, n_checkpoints: int, window: int | None) -> None:
        self._n_checkpoints, self._window, self._step = n_checkpoints, window, 1

    @property
    def window(self) -> int:
        """Number of rows that a windowed score covers."""
        return self._window or _CHECKPOINTS_PER_WINDOW * self._step

    def next_cut(self, n_rows: int) -> int:
        """Return the first cut after a number of rows: a checkpoint, where a window begins, or many rows later."""
        to_checkpoint = self._step - n_rows % self._step
        to_window = self._step - (n_rows + self.window) % self._step
        return n_rows + min(to_checkpoint, to_window, _MAX_PIECE)

    def keeps(self, n_rows: int) -> bool:
        """Return whether pieces on both sides of a cut stay apart."""
        return n_rows % self._step == 0 or (n_rows + self.window) % self._step == 0

    def thin(self, n_rows: int) -> bool:
        """Take larger steps if there are too many checkpoints, and return whether that was so."""
        was = self._step
        while n_rows // self._step > self._n_checkpoints:
            self._step *= 2
        return self._step > was

    def reached(self, n_rows: int) -> list[int]:
        """Return the checkpoints among a number of rows."""
        return list(range(self._step, n_rows + 1, self._step))


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
    is kept. `metrics` come beside those of every run. `endings`, one for each rule that decides, are behind the names
    of scores that depend on decisions; all other scores come once.
    """

    def __init__(
        self,
        plan: Plan | OpenPlan,
        k: int,
        one_class: OneClass,
        metrics: Metrics = (),
        ties: Ties = Settings.ties,
        endings: Sequence[str] = ("",),
    ) -> None:
        self._plan = plan
        self._k = k
        self._pending: list[Scored] = []
        self._last_cut = 0
        self._no_change: NoChangePredictor | None = None
        self._ties = ties
        self._rules = {
            ending: _Pieces(k, one_class, own, AnytimeScores(k, one_class, ties, CORE_METRICS[: 1 if ending else None]))
            for ending, own in zip(endings, metrics_of_rules(metrics, endings), strict=True)
        }
        self._n_rows = 0

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return self._n_rows

    def add(self, scored: Scored) -> None:
        """Add the next rows."""
        start, n_rows = 0, len(scored.Y)
        while start < n_rows:
            cut = self._plan.next_cut(self._last_cut)
            stop = min(n_rows, start + cut - self._n_rows)
            self._pending.append(scored.rows(start, stop))
            self._n_rows += stop - start
            start = stop
            if self._n_rows == cut:
                self._close()

    def widen(self, n_labels: int) -> None:
        """Take more labels from now on, which did not count in the rows so far."""
        self._pending = [widen_scored(scored, n_labels) for scored in self._pending]
        if self._no_change is not None:
            self._no_change.widen(n_labels)
        for pieces in self._rules.values():
            pieces.widen(n_labels)

    def finish(self) -> tuple[dict[str, float], dict[str, Curve]]:
        """Return each score over all rows and its curve up to the last checkpoint reached; nothing without rows.

        Beside the scores stand their any-time scores, the means of the scores over the rows so far, after each row, and
        scores against a predictor that repeats the last labels.
        """
        if self._pending:
            self._close()
        if not self._n_rows:
            return {}, {}
        reached = self._plan.reached(self._n_rows)
        scores: dict[str, float] = {}
        curves: dict[str, Curve] = {}
        for ending, pieces in self._rules.items():
            scores |= with_ending(ending, pieces.finish(self._n_rows))
            curves |= with_ending(ending, pieces.curves(reached, self._plan.window) if reached else {})
        again = {f"{name}{ending}" for name in UNDECIDED for ending in self._rules if ending}
        return _without(scores, again), _without(curves, again)

    def _close(self) -> None:
        piece, start = join_scored(self._pending), self._last_cut
        if self._no_change is None:
            self._no_change = NoChangePredictor(piece.Y.shape[1])
        first, repeated = tally(piece, self._k, self._ties), self._no_change.repeat(piece)
        for (ending, pieces), one in zip(self._rules.items(), piece.by_rule(), strict=True):
            pieces.add(one, tally_again(first, one) if ending else first, repeated)
        self._last_cut = self._n_rows
        self._pending.clear()
        if self._plan.thin(self._n_rows) or not self._plan.keeps(start):
            for pieces in self._rules.values():
                pieces.join(self._plan.keeps)


def _without(values: Mapping[str, Value], names: Collection[str]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name not in names}


class _Pieces:
    """Sums over consecutive pieces of a stream that one rule decides."""

    def __init__(self, k: int, one_class: OneClass, metrics: Metrics, anytime: AnytimeScores) -> None:
        self._k = k
        self._one_class = one_class
        self._metrics = metrics
        self._anytime = anytime
        self._tallies: list[Tally] = []
        self._sums: list[NamedTally] = []
        self._mistakes: list[Mistakes] = []
        self._running: list[tuple[float, float]] = []

    def add(self, scored: Scored, tallied: Tally, repeated: Indicator) -> None:
        """Add the next piece, its tally, and what a predictor that repeats the last labels predicts."""
        self._tallies.append(tallied)
        self._sums.append(sum_rows(scored, self._k, self._metrics))
        self._mistakes.append(count_mistakes(scored, repeated))
        self._anytime.add(scored)
        self._running.append(self._anytime.running)

    def join(self, keeps: Callable[[int], bool]) -> None:
        """Join each piece to the one before it, unless the cut between them is kept."""
        ends = np.cumsum([piece.n_rows for piece in self._tallies]).tolist()
        starts = [place for place, cut in enumerate([0, *ends[:-1]]) if not cut or keeps(cut)]
        groups = [slice(*pair) for pair in pairwise([*starts, len(ends)])]
        self._tallies = [Tally(*_add_all(self._tallies[group])) for group in groups]
        self._mistakes = [Mistakes(*_add_all(self._mistakes[group])) for group in groups]
        self._sums = [join_sums(self._sums[group]) for group in groups]
        self._running = [self._running[group][-1] for group in groups]

    def widen(self, n_labels: int) -> None:
        """Take more labels from now on."""
        self._tallies = [piece._replace(counts=piece.counts.widened(n_labels)) for piece in self._tallies]
        self._mistakes = [piece._replace(labels=widen_columns(piece.labels, n_labels)) for piece in self._mistakes]
        self._sums = [piece.widened(n_labels) for piece in self._sums]
        self._anytime.widen(n_labels)

    def finish(self, n_rows: int) -> dict[str, float]:
        """Return the scores over all rows."""
        final = {name: float(values[0]) for name, values in self._between([0], [n_rows]).items()}
        return final | self._anytime.finish()

    def _between(self, starts: list[int], stops: list[int]) -> dict[str, Floats]:
        core = CumulativeSums(self._tallies, self._k, self._one_class, self._running)
        named = NamedSums(self._tallies, self._sums, self._metrics)
        no_change = NoChangeSums(self._mistakes)
        return core.between(starts, stops) | no_change.between(starts, stops) | named.between(starts, stops)

    def curves(self, reached: list[int], window: int) -> dict[str, Curve]:
        """Return the curves up to the last checkpoint reached."""
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


def _add_all(pieces: Sequence[Sequence[Any]]) -> Iterator[Any]:
    """Add up each field of some pieces."""
    return (reduce(add, values) for values in zip(*pieces, strict=True))


def anytime_name(metric: str) -> str:
    """Return the name of the any-time score of a metric."""
    return f"{metric}_anytime"


class AnytimeScores:
    """Means, over the rows of a stream, of the scores over the rows so far; see `metrics.anytime_score`."""

    def __init__(
        self, k: int, one_class: OneClass, ties: Ties = Settings.ties, names: Sequence[str] = CORE_METRICS
    ) -> None:
        self._k = k
        self._one_class = one_class
        self._ties = ties
        self._counts: LabelCounts | None = None
        self._values = {name: _Sum() for name in names}
        self._readings = {name: _Sum() for name in names}

    def add(self, scored: Scored) -> None:
        """Add the next rows."""
        n_rows, n_labels = scored.Y.shape
        step = max(1, _CELLS_PER_BLOCK // n_labels)
        for start in range(0, n_rows, step):
            block = scored.rows(start, start + step)
            self._readings["ba_macro"].add(self._read_accuracy(block))
            if "rmse" in self._values:
                self._read_means("rmse", _errors(block))
            if "precision_at_k" in self._values:
                self._read_means("precision_at_k", _precisions(block, self._k, self._ties))

    @property
    def running(self) -> tuple[float, float]:
        """The sums of the errors and of the precisions of all rows so far, added one by one; 0 without these."""
        errors, precisions = (self._values.get(name, _Sum()).total for name in ("rmse", "precision_at_k"))
        return errors, precisions

    def widen(self, n_labels: int) -> None:
        """Take more labels from now on."""
        if self._counts is not None:
            self._counts = self._counts.widened(n_labels)

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


def _precisions(scored: Scored, k: int, ties: Ties) -> Floats:
    """Return the precision of each row; NaN where fewer than k labels count."""
    values = np.full(len(scored.Y), np.nan)
    ranked = np.broadcast_to(scored.mask.sum(axis=-1), len(values)) >= k
    if ranked.any():
        rows = scored.where(ranked)
        values[ranked] = precision_at_k_by_row(rows.Y, rows.predictions.proba, k, label_mask=rows.mask, ties=ties)
    return values


class Mistakes(NamedTuple):
    """Mistakes in a piece of a stream: of the learner, and of the no-change predictor."""

    n_rows: int
    n_scored: int  # Rows in which a label counts.
    rows: Counts  # Rows with a mistake of each, int64 of shape (2,).
    labels: Counts  # Mistakes of each on each label, int64 of shape (2, n_labels).


class NoChangePredictor:
    """A predictor, row by row, of the last value of each label that was known and counted; 0 before the first."""

    def __init__(self, n_labels: int) -> None:
        self._last = np.zeros(n_labels, dtype=np.uint8)

    def widen(self, n_labels: int) -> None:
        """Take more labels from now on."""
        self._last = widen_columns(self._last, n_labels)

    def repeat(self, scored: Scored) -> Indicator:
        """Predict the next rows of the stream."""
        Y, counted = scored.Y, np.broadcast_to(scored.mask, scored.Y.shape)
        # A first row holds the last values of earlier pieces; the prediction of a row after the end, those of this one.
        always = np.ones((1, Y.shape[1]), dtype=bool)
        rows, mask = np.vstack([self._last, Y, self._last]), np.vstack([always, counted, always])
        repeated = no_change_predictions(rows, label_mask=mask)
        self._last = repeated[-1]
        return repeated[1:-1]


def count_mistakes(scored: Scored, repeated: Indicator) -> Mistakes:
    """Count the mistakes of the learner, and those of the predictions of the no-change predictor."""
    counted = np.broadcast_to(scored.mask, scored.Y.shape)
    wrong = [(decided != scored.Y) & counted for decided in (scored.predictions.decided, repeated)]
    return Mistakes(
        n_rows=len(scored.Y),
        n_scored=int(counted.any(axis=1).sum()),
        rows=np.array([part.any(axis=1).sum() for part in wrong]),
        labels=np.stack([part.sum(axis=0) for part in wrong]),
    )


class NoChangeSums:
    """Mistakes from the start of a stream to the end of each consecutive piece; differences are those in between."""

    def __init__(self, pieces: Sequence[Mistakes]) -> None:
        n_rows, n_scored, rows, labels = zip(*pieces, strict=True)
        self._ends, self._n_scored = accumulate(np.array(n_rows)), accumulate(np.array(n_scored))
        self._rows, self._labels = accumulate(np.stack(rows)), accumulate(np.stack(labels))

    def between(self, starts: Sequence[int], stops: Sequence[int]) -> dict[str, Floats]:
        """Return the scores over stretches of the stream; all numbers must be ends of pieces, or 0.

        The last labels before a stretch are those of the rows before it. See `metrics.kappa_temporal`.
        """
        left, right = np.searchsorted(self._ends, starts), np.searchsorted(self._ends, stops)
        n_scored, rows, labels = (part[right] - part[left] for part in (self._n_scored, self._rows, self._labels))
        gains = _gain(labels[:, 0], labels[:, 1])
        defined = ~np.isnan(gains)
        return {
            "kappa_temporal": _gain(rows[:, 0], rows[:, 1]),
            "kappa_temporal_macro": _divide(np.where(defined, gains, 0.0).sum(axis=1), defined.sum(axis=1)),
            "no_change_subset_accuracy": 1.0 - _divide(rows[:, 1], n_scored),
        }


def _gain(mistakes: Counts, of_no_change: Counts) -> Floats:
    return 1.0 - _divide(mistakes, of_no_change)


def _divide(top: npt.NDArray[np.int64] | Floats, bottom: Counts) -> Floats:
    return np.asarray(np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 0))
