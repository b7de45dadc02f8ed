"""Adaptive windows (ADWIN), which detect that the mean of a stream of numbers has changed, in shared flat arrays."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, LOOP, PART, njit
from estimators._typing import Array

# as in River and MOA: numbers between two checks, buckets of each size, shortest part and shortest window to check
CLOCK, MAX_BUCKETS, MIN_PART, MIN_WINDOW = 32, 5, 5, 10
# buckets hold 1, 2, 4, ... numbers: a window that outgrows its levels, after 600 million numbers, starts again
N_LEVELS = 27

HEAD = np.dtype(
    [("width", "f8"), ("total", "f8"), ("squares", "f8"), ("n_ticks", "i4"), ("n_levels", "i4")],
    align=True,
)


class Windows(NamedTuple):
    """Windows over the numbers since the last change.

    There are N_LEVELS levels, unless whoever owns the windows adds them when needed. Buckets of level k hold 2**k
    values.
    """

    heads: Array  # (n_windows,): number of values, their sum and squared deviations, number of levels in use
    counts: Array  # int8, (n_windows, n_levels): number of buckets
    totals: Array  # (n_windows, n_levels, MAX_BUCKETS + 1): sum of the values in each bucket, oldest first


def new_windows(n: int, n_levels: int = N_LEVELS) -> Windows:
    """Make empty windows."""
    return Windows(np.zeros(n, HEAD), np.zeros((n, n_levels), np.int8), np.zeros((n, n_levels, MAX_BUCKETS + 1)))


def add_levels(windows: Windows, n_more: int) -> Windows:
    """Return the windows with room for more levels."""
    counts = np.pad(windows.counts, ((0, 0), (0, n_more)))
    return Windows(windows.heads, counts, np.pad(windows.totals, ((0, 0), (0, n_more), (0, 0))))


@njit(**HOT)
def reset(windows: Windows, d: int) -> None:
    """Empty a window."""
    head = windows.heads[d]
    head.width = head.total = head.squares = 0.0
    head.n_ticks = head.n_levels = 0
    for level in range(windows.counts.shape[1]):
        windows.counts[d, level] = 0


@njit(**HOT)
def detect_change(windows: Windows, d: int, value: float, delta: float) -> bool:
    """Add a value to a window, and return whether its mean has changed; after a change the window is emptied.

    The decisions are those of ``drift.ADWIN`` in River 0.26, which is reset after a change as well. The buckets that it
    drops before the reset never matter, so they are not dropped here.
    """
    if not shows_change(windows, d, value, delta):
        return False
    reset(windows, d)
    return True


@njit(**HOT)
def shows_change(windows: Windows, d: int, value: float, delta: float) -> bool:
    """Add a value to a window, and return whether its mean has changed; the window is left as it is."""
    head = windows.heads[d]
    head.width += 1.0
    if head.width > 1.0:
        distance = value - head.total / (head.width - 1.0)
        head.squares += (head.width - 1.0) * distance * distance / head.width
    head.total += value
    _insert(windows, d, value)
    head.n_ticks += 1
    if head.n_ticks < CLOCK:
        return False
    head.n_ticks = 0
    return head.width > MIN_WINDOW and has_cut(windows, d, delta)


@njit(**LOOP)
def detect_any_change(windows: Windows, d: int, values: Array, delta: float) -> bool:
    """Add values to a window, and return whether the mean has changed at any of them."""
    changed = False
    for value in values:
        changed |= detect_change(windows, d, value, delta)
    return changed


@njit(**HOT)
def _insert(windows: Windows, d: int, value: float) -> None:
    """Add a bucket of one value; the two oldest buckets of a full level are merged into one of the next level."""
    counts, totals, level = windows.counts, windows.totals, 0
    while True:
        totals[d, level, counts[d, level]] = value
        counts[d, level] += 1
        windows.heads[d].n_levels = max(windows.heads[d].n_levels, level + 1)
        if counts[d, level] <= MAX_BUCKETS:
            return
        value = totals[d, level, 0] + totals[d, level, 1]
        for b in range(2, MAX_BUCKETS + 1):
            totals[d, level, b - 2] = totals[d, level, b]
        counts[d, level] -= 2
        level += 1
        if level == counts.shape[1]:
            reset(windows, d)
            return


@njit(**PART)
def has_cut(windows: Windows, d: int, delta: float) -> bool:
    """Return whether any cut of the window, oldest first, leaves two parts whose means differ by more than chance.

    The last bucket of one value is never a part of its own.
    """
    head = windows.heads[d]
    confidence = math.log(2.0 * math.log(head.width) / delta)
    variance = head.squares / head.width
    n0, n1, sum0, sum1 = 0.0, head.width, 0.0, head.total
    for level in range(head.n_levels - 1, -1, -1):
        size = 2.0**level
        for b in range(windows.counts[d, level]):
            n0, n1 = n0 + size, n1 - size
            sum0, sum1 = sum0 + windows.totals[d, level, b], sum1 - windows.totals[d, level, b]
            if n0 < MIN_PART or n1 < MIN_PART:
                continue
            parts = 1.0 / (n0 - MIN_PART + 1.0) + 1.0 / (n1 - MIN_PART + 1.0)
            chance = math.sqrt(2.0 * parts * variance * confidence) + 2.0 / 3.0 * confidence * parts
            if abs(sum0 / n0 - sum1 / n1) > chance:
                return True
    return False
