"""Where rows go in a memory that is kept balanced, and when it has changed enough to be learnt anew."""

import numpy as np
from numba import njit

from estimators._kernels.state import JIT, PART

NONE = -1


@njit(**JIT)
def place(groups, held, n_groups, chance, share, n_changed):  # type: ignore[no-untyped-def]
    """Put rows of groups into slots of a memory, row after row.

    `held` is the group in each slot, those filled first and then `NONE`; it is brought up to date, as is `n_changed`,
    the number of slots written since the memory was last due. Returns the slot of each row, or `NONE`, and whether the
    memory is due after the row: a share of what it holds has been written.
    """
    slots, due = np.full(groups.size, NONE), np.zeros(groups.size, np.bool_)
    counts = np.zeros(n_groups, np.int64)
    n_held = 0
    while n_held < held.size and held[n_held] != NONE:
        counts[held[n_held]] += 1
        n_held += 1
    for i in range(groups.size):
        largest = np.argmax(counts)
        if n_held < held.size:
            slots[i] = n_held
            n_held += 1
        elif counts[groups[i]] + 1 < counts[largest]:
            slots[i] = find(held, largest, int(chance[i] * counts[largest]))
            counts[largest] -= 1
        if slots[i] != NONE:
            held[slots[i]] = groups[i]
            counts[groups[i]] += 1
            n_changed[0] += 1
        due[i] = slots[i] != NONE and n_changed[0] >= share * n_held
        if due[i]:
            n_changed[0] = 0
    return slots, due


@njit(**PART)
def find(held, group, n):  # type: ignore[no-untyped-def]
    """Return the slot of a group after n others of it."""
    for slot in range(held.size):
        if held[slot] == group:
            if n == 0:
                return slot
            n -= 1
    return NONE
