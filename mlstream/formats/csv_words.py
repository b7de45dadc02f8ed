"""The columns of a CSV file that hold words, which are known only when all rows are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from mlstream.formats.content import FormatError
from mlstream.formats.csv_blocks import BlockLines
from mlstream.formats.csv_dialects import CsvDialect, read_header
from mlstream.formats.csv_tables import iterate_rows
from mlstream.formats.lines import Lines, Readable
from mlstream.formats.text_columns import TextColumn, Words

_N_ROWS = 4096
# Some words of each column are kept until it shows to hold numbers.
_MAX_COLUMNS = 10_000


def find_words(source: Readable, path: Path, dialect: CsvDialect) -> Mapping[str, TextColumn]:
    """Find the columns that hold words or truth values.

    Parameters
    ----------
    source : Readable
        The content, unpacked.
    path : Path
        The file, for errors.
    dialect : CsvDialect
        How it is written.

    Returns
    -------
    mapping of str to TextColumn
        By name; all other columns hold numbers.

    Raises
    ------
    FormatError
        If the file breaks its format, or a column holds what is neither numbers nor words; the message names the line.
    """
    lines = Lines(source, path)
    header = read_header(lines, dialect)
    if len(header.names) > _MAX_COLUMNS:
        rule = f"must have at most {_MAX_COLUMNS:,} columns if one holds words"
        raise FormatError(f"{path} {rule}. Got {header.width:,}.")
    columns = [Words(name, path, takes_missing=dialect.takes_missing) for name in header.names]
    blocks = lines.blocks()
    n_read = lines.n_read
    for block in blocks:
        text = BlockLines(block, blocks, lines, n_read)
        rows = iterate_rows(text, header, path)
        while some := list(islice(rows, _N_ROWS)):
            numbers = [line for line, _ in some]
            cells = zip(*(row[header.has_index :] for _, row in some), strict=True)
            for column, values in zip(columns, cells, strict=True):
                column.add(values, numbers)
        n_read = text.n_read
    found = zip(header.names, (column.settle() for column in columns), strict=True)
    return {name: words for name, words in found if words is not None}
