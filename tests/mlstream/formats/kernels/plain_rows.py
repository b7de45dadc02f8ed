"""Plain rows of an ARFF file, read by regular expressions and `float`; the compiled loop, called as readers call it."""

import math
import re
from typing import NamedTuple

import numpy as np

from mlstream.formats._kernels.scan import scan

LINE = re.compile(r"(.*?)(\r\n|\r|\n)", re.DOTALL)
NUMBER = re.compile(r"[+-]?(\d*)(?:\.(\d*))?(?:[eE][+-]?\d{1,8})?")
PAIR = re.compile(r"[ \t]*(\d{1,9})[ \t]+([^ \t,{}]+)[ \t]*")


class Read(NamedTuple):
    """Cells of rows, their columns if they are sparse, ends and lines of rows, and where the reading stopped."""

    values: list
    columns: list
    ends: list
    lines: list
    stop: tuple


def number(text):
    """Return a number, or None where it takes care: none, more than 19 digits, or not a normal double."""
    found = NUMBER.fullmatch(text)
    digits = (found[1] + (found[2] or "")) if found else ""
    if not digits or (len(digits) > 19 and len(digits.lstrip("0")) > 19):
        return None
    value = float(text)
    is_normal = value == 0 or 2.3e-308 < abs(value) < math.inf
    return value if is_normal and (value or not digits.strip("0")) else None


def cell(text, is_binary):
    if text == "?":
        return math.nan
    value = number(text)
    return None if value is None or (is_binary and value not in (0.0, 1.0)) else value


def dense_row(text, is_binary):
    """Return the cells of a row, or None; there may be a comma at the end."""
    parts = [part.strip(" \t") for part in text.split(",")]
    if len(parts) == len(is_binary) + 1 and not parts[-1]:
        parts.pop()
    if len(parts) != len(is_binary):
        return None
    cells = [cell(*pair) for pair in zip(parts, is_binary, strict=True)]
    return None if None in cells else (cells, list(range(len(cells))))


def sparse_row(text, is_binary):
    """Return the cells of a row and their columns, which must rise, or None."""
    inside = re.fullmatch(r"\{(.*)\}", text)
    if not inside:
        return None
    if not inside[1].strip(" \t"):
        return [], []
    pairs = [PAIR.fullmatch(part) for part in inside[1].split(",")]
    if None in pairs:
        return None
    columns = [int(pair[1]) for pair in pairs]
    if columns != sorted(set(columns)) or columns[-1] >= len(is_binary):
        return None
    cells = [cell(pair[2], is_binary[column]) for pair, column in zip(pairs, columns, strict=True)]
    return None if None in cells else (cells, columns)


def slow_scan(text, is_binary, n_most, *, is_sparse):
    """Read rows of one notation until one needs care, or there is no room for it."""
    read, position, line = Read([], [], [], [], ()), 0, 1
    for match in LINE.finditer(text):
        row = match[1].strip(" \t")
        if row and not row.startswith("%"):
            found = None
            if len(read.lines) < n_most and row.startswith("{") == is_sparse:
                found = (sparse_row if is_sparse else dense_row)(row, is_binary)
            if found is None:
                break
            read.values.extend(found[0])
            read.columns.extend(found[1])
            read.ends.append(len(read.values))
            read.lines.append(line)
        position, line = match.end(), line + 1
    return read._replace(stop=(position, line, len(read.lines), len(read.values)))


def compiled_scan(text, is_binary, n_most, *, is_sparse):
    """Read the same by the compiled loop."""
    data, place = np.frombuffer(text.encode(), np.uint8), np.array([0, 1, 0, 0])
    values, columns = np.full(len(data) + 9, 7.5), np.full(len(data) + 9 if is_sparse else 0, -1, np.int32)
    ends, lines = np.full(n_most, -1), np.full(n_most, -1)
    scan(data, place, np.array(is_binary, bool), values, columns, ends, lines)
    *_, n_rows, n = place.tolist()
    return Read(
        values[:n].tolist(),
        columns[:n].tolist(),
        *(part[:n_rows].tolist() for part in (ends, lines)),
        tuple(place.tolist()),
    )


def assert_same(text, is_binary, n_most, *, is_sparse):
    """Compare both, cells to the bit."""
    found = compiled_scan(text, is_binary, n_most, is_sparse=is_sparse)
    expected = slow_scan(text, is_binary, n_most, is_sparse=is_sparse)
    assert found.stop == expected.stop
    assert [value.hex() for value in found.values] == [value.hex() for value in expected.values]
    assert found[2:] == expected[2:]
    assert not is_sparse or found.columns == expected.columns
