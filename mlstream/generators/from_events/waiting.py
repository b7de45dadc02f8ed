"""Events that wait, because an earlier one may still come, or until they are worth a block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mlstream.data.events import Numbers
from mlstream.streams.stream import Index

# So many events of a window may wait before they are added to it.
MAX_PENDING = 4096


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
