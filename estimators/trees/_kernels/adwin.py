"""Adaptive windows (ADWIN): has the mean of a stream of numbers changed? Many windows in shared flat arrays."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import HOT, OWNING, njit

Array = npt.NDArray[Any]

# River's and MOA's: numbers between two looks, buckets of each size, shortest part and shortest window to look at
CLOCK, MOST_BUCKETS, SHORTEST_PART, SHORTEST_WINDOW = 32, 5, 5, 10
# buckets hold 1, 2, 4, ... numbers: a window that outgrows its levels, after 600 million numbers, starts anew
N_LEVELS = 27

HEAD = np.dtype(
    [("width", "f8"), ("total", "f8"), ("squares", "f8"), ("n_ticks", "i4"), ("n_levels", "i4")],
    align=True,
)


class Windows(NamedTuple):
    """Windows over the numbers since the last change.

    Attributes
    ----------
    heads : structured ndarray of shape (n_windows,)
        How many numbers each window holds, their sum and squared deviations, and how many levels are in use.
    counts : int8 ndarray of shape (n_windows, N_LEVELS)
        How many buckets each level holds.
    totals : ndarray of shape (n_windows, N_LEVELS, MOST_BUCKETS + 1)
        Sum of the numbers in each bucket, oldest first; buckets of level k hold 2**k numbers.
    """

    heads: Array
    counts: Array
    totals: Array


def open_windows(n: int) -> Windows:
    """Make windows that hold nothing."""
    return Windows(np.zeros(n, HEAD), np.zeros((n, N_LEVELS), np.int8), np.zeros((n, N_LEVELS, MOST_BUCKETS + 1)))


@njit(**HOT)
def empty(windows: Windows, d: int) -> None:
    """Let a window start anew."""
    head = windows.heads[d]
    head.width = head.total = head.squares = 0.0
    head.n_ticks = head.n_levels = 0
    windows.counts[d] = 0


@njit(**HOT)
def changes(windows: Windows, d: int, value: float, delta: float) -> bool:
    """Put a number into a window, and tell whether the mean has changed in it; after a change it starts anew.

    Decisions are those of River 0.26's ``drift.ADWIN``, which is reset after a change as well: what it still drops from
    its window before that cannot be seen from outside, and need not be done.
    """
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
    if head.width <= SHORTEST_WINDOW or not _is_cut(windows, d, delta):
        return False
    empty(windows, d)
    return True


@njit(**OWNING)
def any_changes(windows: Windows, d: int, values: Array, delta: float) -> bool:
    """Put numbers into a window, and tell whether the mean has changed at any of them."""
    changed = False
    for value in values:
        changed |= changes(windows, d, value, delta)
    return changed


@njit(**HOT)
def _insert(windows: Windows, d: int, value: float) -> None:
    """Add a bucket of one number; of a full level, the two oldest buckets become one of the next level."""
    counts, totals, level = windows.counts, windows.totals, 0
    while True:
        totals[d, level, counts[d, level]] = value
        counts[d, level] += 1
        windows.heads[d].n_levels = max(windows.heads[d].n_levels, level + 1)
        if counts[d, level] <= MOST_BUCKETS:
            return
        value = totals[d, level, 0] + totals[d, level, 1]
        for b in range(2, MOST_BUCKETS + 1):
            totals[d, level, b - 2] = totals[d, level, b]
        counts[d, level] -= 2
        level += 1
        if level == N_LEVELS:
            empty(windows, d)
            return


@njit(**OWNING)
def _is_cut(windows: Windows, d: int, delta: float) -> bool:
    """Tell whether any cut of the window, from the oldest on, leaves two parts whose means differ by more than chance.

    The last bucket of one number is never a part alone.
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
            if n0 < SHORTEST_PART or n1 < SHORTEST_PART:
                continue
            parts = 1.0 / (n0 - SHORTEST_PART + 1.0) + 1.0 / (n1 - SHORTEST_PART + 1.0)
            chance = math.sqrt(2.0 * parts * variance * confidence) + 2.0 / 3.0 * confidence * parts
            if abs(sum0 / n0 - sum1 / n1) > chance:
                return True
    return False
