"""Events of a log as arrays: whose they are, what they count for, their numbers, and those that wait for others."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mlstream.data.events import Events, Numbers, TextColumn
from mlstream.generators.from_events.features import Fields, stack
from mlstream.generators.from_events.windows import NO_HOST
from mlstream.streams.stream import Index
from mlstream.streams.tables.table import to_number

_EPOCH, _EPOCH_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
# Seconds since 1970 lie below, milliseconds above; as in the files of logs.
_MAX_SECONDS = 1e11
_TEXTS = frozenset({str, type(None)})
_NUMBERS = frozenset({float, int, np.float64})
# Of names that keys do not hold: zero bytes, halves of characters.
_BROKEN = re.compile("[\0\ud800-\udfff]")

Cells: TypeAlias = tuple[int, Sequence[str | None], Sequence[float]]
# So many events of a window may wait before they are added to it.
MAX_PENDING = 4096


class Numbering(dict[str | None, int]):
    """The numbers of names, in the order in which they are looked up first; None is the empty name."""

    def __init__(self, none: Sequence[str] = ()) -> None:
        super().__init__(dict.fromkeys(none, -1))
        self.names: list[str] = []

    def __missing__(self, name: str | None) -> int:
        if name is None:
            number = self[""]
        else:
            number = len(self.names)
            self.names.append(name)
        self[name] = number
        return number


class Hosts(Numbering):
    """The numbers of hosts; an empty name is called as in the batch form."""

    def __missing__(self, name: str | None) -> int:
        if name:
            return super().__missing__(name)
        number = self[name] = self[NO_HOST]
        return number


class _Places(dict[str | None, int]):
    """The features of the values that are counted; `rest` is that of all others."""

    def __init__(self, places: Mapping[str | None, int], rest: int) -> None:
        super().__init__(places)
        self.rest = rest

    def __missing__(self, _name: str | None) -> int:
        return self.rest


class Codebook:
    """Numbers for the texts of events: the features that count them, and their group and label, if there are any."""

    def __init__(self, fields: Fields, benign: Sequence[str], *, has_groups: bool, has_labels: bool) -> None:
        self.groups, self.labels = Hosts(), Numbering(["", *benign])
        self.n_categories, self.has_groups, self.has_labels = len(fields.categories), has_groups, has_labels
        roles = [*([self.groups] if has_groups else []), *([self.labels] if has_labels else [])]
        self.numberings = [*(_Places(places, rest) for places, rest in fields.places), *roles]

    def encode_columns(self, columns: Sequence[TextColumn], n_events: int) -> Index:
        """Return the codes of a chunk."""
        codes = [_encode(column, numbers) for column, numbers in zip(columns, self.numberings, strict=True)]
        return stack(codes, n_events, np.int64)

    def require_hosts(self, names: Iterable[str | None]) -> None:
        """Raise ValueError if a host that was not seen yet cannot be a key."""
        for name in names:
            if name and name not in self.groups and (not name.strip() or _BROKEN.search(name)):
                raise ValueError(
                    "The name of a host must be text that UTF-8 can hold, without zero bytes, or empty. "
                    "Got another, or blanks only; repair it."
                )

    def split(self, codes: Index) -> tuple[Index, Index, Index]:
        """Return the features that count each event, its group, and its label, or -1."""
        groups = codes[:, self.n_categories] if self.has_groups else np.zeros(len(codes), np.int64)
        labels = codes[:, -1] if self.has_labels else np.full(len(codes), -1)
        return codes[:, : self.n_categories], groups, labels


def _encode(column: TextColumn, numbers: Mapping[str | None, int]) -> Index:
    """Return the numbers of the cells of a column, whose values are looked up in the order of first occurrence."""
    found, first = np.unique(column.codes, return_index=True)
    codes = np.empty(len(column.values) + 1, np.int64)
    for code in found[np.argsort(first)].tolist():
        codes[code] = numbers[column.values[code] if code >= 0 else ""]
    return codes[column.codes]


class EventReader:
    """Reads the columns that are needed of single events and of chunks."""

    def __init__(self, time: str, by: str | None, labels: str | None, fields: Fields) -> None:
        roles = [(name, role) for name, role in ((by, "by"), (labels, "labels")) if name is not None]
        self._time, self._numbers = time, fields.numbers
        self._roles = [*((name, "categories") for name in fields.categories), *roles]
        self._texts = tuple(name for name, _ in self._roles)
        self._last = 1 + len(self._texts)
        # Of one name, it would return no tuple.
        self._cells_of: Callable[[Any], tuple[Any, ...]] = itemgetter(*(time, *self._texts, *self._numbers, time))

    def read(self, event: Mapping[str, object]) -> Cells:
        """Return the time of an event in microseconds, its texts, and its numbers."""
        try:
            cells = self._cells_of(event)
        except (LookupError, TypeError):
            raise self._name_missing(event) from None
        texts: Sequence[str | None] = cells[1 : self._last]
        numbers: Sequence[float] = cells[self._last : -1]
        if not _TEXTS.issuperset(map(type, texts)):
            texts = [_read_text(cell, name) for cell, name in zip(texts, self._texts, strict=True)]
        try:
            are_plain = _NUMBERS.issuperset(map(type, numbers)) and math.isfinite(sum(numbers))
        except OverflowError:
            are_plain = False
        if not are_plain:
            numbers = [_read_number(cell, name) for cell, name in zip(numbers, self._numbers, strict=True)]
        return read_time(cells[0], self._time), texts, numbers

    def _name_missing(self, event: object) -> ValueError:
        if not isinstance(event, Mapping):
            return ValueError(f"An event must be a mapping of columns, or Events. Got {type(event).__name__} instead.")
        missing = next(name for name in (self._time, *self._texts, *self._numbers) if name not in event)
        return ValueError(
            f"An event must hold column {missing!r}, None where its cell is empty. Got {', '.join(map(str, event))}."
        )

    def columns(self, events: Events) -> tuple[list[TextColumn], list[Numbers]]:
        """Return the columns of text and those of numbers of a chunk."""
        return [events.texts(*role) for role in self._roles], [
            events.numbers(name, "numbers") for name in self._numbers
        ]


def read_block(columns: tuple[list[TextColumn], list[Numbers]], times: Index, own: Index, codebook: Codebook) -> Block:
    """Return some events of a chunk."""
    texts, numbers = columns
    codes = codebook.encode_columns([column._replace(codes=column.codes[own]) for column in texts], len(own))
    return Block(times[own], codes, stack([column[own] for column in numbers], len(own), np.float64))


def read_time(time: object, name: str) -> int:
    """Return a time in microseconds since 1970; without a zone it is UTC.

    `name` is what the ValueError names.
    """
    if isinstance(time, datetime):
        passed = time - (_EPOCH if time.tzinfo is None else _EPOCH_UTC)
        return (passed.days * 86400 + passed.seconds) * 1_000_000 + passed.microseconds
    try:
        if isinstance(time, str):
            return _from_text(time.strip())
        if isinstance(time, np.datetime64):
            return _from_datetime64(time)
        if isinstance(time, Real) and not isinstance(time, bool):
            return _from_number(float(time))
    except (ValueError, OverflowError):
        pass
    raise ValueError(
        f"{name} must be a time: a datetime, text in ISO 8601, numpy.datetime64, or seconds or milliseconds since "
        f"1970. Got {time!r} instead."
    )


def _from_text(text: str) -> int:
    number = None if text[4:5] == "-" else to_number(text)
    return read_time(datetime.fromisoformat(text), "") if number is None else _from_number(number)


def _from_datetime64(time: np.datetime64) -> int:
    if np.isnat(time):
        raise ValueError(time)
    return int(time.astype("datetime64[us]").astype(np.int64))


def _from_number(number: float) -> int:
    if not abs(number) < _MAX_SECONDS * 1000:
        raise ValueError(number)
    return round(number * (1_000_000 if abs(number) < _MAX_SECONDS else 1000))


def _read_text(cell: object, name: str) -> str:
    """Read a text, or what a file of a log holds in a column of text: a number without needless digits."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, bool | np.bool | Integral):
        return str(cell).lower()
    if isinstance(cell, Real):
        return "" if math.isnan(cell) else repr(float(cell)).removesuffix(".0")
    raise ValueError(f"Column {name!r} must hold text or numbers. Got {cell!r} of type {type(cell).__name__} instead.")


