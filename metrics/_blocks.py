"""Tables read in blocks of rows that fit the processor's cache, and the sums over them.

A block costs a few microseconds of overhead and saves a table-sized temporary: memory stays flat and each value is
fetched from memory once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metrics._typing import Indicator
from metrics.validation import check_binary_values, check_finite

_CELLS_PER_BLOCK = 2**19  # half a megabyte of 0/1 bytes
_BYTE_MAX = 255  # as many ones as a byte can add up


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut the rows of a table of this shape into blocks of about `_CELLS_PER_BLOCK` cells."""
    n_rows, n_columns = shape
    step = max(1, _CELLS_PER_BLOCK // n_columns)
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def read_indicator(Y: Indicator, rows: slice, name: str) -> NDArray[np.uint8]:
    """Return a block of an indicator matrix as C-ordered 0/1 bytes."""
    if isinstance(Y, sparse.csr_array):
        return Y[rows].toarray()
    block = Y[rows]
    if block.dtype == np.bool_:
        return block.view(np.uint8)
    if block.dtype.kind == "f" or block.view(f"u{block.itemsize}").max() > 1:  # -1 is a large unsigned number
        check_binary_values(block, name, rows.start)
    return block.astype(np.uint8, order="C", copy=False)


def read_scores(scores: NDArray[np.floating], rows: slice, name: str) -> NDArray[np.floating]:
    """Return a block of finite scores."""
    block = scores[rows]
    check_finite(block, name, rows.start)
    return block


def read_mask(mask: NDArray[np.uint8], rows: slice) -> NDArray[np.uint8]:
    """Return the mask of a block of rows; a mask of shape (n_labels,) applies to all of them."""
    return mask if mask.ndim == 1 else mask[rows]


def column_sums(block: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count the ones of each column.

    Up to 255 rows are added in bytes, many columns side by side, for the sake of vector instructions.
    """
    n_rows, n_columns = block.shape
    n_folds = -(-n_rows // _BYTE_MAX)
    n_added = n_rows // n_folds
    folded = block[: n_folds * n_added].reshape(n_added, n_folds * n_columns)
    sums: NDArray[np.int64] = block[n_folds * n_added :].sum(axis=0, dtype=np.int64)
    sums += np.add.reduce(folded, axis=0, dtype=np.uint8).reshape(n_folds, n_columns).sum(axis=0, dtype=np.int64)
    return sums


def row_sums(block: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count the ones of each row; `einsum` adds bytes as bytes, so at most 255 columns at a time."""
    sums = np.zeros(len(block), dtype=np.int64)
    for start in range(0, block.shape[1], _BYTE_MAX):
        sums += np.einsum("ij->i", block[:, start : start + _BYTE_MAX])
    return sums
