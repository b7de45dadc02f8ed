"""CSV files of numbers, read as tables and written for every reader: names, then rows, labels first."""

from __future__ import annotations

import csv
import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mlstream._spreadsheets import guard_text, unguard_text
from mlstream.formats.arff.writer import format_dense_rows
from mlstream.formats.content import FormatError, at, show
from mlstream.formats.lines import Lines, Readable
from mlstream.formats.table import Column, Table, gather, to_number
from mlstream.stream import Features, Indicator

_N_ROWS = 4096


def parse_csv(content: bytes, path: Path) -> Table:
    """Read the content of a CSV file; as `read_csv`, but in one table."""
    return gather(read_csv(BytesIO(content), path))


def read_csv(source: Readable, path: Path) -> Iterator[Table]:
    """Read a CSV file, a row of names and then rows of numbers, in tables of some rows, one after the other.

    Parameters
    ----------
    source : Readable
        The content, unpacked.
    path : Path
        The file, for errors.

    Yields
    ------
    Table
        At least one; dense, all columns numeric; an empty cell is NaN. Names lose the apostrophe that `format_csv` puts
        before those that a spreadsheet would take for a formula.

    Raises
    ------
    FormatError
        If a row is not as wide as the first, or a cell is neither a finite number nor empty; the message names the
        line.
    """
    rows = csv.reader(Lines(source, path).head())
    numbered = _number(rows, path)
    names = [unguard_text(name) for name in next(numbered, (1, []))[1]]
    if not names or len(set(names)) < len(names):
        got = f"{Counter(names).most_common(1)[0][0]!r} twice" if names else "no name"
        raise FormatError(
            f"{at(path, 1)}: a CSV file must start with the names of its columns, all different. Got {got}."
        )
    columns = tuple(Column(name) for name in names)
    while True:
        cells, lines = array("d"), array("q")
        for line, row in islice(numbered, _N_ROWS):
            cells.extend(_read_row(row, names, at(path, line)))
            lines.append(line)
        yield Table(path, columns, np.asarray(cells).reshape(len(lines), len(names)), np.asarray(lines))
        if len(lines) < _N_ROWS:
            return


def format_csv(X: Features, Y: Indicator, names: Sequence[str]) -> Iterator[str]:
    """Write a table as the text of a CSV file.

    Parameters
    ----------
    X : ndarray of float32 or float64, shape (n_samples, n_features)
        Features, finite.
    Y : ndarray of uint8 or float32, shape (n_samples, n_labels)
        Labels; the cell of an unknown one is empty.
    names : sequence of str
        Names of the columns: labels first.

    Yields
    ------
    str
        The text, piece by piece; numbers are read back as the same bits. Names that a spreadsheet would take for a
        formula begin with an apostrophe, which `read_csv` takes off again.

    Raises
    ------
    ValueError
        If X holds NaN or infinity, or numbers of another type, or a name has more than one line.
    """
    broken = [name for name in names if "\n" in name or "\r" in name]
    if broken:
        raise ValueError(f"Names must be of one line to be written as CSV. Got {broken[0]!r}.")
    head = StringIO()
    csv.writer(head, lineterminator="\n").writerow(map(guard_text, names))
    yield head.getvalue()
    yield from format_dense_rows(X, Y)


def _number(rows: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from ((rows.line_num, row) for row in rows if row or rows.line_num == 1)
    except csv.Error as error:
        raise FormatError(f"{at(path, rows.line_num)}: a row must be CSV. Got: {error}.") from None


def _read_row(row: list[str], names: list[str], where: str) -> list[float]:
    if len(row) != len(names):
        raise FormatError(f"{where}: a row must hold {len(names)} values. Got {len(row)}.")
    numbers = [number for number in map(_to_cell, row) if number is not None]
    if len(numbers) < len(row):
        name, cell = next((name, cell) for name, cell in zip(names, row, strict=True) if _to_cell(cell) is None)
        raise FormatError(
            f"{where}: column {show(name)} must be a finite number, or empty for an unknown label. Got {show(cell)}."
        )
    return numbers


def _to_cell(text: str) -> float | None:
    return to_number(text) if text.strip() else math.nan
