"""Rows take the slots of a balanced memory that a loop over counters gives them."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.replay._kernels.balanced import NONE, place
from tests.scattered import tables

CHANCES = (0.0, 0.3, 0.51, 0.999)


def slow_slot(held, group, task_of, chance, admitted):
    """Return the slot of a row in a full memory, or None."""
    own, sizes, counts = task_of[group], Counter(task_of[one] for one in held), Counter(held)
    largest = max(sizes.values())
    if not sizes[own] and largest == 1:
        # every row is a task of its own: a reservoir
        return int(chance * len(held)) if admitted else None
    grows = sizes[own] + 1 < largest
    task = own if not grows else min(one for one in sizes if sizes[one] == largest)
    most = max(n for one, n in counts.items() if task_of[one] == task)
    is_new = admitted and not counts[group]
    if not grows and counts[group] + 1 >= most and not is_new:
        return None
    slots = [slot for slot, one in enumerate(held) if task_of[one] == task and counts[one] == most]
    return slots[int(chance * len(slots))]


def slow_place(groups, task_of, held, share, n_changed, plan):
    held, slots, due = [one for one in held if one != NONE], [], []
    size = plan["size"]
    for group, chance, admitted in zip(groups, plan["chance"], plan["admitted"], strict=True):
        is_full = len(held) == size
        slot = slow_slot(held, group, task_of, chance, admitted) if is_full else len(held)
        slots.append(NONE if slot is None else slot)
        if slot is None:
            due.append(False)
            continue
        held[slot : slot + 1] = [group]
        n_changed += 1
        due.append(n_changed >= share * len(held))
        n_changed = 0 if due[-1] else n_changed
    return held + [NONE] * (size - len(held)), slots, due, n_changed


@settings(max_examples=100)
@given(st.integers(1, 5), st.integers(0, 12), st.integers(1, 6), st.sampled_from([0.0, 0.3, 1.0]), st.data())
def test_slots_are_those_of_the_loop(size, n, n_groups, share, data):
    tasks = data.draw(tables((n_groups,), (0, 0, 1, 2), np.int64)) % n_groups
    kinds = tuple(range(n_groups))
    groups, start = (
        data.draw(tables((n,), kinds, np.int64)),
        data.draw(tables((data.draw(st.integers(0, size)),), kinds)),
    )
    chance, admitted = data.draw(tables((n,), CHANCES)), data.draw(tables((n,), (True, False)))
    n_changed = np.array([data.draw(st.integers(0, 2))])
    held = np.append(start, np.full(size - len(start), NONE)).astype(np.int64)
    plan = {"size": size, "chance": chance.tolist(), "admitted": admitted.tolist()}
    expected = slow_place(groups.tolist(), tasks.tolist(), held.tolist(), share, int(n_changed[0]), plan)
    slots, due, (counts, sizes) = np.full(n, NONE), np.zeros(n, bool), np.zeros((2, n_groups), np.int64)
    place(groups, tasks, held, counts, sizes, chance, admitted, share, n_changed, slots, due)
    assert (held.tolist(), slots.tolist(), due.tolist(), int(n_changed[0])) == expected
