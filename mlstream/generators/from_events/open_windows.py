"""The windows of a log that goes on: events in the order of time go in, rows that are complete come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from mlstream._support.mapped import require_memory
from mlstream.data.events import Numbers
from mlstream.generators.from_events.features import Aggregates, Fields
from mlstream.generators.from_events.live_events import Block, Codebook
from mlstream.generators.from_events.windows import WindowRule, fill, find_rows
from mlstream.streams.stream import Index, Indicator


class Rows(NamedTuple):
    """Rows that are complete, in the order of time, then of groups."""

    X: Numbers
    Y: Indicator
    groups: list[int]  # number of each row's group
    starts: Index  # start of each row's window, in microseconds since 1970

    @staticmethod
    def join(parts: Sequence[Rows], n_labels: int) -> Rows:
        """Return the rows of all parts, which know the first labels of `n_labels`."""
        X, starts = np.concatenate([part.X for part in parts]), np.concatenate([part.starts for part in parts])
        Y = np.concatenate([_widen(part.Y, len(part.Y), n_labels) for part in parts])
        return Rows(X, Y, [group for part in parts for group in part.groups], starts)


class OpenWindows:
    """Windows with events that have no row yet, or whose labels some row waits for."""

    def __init__(self, fields: Fields, rule: WindowRule, codebook: Codebook) -> None:
        self._rule, self._codebook = rule, codebook
        self._row_bytes = 8 * len(fields.names)
        self._aggregates = Aggregates(fields)
        self._shown: Indicator = np.zeros((0, 0), np.uint8)
        # Window and rank of a group -> place in the arrays above. Events come in the order of time, and so do windows.
        self._places: dict[tuple[int, int], int] = {}
        # Groups are ranked by first occurrence: number of a group -> rank, and by rank: number, and first window.
        self._ranks: dict[int, int] = {}
        self._groups: list[int] = []
        self._begins: list[int] = []
        # All rows of windows before this one were given.
        self.next: int | None = None

    @property
    def first(self) -> int | None:
        """The first window that has a row, or will have one."""
        return next(iter(self._places), (None,))[0] if self._rule.empty == "drop" else self.next

    @property
    def last(self) -> int | None:
        """The last window with an event that is held."""
        return next(reversed(self._places), (None,))[0]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Return the windows that are held, each with the number of its group."""
        return ((window, self._groups[rank]) for window, rank in self._places)

    def add(self, block: Block) -> None:
        """Add events in the order of time, none before one that was added."""
        windows, places = (block.times // self._rule.width_us).tolist(), self._places
        counted, groups, labels = self._codebook.split(block.codes)
        ranks = self._rank(groups.tolist(), windows)
        n_before = len(places)
        rows = np.array([places.setdefault(key, len(places)) for key in zip(windows, ranks, strict=True)], np.int64)
        self._aggregates.extend(len(places) - n_before)
        self._aggregates.add(rows, counted, block.values)
        self._shown = _widen(self._shown, len(places), len(self._codebook.labels.names))
        shown = labels >= 0
        self._shown[rows[shown], labels[shown]] = 1

    def _rank(self, groups: list[int], windows: list[int]) -> list[int]:
        ranks, n_before = self._ranks, len(self._ranks)
        found = [ranks.setdefault(group, len(ranks)) for group in groups]
        if len(ranks) > n_before:
            self._groups.extend(islice(ranks, n_before, None))
            for rank, window in zip(found, windows, strict=True):
                if rank == len(self._begins):
                    self._begins.append(window)
        if self.next is None and windows:
            self.next = windows[0]
        return found

    def require_memory(self, first: int | None, bound: int, n_groups: int) -> None:
        """Raise ValueError if the rows of windows before `bound` do not fit into memory.

        Events wait from the window `first` on, if any do.
        """
        begin = min((window for window in (self.next, first) if window is not None), default=bound)
        if self._rule.empty == "keep" and bound > begin:
            n_rows = (bound - begin) * n_groups
            require_memory(n_rows * (self._row_bytes + 24), f"{n_rows:,} windows, those without events among them,")

    def close(self, bound: int) -> Rows:
        """Return the rows of the windows before `bound` that were not given yet, and forget them."""
        n_groups, first = len(self._groups), self.next or 0
        bound = max(bound, first)
        held = np.array(list(self._places), np.int64).reshape(-1, 2)
        keys = (held[:, 0] - first) * n_groups + held[:, 1]
        n_closed = int(np.searchsorted(held[:, 0], bound))
        rows = np.sort(keys[:n_closed]) if self._rule.empty == "drop" else self._every(first, bound)
        aggregates = self._aggregates
        X, n_given = aggregates.empty_rows(len(rows)), np.zeros((len(rows), aggregates.n_given.shape[1]), np.int64)
        windows, ranks = np.divmod(rows, max(n_groups, 1))
        starts = (windows + first) * self._rule.width_us
        own = find_rows(rows, keys[:n_closed])
        X[own], n_given[own] = aggregates.X[:n_closed], aggregates.n_given[:n_closed]
        aggregates.finish(X, n_given, starts)
        Y = np.zeros((len(rows), self._shown.shape[1]), np.uint8)
        own = find_rows(rows, keys - self._rule.horizon * n_groups)
        Y[own[own >= 0]] = self._shown[own >= 0]
        self._forget(n_closed)
        self.next = None if self.next is None else bound
        return Rows(X, Y, [self._groups[rank] for rank in ranks.tolist()], starts)

    def clear(self) -> None:
        """Forget all windows."""
        self._forget(len(self._places))

    def _every(self, first: int, bound: int) -> Index:
        begins = np.minimum(np.maximum(np.array(self._begins, np.int64), first), bound) - first
        return fill(begins, bound - first, self._row_bytes)

    def _forget(self, n_closed: int) -> None:
        self._places = {key: place for place, key in enumerate(islice(self._places, n_closed, None))}
        self._aggregates.drop(n_closed)
        self._shown = self._shown[n_closed:].copy()


def _widen(shown: Indicator, n_rows: int, n_labels: int) -> Indicator:
    wider = np.zeros((n_rows, n_labels), np.uint8)
    wider[: shown.shape[0], : shown.shape[1]] = shown
    return wider
