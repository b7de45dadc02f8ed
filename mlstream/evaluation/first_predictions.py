"""First predictions of rows whose labels come later: made when a row comes, scored when its labels come."""

from __future__ import annotations

import numpy as np

from mlstream.evaluation.predictions import Floats, Predictions
from mlstream.evaluation.scoring import Scored
from mlstream.streams.card_model import GeneratorCard, StreamCard
from mlstream.streams.stream import Indicator, Stream

# Behind the names of the scores of first predictions.
FIRST = "[first]"
_DELAYED = "delayed_labels"


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
