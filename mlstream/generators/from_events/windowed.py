"""A multi-label table from a log of single events: one row for each window of time of each host."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from estimators.contract.durations import parse_duration
from metrics.validation import require_choice
from mlstream.data.events import Events, Numbers, TextColumn
from mlstream.generators._parameters import require_count
from mlstream.generators.from_events.features import (
    BLOCK,
    STATISTICS,
    Aggregates,
    Clock,
    Fields,
    Statistic,
    Vocabulary,
    frequent_values,
    listed,
    make_fields,
    refuse_labels,
    stack,
)
from mlstream.generators.from_events.windows import NO_HOST, Empty, WindowRule, Windows, find_windows, window_keys
from mlstream.streams.stream import Dataset, Index, Indicator

_MAX_VALUES = 10_000


class _Labels(NamedTuple):
    """The label of each event, -1 for a benign one, and the names of labels."""

    codes: Index
    names: tuple[str, ...]


def windowed(  # noqa: PLR0913 - each choice about the features is one option
    events: Events,
    every: str,
    *,
    by: str | None = None,
    labels: str | None = None,
    horizon: int = 0,
    benign: Sequence[str] = (),
    categories: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    max_values: int = 20,
    numbers: Sequence[str] | None = None,
    statistics: Sequence[Statistic] = STATISTICS,
    clock: Sequence[Clock] = ("day",),
    time_column: str | None = None,
    empty: Empty = "drop",
) -> Dataset:
    """Turn a log of single events into a multi-label table in the order of time.

    Each window of time of one host (or whatever `by` names) is a row. Its label set is the distinct labels that occur
    in the window, or in a later one; its features are aggregated from the fields of the window's events.

    Parameters
    ----------
    events : Events
        The log.
    every : str
        Length of a window: a whole number and a unit (ms, s, min, h, d), such as "10min". Windows begin at multiples
        of it since 1970, in UTC: those of an hour on the hour.
    by : str, optional
        The column whose values have rows of their own; events where it is empty are one group more, ``(none)``. By
        default the column named when the log was read; without one, all events of a window make one row.
    labels : str, optional
        The column of labels; by default the one named when the log was read. An event without a label is benign.
    horizon : int
        With 0, a row's label set is that of its own window. With 1 it is that of the next window of the same host, and
        so on: labels of the future, from features of the past. Rows whose window of labels begins after the last event
        are left out.
    benign : sequence of str
        Values of the column of labels that stand for no label, such as "normal", beside an empty cell.
    categories : sequence of str or mapping of str to sequence of str, optional
        Columns whose values are counted; a mapping lists the values of each that have a count of their own, all others
        are counted together. By default all columns of text except those of `labels` and `by`.
    max_values : int
        How many values of a column have a count of their own, the most frequent ones of the log, unless they are
        listed; all others are counted together.
    numbers : sequence of str, optional
        Columns whose numbers are summarised. By default all columns of numbers except those of `labels` and `by`.
    statistics : sequence of {"mean", "min", "max", "sum"}
        The summaries of each column of numbers; 0 where the window holds no number.
    clock : sequence of {"day", "week"}
        Sine and cosine of the time of day, and of the week, at which the window starts, in UTC.
    time_column : str, optional
        Name of a feature with the start of the window, in seconds since 1970; left out by default.
    empty : {"drop", "keep"}
        Whether windows without events have rows, from the first event of a host on.

    Returns
    -------
    Dataset
        Rows in the order of time, those of one window in the order in which their hosts first occur. Labels are in
        alphabetical order. `keys` hold the host, in a column called as `by`, and the ``start`` of the window, in UTC;
        a name that a feature or label bears is followed by an underscore. `times` are these starts in seconds since
        1970. `scenario_stream` with ``by="time"`` makes a stream of it.

    Raises
    ------
    ValueError
        If a column is missing or of the wrong kind, no event has a label, or the table does not fit into memory.

    Warns
    -----
    UserWarning
        If the values of a counted column determine the labels of their events, with ``horizon=0``: features hold what
        is to be predicted.

    Notes
    -----
    With ``horizon=0``, features and labels come from the same events. That is detection: which threats does this
    traffic show? Whatever exists only because an alert was raised (its signature, its severity) gives the labels away
    and has to be left out of `categories` and `numbers`; the column of labels is refused there. In a log of alerts
    only, even the number of events does. Forecasts need ``horizon=1``, where past alerts are features like any other,
    and ``empty="keep"``, since alerts that follow a window without events otherwise have no row.

    The most frequent values are found in the whole log, its future included; list them to avoid that.

    Examples
    --------
    >>> times = np.array(["2026-01-01T00:01", "2026-01-01T00:02", "2026-01-01T00:11"], dtype="datetime64[us]")
    >>> log = Events(times, {
    ...     "host": TextColumn.encode(["a", "a", "a"]),
    ...     "threat": TextColumn.encode(["scan", "", "worm"]),
    ...     "bytes": np.array([40.0, 60.0, 10.0]),
    ... })
    >>> table = windowed(log, by="host", every="10min", labels="threat", statistics=["sum"], clock=[])
    >>> table.feature_names, table.X.tolist()
    (('events', 'bytes_sum'), [[2.0, 100.0], [1.0, 10.0]])
    >>> table.label_names, table.Y.tolist()
    (('scan', 'worm'), [[1, 0], [0, 1]])
    >>> print(table.keys)
    [('a', '2026-01-01T00:00:00.000000') ('a', '2026-01-01T00:10:00.000000')]
    """
    require_choice(empty, "empty", ("drop", "keep"))
    rule = WindowRule(parse_duration(every, "every"), require_count(horizon, "horizon", minimum=0), empty)
    by, labels = by or events.by, labels or events.labels
    if labels is None:
        raise ValueError("labels must name the column of labels, here or in read_events. Got None.")
    if not len(events):
        raise ValueError(f"{events.name} must hold at least one event. Got 0.")
    found = _read_labels(events.texts(labels, "labels"), benign, labels)
    counted = _choose_categories(events, categories, (labels, by), max_values)
    summarised = _choose_numbers(events, numbers, (labels, by))
    fields = make_fields(counted, summarised, statistics, clock, time_column)
    texts = {name: events.texts(name, "categories") for name in counted}
    if not rule.horizon:
        refuse_labels(fields, labels)
        _warn_of_leaks(fields, texts, found, labels)
    everything = TextColumn(np.full(len(events), -1), ())
    hosts, groups = _groups(everything if by is None else events.texts(by, "by"))
    row_bytes = 8 * len(fields.names) + len(found.names)
    windows = find_windows(events.times.view(np.int64), groups, rule, row_bytes)
    return Dataset(
        _make_features(fields, list(texts.values()), list(summarised.values()), windows),
        _make_labels(found, windows),
        fields.names,
        found.names,
        name=f"{events.name}-{every.replace(' ', '')}",
        times=windows.starts / 1e6,
        keys=window_keys(windows.starts, by, hosts[windows.groups], {*fields.names, *found.names}),
    )


def _read_labels(column: TextColumn, benign: Sequence[str], name: str) -> _Labels:
    kept = sorted(set(column.values) - set(listed(benign, "benign")))
    if not kept:
        raise ValueError(f"labels must name a column with at least one label that is not benign. Got {name!r}.")
    codes = {value: code for code, value in enumerate(kept)}
    # The last entry is that of an empty cell.
    return _Labels(np.array([*(codes.get(value, -1) for value in column.values), -1])[column.codes], tuple(kept))


def _choose_categories(
    events: Events,
    wanted: Sequence[str] | Mapping[str, Sequence[str]] | None,
    roles: tuple[str, str | None],
    max_values: int,
) -> dict[str, Vocabulary]:
    require_count(max_values, "max_values", maximum=_MAX_VALUES)
    if wanted is None:
        wanted = [name for name, one in events.columns.items() if isinstance(one, TextColumn) and name not in roles]
    columns = {name: events.texts(name, "categories") for name in listed(wanted, "categories")}
    if isinstance(wanted, Mapping):
        return {name: Vocabulary(tuple(wanted[name]), has_other=True) for name in columns}
    return {name: frequent_values(one, max_values) for name, one in columns.items()}


def _choose_numbers(events: Events, wanted: Sequence[str] | None, roles: tuple[str, str | None]) -> dict[str, Numbers]:
    if wanted is None:
        found = events.columns.items()
        return {name: one for name, one in found if isinstance(one, np.ndarray) and name not in roles}
    return {name: events.numbers(name, "numbers") for name in listed(wanted, "numbers")}


def _warn_of_leaks(fields: Fields, texts: Mapping[str, TextColumn], labels: _Labels, name: str) -> None:
    """Warn of values each of which has always the same label."""
    for column, vocabulary in fields.categories.items():
        if _determines(texts[column], vocabulary, labels):
            warnings.warn(
                f"Column {column!r} determines the label of each event in {name!r}: with horizon=0, counts of it are "
                "the labels. Leave it out of categories unless it is known before the label is.",
                UserWarning,
                stacklevel=3,
            )


def _determines(texts: TextColumn, vocabulary: Vocabulary, labels: _Labels) -> bool:
    counted = np.isin(texts.values, vocabulary.values)
    taken = np.append(counted, False)[texts.codes]
    values, outcomes = texts.codes[taken], labels.codes[taken] + 1
    n_outcomes = len(labels.names) + 1
    pairs = np.unique(values * n_outcomes + outcomes)
    n_values = len(np.unique(values))
    # Values that hardly come back determine everything, and show nothing.
    return len(pairs) == n_values and len(np.unique(outcomes)) > 1 and len(values) >= 2 * n_values


def _groups(column: TextColumn) -> tuple[np.ndarray, Index]:
    """Return the names of groups, in the order of their first occurrence, and the group of each event.

    An empty cell is a group, too, called ``(none)``; cells that say so belong to it.
    """
    codes = np.array([*(-1 if value == NO_HOST else code for code, value in enumerate(column.values)), -1])
    found, first, group = np.unique(codes[column.codes], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(found), np.int64)
    rank[order] = np.arange(len(found))
    # The last entry is that of code -1.
    return np.array([*column.values, NO_HOST])[found[order]], rank[group]


def _make_features(fields: Fields, texts: list[TextColumn], numbers: list[Numbers], windows: Windows) -> Numbers:
    rows = Aggregates(fields, len(windows.starts))
    # The last entry is that of an empty cell.
    places = [
        np.array([*(place.get(value, rest) for value in column.values), -1])
        for column, (place, rest) in zip(texts, fields.places, strict=True)
    ]
    for start in range(0, len(windows.row_of_event), BLOCK):
        row = windows.row_of_event[start : start + BLOCK]
        kept = np.flatnonzero(row >= 0)
        own = kept + start
        rows.add(
            row[kept],
            stack([place[column.codes[own]] for place, column in zip(places, texts, strict=True)], len(kept), np.int64),
            stack([column[own] for column in numbers], len(kept), np.float64),
        )
    rows.finish(rows.X, rows.n_given, windows.starts)
    return rows.X


def _make_labels(labels: _Labels, windows: Windows) -> Indicator:
    Y = np.zeros((len(windows.starts), len(labels.names)), np.uint8)
    shown = (labels.codes >= 0) & (windows.row_of_label >= 0)
    Y[windows.row_of_label[shown], labels.codes[shown]] = 1
    return Y
