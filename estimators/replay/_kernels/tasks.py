"""Slots of rows in a memory shared by tasks: the present one fills its part, and rows of earlier ones are drawn."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, JIT, njit
from estimators._kernels.randomness import advance, uniform
from estimators.replay._kernels.by_label import NONE, Doubles, Integers

# positions in TaskState.counters: tasks begun, rows of the present one, its place in sizes, slots for it, rows to draw
N_TASKS, N_ROWS, PRESENT, N_RESERVED, N_READY = range(5)


class TaskState(NamedTuple):
    """The rows of a memory, by their tasks.

    ``owner`` is for each slot the place of its task in ``sizes``, the numbers of rows held of tasks, or -1. The rows of
    the present task go into the slots that are ``reserved``; those of earlier ones are in the slots that are ``ready``.
    ``mask`` marks the labels that count in the present task.
    """

    mask: npt.NDArray[np.bool_]
    owner: Integers
    sizes: Integers
    reserved: Integers
    ready: Integers
    counters: Integers


@njit(**JIT)
def place_by_task(
    state: TaskState,
    codes: npt.NDArray[np.uint8],
    chance: Doubles,
    draws: Integers,
    slots: Integers,
    max_rows: int,
) -> None:
    """Plan draws and slots for rows whose labels have these codes; a task ends after `max_rows`, if not negative."""
    counters, n_draws = state.counters, draws.shape[1]
    for i in range(slots.size):
        if is_over(state, codes[i], max_rows):
            begin_task(state, codes[i], chance[i, n_draws])
        for k in range(n_draws):
            n_ready = counters[N_READY]
            draws[i, k] = state.ready[np.int64(chance[i, k] * n_ready)] if n_ready else NONE
        slots[i] = reservoir_slot(state, chance[i, n_draws + 1])
        if slots[i] != NONE and state.owner[slots[i]] == NONE:
            state.owner[slots[i]] = counters[PRESENT]
            state.sizes[counters[PRESENT]] += 1
        counters[N_ROWS] += 1


@njit(**BUILD)
def is_over(state: TaskState, codes: npt.NDArray[np.uint8], max_rows: int) -> bool:
    """Return whether a task begins with a row: other labels count in it, or the present task has had its rows."""
    over = state.counters[N_TASKS] == 0 or state.counters[N_ROWS] == max_rows
    for k in range(state.mask.size):
        over = over or state.mask[k] != (codes[k] > 1)
    return over


@njit(**BUILD)
def begin_task(state: TaskState, codes: npt.NDArray[np.uint8], chance: float) -> None:
    """Begin a task: free slots for it, an equal share of all, or one as often as its share of one says."""
    counters, size = state.counters, state.owner.size
    for k in range(state.mask.size):
        state.mask[k] = codes[k] > 1
    counters[N_TASKS] += 1
    counters[N_ROWS] = 0
    n_held = 0
    for place in range(state.sizes.size):
        n_held += state.sizes[place]
    counters[PRESENT] = 0  # the first place without rows: there are more places than slots
    while state.sizes[counters[PRESENT]] > 0:
        counters[PRESENT] += 1
    wanted, random = size // counters[N_TASKS], np.uint64(chance * 2.0**53)
    if wanted == 0 and chance * counters[N_TASKS] < size:
        wanted = 1
    n_free = size - n_held
    while n_free < wanted:
        random = advance(random)
        free_slot(state, uniform(random))
        n_free += 1
    counters[N_RESERVED] = wanted
    list_slots(state)


@njit(**BUILD)
def free_slot(state: TaskState, chance: float) -> None:
    """Remove a random row of the tasks of which most rows are held."""
    most, n_rows = 0, 0
    for place in range(state.sizes.size):
        most = state.sizes[place] if state.sizes[place] > most else most
    for slot in range(state.owner.size):
        n_rows += state.owner[slot] != NONE and state.sizes[state.owner[slot]] == most
    nth = np.int64(chance * n_rows)
    for slot in range(state.owner.size):
        if state.owner[slot] != NONE and state.sizes[state.owner[slot]] == most:
            if nth == 0:
                state.sizes[state.owner[slot]] -= 1
                state.owner[slot] = NONE
                return
            nth -= 1


@njit(**BUILD)
def list_slots(state: TaskState) -> None:
    """List the slots that hold rows, and the free ones reserved for the present task."""
    n_ready, n_reserved = 0, 0
    for slot in range(state.owner.size):
        if state.owner[slot] != NONE:
            state.ready[n_ready] = slot
            n_ready += 1
        elif n_reserved < state.counters[N_RESERVED]:
            state.reserved[n_reserved] = slot
            n_reserved += 1
    state.counters[N_READY] = n_ready


@njit(**BUILD)
def reservoir_slot(state: TaskState, chance: float) -> int:
    """Return the slot that the next row of the present task takes among those reserved, or `NONE`."""
    n = state.counters[N_ROWS]
    nth = n if n < state.counters[N_RESERVED] else np.int64(chance * (n + 1))
    return state.reserved[nth] if nth < state.counters[N_RESERVED] else NONE
