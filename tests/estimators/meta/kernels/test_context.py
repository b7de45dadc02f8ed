"""Rows take the slots of a context that a slow list of rows and groups gives them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.meta._kernels.context import NO_ROW, label_keys, place, task_keys
from tests.estimators.ensembles.draws import BITS
from tests.scattered import tables


def mixed(label):
    """The finaliser of SplitMix64 of a multiple of its constant."""
    z = ((label + 1) * 0x9E3779B97F4A7C15) & BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


@settings(max_examples=100)
@given(st.integers(0, 5), st.integers(1, 70), st.data())
def test_keys_of_tasks_are_sums_of_mixed_bits(n, n_labels, data):
    counted, keys = data.draw(tables((n, n_labels), (True, False))), np.zeros(n, np.int64)
    task_keys(counted, keys)
    expected = [sum(mixed(k) for k in np.flatnonzero(row).tolist()) & BITS for row in counted]
    assert keys.view(np.uint64).tolist() == expected


@settings(max_examples=100)
@given(st.integers(0, 9), st.integers(1, 4), st.data())
def test_keys_of_labels_are_the_rarest(n, n_labels, data):
    positive, n_positive = data.draw(tables((n, n_labels), (True, False))), data.draw(tables((n_labels,), (0, 1, 3)))
    keys, counts, expected = np.zeros(n, np.int64), n_positive.tolist(), []
    label_keys(positive, n_positive, keys)
    for row in positive.tolist():
        own = [k for k, has in enumerate(row) if has]
        expected.append(min(own, key=lambda k: (counts[k], k)) + 1 if own else 0)
        for k in own:
            counts[k] += 1
    assert keys.tolist() == expected
    assert n_positive.tolist() == counts


class SlowContext:
    """Slots with (number, key) of the rows that they hold."""

    def __init__(self, size, refit_every, change):
        self.slots, self.size, self.refit_every, self.change = [], size, refit_every, change
        self.n_seen = self.when_due = 0

    def take(self, key):
        """Return the slot of the next row, and whether the context is due after it."""
        if len(self.slots) < self.size:
            slot = len(self.slots)
            self.slots.append(None)
        else:
            groups = [held for _, held in self.slots] + [key]
            most = max(map(groups.count, groups))
            slot = min((row, s) for s, (row, held) in enumerate(self.slots) if groups.count(held) == most)[1]
        self.slots[slot] = self.n_seen, key
        self.n_seen += 1
        n_new = sum(row >= self.when_due for row, _ in self.slots)
        due = self.n_seen - self.when_due >= self.refit_every or n_new >= self.change * len(self.slots)
        self.when_due = self.n_seen if due else self.when_due
        return slot, due


@settings(max_examples=100)
@given(
    st.lists(st.integers(-1, 3), max_size=20),
    st.integers(1, 5),
    st.sampled_from([2, 7, 2**62]),
    st.sampled_from([0.5, 1.0, np.inf]),
    st.integers(0, 20),
)
def test_slots_are_those_of_the_slow_context_whatever_the_cut(keys, size, refit_every, change, cut):
    slow, arrivals, groups = SlowContext(size, refit_every, change), np.full(size, NO_ROW), np.zeros(size, np.int64)
    state = arrivals, groups, np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64), np.zeros(3, np.int64)
    found = []
    for part in (keys[:cut], keys[cut:]):
        slots, due = np.empty(len(part), np.int64), np.empty(len(part), bool)
        place(np.array(part, np.int64), *state, refit_every, change, slots, due)
        found += zip(slots.tolist(), due.tolist(), strict=True)
    assert found == [slow.take(key) for key in keys]
    assert arrivals[: len(slow.slots)].tolist() == [row for row, _ in slow.slots]
