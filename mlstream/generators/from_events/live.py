"""The table of windows of a log that goes on, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from datetime import timedelta
from operator import getitem
from threading import RLock
from types import MappingProxyType

import numpy as np

from estimators._typing import Attributes
from estimators.contract.durations import parse_duration
from metrics.validation import require_choice
from mlstream.data.events import Events
from mlstream.generators._parameters import require_count
from mlstream.generators.from_events.features import (
    BLOCK,
    STATISTICS,
    Clock,
    Statistic,
    Vocabulary,
    listed,
    make_fields,
    refuse_labels,
)
from mlstream.generators.from_events.live_events import (
    MAX_PENDING,
    Block,
    Codebook,
    EventReader,
    Pending,
    Waiting,
    read_block,
    read_time,
)
from mlstream.generators.from_events.open_windows import OpenWindows, Rows
from mlstream.generators.from_events.windows import Empty, WindowRule, window_keys
from mlstream.streams.keys import Keys
from mlstream.streams.stream import Dataset, Index

_NEVER, _ALWAYS = -(2**63), 2**63 - 1
# A longer time is as good as any, and sums of it and a time of today have 64 bits.
_LONGEST = 2**62
# A clock that moves further is looked at before it moves, where windows without events have rows.
_FEW_WINDOWS = 1000


class LiveWindows:
    """Turn events into rows of a multi-label table as they come: the incremental form of `windowed`.

    A row is given as soon as no event that counts for it can come any more. However the events are cut into calls, all
    rows together are those of `windowed` for the whole log, bit for bit.

    Parameters
    ----------
    every : str
        Length of a window: a whole number and a unit (ms, s, min, h, d), such as "10min".
    by : str, optional
        The column whose values have rows of their own, such as the host; without one, all events of a window make one
        row.
    labels : str, optional
        The column of labels; without one, rows have no labels.
    horizon : int
        With 0, a row's label set is that of its own window, with 1 that of the next window of the same host, and so on.
        A row is given when the window of its labels is over.
    benign : sequence of str
        Values of the column of labels that stand for no label, beside an empty cell.
    categories : mapping of str to sequence of str
        Columns whose values are counted, with the values that have a count of their own; all others are counted
        together. The most frequent values, which `windowed` can find, are not known before the log is over.
    numbers : sequence of str
        Columns whose numbers are summarised.
    statistics : sequence of {"mean", "min", "max", "sum"}
        The summaries of each column of numbers; 0 where the window holds no number.
    clock : sequence of {"day", "week"}
        Sine and cosine of the time of day, and of the week, at which the window starts, in UTC.
    time_column : str, optional
        Name of a feature with the start of the window, in seconds since 1970.
    empty : {"drop", "keep"}
        Whether windows without events have rows, from the first event of a host on.
    time : str
        The column of times of single events; `Events` hold their own.
    max_delay : str
        How far an event may lie before the newest one, such as "5min"; rows wait so long. Events that come later are
        dropped and counted.
    max_gap : str
        How far an event may lie after the newest one; a later time is an error, since it often is a wrong clock that
        would close all windows.

    Attributes
    ----------
    n_events_ : int
        Number of events that were taken.
    n_late_ : int
        Number of events that were dropped because they came later than `max_delay`.
    n_open_ : int
        Number of windows of hosts with events that are not given, or whose labels a row waits for.

    Raises
    ------
    ValueError
        If an option is wrong, names of features are not distinct, or `categories` or `numbers` hold the column of
        labels with ``horizon=0``.

    See Also
    --------
    windowed : The same for a log that is over.

    Notes
    -----
    The state holds sums of open windows, and the events that wait because an earlier one may still come: within
    `max_delay`, and at most 4,096 of a window beyond it. It also holds the names of all hosts and labels so far. It can
    be pickled at any time, and continues exactly. Calls from several threads wait for each other.

    Labels have columns in the order of their first occurrence: a new label is a new last column, so that a learner may
    grow. Keys are those of `windowed`: the host, and the ``start`` of the window. A field with the name of a feature or
    a label has an underscore behind it, from the first such label on. Rows are in the order of time, those of one
    window in the order in which their hosts first occur.

    Examples
    --------
    >>> live = LiveWindows("10min", by="host", labels="threat", numbers=["bytes"], statistics=["sum"], clock=[])
    >>> live.update({"time": "2026-01-01T00:01", "host": "a", "threat": "scan", "bytes": 40}).n_samples
    0
    >>> rows = live.update({"time": "2026-01-01T00:11", "host": "a", "threat": None, "bytes": 10})
    >>> rows.feature_names, rows.X.tolist(), rows.Y.tolist()
    (('events', 'bytes_sum'), [[1.0, 40.0]], [[1]])
    >>> live.close().X.tolist()
    [[1.0, 10.0]]
    """

    def __init__(  # noqa: PLR0913 - the options of `windowed`, and those of time
        self,
        every: str,
        *,
        by: str | None = None,
        labels: str | None = None,
        horizon: int = 0,
        benign: Sequence[str] = (),
        categories: Mapping[str, Sequence[str]] = MappingProxyType({}),
        numbers: Sequence[str] = (),
        statistics: Sequence[Statistic] = STATISTICS,
        clock: Sequence[Clock] = ("day",),
        time_column: str | None = None,
        empty: Empty = "drop",
        time: str = "time",
        max_delay: str = "0s",
        max_gap: str = "1d",
    ) -> None:
        require_choice(empty, "empty", ("drop", "keep"))
        self._rule = WindowRule(parse_duration(every, "every"), require_count(horizon, "horizon", minimum=0), empty)
        self._width = self._rule.width_us
        self._max_delay = min(parse_duration(max_delay, "max_delay", minimum=0), _LONGEST)
        self._max_gap = min(parse_duration(max_gap, "max_gap"), _LONGEST)
        self._quiet = min(self._max_gap, _FEW_WINDOWS * self._width) if empty == "keep" else self._max_gap
        if not isinstance(categories, Mapping):
            raise ValueError(  # noqa: TRY004 - as documented
                f"categories must be a mapping: the values of each column. Got {categories!r} instead."
            )
        counted = {
            name: Vocabulary(tuple(listed(values, f"categories[{name!r}]")), has_other=True)
            for name, values in categories.items()
        }
        fields = make_fields(counted, listed(numbers, "numbers"), statistics, clock, time_column)
        if labels is not None and not horizon:
            refuse_labels(fields, labels)
        self._by = by
        self._name, self._feature_names = f"events-{every.replace(' ', '')}", fields.names
        self._reader = EventReader(time, by, labels, fields)
        has_labels = labels is not None
        self._codebook = Codebook(fields, listed(benign, "benign"), has_groups=by is not None, has_labels=has_labels)
        self._numberings, self._host = self._codebook.numberings, len(categories)
        self._windows = OpenWindows(fields, self._rule, self._codebook)
        self._waiting = Waiting(self._width, len(self._numberings), len(fields.numbers))
        # No event before the watermark may come any more; when it reaches the due time, a window is over.
        self._newest, self._watermark, self._due = _NEVER, _NEVER, _ALWAYS
        self._is_closed = False
        self.n_events_, self.n_late_ = 0, 0
        self._lock = RLock()
        self._nothing = self._make_nothing()

    @property
    def n_open_(self) -> int:
        """Number of windows of hosts with events that are not given, or whose labels a row waits for."""
        with self._lock:
            held = set(self._windows.pairs())
            for window, block in self._waiting.blocks():
                held.update((window, group) for group in self._codebook.split(block.codes)[1].tolist())
            return len(held)

    def update(self, event: Mapping[str, object] | Events) -> Dataset:
        """Take one event, or a chunk of them, and return the rows that are complete.

        Parameters
        ----------
        event : mapping of str to object, or Events
            The columns of one event: its time (a datetime, text in ISO 8601, `numpy.datetime64`, or seconds or
            milliseconds since 1970; UTC, if it has no zone), and every column that the options name. None and an empty
            text are empty cells; words such as NA, which `read_events` knows in CSV, are text. Or a part of a log.

        Returns
        -------
        Dataset
            The rows; most of the time it has no row.

        Raises
        ------
        ValueError
            If the time cannot be read or lies more than `max_gap` after the newest one, a column is missing or of the
            wrong kind, or the name of a host cannot be a key; nothing is changed then.
        """
        with self._lock:
            self._require_going()
            if isinstance(event, Events):
                return self._update_chunk(event)
            time, texts, numbers = self._reader.read(event)
            # A host that is known needs no check.
            if self._by is not None and texts[self._host] not in self._codebook.groups:
                self._codebook.require_hosts([texts[self._host]])
            if not self._move(time):
                return self._nothing
            window = time // self._width
            pending = self._waiting.by_window.get(window) or self._start(window)
            pending.times.append(time)
            pending.codes += map(getitem, self._numberings, texts)
            pending.values += numbers
            self.n_events_ += 1
            if self._watermark < self._due and len(pending.times) < MAX_PENDING:
                return self._nothing
            is_due = self._waiting.pack([window], self._watermark) or self._watermark >= self._due
            return self._table([self._release()] if is_due else [])

    def advance(self, time: object) -> Dataset:
        """Say that the clock has reached a time, though no event came, and return the rows that are complete.

        Events may come `max_delay` after it, as after an event of that time. A time before the newest one changes
        nothing.

        Parameters
        ----------
        time : datetime, str, numpy.datetime64 or float
            The time, as those of events are.

        Returns
        -------
        Dataset
            The rows.

        Raises
        ------
        ValueError
            If the time cannot be read, or the rows until then do not fit into memory.
        """
        with self._lock:
            self._require_going()
            time_us = read_time(time, "time")
            if time_us <= self._newest:
                return self._nothing
            self._require_memory(time_us)
            self._newest, self._watermark = time_us, time_us - self._max_delay
            return self._nothing if self._watermark < self._due else self._table([self._release()])

    def close(self) -> Dataset:
        """End the log, and return the rows that are open.

        These are the rows of windows up to the one of the newest event, whose labels are known; `advance` before it
        makes the windows until then known, too. No event may follow.

        Returns
        -------
        Dataset
            The rows.
        """
        with self._lock:
            if self._is_closed or self._newest == _NEVER:
                self._is_closed = True
                return self._nothing
            self._watermark, self._is_closed = _ALWAYS, True
            self._aggregate()
            last = self._windows.last
            over = self._newest // self._width
            bound = (over if last is None else max(last + 1, over)) - self._rule.horizon
            rows = self._windows.close(bound)
            self._windows.clear()
            return self._table([rows])

    def _require_going(self) -> None:
        if self._is_closed:
            raise ValueError(
                "LiveWindows must not be closed to go on; make new ones for another log. Got a closed one."
            )

    def _move(self, time_us: int) -> bool:
        """Move the clock to the time of an event; return whether the event is in time, and count it if not."""
        if time_us > self._newest:
            if time_us - self._newest > self._quiet:
                self._require_near(time_us, self._newest)
            self._newest, self._watermark = time_us, time_us - self._max_delay
        elif time_us < self._watermark:
            self.n_late_ += 1
            return False
        return True

    def _require_near(self, time_us: int, newest: int, place: int = 0, chunk: Events | None = None) -> None:
        if newest == _NEVER:
            return
        if time_us - newest > self._max_gap:
            first = f", after the {place} events of the chunk before it" if place else ""
            raise ValueError(
                f"An event must lie at most max_gap, {timedelta(microseconds=self._max_gap)}, after the newest one: "
                f"call advance('{np.datetime64(time_us, 'us')}') if the time is right{first}. Got one "
                f"{timedelta(microseconds=time_us - newest)} after it."
            )
        self._require_memory(time_us, chunk)

    def _require_memory(self, time_us: int, chunk: Events | None = None) -> None:
        """Raise ValueError if the rows until a time do not fit into memory, with the hosts of a chunk before it."""
        windows, hosts = [*self._waiting.by_window], {*self._codebook.groups.names}
        if chunk is not None:
            windows.append(int(chunk.times.view(np.int64)[0]) // self._width)
            hosts.update(chunk.texts(self._by, "by").values if self._by else ())
        self._windows.require_memory(min(windows, default=None), time_us // self._width, max(len(hosts), 1))

    def _start(self, window: int) -> Pending:
        self._due = min(self._due, self._end(window))
        return self._waiting.of(window)

    def _end(self, window: int) -> int:
        """Return when the rows of a window are complete."""
        return (window + self._rule.horizon + 1) * self._width

    def _update_chunk(self, events: Events) -> Dataset:
        columns, times = self._reader.columns(events), events.times.view(np.int64)
        if self._by is not None:
            self._codebook.require_hosts(columns[0][self._host].values)
        newest = np.maximum.accumulate(np.concatenate([[self._newest], times]))
        for place in np.flatnonzero(np.diff(newest) > self._quiet).tolist():
            self._require_near(int(times[place]), int(newest[place]), place, events)
        own = np.flatnonzero(times >= self._watermark)
        parts = []
        for start in range(0, len(own), BLOCK):
            block = read_block(columns, times, own[start : start + BLOCK], self._codebook)
            self._newest = max(self._newest, int(block.times[-1]))
            self._watermark = self._newest - self._max_delay
            parts += self._take(block)
        self.n_events_ += len(own)
        self.n_late_ += len(times) - len(own)
        return self._table(parts)

    def _take(self, block: Block) -> list[Rows]:
        """Let a block wait, but what is ready of a large one, and return the rows that are complete."""
        is_large = len(block.times) >= MAX_PENDING
        n_ready = int(np.searchsorted(block.times, self._watermark, side="right")) if is_large else 0
        windows = self._waiting.extend(block.take(slice(n_ready, None)))
        self._due = min([self._due, *map(self._end, windows)])
        is_due = self._waiting.pack(windows, self._watermark) or self._watermark >= self._due
        return [self._release([block.take(slice(n_ready))])] if is_large or is_due else []

    def _release(self, blocks: Sequence[Block] = ()) -> Rows:
        """Add the events before the watermark to their windows, and return the rows that are complete."""
        self._aggregate(blocks)
        rows = self._windows.close(self._watermark // self._width - self._rule.horizon)
        held = [] if self._windows.first is None else [self._windows.first]
        self._due = min(map(self._end, [*self._waiting.by_window, *held]), default=_ALWAYS)
        return rows

    def _aggregate(self, blocks: Sequence[Block] = ()) -> None:
        block = self._waiting.take_ready(self._watermark, blocks)
        if block is not None:
            self._windows.add(block)

    def _table(self, parts: Sequence[Rows]) -> Dataset:
        """Return a table of rows; the one without any has passed the checks of names for all."""
        names, parts = self._codebook, [part for part in parts if len(part.X)]
        if len(self._nothing.label_names) < len(names.labels.names):
            self._nothing = self._make_nothing()
        if not parts:
            return self._nothing
        rows, table = Rows.join(parts, len(names.labels.names)), copy(self._nothing)
        groups = [names.groups.names[group] for group in rows.groups] if self._by else []
        keys, times = self._make_keys(rows.starts, groups), rows.starts / 1e6
        for name, value in (("X", rows.X), ("Y", rows.Y), ("times", times), ("keys", keys)):
            object.__setattr__(table, name, value)
        return table

    def _make_nothing(self) -> Dataset:
        names = self._codebook.labels.names
        X, Y = np.empty((0, len(self._feature_names))), np.empty((0, len(names)), np.uint8)
        keys = self._make_keys(np.empty(0, np.int64), [])
        return Dataset(X, Y, self._feature_names, tuple(names), name=self._name, times=np.empty(0), keys=keys)

    def _make_keys(self, starts_us: Index, groups: Sequence[str]) -> Keys:
        hosts = np.array(groups, dtype=str)
        return window_keys(starts_us, self._by, hosts, {*self._feature_names, *self._codebook.labels.names})

    def __getstate__(self) -> Attributes:
        with self._lock:
            if self._watermark < self._due:
                # Nothing is complete: sums take less room than events.
                self._aggregate()
            # Other threads may go on while these are written.
            return deepcopy({name: value for name, value in self.__dict__.items() if name != "_lock"})

    def __setstate__(self, state: Attributes) -> None:
        self.__dict__.update(state)
        self._lock = RLock()
