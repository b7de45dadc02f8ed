"""Join and cut features, dense or CSR, without caring which they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


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


def cut_rows(X: Any, start: int, stop: int) -> Any:
    """Take rows from `start` to `stop`, without copying their values."""
    if isinstance(X, np.ndarray):
        return X[start:stop]
    first, last = X.indptr[start], X.indptr[stop]
    return make_csr(X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first, X.shape[1])


def make_csr(data: Any, indices: Any, indptr: Any, width: int) -> sparse.csr_array:
    """Make a CSR matrix of its arrays as they are, neither read nor copied."""
    matrix = sparse.csr_array((len(indptr) - 1, width), dtype=data.dtype)
    # Set one by one: the constructor looks at all indices, and copies short pieces of long arrays.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix
