"""Scores of rows from additive sums: no row is read twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from metrics import (
    CalibrationSums,
    LabelCounts,
    ba_macro_from_counts,
    calibration_sums,
    label_counts,
    precision_at_k,
    precision_at_k_maximum,
    rmse,
    stack_counts,
)
from metrics.calibration import stack_sums
from metrics.named import NamedMetric
from mlstream.evaluation.predictions import Floats, Predictions, join_predictions, widen_columns, widen_predictions
from mlstream.evaluation.settings import OneClass, Settings, Ties
from mlstream.streams.card_model import GeneratorCard, StreamCard
from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import Indicator, Mask, Stream

CORE_METRICS = ("ba_macro", "rmse", "precision_at_k")
# Scores of every run that follow from labels alone.
OF_LABELS = ("precision_at_k_maximum", "no_change_subset_accuracy")
# Scores of every run that are the same whatever rule decides.
UNDECIDED = ("rmse", "precision_at_k", *OF_LABELS)

Metrics = tuple[NamedMetric, ...]
Value = TypeVar("Value")
# Behind the names of the scores of first predictions.
FIRST = "[first]"
_DELAYED = "delayed_labels"


def metrics_of_rules(metrics: Metrics, endings: Sequence[str]) -> list[Metrics]:
    """Return the metrics that are scored under each rule: all under the first, under others those of decisions."""
    decided = tuple(metric for metric in metrics if metric.form in {"counts", "decisions"})
    return [metrics, *(decided for _ in endings[1:])]


def with_ending(ending: str, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return values by name, the names with the ending of a rule of decisions, see `Settings.endings`."""
    return {f"{name}{ending}": value for name, value in values.items()}


class Scored(NamedTuple):
    """Rows to score."""

    Y: npt.NDArray[np.uint8]  # The truth, (n_samples, n_labels); 0 in unknown cells.
    predictions: Predictions
    mask: Mask  # Labels that count, none unknown; (n_labels,) or (n_samples, n_labels).

    def rows(self, start: int, stop: int) -> Scored:
        """Return some of the rows."""
        cut = slice(start, stop)
        return Scored(self.Y[cut], self.predictions.take(cut), self.mask[cut] if self.mask.ndim == 2 else self.mask)

    def where(self, kept: npt.NDArray[np.bool_]) -> Scored:
        """Return the rows for which `kept` is True."""
        if kept.all():
            return self
        return Scored(self.Y[kept], self.predictions.take(kept), self.mask[kept] if self.mask.ndim == 2 else self.mask)

    def by_rule(self) -> list[Scored]:
        """Return the rows as each rule decides them, that of the run first."""
        decided, proba, also = self.predictions
        return [self._replace(predictions=Predictions(table, proba)) for table in (decided, *also)]


def widen_scored(scored: Scored, n_labels: int) -> Scored:
    """Return rows with more labels, which do not count in them."""
    predictions = widen_predictions(scored.predictions, n_labels)
    return Scored(widen_columns(scored.Y, n_labels), predictions, widen_columns(scored.mask, n_labels))


def count_known_only(Y: Indicator, predictions: Predictions, mask: Mask) -> Scored:
    """Return rows to score, without the unknown labels (NaN in `Y`) among those that count.

    `mask` is (n_labels,) or (n_samples, n_labels).
    """
    cells = known(Y)
    return Scored(filled(Y), predictions, mask if cells is None else mask & cells)


class Tally(NamedTuple):
    """Sums over the rows of a piece of a stream, from which every score follows.

    Labels can be missing or late. A row in which no label counts is not scored, one with fewer than k is not ranked.
    """

    n_rows: int
    n_scored: int
    n_ranked: int
    counts: LabelCounts
    rmse: float
    hits_at_k: float  # Labels that tie for the last places may count in part.
    most_hits_at_k: int


