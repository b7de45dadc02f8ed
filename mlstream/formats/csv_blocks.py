"""Blocks of CSV rows: line by line for Python's reader, or at once by pyarrow where rows are plain.

Plain rows are ASCII without quotes and blank lines. pyarrow rounds numbers correctly, as Python does, so that both read
the same bits; what it cannot read, or reads as NaN or infinity, is left to Python.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.formats.csv_dialects import CsvHeader
from mlstream.formats.lines import LINE, Lines
from mlstream.streams.tables.text_columns import MISSING_WORDS

if TYPE_CHECKING:
    import pyarrow as pa

# Enough for pyarrow to be worth a call, few enough to be nothing beside a table.
_BLOCK_BYTES = 4 * 2**20
_NEWLINE = ord("\n")


class Distinct(NamedTuple):
    """Different texts of a column, and the row of each where it comes first."""

    texts: list[str]
    rows: list[int]


class BlockLines:
    """The lines of a block, and of the blocks that follow as long as lines are taken.

    Blocks hold whole lines, which `lines` decodes; `n_read` lines lie before the block.
    """

    def __init__(self, block: bytes, blocks: Iterator[bytes], lines: Lines, n_read: int) -> None:
        self.n_read = n_read
        """Number of the line that was taken last."""
        self.is_done = False
        """Whether that line was the last of its block."""
        self._lines, self._blocks, self._block = lines, blocks, block

    def __iter__(self) -> Iterator[str]:
        block: bytes | None = self._block
        while block is not None:
            for match in LINE.finditer(block):
                self.n_read, self.is_done = self.n_read + 1, match.end() == len(block)
                yield self._lines.decode(match.group(1), self.n_read)
            block = next(self._blocks, None)


def join_blocks(lines: Lines) -> Iterator[bytes]:
    """Join blocks of whole lines to larger ones."""
    waiting: list[bytes] = []
    for block in lines.blocks():
        waiting.append(block)
        if sum(map(len, waiting)) >= _BLOCK_BYTES:
            yield b"".join(waiting)
            waiting = []
    if waiting:
        yield b"".join(waiting)


def is_worth_pyarrow(block: bytes) -> bool:
    """Return whether pyarrow gains more on a block than its import takes, which is half a second, with pandas."""
    return len(block) >= _BLOCK_BYTES or "pyarrow" in sys.modules


def read_fast(
    block: bytes, header: CsvHeader, codes: Sequence[Mapping[str, float] | None], *, takes_missing: bool
) -> npt.NDArray[np.float64] | None:
    """Read a block of plain rows by pyarrow: the cells, the index among them, or None where the block needs care.

    `codes` holds for each column, without the index, the number of each word, or None for a column of numbers. With
    `takes_missing`, words such as NA are missing values.
    """
    all_codes = [None, *codes] if header.has_index else list(codes)
    types = {place: "number" if one is None else "word" for place, one in enumerate(all_codes)}
    table = _parse(block, header, types, takes_missing=takes_missing)
    if table is None:
        return None
    cells = np.empty((table.num_rows, header.width))
    for place, (column, one) in enumerate(zip(table.columns, all_codes, strict=True)):
        if not _read_column(column, one, cells[:, place]):
            return None
    return cells


def find_texts(
    block: bytes, header: CsvHeader, wanted: Collection[int], *, takes_missing: bool
) -> tuple[int, dict[int, Distinct]] | None:
    """Find the different texts of columns in a block of plain rows by pyarrow.

    Returns the number of rows and the texts by column, without the index; or None where the block needs care. Columns
    that are not wanted are looked at only if a cell of theirs is not a number. With `takes_missing`, words such as NA
    are missing values.
    """
    found = _parse(block, header, {}, takes_missing=takes_missing)
    if found is None:
        return None
    columns = range(header.has_index, header.width)
    chosen = [place for place in columns if place - header.has_index in wanted or not _is_numeric(found.column(place))]
    words = _parse(block, header, dict.fromkeys(chosen, "word"), takes_missing=takes_missing) if chosen else found
    if words is None:
        return None
    named = {place: words.column(str(place)).combine_chunks() for place in chosen}
    return found.num_rows, {place - header.has_index: _to_distinct(column) for place, column in named.items()}


def _is_numeric(column: pa.ChunkedArray) -> bool:
    from pyarrow import types

    if types.is_null(column.type) or types.is_integer(column.type):
        return True
    if not types.is_floating(column.type):
        return False
    return bool(np.count_nonzero(np.isfinite(column.to_numpy())) == len(column) - column.null_count)


def _to_distinct(column: pa.DictionaryArray) -> Distinct:
    codes = column.indices.fill_null(-1).to_numpy()
    numbers, rows = np.unique(codes, return_index=True)
    texts = column.dictionary.to_pylist()
    return Distinct([texts[number] for number in numbers if number >= 0], rows[numbers >= 0].tolist())


def _parse(block: bytes, header: CsvHeader, kinds: Mapping[int, str], *, takes_missing: bool) -> pa.Table | None:
    """Parse columns as numbers or words, all of them as what they seem to be if none is given; None if it cannot be."""
    if not block.isascii() or b'"' in block or (b"\r" in block and block.count(b"\r") != block.count(b"\r\n")):
        return None
    import pyarrow as pa
    from pyarrow import csv

    types = {"number": pa.float64(), "word": pa.dictionary(pa.int32(), pa.utf8())}
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(column_names=[str(place) for place in range(header.width)], block_size=len(block) + 1),
            csv.ParseOptions(delimiter=header.separator, quote_char=False),
            csv.ConvertOptions(
                column_types={str(place): types[kind] for place, kind in kinds.items()},
                include_columns=[str(place) for place in kinds],
                null_values=["", *sorted(MISSING_WORDS)] if takes_missing else [""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowException:
        return None
    # A blank line is not a row, and shifts the numbers of lines.
    return table if table.num_rows == np.count_nonzero(np.frombuffer(block, np.uint8) == _NEWLINE) else None


def _read_column(column: pa.ChunkedArray, codes: Mapping[str, float] | None, cells: npt.NDArray[np.float64]) -> bool:
    """Write the numbers of a column, NaN for null; return whether all others are finite."""
    if codes is None:
        numbers = column.to_numpy()
        cells[:] = numbers
        return bool(np.count_nonzero(np.isfinite(numbers)) == len(numbers) - column.null_count)
    words = column.combine_chunks()
    # The code behind the last stands for null, and infinity for what is not a word of the column.
    values = [codes.get(text.strip(), np.inf) for text in words.dictionary.to_pylist()]
    cells[:] = np.array([*values, np.nan])[words.indices.fill_null(len(values)).to_numpy()]
    return not np.isinf(cells).any()
