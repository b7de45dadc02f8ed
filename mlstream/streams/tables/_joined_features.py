"""Join and cut features, dense or CSR, without caring which they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


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
