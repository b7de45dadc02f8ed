"""Compiled loops over the rows of an ARFF file: plain numbers and missing values, and nothing else.

A scan goes on until the text ends or a row needs care (quotes, comments, mistakes), and says where that row begins.
Every line of the text must end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import JIT, SPLICED, njit
from mlstream.formats._kernels.decimals import ZERO, Bytes, read_digits, read_number
from mlstream.formats._kernels.place import Place

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]

BLANK, TAB, NEWLINE, RETURN = ord(" "), ord("\t"), ord("\n"), ord("\r")
COMMA, OPEN, CLOSE, PERCENT, ONE = ord(","), ord("{"), ord("}"), ord("%"), ord("1")
UNKNOWN = ord("?")
NOWHERE = -1


@njit(**SPLICED)
def _skip_blanks(text: Bytes, position: int) -> int:
    while text[position] == BLANK or text[position] == TAB:
        position += 1
    return position


@njit(**SPLICED)
def _ends_line(text: Bytes, position: int) -> bool:
    return text[position] == NEWLINE or text[position] == RETURN


@njit(**SPLICED)
def _next_line(text: Bytes, position: int) -> int:
    while not _ends_line(text, position):
        position += 1
    if text[position] == RETURN and position + 1 < len(text) and text[position + 1] == NEWLINE:
        position += 1
    return position + 1


@njit(**SPLICED)
def _read_cell(text: Bytes, position: int, is_binary: bool) -> tuple[float, int]:
    # Labels and counts, mostly: one digit.
    digit, following = text[position] - ZERO, text[position + 1]
    if 0 <= digit <= 9 and following in (COMMA, CLOSE, NEWLINE):
        return (float(digit), position + 1) if digit <= 1 or not is_binary else (0.0, NOWHERE)
    if text[position] == UNKNOWN:
        return np.nan, position + 1
    number, end = read_number(text, position)
    return (number, end) if not is_binary or number in (0.0, 1.0) else (0.0, NOWHERE)


@njit(**JIT)
def _scan_dense_row(text: Bytes, position: int, is_binary: Flags, row: Floats) -> int:
    for column in range(len(row)):
        if column:
            if text[position] != COMMA:
                return NOWHERE
            position = _skip_blanks(text, position + 1)
        row[column], position = _read_cell(text, position, is_binary[column])
        if position < 0:
            return NOWHERE
        position = _skip_blanks(text, position)
    if text[position] == COMMA:
        # MOA ends rows with a comma.
        position = _skip_blanks(text, position + 1)
    return position if _ends_line(text, position) else NOWHERE


@njit(**JIT)
def scan_dense(text: Bytes, place: Place, is_binary: Flags, cells: Floats, lines: Numbers) -> Place:
    """Read rows that list every cell, until one needs care or there is no room for it."""
    position, line, n_rows, n_stored = place
    while position < len(text):
        start = _skip_blanks(text, position)
        if text[start] != PERCENT and not _ends_line(text, start):
            if n_rows == len(cells):
                break
            start = _scan_dense_row(text, start, is_binary, cells[n_rows])
            if start < 0:
                break
            lines[n_rows] = line
            n_rows += 1
        position, line = _next_line(text, start), line + 1
    return Place(position, line, n_rows, n_stored)


@njit(**JIT)
def _scan_sparse_row(text: Bytes, position: int, is_binary: Flags, values: Floats, indices: Indices) -> tuple[int, int]:
    """Read pairs of rising indices and values after an opening brace; give their number and where the line ends."""
    n_pairs, least = 0, np.int64(0)
    position = _skip_blanks(text, position)
    while text[position] != CLOSE or n_pairs:
        start = position
        digits, position = read_digits(text, position, np.uint64(0))
        index = np.int64(digits)
        if not 0 < position - start < 10 or not least <= index < len(is_binary):
            return 0, NOWHERE
        start = _skip_blanks(text, position)
        value, end = _read_cell(text, start, is_binary[index])
        if start == position or end < 0:
            return 0, NOWHERE
        values[n_pairs], indices[n_pairs] = value, index
        n_pairs, least = n_pairs + 1, index + 1
        position = _skip_blanks(text, end)
        if text[position] == CLOSE:
            break
        if text[position] != COMMA:
            return 0, NOWHERE
        position = _skip_blanks(text, position + 1)
    position = _skip_blanks(text, position + 1)
    return (n_pairs, position) if _ends_line(text, position) else (0, NOWHERE)


@njit(**JIT)
def scan_sparse(
    text: Bytes, place: Place, is_binary: Flags, cells: tuple[Floats, Indices, Numbers], lines: Numbers
) -> Place:
    """Read rows of ``{index value, ...}``, until one needs care; `cells` are values, columns, and ends of rows."""
    position, line, n_rows, n_stored = place
    values, indices, ends = cells
    while position < len(text):
        start = _skip_blanks(text, position)
        if text[start] != PERCENT and not _ends_line(text, start):
            if text[start] != OPEN:
                break
            n_pairs, start = _scan_sparse_row(text, start + 1, is_binary, values[n_stored:], indices[n_stored:])
            if start < 0:
                break
            n_stored += n_pairs
            ends[n_rows], lines[n_rows] = n_stored, line
            n_rows += 1
        position, line = _next_line(text, start), line + 1
    return Place(position, line, n_rows, n_stored)
