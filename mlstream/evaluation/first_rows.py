"""The rows of a learner's first call: one, or as many as it needs to begin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

from estimators.contract.failed_calls import DivergedError
from mlstream.evaluation.label_space import mask_rows
from mlstream.streams.stream import Features, Indicator, Mask

# A learner that has refused so many rows will refuse more: its own error is raised then.
MAX_AUTOMATIC = 100


class Rows(NamedTuple):
    """Rows to learn, with the mask of each."""

    X: Features
    Y: Indicator
    mask: Mask


class FirstRows:
    """Rows that wait for the first call of a learner.

    `wanted` None waits for as few as the learner accepts, at most a hundred. `are_open` is whether the learner still
    waits, and `n_together` the number of rows that were learnt in one call, 0 if it did not wait.
    """

    def __init__(self, wanted: int | None) -> None:
        self.wanted = None if wanted is None else max(wanted, 1)
        self.are_open = True
        self.n_together = 0
        self._error: ValueError | None = None
        self._parts: list[Rows] = []
        self._n_rows = 0

    def count_next(self, n_rows: int) -> int:
        """Return how many of the next rows to add before the learner is tried."""
        return 1 if self.wanted is None else min(n_rows, self.wanted - self._n_rows)

    def add(self, X: Features, Y: Indicator, mask: Mask) -> Rows | None:
        """Add rows, and return all rows so far if they are enough to try the learner with."""
        if not len(Y):
            return None
        self._parts.append(Rows(X, Y, np.broadcast_to(mask, Y.shape)))
        self._n_rows += len(Y)
        if self._n_rows < (self.wanted or 1):
            return None
        if len(self._parts) == 1 and self._n_rows == 1:
            return Rows(X, Y, mask_rows(mask, slice(0, 1)))
        X_parts, Y_parts, masks = zip(*self._parts, strict=True)
        return Rows(_stack(X_parts), np.concatenate(Y_parts), np.concatenate(masks))

    def close(self) -> None:
        """Note that the learner has learnt the rows."""
        self.n_together = self._n_rows if self._n_rows > 1 else 0
        self.are_open = False
        self._parts = []

    def can_wait(self, error: ValueError) -> bool:
        """Return whether more rows may help a learner that failed with this error."""
        self._error = error
        never_helped = isinstance(error, InvalidParameterError | DivergedError)
        return self.wanted is None and not never_helped and self._n_rows < MAX_AUTOMATIC

    def require_closed(self) -> None:
        """Raise an error if rows wait still at the end of a stream: that of the learner, if it has failed."""
        if not self.are_open or not self._n_rows:
            return
        if self._error is not None:
            raise self._error
        raise ValueError(
            f"warm_up_rows must be at most {self._n_rows}, the number of rows to learn. Got {self.wanted} instead."
        )

    @property
    def are_none(self) -> bool:
        """Whether no row waits."""
        return not self._n_rows


def forget(estimator: Any) -> None:
    """Put an estimator back, in place, to what it was before it learnt anything."""
    untrained = vars(clone(estimator))
    vars(estimator).clear()
    vars(estimator).update(untrained)


def _stack(parts: tuple[Any, ...]) -> Features:
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)
