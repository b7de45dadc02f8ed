"""The mean of an adaptive window of zeros and ones right after a change: of what is left when it drops the old part."""

from estimators._kernels.adwin import MAX_BUCKETS, Windows, has_cut
from estimators._kernels.compile import BUILD, HOT, njit


@njit(**HOT)
def mean(windows: Windows, d: int) -> float:
    """Return the mean of a window; 0 of an empty one."""
    head = windows.heads[d]
    return head.total / head.width if head.width > 0.0 else 0.0


@njit(**BUILD)
def drop_old_part(windows: Windows, d: int, delta: float) -> None:
    """Drop the oldest buckets of a window, which holds 0 and 1 only, until no cut leaves parts that differ.

    As ``drift.ADWIN`` in River 0.26 does before it returns, and what its ``estimation`` is then the mean of; at the
    next value it starts again. The squared deviations inside a bucket of n values that sum to u are u - u * u / n.
    """
    while has_cut(windows, d, delta):
        _drop_oldest(windows, d)


@njit(**BUILD)
def _drop_oldest(windows: Windows, d: int) -> None:
    head, counts, totals = windows.heads[d], windows.counts, windows.totals
    level = head.n_levels - 1
    size, total = 2.0**level, totals[d, level, 0]
    for b in range(1, MAX_BUCKETS + 1):
        totals[d, level, b - 1] = totals[d, level, b]
    counts[d, level] -= 1
    head.width -= size
    head.total -= total
    distance = total / size - head.total / head.width
    head.squares -= total - total * total / size + size * head.width * distance * distance / (size + head.width)
    while head.n_levels > 0 and counts[d, head.n_levels - 1] == 0:
        head.n_levels -= 1
