"""Rows that wait under their ids, oldest first, within bounds of number, memory and age."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse

from estimators._typing import Array
from estimators.contract.validation import Features, as_mixed, is_frame, is_sparse

# what a row takes beside its features and its id, by tracemalloc
BYTES_OF_A_ROW = 400


class SparseRow(NamedTuple):
    """The cells of a row of a CSR matrix."""

    data: Array
    indices: Array
    n_features: int


Row: TypeAlias = Array | SparseRow
PackedRows: TypeAlias = tuple[list[Hashable], list[int], list[int], Array | list[Row]]


def as_matrix(X: Any) -> Features:
    """Return rows as an array, or in CSR."""
    if is_frame(X):
        raise ValueError(
            "X must be an array or a sparse matrix. Got a data frame instead: pass `frame.to_numpy()`, from the first "
            "call of the learner on."
        )
    return sparse.csr_array(X) if is_sparse(X) else np.asarray(as_mixed(X))


def as_row(x: Any) -> Any:
    """Return one row as a matrix, unless it is one."""
    if is_sparse(x) or np.ndim(x) == 2:
        return x.reshape(1, -1) if is_sparse(x) else x
    return np.asarray(as_mixed(x))[np.newaxis]


def split_rows(X: Features) -> list[Row]:
    """Return a copy of each row of an array or a CSR array."""
    if isinstance(X, np.ndarray):
        return [row.copy() for row in X]
    return [
        SparseRow(X.data[start:stop].copy(), X.indices[start:stop].copy(), X.shape[1])
        for start, stop in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
    ]


def join_rows(rows: Sequence[Any]) -> Features:
    """Return rows as an array; in CSR if one of them is sparse."""
    if not any(isinstance(row, SparseRow) for row in rows):
        return np.stack(rows)
    parts = [row if isinstance(row, SparseRow) else split_rows(sparse.csr_array(row[np.newaxis]))[0] for row in rows]
    data, indices, widths = zip(*parts, strict=True)
    indptr = np.cumsum([0, *map(len, data)])
    return sparse.csr_array((np.concatenate(data), np.concatenate(indices), indptr), shape=(len(rows), max(widths)))


def _own(row: Row) -> Row:
    """Return a row without the array that it is part of, so that it takes no memory of others."""
    return row.copy() if isinstance(row, np.ndarray) else row


class WaitingRows(OrderedDict[Hashable, tuple[Row, int, int]]):
    """Rows by id, oldest first, each with the moment when it came and its bytes, which `n_bytes` sums.

    A plain dict would be slow to find its first row where many before it have left.
    """

    n_bytes = 0

    def packed(self) -> PackedRows:
        """Return the rows as few objects, since a file takes long to hold many; those of one kind as one array."""
        rows, moments, sizes = zip(*self.values(), strict=True) if self else ((), (), ())
        kinds = {(row.dtype, row.shape) if isinstance(row, np.ndarray) else None for row in rows}
        return (
            list(self),
            list(moments),
            list(sizes),
            np.stack(rows) if len(kinds) == 1 and None not in kinds else list(rows),
        )

    @classmethod
    def unpacked(cls, packed: PackedRows) -> Self:
        """Return the rows that `packed` has packed."""
        ids, moments, sizes, rows = packed
        waiting = cls(zip(ids, zip(map(_own, rows), moments, sizes, strict=True), strict=True))
        waiting.n_bytes = sum(sizes)
        return waiting

    def add(self, row_id: Hashable, row: Row, moment: int) -> None:
        """Add a row, with the moment when it came, which is that of the newest row or a later one."""
        n_bytes = BYTES_OF_A_ROW + sys.getsizeof(row_id)
        n_bytes += row.nbytes if isinstance(row, np.ndarray) else row.data.nbytes + row.indices.nbytes
        self[row_id] = row, moment, n_bytes
        self.n_bytes += n_bytes

    def remove(self, row_ids: Iterable[Hashable]) -> None:
        """Remove rows that wait."""
        for row_id in row_ids:
            self.n_bytes -= self.pop(row_id)[2]

    def older_than(self, moment: int) -> list[Hashable]:
        """Return the ids of the rows that came before a moment, oldest first."""
        ids = []
        for row_id, (_, came, _) in self.items():
            if came >= moment:
                break
            ids.append(row_id)
        return ids

    def drop_oldest(self, max_rows: int, max_bytes: int) -> int:
        """Remove the oldest rows that are too many, and return their number."""
        n_dropped = 0
        while len(self) > max_rows or self.n_bytes > max_bytes:
            self.remove([next(iter(self))])
            n_dropped += 1
        return n_dropped
