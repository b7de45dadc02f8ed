"""Windows of time: the rows that a log of events becomes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

import numpy as np

from mlstream._support.mapped import require_memory
from mlstream.streams.keys import Keys, free_name, make_keys
from mlstream.streams.stream import Index

Empty = Literal["drop", "keep"]

NO_HOST = "(none)"
# Window and group of a row are one number of 64 bits.
_MAX_PAIRS = 2**62
# Up to so many times the number of events, a table of all windows and groups is faster than sorting.
_MAX_SPREAD = 4


class Windows(NamedTuple):
    """The rows of a table: one for each window of each group, in the order of time, then of groups."""

    starts: Index  # (n_rows,): start of each row's window, in microseconds since 1970
    row_of_event: Index  # (n_events,): the row whose features an event counts for, or -1
    row_of_label: Index  # (n_events,): the row whose label set the label of an event belongs to, or -1
    groups: Index  # (n_rows,): the group of each row


class WindowRule(NamedTuple):
    """A rule that turns times into windows."""

    width_us: int  # in microseconds; windows begin at multiples of it since 1970
    horizon: int  # how many windows after its features a row's label set is
    empty: Empty  # whether windows without events have rows, from the first event of a group on


def find_windows(times_us: Index, groups: Index, rule: WindowRule, row_bytes: int) -> Windows:
    """Find the rows of a table of windows.

    Times are in microseconds since 1970, at least one; groups are numbered from 0. `row_bytes` is the size of a row of
    the table, to refuse what is larger than memory before it is taken. Rows whose window of labels begins after the
    last event are left out. Raises ValueError if there are too many windows, or `horizon` leaves no row.
    """
    window = times_us // rule.width_us
    first = int(window.min())
    window = window - first
    n_windows, n_groups = int(window.max()) + 1, int(groups.max()) + 1
    if n_windows * n_groups > _MAX_PAIRS:
        raise ValueError(f"every must be longer: there are {n_windows:,} windows of {n_groups:,} groups, too many.")
    key = window * n_groups + groups
    n_keys = n_windows * n_groups
    if rule.empty == "drop":
        rows = _distinct(key, n_keys)
    else:
        begins = np.full(n_groups, n_windows)
        np.minimum.at(begins, groups, window)
        rows = fill(begins, n_windows, row_bytes)
    # The labels of the last windows are not known yet.
    rows = rows[: np.searchsorted(rows, max(n_windows - rule.horizon, 0) * n_groups)]
    if not len(rows):
        raise ValueError(
            f"horizon must be less than the number of windows, {n_windows:,}, and leave rows. Got {rule.horizon}."
        )
    require_memory(len(rows) * row_bytes, f"{len(rows):,} windows")
    starts = (rows // n_groups + first) * rule.width_us
    row_of_event = find_rows(rows, key, n_keys)
    row_of_label = find_rows(rows, key - rule.horizon * n_groups, n_keys) if rule.horizon else row_of_event
    return Windows(starts, row_of_event, row_of_label, rows % n_groups)


def window_keys(starts_us: Index, by: str | None, hosts: np.ndarray, taken: Collection[str]) -> Keys:
    """Make the keys of rows: whose each is, in a column called `by` if there is one, and the ``start`` of its window.

    `hosts` are the names of the rows' groups. A name that a feature or a label bears, `taken`, is followed by
    underscores.
    """
    own = {} if by is None else {free_name(by, taken): hosts}
    return make_keys({**own, free_name("start", {*taken, *own}): starts_us.astype("datetime64[us]")})


def fill(begins: Index, n_windows: int, row_bytes: int) -> Index:
    """List every window of each group from where it begins, as ``window * n_groups + group``, sorted."""
    n_groups, lengths = len(begins), n_windows - begins
    n_rows = int(lengths.sum())
    require_memory(n_rows * (row_bytes + 24), f"{n_rows:,} windows, those without events among them,")
    ends = np.cumsum(lengths)
    place = np.arange(n_rows) - np.repeat(ends - lengths, lengths)
    return np.sort((np.repeat(begins, lengths) + place) * n_groups + np.repeat(np.arange(n_groups), lengths))


def _distinct(keys: Index, n_keys: int) -> Index:
    """Return the distinct keys, sorted; where they are not too spread out, without sorting."""
    if n_keys > _MAX_SPREAD * len(keys):
        return np.unique(keys)
    return np.flatnonzero(np.bincount(keys, minlength=n_keys))


def find_rows(rows: Index, keys: Index, n_keys: int | None = None) -> Index:
    """Return the place of each key among sorted rows, -1 where it is not there; keys lie below `n_keys`, if given."""
    if n_keys is not None and n_keys <= _MAX_SPREAD * len(keys):
        # The last place is that of keys below 0.
        places = np.full(n_keys + 1, -1)
        places[rows] = np.arange(len(rows))
        return places[np.maximum(keys, -1)]
    if not len(rows):
        return np.full(len(keys), -1)
    place = np.searchsorted(rows, keys)
    found = rows[np.minimum(place, len(rows) - 1)] == keys
    return np.where(found, place, -1)
