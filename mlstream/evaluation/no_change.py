"""Scores against the no-change predictor, which repeats the last labels: from additive sums along a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metrics import no_change_predictions
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.scoring import Scored, accumulate
from mlstream.streams.stream import Indicator, Mask

Counts = npt.NDArray[np.int64]


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

    def count_mistakes(self, scored: Scored) -> Mistakes:
        """Predict the next rows of the stream, and count mistakes beside those of the learner."""
        counted = np.broadcast_to(scored.mask, scored.Y.shape)
        both = (scored.predictions.decided, self._repeat(scored.Y, counted))
        wrong = [(decided != scored.Y) & counted for decided in both]
        return Mistakes(
            n_rows=len(scored.Y),
            n_scored=int(counted.any(axis=1).sum()),
            rows=np.array([part.any(axis=1).sum() for part in wrong]),
            labels=np.stack([part.sum(axis=0) for part in wrong]),
        )

    def _repeat(self, Y: Indicator, counted: Mask) -> Indicator:
        # A first row holds the last values of earlier pieces; the prediction of a row after the end, those of this one.
        always = np.ones((1, Y.shape[1]), dtype=bool)
        rows, mask = np.vstack([self._last, Y, self._last]), np.vstack([always, counted, always])
        repeated = no_change_predictions(rows, label_mask=mask)
        self._last = repeated[-1]
        return repeated[1:-1]


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