def _read_number(cell: object, name: str) -> float:
    """Read a finite number, or text that is one; NaN for an empty cell."""
    if cell is None or cell == "":
        return math.nan
    number = to_number(cell) if isinstance(cell, str) else _to_float(cell)
    if number is None or math.isinf(number):
        raise ValueError(f"Column {name!r} must hold finite numbers, or None. Got {cell!r} instead.")
    return number


def _to_float(cell: object) -> float | None:
    try:
        return float(cell) if isinstance(cell, Real) and not isinstance(cell, bool | np.bool) else None
    except OverflowError:
        return None


class Block(NamedTuple):
    """Some events."""

    times: Index  # (n_events,), in microseconds since 1970
    codes: Index  # (n_events, n_texts): what `Codebook` makes of each text
    values: Numbers  # (n_events, n_numbers)

    def take(self, events: Index | slice) -> Block:
        """Return some of the events."""
        return Block(self.times[events], self.codes[events], self.values[events])

    @staticmethod
    def join(blocks: Sequence[Block]) -> Block:
        """Put blocks one after the other, sort by time; events of equal times keep their order."""
        block = blocks[0] if len(blocks) == 1 else Block(*map(np.concatenate, zip(*blocks, strict=True)))
        is_sorted = (block.times[1:] >= block.times[:-1]).all()
        return block if is_sorted else block.take(np.argsort(block.times, kind="stable"))


