"""CSV files of numbers as tables."""

from __future__ import annotations

import csv
from array import array
from pathlib import Path

import numpy as np

from mlstream.formats.content import FormatError, at, read_lines, show
from mlstream.formats.table import Column, Table, to_number


def parse_csv(content: bytes, path: Path) -> Table:
    """Read the content of a CSV file: a row of names, then rows of numbers.

    Parameters
    ----------
    content : bytes
        The file's content, unpacked.
    path : Path
        The file, for errors.

    Returns
    -------
    Table
        Dense, all columns numeric.

    Raises
    ------
    FormatError
        If a row is not as wide as the first, or a cell is not a finite number; the message says the line.
    """
    rows = csv.reader(read_lines(content))
    names = next(rows, [])
    if not names or len(set(names)) < len(names):
        raise FormatError(f"{at(path, 1)}: a CSV file must start with the names of its columns, all different.")
    cells, lines = array("d"), array("q")
    for row in rows:
        if row:
            cells.extend(_read_row(row, names, at(path, rows.line_num)))
            lines.append(rows.line_num)
    columns = tuple(Column(name) for name in names)
    return Table(path, columns, np.asarray(cells).reshape(len(lines), len(names)), np.asarray(lines))


def _read_row(row: list[str], names: list[str], where: str) -> list[float]:
    if len(row) != len(names):
        raise FormatError(f"{where}: a row must hold {len(names)} values. Got {len(row)}.")
    numbers = [number for number in map(to_number, row) if number is not None]
    if len(numbers) < len(row):
        name, cell = next((name, cell) for name, cell in zip(names, row, strict=True) if to_number(cell) is None)
        raise FormatError(f"{where}: column {show(name)} must be a finite number. Got {show(cell)}.")
    return numbers
