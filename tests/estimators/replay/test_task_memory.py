"""A memory shared by tasks holds the rows that a slow loop holds, and never more of a task than its part."""

from collections import Counter
from itertools import product

import numpy as np
from scipy.stats import chisquare

from estimators.replay.task_memory import TaskMemory
from tests.estimators.replay.slow_memories import task_loop
from tests.loops import check_all

ALL = np.ones(10_000, dtype=bool)


def codes_of(tasks, n_labels=4):
    """Return codes of rows of tasks, each with other labels that count."""
    counts = (np.asarray(tasks)[:, np.newaxis] >> np.arange(n_labels)) & 1
    return (2 * counts + (np.arange(len(counts)) % 2)[:, np.newaxis]).astype(np.uint8)


def plan(memory, codes):
    return memory._plan_learnt(codes, ALL[: len(codes)])


STREAMS = {
    "few": np.repeat([1, 2, 3, 1, 2], 60),
    "short": np.repeat([1, 2, 3, 1, 2, 5, 7], [60, 3, 1, 40, 2, 30, 50]),
    "one each row": np.arange(200) % 15 + 1,
}


def test_slots_and_draws_are_those_of_a_slow_loop():
    def check(task_rows, name):
        memory = TaskMemory(20, 3, task_rows=task_rows).begin(0)
        expected, _, owner = task_loop(memory, STREAMS[name])
        codes = codes_of(STREAMS[name])
        plans = [plan(memory, codes[i : i + 17]) for i in range(0, len(codes), 17)]
        np.testing.assert_array_equal(np.vstack([one.draws for one in plans]), [draws for draws, _ in expected])
        np.testing.assert_array_equal(np.concatenate([one.slots for one in plans]), [slot for _, slot in expected])
        assert sorted(memory._state.sizes[memory._state.sizes > 0]) == sorted(Counter(owner.values()).values())

    check_all(product([None, 25], STREAMS), lambda case: check(*case))


def test_every_task_has_an_equal_part():
    tasks = np.repeat([1, 2, 3, 4], 200)
    memory = TaskMemory(40, 3).begin(0)
    for n_tasks in range(1, 5):
        part = slice(200 * n_tasks - 200, 200 * n_tasks)
        plan(memory, codes_of(tasks[part]))
        assert memory.n_tasks_ == n_tasks
        sizes = memory._state.sizes[memory._state.sizes > 0]
        assert len(sizes) == n_tasks
        assert sizes.sum() <= 40
        assert sizes.min() == 40 // n_tasks
        assert sizes.max() - sizes.min() <= 1


def test_rows_of_the_present_task_are_not_drawn():
    tasks = np.repeat([1, 2, 1], 80)
    planned, of_slot, drawn = plan(TaskMemory(30, 5).begin(0), codes_of(tasks)), {}, [set(), set(), set()]
    assert (planned.draws[:80] == -1).all()
    for i in range(240):
        drawn[i // 80] |= {of_slot[slot] for slot in planned.draws[i] if slot >= 0}
        if planned.slots[i] >= 0:
            of_slot[planned.slots[i]] = i // 80
    assert drawn == [set(), {0}, {0, 1}]


def test_rows_of_a_task_are_held_alike_and_so_are_tasks_of_which_there_are_too_many():
    of_rows, of_tasks = np.zeros(60), np.zeros(60)
    single = np.arange(60) % 15 + 1
    for seed in range(1000):
        for tasks, counts in ((np.ones(60, dtype=int), of_rows), (single, of_tasks)):
            slots = plan(TaskMemory(10, 2).begin(seed), codes_of(tasks)).slots
            counts[list({slot: row for row, slot in enumerate(slots) if slot >= 0}.values())] += 1
    for counts in (of_rows, of_tasks):
        assert counts.sum() == 10_000
        assert chisquare(counts).pvalue > 1e-3


def test_new_labels_end_a_task_once_they_count():
    memory = TaskMemory(10, 2).begin(0)
    plan(memory, codes_of([3] * 5, n_labels=2))
    plan(memory, codes_of([3] * 5, n_labels=3))
    assert memory.n_tasks_ == 1
    plan(memory, codes_of([7] * 5, n_labels=3))
    assert memory.n_tasks_ == 2
