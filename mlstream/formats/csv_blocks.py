"""Blocks of CSV rows: line by line for Python's reader, or at once by pyarrow where rows are plain.

Plain rows are ASCII without quotes and blank lines. pyarrow rounds numbers correctly, as Python does, so that both read
the same bits; what it cannot read, or reads as NaN or infinity, is left to Python.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mlstream.formats.csv_dialects import CsvHeader
from mlstream.formats.lines import LINE, Lines
from mlstream.formats.text_columns import MISSING_WORDS

# Enough for pyarrow to be worth a call, few enough to be nothing beside a table.
_BLOCK_BYTES = 4 * 2**20
_NEWLINE = ord("\n")


class BlockLines:
    """The lines of a block, and of the blocks that follow as long as lines are taken.

    Parameters
    ----------
    block : bytes
        Whole lines.
    blocks : iterator of bytes
        What follows.
    lines : Lines
        Where they come from, to decode them.
    n_read : int
        Number of lines before the block.
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
    """Read a block of plain rows by pyarrow.

    Parameters
    ----------
    block : bytes
        Whole lines.
    header : CsvHeader
        The first line of the file.
    codes : sequence of mapping or None
        Of each column of words the number of each, None for a column of numbers; without the index.
    takes_missing : bool
        Whether words such as NA are missing values.

    Returns
    -------
    ndarray of shape (n_rows, width) or None
        The cells, the index among them; None where pyarrow is not installed, or the block needs care.
    """
    if not block.isascii() or b'"' in block or (b"\r" in block and block.count(b"\r") != block.count(b"\r\n")):
        return None
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    all_codes = [None, *codes] if header.has_index else list(codes)
    names = [str(column) for column in range(header.width)]
    types = [pa.float64() if one is None else pa.dictionary(pa.int32(), pa.utf8()) for one in all_codes]
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(column_names=names, block_size=len(block) + 1),
            csv.ParseOptions(delimiter=header.separator, quote_char=False),
            csv.ConvertOptions(
                column_types=dict(zip(names, types, strict=True)),
                null_values=["", *sorted(MISSING_WORDS)] if takes_missing else [""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowException:
        return None
    # A blank line is no row, and shifts the numbers of lines.
    if table.num_rows != np.count_nonzero(np.frombuffer(block, np.uint8) == _NEWLINE):
        return None
    cells = np.empty((table.num_rows, header.width))
    for place, (column, one) in enumerate(zip(table.columns, all_codes, strict=True)):
        if not _read_column(column, one, cells[:, place]):
            return None
    return cells


def _read_column(column: Any, codes: Mapping[str, float] | None, cells: npt.NDArray[np.float64]) -> bool:
    """Write the numbers of a column, NaN for null; return whether all others are finite."""
    if codes is None:
        numbers = column.to_numpy()
        cells[:] = numbers
        return bool(np.count_nonzero(np.isfinite(numbers)) == len(numbers) - column.null_count)
    words = column.combine_chunks()
    # The code behind the last stands for null, and infinity for what is no word of the column.
    values = [codes.get(text.strip(), np.inf) for text in words.dictionary.to_pylist()]
    cells[:] = np.array([*values, np.nan])[words.indices.fill_null(len(values)).to_numpy()]
    return not np.isinf(cells).any()
