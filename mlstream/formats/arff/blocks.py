"""Blocks of ARFF rows as tables: a compiled loop reads plain numbers, and whatever it leaves is read with care."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.formats.arff.rows import RowReader
from mlstream.formats.lines import Lines
from mlstream.streams.frames import MAX_EXACT
from mlstream.streams.tables.arrays import Cells, make_csr
from mlstream.streams.tables.table import to_number
from mlstream.streams.tables.text_columns import TextColumn

Dense: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int32]
Numbers: TypeAlias = npt.NDArray[np.int64]

# To load the compiled loop takes as long as to read so much, or twice as much, with care.
CAREFUL_BYTES = 4 * 2**20
_LOOP = "mlstream.formats._kernels.scan"

_LINE_END = re.compile(rb"\r\n|\r|\n")
_LONG_WHOLE = re.compile(rb"(?<![0-9.])[0-9]{16,}(?![0-9.eE])")
_FIRST_ROW = re.compile(rb"^[ \t]*+([^%\s])", re.MULTILINE)


class Place(NamedTuple):
    """How far a block has been read."""

    position: int
    line: int
    n_rows: int
    n_stored: int


class Buffers(NamedTuple):
    """Room for the rows of a block."""

    values: Dense
    """The cells, row after row."""
    indices: Indices
    """The column of each cell of sparse rows; empty for dense ones."""
    ends: Numbers
    """How many cells are stored up to the end of each row."""
    lines: Numbers


class RowBlock(NamedTuple):
    """The rows of a block."""

    cells: Cells
    """A CSR matrix if the first row is in sparse notation, with sorted columns."""
    lines: Numbers
    n_careful: int
    """How many rows were read with care."""
    next_line: int
    """The number of the line behind the block."""
    weights: Dense | None = None
    """The weights of the rows, if one has a weight."""


class _TooManyRowsError(Exception):
    """There are more rows than a block can hold if they list every cell."""


class BlockReader:
    """A reader of blocks of rows, for a given header.

    A short file, and the first `CAREFUL_BYTES` of a process that has not loaded the compiled loop, are read with care.
    """

    def __init__(self, readers: Sequence[TextColumn], lines: Lines, missing: Collection[str]) -> None:
        columns = [reader.column for reader in readers]
        self._width = len(columns)
        self._lines = lines
        self._reader = RowReader(readers, lines.path, missing)
        self._defaults = [column.default for column in columns]
        self._shifted = [index for index, default in enumerate(self._defaults) if default != 0]
        self._is_binary = np.array([column.is_binary for column in columns])
        # Codes of values are not in the text; only Python's dictionaries know them.
        self._is_compiled = not lines.is_short and all(reader.read is to_number for reader in readers)
        self._n_read = 0

    def read(self, block: bytes, first_line: int) -> RowBlock:
        """Read whole lines, the first of which has a given number."""
        self._n_read += len(block)
        rows = self._read(block, first_line)
        stored = rows.cells.data if sparse.issparse(rows.cells) else rows.cells
        # Only the text shows whether a number was rounded.
        if ((stored >= MAX_EXACT).any() or (stored <= -MAX_EXACT).any()) and _LONG_WHOLE.search(block):
            before = self._is_compiled, self._reader.is_careful
            self._is_compiled, self._reader.is_careful = False, True
            rows = self._read(block, first_line)
            self._is_compiled, self._reader.is_careful = before
        if not self._reader.weights:
            return rows
        weights = np.array([self._reader.weights.get(line, 1.0) for line in rows.lines.tolist()])
        self._reader.weights.clear()
        return rows._replace(weights=weights)

    def _read(self, block: bytes, first_line: int) -> RowBlock:
        if _starts_sparse(block):
            return self._read_sparse(block, first_line)
        try:
            return self._read_dense(block, first_line)
        except _TooManyRowsError:
            return self._read_sparse(block, first_line)

    def _read_dense(self, block: bytes, first_line: int) -> RowBlock:
        # A row that lists every cell is at least as long as its commas.
        n_most = len(block) // (2 * self._width) + 1
        found = _make_buffers(n_most, n_most * self._width, 0)
        cells, n_careful, place = found.values.reshape(n_most, self._width), 0, Place(0, first_line, 0, 0)
        while (place := self._scan(block, place, found)).position < len(block):
            text, end = self._line_at(block, place)
            if text:
                if place.n_rows == n_most:
                    raise _TooManyRowsError
                cells[place.n_rows], found.lines[place.n_rows] = self._read_row(place.line, text), place.line
            n_rows = place.n_rows + bool(text)
            place = Place(end, place.line + 1, n_rows, n_rows * self._width)
            n_careful += bool(text)
        return RowBlock(cells[: place.n_rows], found.lines[: place.n_rows], n_careful, place.line)

    def _read_sparse(self, block: bytes, first_line: int, *, n_least_bytes: int = 4) -> RowBlock:
        # A pair is at least as long as `0 1,`, and a cell of a row that lists every cell as `,`, but these are few.
        n_lines, n_most = block.count(b"\n") + block.count(b"\r"), len(block) // n_least_bytes + 1
        found, n_careful, place = _make_buffers(n_lines, n_most, n_most), 0, Place(0, first_line, 0, 0)
        while (place := self._scan(block, place, found)).position < len(block):
            text, end = self._line_at(block, place)
            row_indices, row = self._read_pairs(place.line, text) if text else ([], [])
            stop = place.n_stored + len(row)
            if stop > end // n_least_bytes:
                return self._read_sparse(block, first_line, n_least_bytes=1)
            found.indices[place.n_stored : stop], found.values[place.n_stored : stop] = row_indices, row
            if text:
                found.ends[place.n_rows], found.lines[place.n_rows] = stop, place.line
            place = Place(end, place.line + 1, place.n_rows + bool(text), stop)
            n_careful += bool(text)
        starts = np.concatenate([[0], found.ends[: place.n_rows]]).astype(np.int32)
        cells = make_csr(found.values[: place.n_stored], found.indices[: place.n_stored], starts, self._width)
        # The compiled loop takes rising columns only.
        cells.has_sorted_indices = not n_careful
        cells.sort_indices()
        return RowBlock(self._add_defaults(cells), found.lines[: place.n_rows], n_careful, place.line)

    def _scan(self, block: bytes, place: Place, found: Buffers) -> Place:
        if not self._is_compiled or (self._n_read <= CAREFUL_BYTES and _LOOP not in sys.modules):
            return place
        from mlstream.formats._kernels.scan import scan

        state = np.array(place)
        scan(np.frombuffer(block, np.uint8), state, self._is_binary, *found)
        return Place(*state.tolist())

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


def _make_buffers(n_rows: int, n_values: int, n_indices: int) -> Buffers:
    ends, lines = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    return Buffers(np.empty(n_values), np.empty(n_indices, np.int32), ends, lines)


def _starts_sparse(block: bytes) -> bool:
    # Blank lines are skipped fast, for there may be millions; comments are few.
    text = block.lstrip()
    first = _FIRST_ROW.search(text) if text.startswith(b"%") else None
    return (first.group(1) if first else text[:1]) == b"{"
