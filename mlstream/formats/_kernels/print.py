"""Compiled loops that write rows of ARFF: labels, then numbers as `repr` writes them.

A label is the distance of its sign from the sign 0: 0, 1, or that of an unknown label.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import INLINE, JIT, njit, uint64
from mlstream.formats._kernels.decimals import ZERO, Bytes
from mlstream.formats._kernels.shortest import LONGEST, write_double, write_integer

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]

BLANK, NEWLINE, COMMA, OPEN, CLOSE = ord(" "), ord("\n"), ord(","), ord("{"), ord("}")
# A column's number, a blank, and a comma or brace.
_AROUND_CELL = 22


def print_dense(X: Doubles, Y: Bytes) -> bytes:
    """Write rows that list every cell."""
    out = np.empty(len(X) * (2 * Y.shape[1] + (LONGEST + 1) * X.shape[1] + 1), np.uint8)
    return out[: _print_dense(X, Y, out)].tobytes()


def print_sparse(values: Doubles, columns: Integers, ends: Integers, Y: Bytes) -> bytes:
    """Write rows of ``{index value, ...}``: the arrays of a CSR matrix, whose columns follow those of the labels."""
    n_cells = len(values) + int(np.count_nonzero(Y)) + len(Y)
    out = np.empty(n_cells * (LONGEST + _AROUND_CELL) + 3 * len(Y), np.uint8)
    return out[: _print_sparse((values, columns, ends), Y, out)].tobytes()


@njit(**JIT)
def _print_dense(X: Doubles, Y: Bytes, out: Bytes) -> int:
    position = 0
    for row in range(len(X)):
        for label in range(Y.shape[1]):
            out[position], out[position + 1] = ZERO + Y[row, label], COMMA
            position += 2
        for column in range(X.shape[1]):
            position = write_double(out, position, X[row, column])
            out[position] = COMMA
            position += 1
        out[position - 1] = NEWLINE
    return position


@njit(**INLINE)
def _print_column(out: Bytes, position: int, column: int) -> int:
    position = write_integer(out, position, uint64(column))
    out[position] = BLANK
    return position + 1


@njit(**JIT)
def _print_sparse(matrix: tuple[Doubles, Integers, Integers], Y: Bytes, out: Bytes) -> int:
    values, columns, ends = matrix
    n_labels, position = Y.shape[1], 0
    for row in range(len(Y)):
        out[position] = OPEN
        position += 1
        start = position
        for label in range(n_labels):
            if Y[row, label]:
                position = _print_column(out, position, label)
                out[position], out[position + 1] = ZERO + Y[row, label], COMMA
                position += 2
        for place in range(ends[row], ends[row + 1]):
            position = _print_column(out, position, columns[place] + n_labels)
            position = write_double(out, position, values[place])
            out[position] = COMMA
            position += 1
        if position == start:
            # River cannot read {}, the row of zeros only.
            position = _print_column(out, position, 0)
            out[position] = ZERO
            position += 2
        out[position - 1], out[position] = CLOSE, NEWLINE
        position += 1
    return position
