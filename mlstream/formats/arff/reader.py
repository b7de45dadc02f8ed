"""ARFF files of every dialect as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.content import FormatError, at, clip, show
from mlstream.formats.arff.blocks import BlockReader
from mlstream.formats.arff.header import parse_header
from mlstream.formats.lines import Lines, Readable
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.tables.arrays import Cells
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.table import Table, gather, header_only
from mlstream.streams.tables.text_columns import TextColumn, missing_words


def parse_arff(content: bytes, path: Path) -> Table:
    """Read the unpacked content of an ARFF file; the cells are a CSR matrix if most rows are in sparse notation.

    Raises FormatError, with the line, if anything contradicts the format or the header.
    """
    return gather(read_arff(BytesIO(content), path))


def read_arff(
    source: Readable, path: Path, reading: ReadingCard = BY_DEFAULT, words: Mapping[str, TextColumn] | None = None
) -> Iterator[Table]:
    """Read an ARFF file in tables of some thousands of rows, one after the other.

    Dense and sparse rows, comments, blank lines, trailing commas, quotes and escapes, keywords in any case, UTF-8 and
    Latin-1 are read; columns are numeric or nominal. The width is the header's. A missing value is NaN. There is at
    least one table, and each has the same columns; its cells are a CSR matrix if its rows are in sparse notation.
    `words` are columns that are read as codes, whose values the header must declare. Errors are those of `parse_arff`.
    """
    lines = Lines(source, path, "%")
    header = parse_header(lines.head(), path, reading)
    readers = header.columns if words is None else [_agree(column, words, path) for column in header.columns]
    reader, first_line = BlockReader(readers, lines, missing_words(reading, "?")), header.n_lines + 1
    columns = tuple(one.column for one in readers)
    has_values = any(column.numbers is not None and not column.is_binary for column in columns)
    yield header_only(path, columns, relation=header.relation)
    for block in lines.blocks():
        rows = reader.read(block, first_line)
        table = Table(path, columns, rows.cells, rows.lines, header.relation, weights=rows.weights)
        # The compiled loop reads 0 and 1 only where these are declared.
        if rows.n_careful or has_values:
            _require_declared(table)
        yield table
        first_line = rows.next_line


def _agree(declared: TextColumn, words: Mapping[str, TextColumn], path: Path) -> TextColumn:
    expected = words.get(declared.column.name, declared)
    if expected.column.values != declared.column.values:
        values = ", ".join(expected.column.values or ())
        got = ", ".join(declared.column.values or ()) or "numbers"
        name = show(declared.column.name)
        raise FormatError(f"{path}: column {name} must declare the values {{{clip(values)}}}. Got {clip(got)}.")
    return expected


def _require_declared(table: Table) -> None:
    groups = dict[tuple[float, ...], list[int]]()
    for index, column in enumerate(table.columns):
        if column.numbers is not None:
            groups.setdefault(column.numbers, []).append(index)
    stored = _stored(table.cells)
    for numbers, group in groups.items():
        member = np.isin(np.arange(len(table.columns)), group)
        chosen = member[table.cells.indices] if sparse.issparse(table.cells) else (slice(None), member)
        wrong = np.zeros(stored.shape, dtype=bool)
        wrong[chosen] = ~np.isin(stored[chosen], numbers) & ~np.isnan(stored[chosen])
        _require(table, wrong, f"one of {{{clip(', '.join(f'{number:g}' for number in numbers))}}}")


def _stored(cells: Cells) -> npt.NDArray[np.float64]:
    return cells.data if sparse.issparse(cells) else np.asarray(cells)


def _require(table: Table, wrong: npt.NDArray[np.bool_], rule: str) -> None:
    positions = np.flatnonzero(wrong)
    if not len(positions):
        return
    row, column = _place(table.cells, int(positions[0]))
    name, got = table.columns[column].name, _stored(table.cells).ravel()[positions[0]]
    raise FormatError(f"{at(table.path, table.lines[row])}: column {show(name)} must be {rule}. Got {got:g}.")


def _place(cells: Cells, position: int) -> tuple[int, int]:
    if sparse.issparse(cells):
        return int(np.searchsorted(cells.indptr, position, side="right")) - 1, int(cells.indices[position])
    row, column = divmod(position, len(cells[0]))
    return row, column
