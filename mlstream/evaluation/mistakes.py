"""The mistakes of a learner along a stream, and the errors of rows that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.evaluation.label_space import CountedLabels, labels_at_prediction, learning_view
from mlstream.evaluation.learners import adapt_to_stream
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import test_then_train
from mlstream.evaluation.settings import Errors, Settings
from mlstream.streams.stream import Index, Stream


class Mistakes(NamedTuple):
    """Consecutive rows, predicted before they were learnt; arrays are (n_samples, n_labels)."""

    start: int  # The first row, counted over all experiences.
    Y: npt.NDArray[np.uint8]  # The truth; 0 in cells that do not count.
    wrong: npt.NDArray[np.bool_]  # Cells that were predicted wrongly.
    counted: npt.NDArray[np.bool_]  # Cells that count.

    @property
    def rows(self) -> Index:
        """Rows of which a label counts, as numbers within this piece."""
        return np.flatnonzero(self.counted.any(axis=1))

    def errors(self, kind: Errors) -> Floats:
        """Return the error of each of `rows`: 1 if any label is wrong ("subset"), or the share that is ("hamming")."""
        wrong, counted = self.wrong[self.rows], self.counted[self.rows]
        if kind == "subset":
            return np.asarray(wrong.any(axis=1), dtype=np.float64)
        return np.asarray(wrong.sum(axis=1) / counted.sum(axis=1), dtype=np.float64)


def mistakes_along(learner: Any, stream: Stream, settings: Settings) -> Iterator[Mistakes]:
    """Predict each row of a stream before it is learnt, as `evaluate` does, without evaluation sets and costs.

    The learner must be fresh, see `fresh`; it learns the stream.
    """
    adapter = adapt_to_stream(learner, stream, ResourceMeter("none"), settings)
    first, start = stream.experiences[0], 0
    adapter.begin(first.X, first.Y)
    labels = CountedLabels(stream, settings.label_space).online()
    for experience, mask in zip(learning_view(stream), labels, strict=True):
        heads = labels_at_prediction(stream, experience.task_ids)
        for scored in test_then_train(adapter, experience, mask, settings.chunk_size, heads):
            counted = np.broadcast_to(scored.mask, scored.Y.shape)
            wrong = (scored.predictions.decided != scored.Y) & counted
            yield Mistakes(start, scored.Y * counted, wrong, counted)
            start += len(scored.Y)
    adapter.first_rows.require_closed()
