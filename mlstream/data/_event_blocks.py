"""Blocks of events, from CSV or JSON lines: their cells are times, text and numbers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, at, show, unguard_text
from mlstream.data.events import EventColumn, Numbers, TextColumn, Times
from mlstream.formats.csv_blocks import CsvBlock, Texts, iterate_blocks
from mlstream.formats.csv_dialects import CsvDialect, read_header
from mlstream.formats.lines import Lines
from mlstream.streams.stream import Index
from mlstream.streams.tables.arrays import Growing
from mlstream.streams.tables.table import to_number
from mlstream.streams.tables.text_columns import is_rounded

# Of JSON lines; a block of CSV has 4 MiB.
_N_ROWS = 16384
_MAX_COLUMNS = 1000
TABLES = (".csv", ".tsv")
_SUFFIXES = (*TABLES, ".jsonl", ".ndjson", ".json")
_MICROSECOND = timedelta(microseconds=1)
_NO_TIME = int(np.iinfo(np.int64).min)
# Since 1970. Seconds below this bound end in the year 5138, and milliseconds above it begin in 1973.
_MAX_SECONDS = 1e11
_SECONDS, _MILLISECONDS = 1_000_000, 1000


def read_csv(
    lines: Lines, time: str, wanted: Collection[str] | None, texts: Collection[str], dialect: CsvDialect
) -> Iterator[Block]:
    """Read a log in CSV in blocks, none of them empty.

    `wanted` None means all columns. Those in `texts`, to which more may be added between blocks, are read as texts,
    and `time` must be among them. A FormatError names the line.
    """
    header = read_header(lines, dialect)
    _require_width(lines.path, lines.n_read, header.width)
    places = {name: place for place, name in enumerate(header.names) if wanted is None or name in wanted}
    n_blank = 0
    for block in iterate_blocks(lines, header):
        found = block.read(places.values(), [place for name, place in places.items() if name in texts])
        numbers = block.lines
        if time in places and (cast(Texts, found[places[time]]).codes < 0).any():
            found, numbers = _leave_out_blank(block, list(places.values()))
            n_blank += len(block.lines) - len(numbers)
        if len(numbers):
            yield Block(lines.path, numbers, {name: found[place] for name, place in places.items()}, unguard_text)
    if n_blank:
        warnings.warn(f"{lines.path}: rows without any value were left out: {n_blank}.", stacklevel=2)


def _leave_out_blank(block: CsvBlock, places: list[int]) -> tuple[Mapping[int, Texts], npt.NDArray[np.int64]]:
    """Read columns of a block as texts, without the rows of separators that spreadsheets write for an empty line."""
    held = ~block.find_blank()
    found = {place: Texts(codes[held], values) for place, (codes, values) in block.find_texts(places, places).items()}
    return found, block.lines[held]


def read_json(lines: Lines, wanted: Collection[str] | None, first_line: int = 1) -> Iterator[Block]:
    """Read a log in JSON lines, all columns as texts; as `read_csv`."""
    numbered = ((number, line) for number, line in enumerate(lines.head(), first_line) if line and not line.isspace())
    # Names in the order of their first occurrence.
    names: dict[str, None] = {}
    while taken := list(islice(numbered, _N_ROWS)):
        rows = []
        for number, line in taken:
            rows.append(_read_object(line, wanted, at(lines.path, number)))
            names |= dict.fromkeys(rows[-1])
            _require_width(lines.path, number, len(names))
        columns = {name: TextColumn.encode(row.get(name, "") for row in rows) for name in names}
        cells = {name: Texts(codes.astype(np.int32), list(values)) for name, (codes, values) in columns.items()}
        yield Block(lines.path, np.array([number for number, _ in taken]), cells, str)


def _read_object(line: str, wanted: Collection[str] | None, where: str) -> dict[str, str]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: an event must be a JSON object. Got: {error}.") from None
    if not isinstance(fields, dict):
        raise FormatError(f"{where}: an event must be a JSON object. Got {show(line)}.")
    cells: dict[str, str] = {}
    for name, value in _flatten(fields, ""):
        if wanted is not None and name not in wanted:
            continue
        if isinstance(value, list):
            raise FormatError(
                f"{where}: column {show(name)} must hold text or numbers; `columns` leaves others out. Got a list."
            )
        if name in cells:
            raise FormatError(f"{where}: names of columns must differ. Got {show(name)} twice.")
        cells[name] = _to_cell(value)
    return cells


def _flatten(fields: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _to_cell(value: object) -> str:
    if isinstance(value, str):
        return value
    # Python writes NaN for a missing number.
    return "" if value is None or value != value else str(value).lower()  # noqa: PLR0124


def require_suffix(path: Path, suffix: str) -> str:
    """Return the ending of a path in small letters, or raise an error if no log of events ends so."""
    if suffix.lower() not in _SUFFIXES:
        raise FormatError(f"{path} must end in {', '.join(_SUFFIXES)}. Got {suffix!r} instead.")
    return suffix.lower()


def _require_width(path: Path, line: int, n_columns: int) -> None:
    if n_columns > _MAX_COLUMNS:
        raise FormatError(f"{at(path, line)}: a log must have at most {_MAX_COLUMNS} columns. Got {n_columns}.")


class Block(NamedTuple):
    """Some events of a file."""

    path: Path  # For errors.
    lines: Index  # Line of each event, from 1.
    cells: Mapping[str, Texts | Numbers]  # The columns by name.
    clean: Callable[[str], str]  # Applied to each distinct text.

    def fail(self, row: int, column: str, rule: str) -> FormatError:
        """Return the error of one cell of a column of texts."""
        codes, texts = cast(Texts, self.cells[column])
        got = show(texts[codes[row]] if codes[row] >= 0 else "")
        return FormatError(f"{at(self.path, self.lines[row])}: column {show(column)} {rule}. Got {got}.")


class TimeReader:
    """The times of a log, in microseconds; the first event determines how all are written.

    `max_delay_us` is how far an event may lie before the latest one so far; None for any distance.
    """

    def __init__(self, column: str, max_delay_us: int | None) -> None:
        self.column = column
        self._max_delay_us = max_delay_us
        self._parse: Callable[[str], int] | None = None
        self._rule = ""
        self._times = Growing(np.int64)
        self._latest = np.iinfo(np.int64).min

    def extend(self, block: Block) -> None:
        """Append the times of a block."""
        if self.column not in block.cells:
            raise FormatError(f"time must name a column of {block.path}. Got {self.column!r}, which is not one.")
        codes, texts = cast(Texts, block.cells[self.column])
        if self._parse is None:
            self._parse, self._rule = _choose_parser(texts[codes[0]].strip() if codes[0] >= 0 else "")
        times = np.array([*map(self._read, texts), _NO_TIME], np.int64)[codes]
        if len(wrong := np.flatnonzero(times == _NO_TIME)):
            raise block.fail(int(wrong[0]), self.column, f"must be {self._rule}")
        self._require_order(times, block)
        self._times.extend(times)

    def take(self) -> Times:
        """Return all times, in the order of the file."""
        return self._times.take().view("datetime64[us]")

    def _read(self, text: str) -> int:
        try:
            return self._parse(text.strip())  # type: ignore[misc]
        except (ValueError, TypeError, OverflowError):
            return _NO_TIME

    def _require_order(self, times: Index, block: Block) -> None:
        latest = np.maximum.accumulate(np.concatenate([[self._latest], times]))
        self._latest = int(latest[-1])
        if self._max_delay_us is None:
            return
        late = np.flatnonzero(latest[1:] > times + self._max_delay_us)
        if len(late):
            row = int(late[0])
            delay = timedelta(microseconds=int(latest[row + 1] - times[row]))
            codes, texts = cast(Texts, block.cells[self.column])
            raise FormatError(
                f"{at(block.path, block.lines[row])}: an event must lie at most max_delay before the latest one so "
                f"far; 'any' sorts all. Got {texts[codes[row]]!r}, {delay} before it."
            )


def _choose_parser(first: str) -> tuple[Callable[[str], int], str]:
    """Choose how times are written: seconds or milliseconds since 1970, or ISO 8601 with or without a time zone."""
    number = to_number(first)
    if number is not None:
        scale = _SECONDS if abs(number) < _MAX_SECONDS else _MILLISECONDS
        unit = "seconds" if scale == _SECONDS else "milliseconds"
        return partial(_parse_number, scale=scale), f"{unit} since 1970 as a number, as in the first event"
    try:
        zone = datetime.fromisoformat(first).tzinfo and UTC
    except ValueError:
        zone, rule = UTC, "a time in ISO 8601, or seconds or milliseconds since 1970"
    else:
        rule = f"a time in ISO 8601 {'with' if zone else 'without'} a time zone, as in the first event"
    return partial(_parse_time, epoch=datetime(1970, 1, 1, tzinfo=zone)), rule


def _parse_number(cell: str, scale: int) -> int:
    number = to_number(cell)
    if number is None or abs(number) * scale >= _MAX_SECONDS * _SECONDS:
        raise ValueError(cell)
    return round(number * scale)


def _parse_time(cell: str, epoch: datetime) -> int:
    return (datetime.fromisoformat(cell) - epoch) // _MICROSECOND


class ColumnReader:
    """A column of texts, or of numbers: NaN where a cell is empty."""

    def __init__(self, cells: Texts | Numbers, *, is_text: bool) -> None:
        """Choose numbers if all of the first cells that are not empty are numbers."""
        numbers, wrong = _to_numbers(cells)
        self.is_text = is_text or len(wrong) > 0 or bool(np.isnan(numbers).all())
        self._cells = Growing(np.int64 if self.is_text else np.float64)
        self._texts: dict[str, int] = {}

    def extend(self, column: str, block: Block) -> None:
        """Append the cells of a block."""
        cells = block.cells[column]
        if self.is_text:
            self._cells.extend(self._encode(cells, block.clean))
            return
        numbers, wrong = _to_numbers(cells)
        if len(wrong):
            rule = "must be a number, as before, and exact as a float; the option text names columns that are text"
            raise block.fail(int(wrong[0]), column, rule)
        self._cells.extend(numbers)

    def skip(self, n_events: int) -> None:
        """Append empty cells."""
        self._cells.extend(np.full(n_events, -1 if self.is_text else np.nan))

    def take(self) -> EventColumn:
        """Return the column."""
        cells = self._cells.take()
        return TextColumn(cells, tuple(self._texts)) if self.is_text else cells

    def _encode(self, cells: Texts | Numbers, clean: Callable[[str], str]) -> Index:
        if not isinstance(cells, Texts):
            # The first block, without a text.
            return np.full(len(cells), -1)
        codes = np.full(len(cells.values) + 1, -1)
        # Blanks, and words for missing values between them, are among the values, too.
        for code in np.unique(cells.codes[cells.codes >= 0]).tolist():
            codes[code] = self._texts.setdefault(clean(cells.values[code]), len(self._texts))
        return codes[cells.codes]


def _to_numbers(cells: Texts | Numbers) -> tuple[Numbers, Index]:
    """Return the numbers of a column, and the rows that hold anything else, or a number that would be rounded."""
    if not isinstance(cells, Texts):
        return cells, np.empty(0, np.int64)
    found = [None if is_rounded(text) else to_number(text) for text in cells.values]
    numbers = np.array([*found, None], np.float64)[cells.codes]
    return numbers, np.flatnonzero(np.isnan(numbers) & (cells.codes >= 0))
