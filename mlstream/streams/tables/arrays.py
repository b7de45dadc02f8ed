"""Arrays that grow at their end, and blocks of rows or columns that are joined and cut, dense or CSR alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

Cells: TypeAlias = npt.NDArray[np.float64] | sparse.csr_array


class Growing:
    """An array that takes more rows, of shape `row_shape`, at its end, where the system can in place."""

    def __init__(self, dtype: npt.DTypeLike, *row_shape: int) -> None:
        self._array: np.ndarray = np.empty((0, *row_shape), dtype)
        self._n_rows = 0

    def extend(self, rows: np.ndarray) -> None:
        """Append rows."""
        stop = self._n_rows + len(rows)
        if stop > len(self._array):
            self._resize(max(stop, self._n_rows * 5 // 4))
        self._array[self._n_rows : stop] = rows
        self._n_rows = stop

    def take(self) -> np.ndarray:
        """Return the array, which must not grow any more."""
        self._resize(self._n_rows)
        return self._array

    def _resize(self, n_rows: int) -> None:
        # Nobody else has seen the array, so that it may move.
        self._array.resize((n_rows, *self._array.shape[1:]), refcheck=False)


class GrowingDense:
    """A dense table that takes more rows, dense or sparse."""

    is_sparse = False

    def __init__(self, width: int) -> None:
        self._rows = Growing(np.float64, width)

    def extend(self, rows: Cells) -> None:
        """Append rows."""
        self._rows.extend(rows if isinstance(rows, np.ndarray) else rows.toarray())

    def take(self) -> npt.NDArray[np.float64]:
        """Return the table."""
        return self._rows.take()


class GrowingSparse:
    """A CSR matrix that takes more rows, dense or sparse."""

    is_sparse = True

    def __init__(self, width: int) -> None:
        self._width = width
        self._data, self._indices, self._ends = Growing(np.float64), Growing(np.int32), Growing(np.int64)
        self._ends.extend(np.zeros(1))
        self._n_stored = 0

    def extend(self, rows: Cells) -> None:
        """Append rows; of dense ones, what is not zero."""
        rows = sparse.csr_array(rows) if isinstance(rows, np.ndarray) else rows
        self._data.extend(rows.data)
        self._indices.extend(rows.indices)
        self._ends.extend(rows.indptr[1:].astype(np.int64) + self._n_stored)
        self._n_stored += rows.nnz

    def take(self) -> sparse.csr_array:
        """Return the matrix."""
        data, indices, ends = self._data.take(), self._indices.take(), self._ends.take()
        return sparse.csr_array((data, indices, ends), shape=(len(ends) - 1, self._width))


class GrowingTable:
    """A table that is a CSR matrix while most of its rows were given as one and few enough cells are stored.

    From the share `sparse_below` of stored cells on, it is dense, however its rows are given.
    """

    def __init__(self, width: int, *, sparse_below: float = np.inf) -> None:
        self._width = width
        self._sparse_below = sparse_below
        self._n_rows = self._n_sparse_rows = self._n_stored = 0
        self._table: GrowingDense | GrowingSparse | None = None

    def extend(self, rows: Cells) -> None:
        """Append rows, dense or CSR."""
        is_sparse = not isinstance(rows, np.ndarray)
        self._n_rows += rows.shape[0]
        self._n_sparse_rows += rows.shape[0] * is_sparse
        self._n_stored += rows.size
        self._hold().extend(rows)

    def take(self) -> Cells:
        """Return the table."""
        return self._hold().take()

    def _hold(self) -> GrowingDense | GrowingSparse:
        # Decided again with each piece, so that memory is never that of a sparse table written out.
        is_sparse = (
            2 * self._n_sparse_rows > self._n_rows and self._n_stored < self._sparse_below * self._n_rows * self._width
        )
        if self._table is None or self._table.is_sparse != is_sparse:
            before, self._table = self._table, (GrowingSparse if is_sparse else GrowingDense)(self._width)
            if before is not None:
                self._table.extend(before.take())
        return self._table


@dataclass(frozen=True, eq=False)
class Stacked:
    """Arrays one below the other, which need not be joined in memory to be written."""

    parts: Sequence[np.ndarray]  # of one type and width, at least one

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape, if it were one array."""
        return sum(map(len, self.parts)), *self.parts[0].shape[1:]

    @property
    def dtype(self) -> np.dtype:
        """Its type."""
        return self.parts[0].dtype

    @property
    def nbytes(self) -> int:
        """Its size."""
        return sum(part.nbytes for part in self.parts)


def stack_rows(blocks: Sequence[Any]) -> Any:
    """Put blocks of rows one below the other: dense ones without a copy."""
    return join_rows(blocks) if any(sparse.issparse(block) for block in blocks) else Stacked(blocks)


def join_columns(blocks: Sequence[Any]) -> Any:
    """Put blocks of columns side by side."""
    if len(blocks) == 1:
        return blocks[0]
    if any(sparse.issparse(block) for block in blocks):
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))
    return np.hstack(blocks)


def join_rows(blocks: Sequence[Any]) -> Any:
    """Put blocks of rows one below the other."""
    if any(sparse.issparse(block) for block in blocks):
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))
    return np.concatenate(blocks)


def cut_rows(X: np.ndarray | sparse.csr_array, start: int, stop: int) -> Any:
    """Take rows from `start` to `stop`, without copying their values."""
    if isinstance(X, np.ndarray):
        return X[start:stop]
    first, last = X.indptr[start], X.indptr[stop]
    return make_csr(X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first, X.shape[1])


def make_csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, width: int) -> sparse.csr_array:
    """Make a CSR matrix of its arrays as they are, neither read nor copied."""
    matrix = sparse.csr_array((len(indptr) - 1, width), dtype=data.dtype)
    # Set one by one: the constructor looks at all indices, and copies short pieces of long arrays.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix
