"""Blocks of ARFF rows as tables: compiled loops read plain numbers, and whatever they leave is read with care."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.formats._growing_arrays import Cells
from mlstream.formats._joined_features import make_csr
from mlstream.formats._kernels.place import Place
from mlstream.formats.arff.rows import RowReader
from mlstream.formats.lines import Lines
from mlstream.formats.table import Column

Dense: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int32]
Numbers: TypeAlias = npt.NDArray[np.int64]

_LINE_END = re.compile(rb"\r\n|\r|\n")
_FIRST_ROW = re.compile(rb"^[ \t]*+([^%\s])", re.MULTILINE)


class RowBlock(NamedTuple):
    """The rows of a block."""

    cells: Cells
    """A CSR matrix if the first row is in sparse notation, with sorted columns."""
    lines: Numbers
    n_careful: int
    """How many rows were read with care."""
    next_line: int
    """The number of the line behind the block."""


class _TooManyRowsError(Exception):
    """There are more rows than a block can hold if they list every cell."""


class BlockReader:
    """Read blocks of rows, for a given header.

    Parameters
    ----------
    columns : sequence of Column
        The columns that the header declares.
    lines : Lines
        Where the blocks come from: the file, and its encoding.

    Notes
    -----
    A short file is read with care only: loading compiled loops would take longer.
    """

    def __init__(self, columns: Sequence[Column], lines: Lines) -> None:
        self._width = len(columns)
        self._lines = lines
        self._reader = RowReader(columns, lines.path)
        self._defaults = [column.default for column in columns]
        self._shifted = [index for index, default in enumerate(self._defaults) if default != 0]
        self._is_binary = np.array([column.numbers in {(0.0, 1.0), (1.0, 0.0)} for column in columns])
        # Codes of values are not in the text; only Python's dictionaries know them.
        self._is_compiled = not lines.is_short and not any(column.is_coded for column in columns)

    def read(self, block: bytes, first_line: int) -> RowBlock:
        """Read whole lines, the first of which has a given number."""
        if _starts_sparse(block):
            return self._read_sparse(block, first_line)
        try:
            return self._read_dense(block, first_line)
        except _TooManyRowsError:
            return self._read_sparse(block, first_line)

    def _read_dense(self, block: bytes, first_line: int) -> RowBlock:
        # A row that lists every cell is at least as long as its commas.
        n_most = len(block) // (2 * self._width) + 1
        cells, lines, n_careful = np.empty((n_most, self._width)), np.empty(n_most, np.int64), 0
        place = Place(0, first_line, 0, 0)
        while (place := self._scan_dense(block, place, cells, lines)).position < len(block):
            text, end = self._line_at(block, place)
            if text:
                if place.n_rows == n_most:
                    raise _TooManyRowsError
                cells[place.n_rows], lines[place.n_rows] = self._read_row(place.line, text), place.line
            place = Place(end, place.line + 1, place.n_rows + bool(text), 0)
            n_careful += bool(text)
        return RowBlock(cells[: place.n_rows], lines[: place.n_rows], n_careful, place.line)

    def _read_sparse(self, block: bytes, first_line: int, *, by_blanks: bool = False) -> RowBlock:
        n_lines, n_careful = block.count(b"\n") + block.count(b"\r"), 0
        # Cells are parted by commas, but for rows that use blanks instead, which are few.
        n_most = len(block) // 2 + 1 if by_blanks else block.count(b",") + n_lines
        values, indices = np.empty(n_most), np.empty(n_most, np.int32)
        ends, lines = np.zeros(n_lines + 1, np.int64), np.empty(n_lines, np.int64)
        place = Place(0, first_line, 0, 0)
        while (place := self._scan_sparse(block, place, (values, indices, ends[1:]), lines)).position < len(block):
            text, end = self._line_at(block, place)
            row_indices, row = self._read_pairs(place.line, text) if text else ([], [])
            stop = place.n_stored + len(row)
            if len(row) > text.count(",") + 1 and not by_blanks:
                return self._read_sparse(block, first_line, by_blanks=True)
            indices[place.n_stored : stop], values[place.n_stored : stop] = row_indices, row
            if text:
                ends[place.n_rows + 1], lines[place.n_rows] = stop, place.line
            place = Place(end, place.line + 1, place.n_rows + bool(text), stop)
            n_careful += bool(text)
        parts = values[: place.n_stored], indices[: place.n_stored], ends[: place.n_rows + 1].astype(np.int32)
        cells = make_csr(*parts, self._width)
        # Compiled loops take rising columns only.
        cells.has_sorted_indices = not n_careful
        cells.sort_indices()
        return RowBlock(self._add_defaults(cells), lines[: place.n_rows], n_careful, place.line)

    def _scan_dense(self, block: bytes, place: Place, cells: Dense, lines: Numbers) -> Place:
        if not self._is_compiled:
            return place
        from mlstream.formats._kernels.scan import scan_dense

        found: Place = scan_dense(np.frombuffer(block, np.uint8), place, self._is_binary, cells, lines)
        return found

    def _scan_sparse(self, block: bytes, place: Place, cells: tuple[Dense, Indices, Numbers], lines: Numbers) -> Place:
        if not self._is_compiled:
            return place
        from mlstream.formats._kernels.scan import scan_sparse

        found: Place = scan_sparse(np.frombuffer(block, np.uint8), place, self._is_binary, cells, lines)
        return found

    def _line_at(self, block: bytes, place: Place) -> tuple[str, int]:
        match = _LINE_END.search(block, place.position)
        start, end = match.span() if match else (len(block), len(block))
        text = self._lines.decode(block[place.position : start], place.line).strip()
        return ("" if text.startswith("%") else text), end

    def _read_row(self, line: int, text: str) -> list[float]:
        if text[0] != "{":
            return self._reader.dense(line, text)
        row = self._defaults[:]
        for index, value in zip(*self._reader.sparse(line, text), strict=True):
            row[index] = value
        return row

    def _read_pairs(self, line: int, text: str) -> tuple[Sequence[int], list[float]]:
        if text[0] == "{":
            return self._reader.sparse(line, text)
        return range(self._width), self._reader.dense(line, text)

    def _add_defaults(self, cells: sparse.csr_array) -> sparse.csr_array:
        # A sparse row leaves out the first value of a nominal column, which need not be 0.
        if not self._shifted:
            return cells
        n_rows = cells.shape[0]
        rows = np.repeat(np.arange(n_rows), np.diff(cells.indptr))
        absent = [np.setdiff1d(np.arange(n_rows), rows[cells.indices == index]) for index in self._shifted]
        n_absent = [len(places) for places in absent]
        values = np.repeat([self._defaults[index] for index in self._shifted], n_absent)
        places = np.concatenate(absent), np.repeat(self._shifted, n_absent)
        return sparse.csr_array(cells + sparse.csr_array((values, places), shape=cells.shape))


def _starts_sparse(block: bytes) -> bool:
    # Blank lines are skipped fast, for there may be millions; comments are few.
    text = block.lstrip()
    first = _FIRST_ROW.search(text) if text.startswith(b"%") else None
    return (first.group(1) if first else text[:1]) == b"{"
