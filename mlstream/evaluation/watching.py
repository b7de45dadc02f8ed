"""The mistakes of a learner along a stream, and a detector that watches them: errors of rows, labels or label sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators.contract.seeding import clone_with_seed
from estimators.drift import LabelDrift, LabelSetDrift
from mlstream.evaluation.label_space import CountedLabels, labels_at_prediction, learning_view
from mlstream.evaluation.learners import adapt_to_stream
from mlstream.evaluation.predictions import Floats
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import test_then_train
from mlstream.evaluation.settings import Errors, Settings
from mlstream.streams.stream import Index, Stream

# Detectors of errors take 0 and 1 only; those of labels hold another one.
_BINARY = "errors"


def fresh_detector(detector: Any, seed: int) -> Any:
    """Clone a detector without what it has seen, and seed it and detectors inside.

    The detector needs `get_params`, as scikit-learn's estimators have it, and `update_many`; anything else raises a
    TypeError.
    """
    if not (hasattr(detector, "update_many") and hasattr(detector, "get_params")) or isinstance(detector, type):
        kind = detector if isinstance(detector, type) else type(detector)
        got = "the class" if kind is detector else "an object of"
        raise TypeError(
            "A detector must be a name that `mlstream detectors` lists, or an object with update_many and get_params, "
            f"as those of estimators.drift are. Got {got} {kind.__module__}.{kind.__qualname__} instead."
        )
    return clone_with_seed(detector, seed)


class Watcher:
    """One detector along a stream, a fresh one, which this changes.

    `alarms` holds the rows at which it signalled, each with the labels concerned, if it watches labels. `failure` is
    what it raised; from then on it watches no more. A ValueError is raised if a parameter of the detector is not valid,
    or it does not take such errors.
    """

    def __init__(self, detector: Any, errors: Errors, n_labels: int) -> None:
        self._detector = detector
        self._errors = errors
        self.alarms: list[tuple[int, list[int]]] = []
        self.failure: Exception | None = None
        self._require_errors()
        nothing = np.zeros((0, n_labels), dtype=np.bool_)
        # Parameters are checked before a learner learns for hours.
        self._signals(Mistakes(0, nothing.astype(np.uint8), nothing, nothing))

    def watch(self, mistakes: Mistakes) -> None:
        """Pass the next rows."""
        if self.failure is not None:
            return
        try:
            rows, labels = self._signals(mistakes)
        except Exception as error:
            self.failure = error
            return
        self.alarms += [
            (mistakes.start + int(row), np.flatnonzero(own).tolist()) for row, own in zip(rows, labels, strict=True)
        ]

    def _signals(self, mistakes: Mistakes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return the rows of alarms, within the piece, and the labels of each."""
        known = mistakes.rows
        if isinstance(self._detector, LabelDrift):
            counted = mistakes.counted[known] if len(known) else None
            cells = self._detector.update_many(mistakes.wrong[known].astype(np.float64), label_mask=counted)
            rows = np.flatnonzero(cells.any(axis=1))
            return known[rows], cells[rows]
        values = mistakes.errors(self._errors)
        if isinstance(self._detector, LabelSetDrift):
            rows = known[self._detector.update_many(values, mistakes.Y[known])]
            return rows, mistakes.Y[rows] != 0
        drifts = np.asarray(self._detector.update_many(values), dtype=np.bool_)
        if drifts.shape != values.shape:
            raise ValueError(
                f"{type(self._detector).__name__}.update_many must return a value for each of {len(values)} values. "
                f"Got shape {drifts.shape} instead."
            )
        rows = known[drifts]
        return rows, np.zeros((len(rows), mistakes.Y.shape[1]), dtype=np.bool_)

    def _require_errors(self) -> None:
        if self._errors == "subset" or isinstance(self._detector, LabelDrift):
            return
        inner = getattr(self._detector, "detector", None) or self._detector
        if getattr(inner, "_range", None) == _BINARY:
            raise ValueError(
                f"errors (--errors) must be 'subset' for {type(inner).__name__}, which takes 0 and 1 only. "
                f"Got {self._errors!r} instead."
            )


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
