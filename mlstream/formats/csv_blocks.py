"""Rows of CSV, cut into cells by pyarrow: the one reader of tables, logs of events and submissions.

Numbers are rounded correctly, as Python rounds them, so that both read the same bits. Words in quotes are never missing
values, and may hold line breaks.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from estimators.contract.lazy import needing
from mlstream._support.content import FormatError, at
from mlstream.formats.csv_dialects import CsvHeader
from mlstream.formats.lines import LONGEST_LINE_BYTES, Lines
from mlstream.streams.frames import MAX_EXACT

if TYPE_CHECKING:
    import pyarrow as pa

# Enough for a call of pyarrow to pay, few enough to be nothing beside a table.
_BLOCK_BYTES = 4 * 2**20
_DECIMAL = re.compile(r"\s*[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?\s*")
_BLANKS = re.compile(rb"^ +(?=\r?$)", re.MULTILINE)
_LF, _CR = b"\n\r"


class Texts(NamedTuple):
    """The cells of a column as texts."""

    codes: npt.NDArray[np.int32]
    """The place of each cell in `values`; -1 for a missing one."""
    values: list[str]
    """The different texts, with the blanks around them."""


class CsvBlock:
    """Some rows of a CSV file, UTF-8, that begin in a given line."""

    def __init__(self, content: bytes, header: CsvHeader, path: Path, first_line: int) -> None:
        self.path = path
        self._content, self._header, self._first_line = content, header, first_line
        n_returns = content.count(b"\r") - content.count(b"\r\n") if b"\r" in content else 0
        self.n_lines = content.count(b"\n") + n_returns

    @cached_property
    def lines(self) -> npt.NDArray[np.int64]:
        """The line where each row ends."""
        return np.searchsorted(self._breaks, self._ends).astype(np.int64) + self._first_line

    def find_blank(self) -> npt.NDArray[np.bool_]:
        """Tell which rows hold nothing, not even a word for a missing value, in any column."""
        is_empty = np.isin(self._text, np.frombuffer(f'{self._header.separator} \t"\r\n'.encode(), np.uint8))
        found: npt.NDArray[np.bool_] = np.logical_and.reduceat(is_empty, self._starts)
        return found

    def read(
        self, places: Collection[int], texts: Collection[int] = ()
    ) -> Mapping[int, npt.NDArray[np.float64] | Texts]:
        """Read columns: those in `texts` as text; others as numbers, or as text if a cell holds no exact number.

        An empty cell is missing, and so are the words for missing values, unless they are in quotes. Raises
        FormatError, with the line, if a row is not as wide as the header.
        """
        try:
            found = self._parse(texts, set(places) - set(texts))
        except ValueError:
            return self.find_texts(places, places)
        read: dict[int, npt.NDArray[np.float64] | Texts] = {}
        for place, column in ((place, found.column(str(place))) for place in places):
            numbers = None if place in texts else _to_numpy(_chunk(column), np.float64, np.nan)
            # pyarrow takes every spelling of NaN for a number.
            is_odd = numbers is not None and np.isnan(numbers).sum() > column.null_count
            if is_odd or (numbers is not None and (np.abs(numbers) >= MAX_EXACT).any()):
                read |= self.find_texts([place], [place])
            else:
                read[place] = self._to_texts(column) if numbers is None else numbers
        return read

    def find_texts(self, places: Collection[int], wanted: Collection[int]) -> Mapping[int, Texts]:
        """Read the columns that are wanted, and those of `places` that do not hold numbers, as text.

        Raises FormatError, with the line, if a row is not as wide as the header.
        """
        chosen = set(wanted)
        try:
            if others := set(places) - chosen:
                found = self._parse(others=others)
                chosen |= {place for place in others if not _is_numeric(found.column(str(place)))}
            found = self._parse(chosen)
        except ValueError as error:
            self._refuse(error)
        return {place: self._to_texts(found.column(str(place))) for place in sorted(chosen)}

    def distinct(self, cells: Texts) -> tuple[list[str], list[int]]:
        """Return the different texts of a column, and the first line of each."""
        seen, rows = np.unique(cells.codes, return_index=True)
        return [cells.values[code] for code in seen[seen >= 0]], self.lines[rows[seen >= 0]].tolist()

    def widen_header(self) -> CsvHeader:
        """Add an empty column to the header if the first row ends with a separator that the header lacks."""
        header = self._header
        if header.is_foreign and len(self._ends) and self._widths[0] == header.width + 1:
            row = self._content[self._starts[0] : self._ends[0]]
            if not row.rpartition(header.separator.encode())[2].strip():
                self._header = header._replace(names=(*header.names, ""), empty=(*header.empty, header.width))
        return self._header

    def require_closed(self) -> None:
        """Raise FormatError, with the line, if a quote is open at the end of the last block."""
        if len(self._quotes) % 2:
            line = self._first_line + int(np.searchsorted(self._breaks, self._quotes[-1]))
            raise FormatError(f"{at(self.path, line)}: a quote must be closed. Got the end of the file.")

    @cached_property
    def _text(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self._content, np.uint8)

    @cached_property
    def _quotes(self) -> npt.NDArray[np.int64]:
        return find_quotes(self._content, self._header.separator)

    @cached_property
    def _breaks(self) -> npt.NDArray[np.int64]:
        """The last byte of each line, a line break."""
        breaks = np.flatnonzero((self._text == _LF) | (self._text == _CR))
        is_half = (self._text[breaks] == _CR) & (self._text[(breaks + 1).clip(max=len(self._text) - 1)] == _LF)
        found: npt.NDArray[np.int64] = breaks[~is_half]
        return found

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        """The last byte of each row; blank lines aside."""
        return self._bounds[1]

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:
        """The first byte of each row."""
        return self._bounds[0]

    @cached_property
    def _bounds(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        ends = self._take_outside(self._breaks)
        if len(self._quotes) % 2:
            # A quote that is open makes one row of the rest, for pyarrow too.
            ends = np.append(ends, len(self._text) - 1)
        starts = np.append(0, ends[:-1] + 1)[: len(ends)]
        is_row = (self._text[starts] != _LF) & (self._text[starts] != _CR)
        return starts[is_row], ends[is_row]

    @cached_property
    def _widths(self) -> npt.NDArray[np.int64]:
        """The number of cells of each row."""
        separators = self._take_outside(np.flatnonzero(self._text == ord(self._header.separator)))
        stops, starts = (np.searchsorted(separators, places).astype(np.int64) for places in self._bounds[::-1])
        return stops - starts + 1

    def _take_outside(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Take the bytes that are not in quotes."""
        outside: npt.NDArray[np.int64] = places[np.searchsorted(self._quotes, places) % 2 == 0]
        return outside

    def _parse(
        self, texts: Collection[int] = (), numbers: Collection[int] = (), others: Collection[int] = ()
    ) -> pa.Table:
        """Parse columns as texts, as numbers, or as what they seem to be; ValueError if pyarrow cannot."""
        # Much of the time that a table of ten rows takes.
        with needing("Reading CSV"):
            import pyarrow as pa
            from pyarrow import csv as arrow_csv

        kinds = dict.fromkeys(texts, pa.dictionary(pa.int32(), pa.utf8())) | dict.fromkeys(numbers, pa.float64())
        # pyarrow takes off a byte order mark, which is part of a cell here.
        content = (codecs.BOM_UTF8 if self._content.startswith(codecs.BOM_UTF8) else b"") + self._content
        found = arrow_csv.read_csv(
            pa.BufferReader(content),
            arrow_csv.ReadOptions(
                column_names=[str(place) for place in range(self._header.width)],
                block_size=len(content) + 1,
                use_threads=False,
            ),
            arrow_csv.ParseOptions(delimiter=self._header.separator, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types={str(place): kind for place, kind in kinds.items()},
                include_columns=[str(place) for place in (*kinds, *others)],
                null_values=["", *self._header.missing],
                strings_can_be_null=True,
                decimal_point=self._header.decimal,
                quoted_strings_can_be_null=self._header.quoted_missing,
            ),
        )
        if found.num_rows == self.n_lines:
            # Each line is a row. Blank ones are not rows, and a line break in quotes ends none.
            self.lines = self._first_line + np.arange(self.n_lines)
        return found

    def _to_texts(self, column: pa.ChunkedArray) -> Texts:
        chunk = _chunk(column)
        codes, values = _to_numpy(chunk.indices, np.int32, -1), chunk.dictionary.to_pylist()
        bare, missing = list(map(str.strip, values)), self._header.missing
        # Words between blanks, which pyarrow keeps.
        padded = [code for code, text in enumerate(bare) if not text or (text in missing and text != values[code])]
        for code in padded:
            values[code] = ""
        if self._header.decimal == ",":
            values = [text.replace(",", ".") if _DECIMAL.fullmatch(text) else text for text in values]
        return Texts(np.where(np.isin(codes, padded), -1, codes) if padded else codes, values)

    def _refuse(self, error: ValueError) -> NoReturn:
        self.require_closed()
        wrong = np.flatnonzero(self._widths != self._header.width)
        if len(wrong):
            where = at(self.path, self.lines[wrong[0]])
            raise FormatError(f"{where}: a row must hold {self._header.width} values. Got {self._widths[wrong[0]]}.")
        got = " ".join(str(error).split())
        raise FormatError(f"{at(self.path, self._first_line)}: rows must be CSV from here on. Got: {got}.") from None


