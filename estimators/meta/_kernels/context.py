"""Slots of rows in a context whose groups are kept even, oldest rows leaving first, and when it is due to be learnt."""

import numpy as np

from estimators._kernels.compile import BUILD, JIT, njit
from estimators._typing import Array

# how many rows were seen: so far; when the context was last due. How many rows held are newer than that.
SEEN, SEEN_WHEN_DUE, NEW = 0, 1, 2
NO_ROW = -1


@njit(**JIT)
def task_keys(counted: Array, keys: Array) -> None:
    """Write a key for the set of labels that count in each row: a sum of 64 mixed bits a label.

    Labels that do not count add nothing, so that a key stays the same when labels are added that do not count.
    """
    for row in range(counted.shape[0]):
        total = np.uint64(0)
        for label in range(counted.shape[1]):
            if counted[row, label]:
                total += mixed_bits(label)
        keys[row] = np.int64(total)


@njit(**BUILD)
def mixed_bits(label: int) -> np.uint64:
    """Return 64 bits that depend on a number as if drawn by chance (the finaliser of SplitMix64)."""
    z = np.uint64(label + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(**JIT)
def label_keys(positive: Array, n_positive: Array, keys: Array) -> None:
    """Write the rarest label that each row has, plus 1, or 0 for a row without labels; bring the counts up to date."""
    for row in range(positive.shape[0]):
        rarest = -1
        for label in range(positive.shape[1]):
            if positive[row, label] and (rarest < 0 or n_positive[label] < n_positive[rarest]):
                rarest = label
        keys[row] = rarest + 1
        for label in range(positive.shape[1]):
            n_positive[label] += positive[row, label]


@njit(**JIT)
def place(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    keys: Array,
    arrivals: Array,
    groups: Array,
    group_keys: Array,
    group_sizes: Array,
    counters: Array,
    refit_every: int,
    change: float,
    slots: Array,
    due: Array,
) -> None:
    """Give every row a slot, one row after another, and say after which rows the context is due to be learnt.

    Rows of one key are a group. Once all slots are taken, the oldest row of the largest group leaves, the new row
    counted in; of several such groups, the one with the oldest row.

    `arrivals` and `groups` say of every slot which row it holds, by number, and the group of that row; `group_keys` and
    `group_sizes` have room for one group more than there are slots.
    """
    size = arrivals.size
    for row in range(keys.size):
        group = find_group(keys[row], group_keys, group_sizes)
        group_sizes[group] += 1
        slot = counters[SEEN] if counters[SEEN] < size else leaving(arrivals, groups, group_sizes)
        if arrivals[slot] != NO_ROW:
            group_sizes[groups[slot]] -= 1
        counters[NEW] += arrivals[slot] < counters[SEEN_WHEN_DUE]
        arrivals[slot], groups[slot] = counters[SEEN], group
        counters[SEEN] += 1
        n_since = counters[SEEN] - counters[SEEN_WHEN_DUE]
        slots[row] = slot
        due[row] = n_since >= refit_every or counters[NEW] >= change * (
            counters[SEEN] if counters[SEEN] < size else size
        )
        if due[row]:
            counters[SEEN_WHEN_DUE], counters[NEW] = counters[SEEN], 0


@njit(**BUILD)
def find_group(key: int, group_keys: Array, group_sizes: Array) -> int:
    """Return the place of a group: where its key is, or else the first place that is free."""
    free = -1
    for group in range(group_keys.size):
        if group_sizes[group] == 0:
            free = group if free < 0 else free
        elif group_keys[group] == key:
            return group
    group_keys[free] = key
    return free


@njit(**BUILD)
def leaving(arrivals: Array, groups: Array, group_sizes: Array) -> int:
    """Return the slot of the oldest row of the largest groups."""
    largest = group_sizes[0]
    for group in range(group_sizes.size):
        largest = group_sizes[group] if group_sizes[group] > largest else largest
    oldest = -1
    for slot in range(arrivals.size):
        if group_sizes[groups[slot]] == largest and (oldest < 0 or arrivals[slot] < arrivals[oldest]):
            oldest = slot
    return oldest
