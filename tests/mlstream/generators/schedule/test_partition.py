"""Tasks get names, signatures and profiles from their rows."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators.schedule.partition import deal_rows, make_partition, split_tasks
from mlstream.generators.schedule.visit_plan import VisitPlan, part_sizes
from tests.mlstream.generators.tables import make_table

TABLE = make_table([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])


def test_signatures_and_profiles_come_from_the_rows():
    partition = make_partition(TABLE, [np.array([0, 1]), np.array([2, 3])])
    assert [task.name for task in partition.tasks] == ["task-0", "task-1"]
    assert partition.signatures.tolist() == [[True, True, False], [False, False, True]]
    assert partition.profiles.tolist() == [[1, 0.5, 0], [0, 0, 1]]
    assert not partition.shares_rows
    assert make_partition(TABLE, [np.array([0, 1]), np.array([1])]).shares_rows


def test_a_task_without_rows_is_refused():
    with pytest.raises(ValueError, match=r"table: every task must hold rows. Got 0 in b"):
        make_partition(TABLE, [np.array([0]), np.array([], dtype=int)], names=["a", "b"])


def test_rows_are_dealt_in_proportion_and_none_is_lost():
    members = [np.arange(100), np.arange(100, 400)]
    dealt = deal_rows(members, np.arange(400, 2400), seed=0)
    assert sorted(np.concatenate(dealt).tolist()) == list(range(2400))
    assert abs(len(dealt[0]) - 600) < 80
    assert set(members[1]) <= set(dealt[1])


@given(st.integers(0, 9), st.booleans(), st.booleans())
@settings(max_examples=30, deadline=None)
def test_tasks_are_split_in_their_sizes_without_losing_a_row(seed, stratified, shuffle):
    rng = np.random.default_rng(seed)
    table = make_table(rng.integers(0, 2, (90, 4)))
    members = np.array_split(rng.permutation(90)[:80], 3)
    visits = VisitPlan((0.2, 0.5), 0.3, stratified=stratified, seed=seed)
    for rows, parts in zip(
        members, split_tasks(table, make_partition(table, members), visits, shuffle=shuffle), strict=True
    ):
        assert [len(part) for part in parts] == part_sizes(len(rows), visits)
        assert sorted(np.concatenate(parts).tolist()) == sorted(rows.tolist())


@given(st.integers(0, 20))
def test_stratified_parts_hold_each_label_set_in_proportion(seed):
    rng = np.random.default_rng(seed)
    table = make_table(rng.integers(0, 2, (120, 3)))
    parts = split_tasks(table, make_partition(table, [np.arange(120)]), VisitPlan(stratified=True, seed=seed))[0]
    total = Counter(row.tobytes() for row in table.Y)
    for rows, share in zip(parts, (0.35, 0.35, 0.3), strict=True):
        found = Counter(row.tobytes() for row in table.Y[rows])
        assert all(abs(found[labels] - share * count) < 2 for labels, count in total.items())


@given(st.integers(0, 20), st.booleans())
@settings(max_examples=30, deadline=None)
def test_a_shared_row_plays_one_part_in_all_its_tasks(seed, stratified):
    rng = np.random.default_rng(seed)
    table = make_table(np.ones((100, 1)))
    belongs = rng.random((100, 3)) < 0.5
    members = [np.flatnonzero(column) for column in belongs.T]
    split = split_tasks(table, make_partition(table, members), VisitPlan(stratified=stratified, seed=seed))
    for task, (rows, parts) in enumerate(zip(members, split, strict=True)):
        assert sorted(np.concatenate(parts).tolist()) == rows.tolist()
        assert abs(len(parts[-1]) - 0.3 * len(rows)) < 8, task
    for part in range(3):
        for other in {0, 1, 2} - {part}:
            here = set(np.concatenate([parts[part] for parts in split]).tolist())
            there = set(np.concatenate([parts[other] for parts in split]).tolist())
            assert not here & there


def test_another_seed_is_another_split():
    table = make_table(np.ones((60, 1)))
    partition = make_partition(table, [np.arange(60)])
    assert len({tuple(split_tasks(table, partition, VisitPlan(seed=seed))[0][0]) for seed in range(5)}) == 5


def test_an_empty_part_is_refused():
    table = make_table(np.ones((20, 1)))
    partition = make_partition(table, np.split(np.arange(20), 2))
    with pytest.raises(ValueError, match=r"must hold rows. Got 1 of 3 without any for task 0 with 10 rows"):
        split_tasks(table, partition, VisitPlan((0.01, 0.69)))
