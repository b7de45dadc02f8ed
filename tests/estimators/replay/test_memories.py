"""Memories hold what algorithm R, a ring buffer and even shares of tasks hold, and draw evenly from it."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from estimators import FIFOMemory, OCDMMemory, PRSMemory, ReservoirMemory
from estimators.replay.memories import TaskMemory, chances
from tests.estimators.replay.slow_memories import task_loop
from tests.loops import check_all

SIZES = st.tuples(st.integers(2, 9), st.integers(1, 4)).filter(lambda sizes: sizes[0] > sizes[1])


def held_after(memory, n_rows):
    """Return the row in each slot, one plan after the other."""
    held = {}
    for row, slot in enumerate(memory.plan(n_rows).slots):
        if slot >= 0:
            held[int(slot)] = row
    return held


@given(SIZES, st.lists(st.integers(0, 20), max_size=5), st.integers(0, 2**31 - 2))
def test_the_cut_of_a_stream_changes_nothing(sizes, cuts, seed):
    for kind in (ReservoirMemory, FIFOMemory):
        whole, cut = (kind(*sizes).begin(seed) for _ in range(2))
        plans = [cut.plan(n) for n in cuts]
        expected = whole.plan(sum(cuts))
        assert cut.n_seen_ == whole.n_seen_ == sum(cuts)
        if plans:
            np.testing.assert_array_equal(np.vstack([plan.draws for plan in plans]), expected.draws)
            np.testing.assert_array_equal(np.concatenate([plan.slots for plan in plans]), expected.slots)


@given(SIZES, st.integers(0, 60))
def test_a_ring_holds_the_last_rows(sizes, n_rows):
    held = held_after(FIFOMemory(*sizes).begin(0), n_rows)
    assert sorted(held.values()) == list(range(max(0, n_rows - sizes[0]), n_rows))


@given(SIZES, st.integers(0, 60), st.integers(0, 2**31 - 2))
def test_rows_are_drawn_once_there_are_more_than_are_drawn_and_only_those_held(sizes, n_rows, seed):
    for kind in (ReservoirMemory, FIFOMemory):
        plan, held = kind(*sizes).begin(seed).plan(n_rows), set()
        for draws, slot in zip(plan.draws, plan.slots, strict=True):
            if len(held) > sizes[1]:
                assert set(draws) <= held
            else:
                assert (draws == -1).all()
            held |= {slot} - {-1}


@pytest.mark.slow
def test_every_row_is_held_as_often_as_any_other():
    counts = np.zeros(50)
    for seed in range(4000):
        held = held_after(ReservoirMemory(10, 2).begin(seed), 50)
        assert len(set(held.values())) == 10
        counts[list(held.values())] += 1
    # a sample without replacement varies less than multinomial counts: the test can only be too kind in one direction
    assert chisquare(counts).pvalue > 1e-3


def test_slots_of_a_full_reservoir_are_replaced_evenly_and_as_often_as_algorithm_r_does():
    slots = np.concatenate([ReservoirMemory(8, 2).begin(seed).plan(100).slots[8:] for seed in range(500)])
    expected = sum(8 / n for n in range(9, 101)) / 92
    assert binomtest(int((slots >= 0).sum()), len(slots), expected).pvalue > 1e-3
    assert chisquare(np.bincount(slots[slots >= 0])).pvalue > 1e-3


@pytest.mark.parametrize("kind", [ReservoirMemory, FIFOMemory])
def test_draws_are_even_and_independent(kind):
    draws = np.concatenate([kind(6, 2).begin(seed).plan(40).draws[6:] for seed in range(600)])
    pairs = np.bincount(draws[:, 0] * 6 + draws[:, 1], minlength=36)
    assert chisquare(pairs).pvalue > 1e-3


def test_chance_is_the_sequence_published_for_splitmix64():
    first = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]  # those of seed 0, by Vigna's splitmix64.c
    expected = [(number >> 11) / 2**53 for number in first]
    assert chances(0, np.arange(3), 1).ravel().tolist() == expected
    assert chances(0, np.arange(1), 3).ravel().tolist() == expected


def test_a_memory_begun_again_is_empty_and_so_is_a_clone():
    memory = ReservoirMemory(10, 2).begin(0)
    first = memory.plan(50)
    np.testing.assert_array_equal(memory.begin(0).plan(50).draws, first.draws)
    assert not hasattr(clone(memory), "seed_")
    assert not np.array_equal(memory.begin(1).plan(50).draws, first.draws)


@pytest.mark.parametrize(
    ("size", "draws", "message"),
    [
        (5, 0, "draws must be an integer of at least 1. Got 0 instead"),
        (np.nan, 1, "size must be an integer of at least 1. Got nan instead"),
        (5, 5, "size must be greater than draws.*Got size 5 and"),
    ],
)
def test_a_memory_smaller_than_its_draws_is_refused(size, draws, message):
    with pytest.raises(ValueError, match=message):
        FIFOMemory(size, draws).begin(0)


def test_rows_to_plan_for_are_a_number():
    def check(memory, n_samples):
        memory = clone(memory).begin(0)
        with pytest.raises(ValueError, match=r"^n_samples must be an integer of at least 0\. Got [^\n]* instead\.$"):
            memory.plan(n_samples)
        assert memory.n_seen_ == 0

    check_all(
        product([FIFOMemory(9, 2), ReservoirMemory(9, 2)], [-1, 2.5, np.ones((2, 1)), None]), lambda case: check(*case)
    )


def test_a_size_that_makes_no_sense_is_refused_between_two_plans():
    memory = ReservoirMemory(9, 2).begin(0)
    with pytest.raises(ValueError, match=r"size must be an integer of at least 1\. Got nan instead"):
        memory.set_params(size=np.nan).plan(20)


@pytest.mark.parametrize("memory", [FIFOMemory(9, 2), ReservoirMemory(9, 2), PRSMemory(9, 2), OCDMMemory(9, 2)])
def test_a_memory_that_has_not_begun_plans_nothing(memory):
    with pytest.raises(NotFittedError, match=r"has not begun yet\. Call `begin` first"):
        memory.plan(np.ones((2, 1), dtype=int) if hasattr(memory, "rho") else 2)


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
