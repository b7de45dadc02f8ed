"""A compiled loop over the rows of an ARFF file: plain numbers and missing values, and nothing else.

It reads dense and sparse rows alike, because every loop more takes a second to compile. It goes on until the text ends
or a row needs care (quotes, comments, mistakes), and says where that row begins. Every line of the text must end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import HOT, LOOP, int64, njit, uint64
from mlstream.formats._kernels.decimals import NINE, NOWHERE, ONE, POINT, ZERO, Bytes, read_digits, read_number

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]

BLANK, TAB, NEWLINE, RETURN, COMMA, OPEN, CLOSE, PERCENT, UNKNOWN = np.frombuffer(b" \t\n\r,{}%?", np.uint8)


@njit(**HOT)
def _skip_blanks(text: Bytes, position: Any) -> Any:
    while text[position] == BLANK or text[position] == TAB:
        position += ONE
    return position


@njit(**HOT)
def _read_cell(text: Bytes, position: Any, is_binary: bool) -> Any:
    # Labels and counts, mostly: one digit.
    digit = text[position] - ZERO
    if digit <= NINE and (text[position + ONE] < POINT or text[position + ONE] == CLOSE):
        number, end = float(digit), position + ONE
    elif text[position] == UNKNOWN:
        return np.nan, position + ONE
    else:
        number, end = read_number(text, position)
    if is_binary and 0.0 != number != 1.0:
        return number, NOWHERE
    return number, end


@njit(**HOT)
def _read_index(text: Bytes, position: Any, least: int, n_columns: int) -> Any:
    """Read an index and the blanks behind it."""
    number, end = read_digits(text, position, NOWHERE)
    following, index = _skip_blanks(text, end), int64(number)
    is_read = ONE <= end - position <= NINE and following > end and least <= index < n_columns
    return (index, following) if is_read else (0, NOWHERE)


@njit(**HOT)
def _scan_row(
    text: Bytes, position: Any, is_binary: Flags, values: Floats, indices: Indices, n_stored: int
) -> tuple[int, Any]:
    """Append the cells of a row; give the number of all that are stored, and what is behind the last."""
    n_columns, is_sparse, column = len(is_binary), len(indices) > 0, 0
    # A cell comes behind a brace or a comma, or is the first of a dense row.
    position -= uint64(not is_sparse)
    while column < n_columns:
        position = _skip_blanks(text, position + ONE)
        if is_sparse:
            if text[position] == CLOSE and column == 0:
                break
            column, position = _read_index(text, position, column, n_columns)
            if position == NOWHERE:
                return n_stored, NOWHERE
            indices[n_stored] = column
        values[n_stored], position = _read_cell(text, position, is_binary[column])
        if position == NOWHERE:
            return n_stored, NOWHERE
        n_stored, column, position = n_stored + 1, column + 1, _skip_blanks(text, position)
        if text[position] != COMMA:
            break
    is_whole = text[position] == CLOSE if is_sparse else column == n_columns
    return n_stored, (position if is_whole else NOWHERE)


@njit(**LOOP)
def scan(
    text: Bytes,
    place: Numbers,
    is_binary: Flags,
    values: Floats,
    indices: Indices,
    ends: Numbers,
    lines: Numbers,
) -> None:
    """Read rows until one needs care, or is of the other notation, or there is no room for it.

    `text` holds whole lines. `place`, a `Place`, is moved forwards. `is_binary` tells columns of 0, 1 and missing
    values only. `values` receives the cells, row after row; `indices` the column of each cell of sparse rows, and is
    empty to read dense ones. `ends` and `lines`, (n_rows,), receive how many cells are stored up to the end of each
    row, and the number of its line.
    """
    start, line, n_rows, n_stored = uint64(place[0]), place[1], place[2], place[3]
    is_sparse = len(indices) > 0
    # MOA ends dense rows with a comma.
    closing = CLOSE if is_sparse else COMMA
    while start < uint64(len(text)):
        position = _skip_blanks(text, start)
        if text[position] != PERCENT and text[position] != NEWLINE and text[position] != RETURN:
            if n_rows == len(lines) or (text[position] == OPEN) != is_sparse:
                break
            n_after, position = _scan_row(text, position, is_binary, values, indices, n_stored)
            if position != NOWHERE and text[position] == closing:
                position = _skip_blanks(text, position + ONE)
            if position == NOWHERE or (text[position] != NEWLINE and text[position] != RETURN):
                break
            n_stored, ends[n_rows], lines[n_rows] = n_after, n_after, line
            n_rows += 1
        while text[position] != NEWLINE and text[position] != RETURN:
            position += ONE
        start, line = position + ONE, line + 1
        if text[position] == RETURN and start < uint64(len(text)) and text[start] == NEWLINE:
            start += ONE
    place[0], place[1], place[2], place[3] = int64(start), line, n_rows, n_stored