def iterate_blocks(lines: Lines, header: CsvHeader, *, as_they_come: bool = False) -> Iterator[CsvBlock]:
    """Read what follows the header in blocks of whole rows: large ones, or as the source gives them."""
    first_line = lines.n_read + 1
    block = CsvBlock(b"", header, lines.path, first_line)
    for content in lines.blocks() if as_they_come else _join(lines, header.separator):
        text = _empty_blank_lines(lines.to_utf8(content, first_line), header.separator)
        block = CsvBlock(text, header, lines.path, first_line)
        if first_line == lines.n_read + 1:
            header = block.widen_header()
        first_line += block.n_lines
        yield block
    block.require_closed()


def _empty_blank_lines(content: bytes, separator: str) -> bytes:
    """Take the blanks out of lines that hold nothing else, which are rows of one cell for pyarrow."""
    if separator == " " or (b"\n " not in content and not content.startswith(b" ")):
        return content
    quotes = find_quotes(content, separator)
    return _BLANKS.sub(
        lambda blanks: blanks[0] if np.searchsorted(quotes, blanks.start()) % 2 else b"",
        content,
    )


def find_quotes(content: bytes, separator: str) -> npt.NDArray[np.int64]:
    """Return the quotes that open a cell and those that close it, in turn.

    A quote opens a cell where the cell begins; anywhere else, as that of inches, it is a character.
    """
    text = np.frombuffer(content, np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    opening = quotes[::2]
    before = text[opening[opening > 0] - 1]
    # A quote after another is doubled, and closes and opens.
    if np.isin(before, np.frombuffer(f'{separator}"\r\n'.encode(), np.uint8)).all():
        return quotes
    cells = re.compile(rb'(?:\A|[\r\n%b])(")(?:[^"]++|"")*+("?)' % re.escape(separator.encode()))
    found = [place for cell in cells.finditer(content) for place in (cell.start(1), cell.start(2))]
    return np.array(found if not found or content[found[-1] :] else found[:-1], np.int64)


def _join(lines: Lines, separator: str) -> Iterator[bytes]:
    """Join blocks of whole lines to larger ones that end outside of quotes."""
    waiting: list[bytes] = []
    n_bytes, n_enough = 0, _BLOCK_BYTES
    for block in lines.blocks():
        waiting.append(block)
        n_bytes += len(block)
        if n_bytes >= n_enough:
            content = b"".join(waiting)
            if n_bytes >= LONGEST_LINE_BYTES or len(find_quotes(content, separator)) % 2 == 0:
                yield content
                waiting, n_bytes, n_enough = [], 0, _BLOCK_BYTES
            else:
                waiting, n_enough = [content], 2 * n_bytes
    if waiting:
        yield b"".join(waiting)


def _is_numeric(column: pa.ChunkedArray) -> bool:
    kind = str(column.type)
    # NaN and infinity are words here.
    is_finite = kind == "double" and np.isfinite(_to_numpy(_chunk(column), np.float64, 0)).all()
    return kind in {"null", "int64"} or bool(is_finite)


def _chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else column.combine_chunks()


def _to_numpy(array: pa.Array, dtype: npt.DTypeLike, missing: float) -> np.ndarray:
    """Copy numbers; pyarrow's own way imports pandas, which takes 0.3 s."""
    validity, values = array.buffers()
    stop = array.offset + len(array)
    numbers = np.frombuffer(values, dtype, stop)[array.offset :].copy() if len(array) else np.empty(0, dtype)
    if array.null_count:
        is_valid = np.unpackbits(np.frombuffer(validity, np.uint8), count=stop, bitorder="little")[array.offset :]
        numbers[is_valid == 0] = missing
    return numbers
