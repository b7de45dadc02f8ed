"""Cells of a log of events, read block by block: times, text and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from mlstream._support.content import FormatError, at, show
from mlstream.data.events import EventColumn, Numbers, TextColumn, Times
from mlstream.formats.csv_blocks import Texts
from mlstream.streams.stream import Index
from mlstream.streams.tables.arrays import Growing
from mlstream.streams.tables.table import to_number
from mlstream.streams.tables.text_columns import is_rounded

_MICROSECOND = timedelta(microseconds=1)
_NO_TIME = int(np.iinfo(np.int64).min)
# Since 1970. Seconds below this bound end in the year 5138, and milliseconds above it begin in 1973.
_MAX_SECONDS = 1e11
_SECONDS, _MILLISECONDS = 1_000_000, 1000


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
