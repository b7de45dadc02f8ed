"""Rows as compiled loops take them: dense, double, a block at a time, however large or sparse the table."""

from collections.abc import Iterator

import numpy as np

from estimators._typing import Array
from estimators.contract.validation import Features

MOST_ROWS = 2048
DOUBLES = np.dtype(np.float64)
# of wide sparse tables, no more than this is ever dense
MOST_VALUES = 2**21


def blocks(X: Features) -> Iterator[slice]:
    """Cut the rows of a table into stretches that may be made dense."""
    size = min(MOST_ROWS, max(1, MOST_VALUES // max(X.shape[1], 1)))
    for start in range(0, X.shape[0], size):
        yield slice(start, min(start + size, X.shape[0]))


def dense(X: Features) -> Array:
    """Return a block of rows as a contiguous array of doubles."""
    return np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=DOUBLES)