def join_scored(parts: Sequence[Scored]) -> Scored:
    """Join consecutive rows of one experience, or of one evaluation set."""
    if len(parts) == 1:
        return parts[0]
    Y, predictions, masks = zip(*parts, strict=True)
    if any(mask.ndim == 2 or not np.array_equal(mask, masks[0]) for mask in masks):
        masks = tuple(np.broadcast_to(mask, part.shape) for mask, part in zip(masks, Y, strict=True))
    mask = np.concatenate(masks) if masks[0].ndim == 2 else masks[0]
    return Scored(np.concatenate(Y), join_predictions(predictions), mask)


def tally(scored: Scored, k: int, ties: Ties = Settings.ties) -> Tally:
    """Sum the contributions of rows, at least one, to each score."""
    n_rows = len(scored.Y)
    n_counted = np.broadcast_to(scored.mask.sum(axis=-1), n_rows)
    ranked = n_counted >= k
    n_scored, n_ranked = int(np.count_nonzero(n_counted)), int(np.count_nonzero(ranked))
    if not n_scored:
        nothing = np.zeros(scored.Y.shape[1], dtype=np.int64)
        return Tally(n_rows, 0, 0, LabelCounts(nothing, nothing, nothing, nothing), 0.0, 0.0, 0)
    counts = label_counts(scored.Y, scored.predictions.decided, label_mask=scored.mask)
    errors = n_scored * rmse(scored.Y, scored.predictions.proba, label_mask=scored.mask)
    hits, most_hits = _hits(scored.where(ranked), k, ties) if n_ranked else (0.0, 0)
    return Tally(n_rows, n_scored, n_ranked, counts, errors, hits, most_hits)


def tally_again(first: Tally, scored: Scored) -> Tally:
    """Return the sums of the same rows as another rule decides them; those of probabilities are the same."""
    if not first.n_scored:
        return first
    return first._replace(counts=label_counts(scored.Y, scored.predictions.decided, label_mask=scored.mask))


class CumulativeSums:
    """Sums from the start of a stream to the end of each consecutive piece; differences are the sums in between.

    `running` has, at the end of each piece, the sums of the errors and of the precisions of all rows so far. Added row
    by row, they do not depend on where pieces end, to the last bit; sums of pieces do.
    """

    def __init__(
        self,
        pieces: Sequence[Tally],
        k: int,
        one_class: OneClass,
        running: Sequence[tuple[float, float]] | None = None,
    ) -> None:
        n_rows, n_scored, n_ranked, counts, errors, hits, most_hits = zip(*pieces, strict=True)
        self._ends, self._errors = (accumulate(np.array(part)) for part in (n_rows, errors))
        self._hits, self._most_hits = (accumulate(np.array(part)) for part in (hits, most_hits))
        if running is not None:
            self._errors, self._hits = np.array([(0.0, 0.0), *running]).T * [[1], [k]]
        self._n_scored, self._n_ranked = (accumulate(np.array(part)) for part in (n_scored, n_ranked))
        stacked = stack_counts(counts)
        self._counts = [accumulate(part) for part in (stacked.tp, stacked.fp, stacked.fn, stacked.tn)]
        self._k = k
        self._one_class = one_class

    def between(self, starts: Sequence[int], stops: Sequence[int]) -> dict[str, Floats]:
        """Return the scores over stretches of the stream; all numbers must be ends of pieces, or 0.

        Beside the scores there is the greatest precision at k that the rows allow.
        """
        left, right = np.searchsorted(self._ends, starts), np.searchsorted(self._ends, stops)
        n_scored, n_ranked = (sums[right] - sums[left] for sums in (self._n_scored, self._n_ranked))
        counts = LabelCounts(*(part[right] - part[left] for part in self._counts))
        return {
            "ba_macro": ba_macro_from_counts(counts, one_class=self._one_class),
            "rmse": _mean(self._errors[right] - self._errors[left], n_scored),
            "precision_at_k": _mean(self._hits[right] - self._hits[left], self._k * n_ranked),
            "precision_at_k_maximum": _mean(self._most_hits[right] - self._most_hits[left], self._k * n_ranked),
        }


