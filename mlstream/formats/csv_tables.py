"""CSV files read as tables, and written for every reader: names, then rows, labels first."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, at, guard_text, show, unguard_text
from mlstream.formats.arff.writer import format_dense_rows
from mlstream.formats.csv_blocks import CsvBlock, Texts, iterate_blocks
from mlstream.formats.csv_dialects import OWN, CsvDialect, CsvHeader, dialect_of, quote, read_header
from mlstream.formats.key_files import format_keys
from mlstream.formats.lines import Lines, Readable
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.keys import Keys, to_objects
from mlstream.streams.stream import Features, Indicator
from mlstream.streams.tables.table import Column, Table, gather, header_only, to_number
from mlstream.streams.tables.text_columns import (
    CATEGORIES,
    IGNORE,
    NUMBER_RULE,
    ChooseTexts,
    TextColumn,
    Words,
    read_texts,
)

# Of names that no reader of CSV takes; a zero byte looks like UTF-16.
_BROKEN = re.compile(r"[\n\r\0]")


class NotNumericError(FormatError):
    """A cell is neither a number nor, in a column of words, one of these."""


def parse_csv(content: bytes, path: Path) -> Table:
    """Read the content of a CSV file that `format_csv` wrote; as `read_csv`, but in one table."""
    return gather(read_csv(BytesIO(content), path))


def read_csv(
    source: Readable,
    path: Path,
    dialect: CsvDialect = OWN,
    words: Mapping[str, TextColumn] | None = None,
    *,
    end_head: Callable[[], int] | None = None,
) -> Iterator[Table]:
    """Read a CSV file, a row of names and then rows, in tables of some rows, one after the other.

    There is at least one table; all are dense, and an empty cell is NaN. Columns in `words`, as `find_words` finds
    them, hold words; all others hold numbers. Rows without a value are left out with a warning. Raises
    NotNumericError, with the line, if a cell is neither a finite number nor a word of its column nor empty; FormatError
    if a row is not as wide as the first, or its index is not its number.

    With `end_head`, rows of a file that grows are given as they come: the source gives whole rows, and is told that the
    header is read; it returns the number of lines that it skips there.
    """
    lines = Lines(source, path)
    header = read_header(lines, dialect)
    if end_head is not None:
        lines.n_read += end_head()
    names = [header.names[place] for place in header.kept]
    found = [(words or {}).get(name, TextColumn(Column(name))) for name in names]
    columns, n_empty = tuple(one.column for one in found), 0
    head = header_only(path, columns, file_names=header.named)
    yield head
    reader = _BlockReader(header, dict(zip(header.kept, found, strict=True)))
    # Without names, a separator at the end of each line looks like a column.
    is_filled = dialect.has_names
    for block in iterate_blocks(lines, header, as_they_come=end_head is not None):
        cells = reader.read(block)
        table = replace(head, cells=cells, lines=block.lines, keys=_read_keys(block, header))
        is_empty = _find_empty(block, cells)
        n_empty += int(is_empty.sum())
        yield table.take(np.flatnonzero(~is_empty)) if is_empty.any() else table
        is_filled = is_filled or not np.isnan(cells[:, -1]).all()
    if not is_filled:
        warnings.warn(f"{path}: column {show(names[-1])} is empty in every row; {IGNORE}.", stacklevel=2)
    if n_empty:
        warnings.warn(f"{path}: rows without any value were left out: {n_empty}.", stacklevel=2)


def _read_keys(block: CsvBlock, header: CsvHeader) -> dict[str, np.ndarray]:
    """Read the columns of keys as texts; that of a missing one is empty."""
    found = block.find_texts([], header.keys) if header.keys else {}
    texts = {place: to_objects([*map(unguard_text, cells.values), ""])[cells.codes] for place, cells in found.items()}
    return {header.names[place]: texts[place] for place in header.keys}


def _find_empty(block: CsvBlock, cells: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    # One column shows whether it is worth to look at all.
    is_worth = np.isnan(cells[:, 0]).any() and np.isnan(cells).all(axis=1).any()
    return block.find_blank() if is_worth else np.zeros(0, dtype=np.bool_)


def find_words(
    source: Readable, path: Path, reading: ReadingCard, choose_texts: ChooseTexts = lambda _: ()
) -> Mapping[str, TextColumn]:
    """Find, by name, the columns that hold anything but numbers, which is known only when all rows are.

    `choose_texts` returns those, of the names of all, that hold words whatever they look like. Raises FormatError, with
    the line, if the file breaks its format, or a column holds what is neither numbers nor words.
    """
    lines = Lines(source, path)
    header = read_header(lines, dialect_of(path, reading))
    names = {place: header.names[place] for place in header.kept}
    chosen = choose_texts(list(names.values()))
    columns = {place: Words(name, path, reading, are_texts=name in chosen) for place, name in names.items()}
    for block in iterate_blocks(lines, header):
        _add_texts(block, columns)
    return {name: one for name, one in _settle(columns.values()).items() if one.read is not to_number}


def _settle(columns: Iterable[Words]) -> dict[str, TextColumn]:
    """Settle how columns are read; the error of one names the others that cannot be read either."""
    settled, errors = dict[str, TextColumn](), dict[str, FormatError]()
    for column in columns:
        try:
            settled[column.name] = column.settle()
        except FormatError as error:
            errors[column.name] = error
    if errors:
        first, *others = errors
        end = f" Other columns are refused, too: {', '.join(map(show, others[:9]))}." if others else ""
        raise FormatError(f"{errors[first]}{end}")
    return settled


def _add_texts(block: CsvBlock, columns: Mapping[int, Words]) -> None:
    few = [place for place, column in columns.items() if not column.are_many]
    found = block.find_texts(columns, few)
    for place, column in columns.items():
        texts, lines = block.distinct(found[place]) if place in found else ([], [])
        column.add(texts, lines, len(block.lines))


class _BlockReader:
    """Turn blocks of rows into numbers, column by column."""

    def __init__(self, header: CsvHeader, columns: Mapping[int, TextColumn]) -> None:
        self._header, self._columns = header, columns
        self._texts = [place for place, column in columns.items() if column.read is not to_number]
        self._next_index = 0.0

    def read(self, block: CsvBlock) -> npt.NDArray[np.float64]:
        """Read the columns that are kept."""
        header = self._header
        places = [*([0] if header.has_index else []), *header.kept, *header.empty]
        read = block.read(places, [*self._texts, *header.empty])
        if header.has_index:
            self._require_index(block, read[0])
        for place in header.empty:
            self._require_empty(block, place, read[place])
        return np.column_stack([self._to_numbers(block, place, read[place]) for place in header.kept])

    def _to_numbers(
        self, block: CsvBlock, place: int, cells: npt.NDArray[np.float64] | Texts
    ) -> npt.NDArray[np.float64]:
        if not isinstance(cells, Texts):
            return cells
        codes, texts = cells

        def fail(code: int, rule: str) -> NotNumericError:
            where, name = at(block.path, block.lines[(codes == code).argmax()]), show(self._header.names[place])
            # Of words that follow many rows of numbers, where rows are read in chunks.
            way_out = f"; {CATEGORIES}" if self._header.is_foreign and rule == NUMBER_RULE else ""
            return NotNumericError(f"{where}: column {name} {rule}. Got {show(texts[code])}{way_out}.")

        numbers = read_texts(texts, self._columns[place], (), fail)
        return np.append(numbers, np.nan)[codes]

    def _require_index(self, block: CsvBlock, cells: npt.NDArray[np.float64] | Texts) -> None:
        """Require that the first column counts the rows, from 0 as pandas does or from 1 as R does."""
        if isinstance(cells, Texts):
            texts = np.array([*cells.values, ""], dtype=object)[cells.codes]
            cells = np.array([to_number(text) for text in texts], dtype=np.float64)
        if not self._next_index and len(cells) and cells[0] == 1:
            self._next_index = 1.0
        expected = self._next_index + np.arange(len(cells))
        wrong = np.flatnonzero(cells != expected)
        if len(wrong):
            rule = "the first column must have a name, unless it counts the rows from 0 or 1, as pandas and R write"
            index = block.find_texts([0], [0])[0]
            code = index.codes[wrong[0]]
            found = index.values[code] if code >= 0 else ""
            got = f"Got {show(found)} for row {expected[wrong[0]]:g}; ignore=[''] or --ignore '' leaves it out"
            raise FormatError(f"{at(block.path, block.lines[wrong[0]])}: {rule}. {got}.")
        self._next_index += len(cells)

    def _require_empty(self, block: CsvBlock, place: int, cells: npt.NDArray[np.float64] | Texts) -> None:
        codes, texts = cells
        held = np.flatnonzero(codes >= 0)
        if len(held):
            where = at(block.path, block.lines[held[0]])
            rule = f"column {place + 1} must have a name, or be empty"
            way_out = "ignore=[''] or --ignore '' leaves out columns without a name"
            raise FormatError(f"{where}: {rule}. Got {show(str(texts[codes[held[0]]]))}; {way_out}.")


def format_csv(X: Features, Y: Indicator, names: Sequence[str], keys: Keys | None = None) -> Iterator[str]:
    """Write a table as the text of a CSV file, piece by piece; numbers are read back as the same bits.

    Labels come first, then features, then keys.

    The cell of an unknown label is empty. Names that a spreadsheet would take for a formula begin with an apostrophe,
    which `read_csv` takes off again. Raises ValueError if X is not of float32 or float64, or holds NaN or infinity, or
    a name has more than one line or a zero byte.
    """
    broken = [name for name in names if _BROKEN.search(name)]
    if broken:
        raise ValueError(f"Names must be of one line, without zero bytes, to be written as CSV. Got {broken[0]!r}.")
    head = ",".join(map(quote, map(guard_text, names)))
    if keys is None:
        yield f"{head}\n"
        yield from format_dense_rows(X, Y)
        return
    cells = format_keys(keys)
    yield f"{head},{next(cells)}\n"
    for piece in format_dense_rows(X, Y):
        yield "".join(f"{row},{key}\n" for row, key in zip(piece.splitlines(), cells, strict=False))
