"""The labels of a stream that have emerged so far, as columns of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mlstream.evaluation.predictions import Predictions, no_predictions
from mlstream.streams.stream import Index, Mask, Stream


def labels_emerge(stream: Stream) -> bool:
    """Return whether labels emerge one after another, and masks hold those that have."""
    return stream.card.scenario.emergence is not None


class EmergedLabels:
    """The columns that a learner knows, in the order in which their labels emerged."""

    def __init__(self, n_labels: int) -> None:
        self._n_labels = n_labels
        self._columns: Index = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._columns)

    def update(self, mask: Mask) -> None:
        """Add the labels of a mask, (n_labels,) or (n_samples, n_labels), that have not emerged before."""
        emerged = np.flatnonzero(mask.reshape(-1, self._n_labels).any(axis=0))
        self._columns = np.append(self._columns, np.setdiff1d(emerged, self._columns))

    def take(self, table: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the columns of the labels that have emerged."""
        return table[..., self._columns]

    def place(self, found: Predictions) -> Predictions:
        """Return predictions of all labels; those that have not emerged are 0 with probability 0."""
        placed = no_predictions(len(found.decided), self._n_labels)
        placed.decided[:, self._columns], placed.proba[:, self._columns] = found
        return placed