def score_tallies(pieces: Sequence[Tally], k: int, one_class: OneClass) -> dict[str, float]:
    """Score all rows of some pieces together, at least one, by metric; NaN where a score is not defined."""
    found = CumulativeSums(pieces, k, one_class).between([0], [sum(piece.n_rows for piece in pieces)])
    return {name: float(found[name][0]) for name in CORE_METRICS}


def _hits(scored: Scored, k: int, ties: Ties) -> tuple[float, int]:
    """Count the relevant labels among the k best-scored ones, and their maximum, over rows in which k labels count."""
    n_places = len(scored.Y) * k
    found = precision_at_k(scored.Y, scored.predictions.proba, k, label_mask=scored.mask, ties=ties)
    most = precision_at_k_maximum(scored.Y, k, label_mask=scored.mask)
    return n_places * found, round(n_places * most)


def _mean(sums: Floats, n: npt.NDArray[np.int64]) -> Floats:
    return np.asarray(np.divide(sums, n, out=np.full(len(sums), np.nan), where=n > 0))


def accumulate(values: np.ndarray) -> np.ndarray:
    """Return the sums of the first pieces: none, one, two, and so on."""
    return np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])


class NamedTally(NamedTuple):
    """Sums over the rows of a piece of a stream, from which metrics by name follow."""

    rows: Floats  # Of the contributions of rows to each metric, (n_metrics,); 0 for those of counts and of calibration.
    calibration: CalibrationSums | None  # If a metric needs them: 24 bytes for each label and bin.

    def widened(self, n_labels: int) -> NamedTally:
        """Return the sums with further labels, which have no cells."""
        return self._replace(calibration=None if self.calibration is None else self.calibration.widened(n_labels))


def join_sums(pieces: Sequence[NamedTally]) -> NamedTally:
    """Return the sums over all rows of some pieces, at least one."""
    calibration = [piece.calibration for piece in pieces if piece.calibration is not None]
    rows = np.sum([piece.rows for piece in pieces], axis=0)
    return NamedTally(rows, reduce(add, calibration) if calibration else None)


def sum_rows(scored: Scored, k: int, metrics: Metrics) -> NamedTally:
    """Sum the contributions of rows, at least one, to each metric.

    A row in which no label counts adds nothing, nor does one with fewer than k to metrics of the k best.
    """
    if not metrics:
        # Most evaluations ask for none, and choosing rows copies them.
        return NamedTally(np.zeros(0), None)
    n_counted = np.broadcast_to(scored.mask.sum(axis=-1), len(scored.Y))
    rows = {"decisions": scored.where(n_counted > 0), "best": scored.where(n_counted >= k)}
    rows["scores"] = rows["decisions"]
    sums = [_sum(metric, rows[metric.form], k) if metric.form in rows else 0.0 for metric in metrics]
    is_asked_for = "calibration" in {metric.form for metric in metrics}
    return NamedTally(np.array(sums, dtype=np.float64), _calibration(rows["scores"]) if is_asked_for else None)


def _calibration(scored: Scored) -> CalibrationSums:
    """Return the sums of bins over any number of rows."""
    if not len(scored.Y):
        return CalibrationSums.empty(scored.Y.shape[1])
    return calibration_sums(scored.Y, scored.predictions.proba, label_mask=scored.mask)


