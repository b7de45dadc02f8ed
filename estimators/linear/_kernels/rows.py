"""Rows of a chunk, dense or sparse, one after another as lists of the features that are not zero."""

from typing import NamedTuple

from estimators._kernels.compile import HOT, njit
from estimators._typing import Array

# beyond this, products of weights and features may leave the range of doubles
GREATEST_FEATURE = 3.4028234663852886e38


class Rows(NamedTuple):
    """Rows as compiled loops read them."""

    starts: Array  # int64, (n_rows + 1,): where each row of a sparse table starts in `values`; empty: dense
    columns: Array  # int32: feature of each value of a sparse table; empty: dense
    values: Array  # (n_values,), row after row


class Features(NamedTuple):
    """Working memory for one row: the features that are not zero, and their values, in the first places."""

    places: Array
    values: Array


@njit(**HOT)
def all_in_range(values: Array) -> bool:
    """Return whether all features are small enough for steps that cannot overflow."""
    greatest = 0.0
    for q in range(len(values)):
        greatest = max(greatest, abs(values[q]))
    return greatest <= GREATEST_FEATURE


@njit(**HOT)
def load(rows: Rows, r: int, features: Features) -> tuple[int, float]:
    """List the features of a row that are not zero; return their number, and the sum of their squares."""
    n, squares = 0, 0.0
    dense = len(rows.starts) == 0
    width = len(features.places)
    start = r * width if dense else rows.starts[r]
    stop = start + width if dense else rows.starts[r + 1]
    for q in range(start, stop):
        x = rows.values[q]
        if x != 0.0:
            features.places[n] = q - start if dense else rows.columns[q]
            features.values[n] = x
            squares += x * x
            n += 1
    return n, squares
