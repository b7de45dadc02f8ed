"""Slots of rows in a memory that is kept balanced, and when it has changed enough to be learnt again."""

import numpy as np

from estimators._kernels.compile import BUILD, JIT, njit

NONE = -1


@njit(**JIT)
def place(  # type: ignore[no-untyped-def] # noqa: PLR0913, PLR0917 - arrays in, arrays out
    groups, tasks, held, counts, sizes, chance, admitted, share, n_changed, slots, due
):
    """Put rows of groups, which are parts of tasks, into slots of a memory, row after row.

    `held` is the group in each slot, those filled first and then `NONE`; it is brought up to date, as is `n_changed`,
    the number of slots written since the memory was last due. `chance` decides which row makes room, and `admitted`
    whether a row of a new group, or task, may enter if all groups, or tasks, are single rows. Fills in the slot of each
    row, or `NONE`, and whether the memory is due after the row: it is once the rows written make up a share of those
    held. `counts` and `sizes` are zeros, one a group.
    """
    n_held = 0
    while n_held < held.size and held[n_held] != NONE:
        counts[held[n_held]] += 1
        sizes[tasks[held[n_held]]] += 1
        n_held += 1
    for i in range(groups.size):
        group = groups[i]
        if n_held < held.size:
            slots[i] = n_held
            n_held += 1
        else:
            slots[i] = make_room(held, counts, sizes, tasks, group, chance[i], admitted[i])
            if slots[i] == NONE:
                continue
            counts[held[slots[i]]] -= 1
            sizes[tasks[held[slots[i]]]] -= 1
        held[slots[i]] = group
        counts[group] += 1
        sizes[tasks[group]] += 1
        n_changed[0] += 1
        due[i] = n_changed[0] >= share * n_held
        if due[i]:
            n_changed[0] = 0


@njit(**BUILD)
def make_room(held, counts, sizes, tasks, group, chance, admitted):  # type: ignore[no-untyped-def]
    """Return a slot that a row of a group takes, if that makes the memory more even, or `NONE`.

    It is one of the largest groups of the largest task or, where tasks are even, of the row's own; or any slot, where
    every row held is a task of its own and a row of another task is admitted.
    """
    own, task = tasks[group], 0
    for other in range(sizes.size):
        task = other if sizes[other] > sizes[task] else task
    if sizes[own] == 0 and sizes[task] == 1:
        return np.int64(chance * held.size) if admitted else NONE
    if sizes[own] + 1 >= sizes[task]:
        task = own
    most = 0
    for k in range(counts.size):
        if tasks[k] == task:
            most = counts[k] if counts[k] > most else most
    if task == own and counts[group] + 1 >= most and not (counts[group] == 0 and admitted):
        return NONE
    return pick(held, counts, tasks, task, most, chance)


@njit(**BUILD)
def pick(held, counts, tasks, task, most, chance):  # type: ignore[no-untyped-def]
    """Return one of the slots of a task's groups of a size, or `NONE` if there is no such slot."""
    n_largest = 0
    for slot in range(held.size):
        n_largest += tasks[held[slot]] == task and counts[held[slot]] == most
    nth = np.int64(chance * n_largest)
    for slot in range(held.size):
        if tasks[held[slot]] == task and counts[held[slot]] == most:
            if nth == 0:
                return slot
            nth -= 1
    return NONE