class Pending:
    """Events of a window that wait, in the order in which they came."""

    def __init__(self, n_texts: int, n_numbers: int) -> None:
        # With so many in arrays, it is worth while to look which of them are ready.
        self.limit = 0
        self.times: list[int] = []
        self.codes: list[int] = []
        self.values: list[float] = []
        self.packed: list[Block] = []
        self._widths = n_texts, n_numbers

    def extend(self, block: Block) -> None:
        """Append a block."""
        self.times += block.times.tolist()
        self.codes += block.codes.ravel().tolist()
        self.values += block.values.ravel().tolist()

    def hold(self, block: Block) -> None:
        """Keep a block until there are twice as many events."""
        self.packed, self.limit = [block], 2 * len(block.times)

    def pack(self) -> bool:
        """Keep the events in arrays, which take less memory, and return whether there are many."""
        if n := len(self.times):
            codes, values = np.array(self.codes, np.int64), np.array(self.values, np.float64)
            n_texts, n_numbers = self._widths
            times = np.array(self.times, np.int64)
            self.packed.append(Block(times, codes.reshape(n, n_texts), values.reshape(n, n_numbers)))
            self.times, self.codes, self.values = [], [], []
        return sum(len(block.times) for block in self.packed) >= self.limit


class Waiting:
    """The events that wait, by window."""

    def __init__(self, width_us: int, n_texts: int, n_numbers: int) -> None:
        self.by_window: dict[int, Pending] = {}
        self._width = width_us
        self._widths = n_texts, n_numbers

    def of(self, window: int) -> Pending:
        """Return the events of a window."""
        return self.by_window.setdefault(window, Pending(*self._widths))

    def extend(self, block: Block) -> list[int]:
        """Let a block wait, which is in the order of time, and return its windows."""
        windows = block.times // self._width
        bounds = [0, *(np.flatnonzero(np.diff(windows)) + 1).tolist(), len(windows)] if len(windows) else []
        for start, stop in pairwise(bounds):
            self.of(int(windows[start])).extend(block.take(slice(start, stop)))
        return windows[bounds[:-1]].tolist() if bounds else []

    def pack(self, windows: Iterable[int], watermark: int) -> bool:
        """Pack the events of windows, if many wait; return whether some of them may be ready."""
        full = [window for window in windows if len(self.by_window[window].times) >= MAX_PENDING]
        many = [window for window in full if self.by_window[window].pack()]
        return any(window <= watermark // self._width for window in many)

    def take_ready(self, watermark: int, blocks: Sequence[Block] = ()) -> Block | None:
        """Return the events that wait, and those of blocks, up to the watermark, in the order of time, if any."""
        now = watermark // self._width
        ready = []
        for window in sorted(window for window in self.by_window if window <= now):
            pending = self.by_window.pop(window)
            pending.pack()
            ready += pending.packed
        ready += [block for block in blocks if len(block.times)]
        if not ready:
            return None
        block = Block.join(ready)
        n_ready = int(np.searchsorted(block.times, watermark, side="right"))
        if n_ready < len(block.times):
            self.of(now).hold(block.take(slice(n_ready, None)))
        return block.take(slice(n_ready))

    def blocks(self) -> Iterable[tuple[int, Block]]:
        """Yield all events, with their window."""
        for window, pending in self.by_window.items():
            pending.pack()
            yield from ((window, block) for block in pending.packed)
