"""Cells of a log of events, read block by block: times, text and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, at, show
from mlstream.data.events import Numbers, TextColumn, Times
from mlstream.streams.stream import Index
from mlstream.streams.tables._growing_arrays import Growing
from mlstream.streams.tables.table import to_number

_MICROSECOND = timedelta(microseconds=1)
# Since 1970. Seconds below this bound end in the year 5138, and milliseconds above it begin in 1973.
_MAX_SECONDS = 1e11
_SECONDS, _MILLISECONDS = 1_000_000, 1000


class Block(NamedTuple):
    """Some events of a file as text."""

    path: Path  # For errors.
    lines: Sequence[int]  # Line of each event, from 1.
    cells: Mapping[str, Sequence[str]]  # The cells of each column by name; empty where there is no value.
    clean: Callable[[str], str]  # Applied to each distinct text.

    def fail(self, row: int, column: str, rule: str) -> FormatError:
        """Return the error of one cell."""
        got = show(self.cells[column][row])
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
        cells = block.cells.get(self.column)
        if cells is None:
            raise FormatError(f"time must name a column of {block.path}. Got {self.column!r}, which is not one.")
        if self._parse is None:
            self._parse, self._rule = _choose_parser(cells[0])
        try:
            times = np.array([self._parse(cell) for cell in cells], np.int64)
        except (ValueError, TypeError, OverflowError):
            raise block.fail(self._find_wrong(cells), self.column, f"must be {self._rule}") from None
        self._require_order(times, block)
        self._times.extend(times)

    def take(self) -> Times:
        """Return all times, in the order of the file."""
        return self._times.take().view("datetime64[us]")

    def _find_wrong(self, cells: Sequence[str]) -> int:
        for row, cell in enumerate(cells):
            try:
                self._parse(cell)  # type: ignore[misc]
            except (ValueError, TypeError, OverflowError):
                return row
        return 0

    def _require_order(self, times: Index, block: Block) -> None:
        latest = np.maximum.accumulate(np.concatenate([[self._latest], times]))
        self._latest = int(latest[-1])
        if self._max_delay_us is None:
            return
        late = np.flatnonzero(latest[1:] > times + self._max_delay_us)
        if len(late):
            row = int(late[0])
            delay = timedelta(microseconds=int(latest[row + 1] - times[row]))
            raise FormatError(
                f"{at(block.path, block.lines[row])}: an event must lie at most max_delay before the latest one so "
                f"far; 'any' sorts all. Got {block.cells[self.column][row]!r}, {delay} before it."
            )


def _choose_parser(first: str) -> tuple[Callable[[str], int], str]:
    """Choose how times are written: seconds or milliseconds since 1970, or ISO 8601 with or without a time zone."""
    number = to_number(first)
    if number is not None:
        scale = _SECONDS if abs(number) < _MAX_SECONDS else _MILLISECONDS
        unit = "seconds" if scale == _SECONDS else "milliseconds"
        return lambda cell: _parse_number(cell, scale), f"{unit} since 1970 as a number, as in the first event"
    try:
        is_aware = datetime.fromisoformat(first).tzinfo is not None
    except ValueError:
        return _parse_aware, "a time in ISO 8601, or seconds or milliseconds since 1970"
    zone = "with" if is_aware else "without"
    return _parse_aware if is_aware else _parse_naive, f"a time in ISO 8601 {zone} a time zone, as in the first event"


def _parse_number(cell: str, scale: int) -> int:
    number = to_number(cell)
    if number is None or abs(number) * scale >= _MAX_SECONDS * _SECONDS:
        raise ValueError(cell)
    return round(number * scale)


def _parse_aware(cell: str, epoch: datetime = datetime(1970, 1, 1, tzinfo=UTC)) -> int:
    return (datetime.fromisoformat(cell) - epoch) // _MICROSECOND


def _parse_naive(cell: str, epoch: datetime = datetime(1970, 1, 1)) -> int:
    return (datetime.fromisoformat(cell) - epoch) // _MICROSECOND


class TextReader:
    """A column of text; `clean` is applied to each distinct text."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._index = _TextIndex(clean)
        self._codes = Growing(np.int64)

    def extend(self, column: str, block: Block) -> None:
        """Append the cells of a block."""
        self._codes.extend(np.array([self._index[cell] for cell in block.cells[column]], np.int64))

    def skip(self, n_events: int) -> None:
        """Append empty cells."""
        self._codes.extend(np.full(n_events, -1))

    def take(self) -> TextColumn:
        """Return the column."""
        return TextColumn(self._codes.take(), tuple(self._index.codes)[1:])


class _TextIndex(dict[str, int]):
    """The code of each cell; one that is not there yet gets the next code."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        super().__init__()
        self._clean = clean
        self.codes = {"": -1}

    def __missing__(self, cell: str) -> int:
        code = self[cell] = self.codes.setdefault(self._clean(cell), len(self.codes) - 1)
        return code


class NumberReader:
    """A column of numbers; empty cells are NaN."""

    def __init__(self) -> None:
        self._numbers = Growing(np.float64)

    def extend(self, column: str, block: Block) -> None:
        """Append the cells of a block."""
        cells = block.cells[column]
        numbers = _to_numbers(cells)
        wrong = next((row for row in np.flatnonzero(np.isnan(numbers)).tolist() if cells[row]), None)
        if wrong is not None:
            rule = "must be a number, as before; the option text names columns that are text"
            raise block.fail(wrong, column, rule)
        self._numbers.extend(numbers)

    def skip(self, n_events: int) -> None:
        """Append empty cells."""
        self._numbers.extend(np.full(n_events, np.nan))

    def take(self) -> Numbers:
        """Return the column."""
        return self._numbers.take()


def start_column(name: str, block: Block, *, is_text: bool) -> TextReader | NumberReader:
    """Choose the reader of a column: numbers if all cells of its first block that are not empty are numbers."""
    given = [cell for cell in block.cells[name] if cell]
    if is_text or not given or np.isnan(_to_numbers(given)).any():
        return TextReader(block.clean)
    return NumberReader()


def _to_numbers(cells: Sequence[str]) -> npt.NDArray[np.float64]:
    """Convert cells as `to_number` does, to NaN where it finds no number; many plain ones in half of the time."""
    text = "".join(cells)
    if text.isascii() and "_" not in text:
        with suppress(ValueError):
            numbers = np.array(list(map(float, cells)))
            if np.isfinite(numbers).all():
                return numbers
    return np.array([to_number(cell) for cell in cells], np.float64)
