"""Sorting inside compiled loops; NumPy's takes Numba more than a second to compile."""

from estimators._kernels.compile import PART, njit
from estimators._typing import Array


@njit(**PART)
def order_descending(keys: Array, order: Array) -> None:
    """Write the places of keys to `order`, from the greatest key to the least; equal keys stay in order (heapsort)."""
    n = len(keys)
    for k in range(n):
        order[k] = k
    for k in range(n // 2 - 1, -1, -1):
        _sift(keys, order, k, n)
    for end in range(n - 1, 0, -1):
        order[0], order[end] = order[end], order[0]
        _sift(keys, order, 0, end)


@njit(**PART)
def _sift(keys: Array, order: Array, k: int, end: int) -> None:
    """Let a place sink in the heap of the first `end` places, whose top comes last."""
    while 2 * k + 1 < end:
        child = 2 * k + 1
        if child + 1 < end and _comes_after(keys, order[child + 1], order[child]):
            child += 1
        if not _comes_after(keys, order[child], order[k]):
            return
        order[k], order[child] = order[child], order[k]
        k = child


@njit(**PART)
def _comes_after(keys: Array, a: int, b: int) -> bool:
    return keys[a] < keys[b] or (keys[a] == keys[b] and a > b)
