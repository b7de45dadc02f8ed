"""The columns of a CSV file that hold words, which are known only when all rows are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from mlstream._support.content import FormatError
from mlstream.formats.csv_blocks import BlockLines, Distinct, find_texts, is_worth_pyarrow, join_blocks
from mlstream.formats.csv_dialects import CsvDialect, CsvHeader, read_header
from mlstream.formats.csv_tables import iterate_rows
from mlstream.formats.lines import Lines, Readable
from mlstream.streams.tables.text_columns import TextColumn, Words

_N_ROWS = 4096
# Some words of each column are kept until it shows to hold numbers.
_MAX_COLUMNS = 10_000


def find_words(source: Readable, path: Path, dialect: CsvDialect) -> Mapping[str, TextColumn]:
    """Find, by name, the columns that hold words or truth values; all other columns hold numbers.

    Raises FormatError, with the line, if the file breaks its format, or a column holds what is neither numbers nor
    words.
    """
    lines = Lines(source, path)
    header = read_header(lines, dialect)
    if len(header.names) > _MAX_COLUMNS:
        rule = f"must have at most {_MAX_COLUMNS:,} columns if one holds words"
        raise FormatError(f"{path} {rule}. Got {header.width:,}.")
    columns = [Words(name, path, takes_missing=dialect.takes_missing) for name in header.names]
    blocks, n_read = join_blocks(lines), lines.n_read
    for block in blocks:
        is_fast = not lines.is_short and is_worth_pyarrow(block)
        n_rows = _add_fast(columns, block, header, dialect, n_read) if is_fast else 0
        if n_rows:
            n_read += n_rows
            continue
        text = BlockLines(block, blocks, lines, n_read)
        _add(columns, iterate_rows(text, header, path), header)
        n_read = text.n_read
    found = zip(header.names, (column.settle() for column in columns), strict=True)
    return {name: words for name, words in found if words is not None}


def _add(columns: Sequence[Words], rows: Iterator[tuple[int, list[str]]], header: CsvHeader) -> None:
    while some := list(islice(rows, _N_ROWS)):
        lines = [line for line, _ in some]
        cells = zip(*(row[header.has_index :] for _, row in some), strict=True)
        for column, values in zip(columns, cells, strict=True):
            column.add(values, lines)


def _add_fast(columns: Sequence[Words], block: bytes, header: CsvHeader, dialect: CsvDialect, n_read: int) -> int:
    """Look at a block of plain rows at once; return their number, 0 where that is not possible."""
    few = {index for index, column in enumerate(columns) if not column.are_many}
    found = find_texts(block, header, few, takes_missing=dialect.takes_missing)
    if found is None:
        return 0
    n_rows, texts = found
    for index, column in enumerate(columns):
        distinct = texts.get(index, Distinct([], []))
        column.add(distinct.texts, [n_read + 1 + row for row in distinct.rows], n_rows)
    return n_rows
