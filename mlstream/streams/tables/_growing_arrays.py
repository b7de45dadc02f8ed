"""Arrays that grow at their end, so that a table can be read in pieces into about its own size of memory."""

from __future__ import annotations

from typing import TypeAlias

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
