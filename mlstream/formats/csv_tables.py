"""CSV files read as tables, and written for every reader: names, then rows, labels first."""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path

import numpy as np

from mlstream._support.content import FormatError, at, show
from mlstream._support.spreadsheets import guard_text
from mlstream.formats.arff.writer import format_dense_rows
from mlstream.formats.csv_blocks import BlockLines, is_worth_pyarrow, join_blocks, read_fast
from mlstream.formats.csv_dialects import OWN, SEPARATORS, CsvDialect, CsvHeader, read_header
from mlstream.formats.lines import Lines, Readable
from mlstream.streams.stream import Features, Indicator
from mlstream.streams.tables.table import Column, Table, gather, to_number
from mlstream.streams.tables.text_columns import TextColumn, read_cell

_N_ROWS = 4096
# Of names that no reader of CSV takes; a zero byte looks like UTF-16.
_BROKEN = re.compile(r"[\n\r\0]")
_QUOTED = (*SEPARATORS, '"')


class NotNumericError(FormatError):
    """A cell is neither a number nor, in a column of words, one of these."""


def parse_csv(content: bytes, path: Path) -> Table:
    """Read the content of a CSV file that `format_csv` wrote; as `read_csv`, but in one table."""
    return gather(read_csv(BytesIO(content), path))


def read_csv(
    source: Readable, path: Path, dialect: CsvDialect = OWN, words: Mapping[str, TextColumn] | None = None
) -> Iterator[Table]:
    """Read a CSV file, a row of names and then rows, in tables of some rows, one after the other.

    There is at least one table; all are dense, and an empty cell is NaN. Columns in `words`, as `find_words` finds
    them, hold words; all others hold numbers. Raises NotNumericError, with the line, if a cell is neither a finite
    number nor a word of its column nor empty; FormatError if a row is not as wide as the first, or its index is not its
    number.
    """
    lines = Lines(source, path)
    header = read_header(lines, dialect)
    reader = _RowReader(path, header, dialect, words or {})
    yield Table(path, reader.columns, np.empty((0, len(header.names))), np.empty(0, np.int64))
    blocks, line = join_blocks(lines), lines.n_read
    for block in blocks:
        table = reader.read_fast(block, line) if is_worth_pyarrow(block) and not lines.is_short else None
        if table is not None:
            line += len(table.lines)
            yield table
            continue
        text = BlockLines(block, blocks, lines, line)
        yield from reader.read(text)
        line = text.n_read


def iterate_rows(text: BlockLines, header: CsvHeader, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Split the rows of a block, with the line where each ends; a row that goes on in the next block is completed.

    Raises FormatError, with the line, if a row is not CSV, or not as wide as the header.
    """
    rows = csv.reader(text, delimiter=header.separator)
    try:
        for row in rows:
            if row:
                if len(row) != header.width:
                    raise FormatError(
                        f"{at(path, text.n_read)}: a row must hold {header.width} values. Got {len(row)}."
                    )
                yield text.n_read, row
            if text.is_done:
                return
    except csv.Error as error:
        raise FormatError(f"{at(path, text.n_read)}: a row must be CSV. Got: {error}.") from None


class _RowReader:
    """Turn rows into numbers, for a given header."""

    def __init__(self, path: Path, header: CsvHeader, dialect: CsvDialect, words: Mapping[str, TextColumn]) -> None:
        self._path, self._header, self._takes_missing = path, header, dialect.takes_missing
        found = [words.get(name) for name in header.names]
        self.columns = tuple(
            Column(name) if text is None else text.column for name, text in zip(header.names, found, strict=True)
        )
        self._codes = [None if text is None else text.codes for text in found]
        self._is_plain = not any(self._codes)
        self._n_rows = 0

    def read(self, text: BlockLines) -> Iterator[Table]:
        """Read the rows of a block one by one."""
        rows = iterate_rows(text, self._header, self._path)
        while some := list(islice(rows, _N_ROWS)):
            cells, lines = array("d"), array("q")
            for line, row in some:
                cells.extend(self._read_row(self._take_index(row, line), line))
                lines.append(line)
            table = np.asarray(cells).reshape(len(lines), len(self.columns))
            yield Table(self._path, self.columns, table, np.asarray(lines))

    def read_fast(self, block: bytes, line: int) -> Table | None:
        """Read a block of plain rows at once, by pyarrow; None where that is not possible."""
        cells = read_fast(block, self._header, self._codes, takes_missing=self._takes_missing)
        if cells is None:
            return None
        if self._header.has_index:
            if (cells[:, 0] != np.arange(self._n_rows, self._n_rows + len(cells))).any():
                return None
            self._n_rows += len(cells)
            cells = cells[:, 1:]
        return Table(self._path, self.columns, cells, np.arange(line + 1, line + 1 + len(cells)))

    def _take_index(self, row: list[str], line: int) -> list[str]:
        self._n_rows += 1
        if not self._header.has_index:
            return row
        if to_number(row[0]) != self._n_rows - 1:
            rule = "the first column must have a name, unless it numbers the rows 0, 1, 2, ... as the index of pandas"
            raise FormatError(f"{at(self._path, line)}: {rule}. Got {show(row[0])} for row {self._n_rows - 1}.")
        return row[1:]

    def _read_row(self, row: list[str], line: int) -> list[float]:
        text = "".join(row)
        # Python reads 1_000, and digits of other scripts, as numbers; no other program does.
        if self._is_plain and text.isascii() and "_" not in text:
            with suppress(ValueError):
                numbers = list(map(float, row))
                # So it does "nan" and "inf", which show in the sum.
                if math.isfinite(sum(numbers)):
                    return numbers
        return self._read_with_care(row, line)

    def _read_with_care(self, row: list[str], line: int) -> list[float]:
        pairs = zip(row, self._codes, strict=True)
        cells = [read_cell(cell, codes, takes_missing=self._takes_missing) for cell, codes in pairs]
        numbers = [number for number in cells if number is not None]
        if len(numbers) == len(row):
            return numbers
        column = cells.index(None)
        where, name = at(self._path, line), show(self._header.names[column])
        rule = "must be a finite number, or empty for an unknown label"
        raise NotNumericError(f"{where}: column {name} {rule}. Got {show(row[column])}.")


def format_csv(X: Features, Y: Indicator, names: Sequence[str]) -> Iterator[str]:
    """Write a table as the text of a CSV file, piece by piece, labels first; numbers are read back as the same bits.

    The cell of an unknown label is empty. Names that a spreadsheet would take for a formula begin with an apostrophe,
    which `read_csv` takes off again. Raises ValueError if X is not of float32 or float64, or holds NaN or infinity, or
    a name has more than one line or a zero byte.
    """
    broken = [name for name in names if _BROKEN.search(name)]
    if broken:
        raise ValueError(f"Names must be of one line, without zero bytes, to be written as CSV. Got {broken[0]!r}.")
    yield ",".join(map(_quote, map(guard_text, names))) + "\n"
    yield from format_dense_rows(X, Y)


def _quote(name: str) -> str:
    # Quoted, no character of a name looks like a separator.
    return f'"{name.replace(chr(34), chr(34) * 2)}"' if any(sign in name for sign in _QUOTED) else name
