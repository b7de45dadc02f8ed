"""A window over the last rows of a stream, dense or CSR, that finds the row nearest to a query.

Windows are values: `append` and `drop` return another one. Appending writes past the end only, so that the window it
came from stays as it was.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from estimators._typing import Array
from estimators.contract.validation import Features
from estimators.neighbours._kernels import nearest

BLOCK = 1024


def blocks(n_rows: int) -> Iterator[slice]:
    """Cut rows into slices, so that work space does not grow with the chunk."""
    for begin in range(0, n_rows, BLOCK):
        yield slice(begin, min(begin + BLOCK, n_rows))


@dataclass(frozen=True)
class Tail:
    """The live end of an array that grows at one end and is dropped at the other, at constant cost a row."""

    store: Array
    begin: int = 0
    end: int = 0

    def __len__(self) -> int:
        return self.end - self.begin

    @property
    def live(self) -> Array:
        """The rows that are there, oldest first."""
        return self.store[self.begin : self.end]

    def append(self, rows: Array) -> Self:
        """Add rows at the end; what is live moves to an array twice as large when there is no room."""
        tail = self if self.end + len(rows) <= len(self.store) else self._moved(len(rows))
        end = tail.end + len(rows)
        tail.store[tail.end : end] = rows
        return replace(tail, end=end)

    def drop(self, n_rows: int) -> Self:
        """Leave out the oldest rows."""
        return replace(self, begin=self.begin + n_rows)

    def _moved(self, n_rows: int) -> Self:
        store = np.empty((2 * (len(self) + n_rows), *self.store.shape[1:]), self.store.dtype)
        store[: len(self)] = self.live
        return type(self)(store, 0, len(self))

    def __reduce__(self) -> tuple[type[Self], tuple[Array, int, int]]:
        # spare room is neither saved nor copied
        return type(self), (self.live.copy(), 0, len(self))


@dataclass(frozen=True)
class Metric:
    """Euclidean distance, or the cosine with its value for two zero vectors."""

    name: str
    zero_similarity: float

    @property
    def options(self) -> tuple[float, ...]:
        """The arguments of the metric's kernel besides rows."""
        return () if self.name == "euclidean" else (self.zero_similarity,)


@dataclass(frozen=True)
class DenseWindow:
    """Rows kept as they are, in double precision."""

    rows: Tail

    @classmethod
    def of_width(cls, n_features: int) -> Self:
        """Make an empty window."""
        return cls(Tail(np.empty((0, n_features))))

    def __len__(self) -> int:
        return len(self.rows)

    def append(self, X: Features) -> Self:
        """Add rows, the newest last."""
        return replace(self, rows=self.rows.append(dense_rows(X)))

    def drop(self, n_rows: int) -> Self:
        """Leave out the oldest rows."""
        return replace(self, rows=self.rows.drop(n_rows))

    def select(self, kept: Array) -> Self:
        """Return a window of some of the rows, in order."""
        return replace(self, rows=Tail(self.rows.live[kept], 0, len(kept)))

    def nearest(self, X: Features, first: Array, last: Array, metric: Metric) -> Array:
        """Find for each row of X the nearest among rows first to last - 1 of the window; -1 if that range is empty."""
        find = nearest.nearest_euclidean if metric.name == "euclidean" else nearest.nearest_cosine
        return np.asarray(find(dense_rows(X), self.rows.live, first, last, *metric.options))


@dataclass(frozen=True)
class SparseWindow:
    """Rows kept as their non-zeros, in double precision."""

    lengths: Tail
    columns: Tail
    values: Tail

    @classmethod
    def of_width(cls, n_features: int) -> Self:  # noqa: ARG003 - one signature for both windows
        """Make an empty window."""
        return cls(Tail(np.empty(0, np.int64)), Tail(np.empty(0, np.int32)), Tail(np.empty(0)))

    def __len__(self) -> int:
        return len(self.lengths)

    def append(self, X: Features) -> Self:
        """Add rows, the newest last."""
        indptr, columns, values = _csr(X)
        lengths = self.lengths.append(np.diff(indptr))
        return replace(self, lengths=lengths, columns=self.columns.append(columns), values=self.values.append(values))

    def drop(self, n_rows: int) -> Self:
        """Leave out the oldest rows."""
        size = int(self.lengths.live[:n_rows].sum())
        return type(self)(self.lengths.drop(n_rows), self.columns.drop(size), self.values.drop(size))

    def select(self, kept: Array) -> Self:
        """Return a window of some of the rows, in order."""
        lengths = self.lengths.live
        chosen = np.zeros(len(lengths), dtype=bool)
        chosen[kept] = True
        inside = np.repeat(chosen, lengths)
        parts = lengths[kept], self.columns.live[inside], self.values.live[inside]
        return type(self)(*(Tail(part, 0, len(part)) for part in parts))

    def nearest(self, X: Features, first: Array, last: Array, metric: Metric) -> Array:
        """Find for each row of X the nearest among rows first to last - 1 of the window; -1 if that range is empty."""
        find = nearest.nearest_euclidean_csr if metric.name == "euclidean" else nearest.nearest_cosine_csr
        indptr = np.concatenate([[0], np.cumsum(self.lengths.live)])
        rows = indptr, self.columns.live, self.values.live
        return np.asarray(find(_csr(X), rows, first, last, X.shape[1], *metric.options))


def dense_rows(X: Features) -> npt.NDArray[np.float64]:
    """Return a copy of rows, dense and in double precision."""
    rows = X.toarray() if isinstance(X, sparse.csr_array) else X
    return np.array(rows, dtype=np.float64, order="C")


def _csr(X: Features) -> tuple[Array, Array, Array]:
    rows = sparse.csr_array(X)
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float64)