class NamedSums:
    """Sums from the start of a stream to the end of each consecutive piece; differences are the sums in between.

    `sums` has the result of `sum_rows` for each piece.
    """

    def __init__(self, pieces: Sequence[Tally], sums: Sequence[NamedTally], metrics: Metrics) -> None:
        numbers = [(piece.n_rows, piece.n_scored, piece.n_ranked) for piece in pieces]
        self._ends, self._n_scored, self._n_ranked = accumulate(np.array(numbers)).T
        stacked = stack_counts(piece.counts for piece in pieces)
        self._counts = [accumulate(part) for part in (stacked.tp, stacked.fp, stacked.fn, stacked.tn)]
        self._sums = accumulate(np.stack([part.rows for part in sums]))
        calibration = [part.calibration for part in sums if part.calibration is not None]
        self._calibration = [accumulate(part) for part in stack_sums(calibration).parts] if calibration else []
        self._metrics = metrics

    def between(self, starts: Sequence[int], stops: Sequence[int]) -> dict[str, Floats]:
        """Return the scores over stretches of the stream; all numbers must be ends of pieces, or 0."""
        left, right = np.searchsorted(self._ends, starts), np.searchsorted(self._ends, stops)
        counts = LabelCounts(*(part[right] - part[left] for part in self._counts))
        n_scored, n_ranked, sums = (part[right] - part[left] for part in (self._n_scored, self._n_ranked, self._sums))
        by_form: dict[str, LabelCounts | CalibrationSums] = {"counts": counts}
        if self._calibration:
            by_form["calibration"] = CalibrationSums(*(part[right] - part[left] for part in self._calibration))
        found = {}
        for place, one in enumerate(self._metrics):
            if one.form in by_form:
                found[one.name] = np.asarray(one.function(by_form[one.form]))
            else:
                n = n_ranked if one.form == "best" else n_scored
                found[one.name] = np.divide(sums[:, place], n, out=np.full(len(n), np.nan), where=n > 0)
        return found


def score_sums(pieces: Sequence[Tally], sums: Sequence[NamedTally], metrics: Metrics) -> dict[str, float]:
    """Score all rows of some pieces together, at least one, by metric; NaN where a score is not defined.

    `sums` has the result of `sum_rows` for each piece.
    """
    found = NamedSums(pieces, sums, metrics).between([0], [sum(piece.n_rows for piece in pieces)])
    return {name: float(values[0]) for name, values in found.items()}


def _sum(one: NamedMetric, scored: Scored, k: int) -> float:
    if not len(scored.Y):
        return 0.0
    decided, proba, _ = scored.predictions
    read: tuple[object, ...] = {"decisions": (decided,), "scores": (proba,), "best": (proba, k)}[one.form]
    return len(scored.Y) * float(one.function(scored.Y, *read, label_mask=scored.mask))


def delaying_call(card: StreamCard) -> GeneratorCard | None:
    """Return the call of `delayed_labels` among those that made a stream; None where labels are not late."""
    call = card.generator
    while call.name != _DELAYED and isinstance(base := call.parameters.get("base"), dict):
        call = GeneratorCard.model_validate(base)
    return call if call.name == _DELAYED else None


def comes_first(card: StreamCard) -> bool:
    """Return whether rows come at their own time, too, when their late labels are unknown."""
    call = delaying_call(card)
    return call is not None and call.parameters.get("predict_first") is True


class FirstPredictions:
    """The first prediction of each row of a stream that comes several times, kept until it comes for the last time."""

    def __init__(self, stream: Stream) -> None:
        # a row that several tasks share comes in each of them
        rows = np.concatenate([np.stack([part.row_ids, part.task_ids], axis=1) for part in stream])
        self._rows = np.unique(rows, axis=0, return_inverse=True)[1]
        self._is_last = np.zeros(len(rows), dtype=bool)
        self._is_last[len(rows) - 1 - np.unique(self._rows[::-1], return_index=True)[1]] = True
        self._kept: dict[int, tuple[Indicator, Floats]] = {}
        self._n_rows = 0

    def of(self, scored: Scored) -> Scored:
        """Return the next rows of the stream with their first predictions."""
        rows = slice(self._n_rows, self._n_rows + len(scored.Y))
        self._n_rows = rows.stop
        decided, proba = scored.predictions.decided.copy(), scored.predictions.proba.copy()
        for place, (row, is_last) in enumerate(
            zip(self._rows[rows].tolist(), self._is_last[rows].tolist(), strict=True)
        ):
            if row in self._kept:
                decided[place], proba[place] = self._kept[row]
            elif not is_last:
                self._kept[row] = decided[place].copy(), proba[place].copy()
            if is_last:
                self._kept.pop(row, None)
        return scored._replace(predictions=Predictions(decided, proba))
