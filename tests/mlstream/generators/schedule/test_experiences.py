"""Experiences and evaluation sets hold the rows and labels of their tasks, in the order that is asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators.schedule.experiences import lay_out
from mlstream.generators.schedule.partition import make_partition
from mlstream.generators.schedule.visit_plan import VisitPlan
from tests.mlstream.generators.tables import make_table


def rows_of(parts):
    return [part.row_ids for part in (*parts.experiences, *parts.evaluation_sets)]


@given(st.permutations([0, 1, 2] * 2), st.integers(0, 9), st.integers(0, 8), st.booleans())
@settings(max_examples=40, deadline=None)
def test_every_row_is_in_exactly_one_part_and_unchanged(order, seed, window, shuffle):
    rng = np.random.default_rng(seed)
    table = make_table(rng.integers(0, 2, (90, 4)))
    members = np.array_split(rng.permutation(90)[:80], 3)
    visits = VisitPlan(order=order, seed=seed, window=window)
    parts, drops = lay_out(table, make_partition(table, members), visits, shuffle=shuffle)
    assert not drops
    assert sorted(np.concatenate(rows_of(parts)).tolist()) == sorted(np.concatenate(members).tolist())
    for part in (*parts.experiences, *parts.evaluation_sets):
        np.testing.assert_array_equal(part.X, table.X[part.row_ids])
        np.testing.assert_array_equal(part.Y, table.Y[part.row_ids])
    for experience, task in zip(parts.experiences, order, strict=True):
        middle = slice(window // 2 + window % 2, len(experience) - window // 2)
        assert set(experience.task_ids[middle].tolist()) <= {task}
        masks = np.broadcast_to(experience.label_mask, experience.Y.shape)
        for row, owner, mask in zip(experience.row_ids, experience.task_ids, masks, strict=True):
            assert row in members[owner]
            np.testing.assert_array_equal(mask, table.Y[members[owner]].any(axis=0))
    for task, held_out in enumerate(parts.evaluation_sets):
        assert held_out.task_id == task
        assert set(held_out.row_ids) <= set(members[task])


def test_one_task_has_one_mask_and_a_mixture_one_mask_per_row():
    table = make_table(np.repeat([[1, 0], [0, 1]], 20, axis=0))
    partition = make_partition(table, np.split(np.arange(40), 2))
    abrupt, gradual = (lay_out(table, partition, VisitPlan((0.7,), 0.3, window=window))[0] for window in (0, 8))
    assert [experience.label_mask.shape for experience in abrupt.experiences] == [(2,), (2,)]
    assert [experience.label_mask.shape for experience in gradual.experiences] == [(14, 2), (14, 2)]


def test_learning_rows_in_two_tasks_show_the_labels_of_each_and_evaluation_rows_show_all():
    table = make_table(np.tile([[1, 1, 0], [0, 1, 1]], (20, 1)))
    signatures = np.array([[True, False, False], [False, True, True]])
    everything = np.arange(40)
    partition = make_partition(table, [everything, everything], signatures=signatures, hides_labels=True)
    parts, _ = lay_out(table, partition, VisitPlan(seed=2))
    for part in parts.experiences:
        np.testing.assert_array_equal(part.Y, table.Y[part.row_ids] * signatures[part.task_ids[0]])
    for held_out in parts.evaluation_sets:
        np.testing.assert_array_equal(held_out.Y, table.Y[held_out.row_ids])
        np.testing.assert_array_equal(held_out.label_mask, signatures[held_out.task_id])


@pytest.mark.parametrize("stratified", [False, True])
def test_rows_outside_the_fractions_are_counted(stratified):
    table = make_table(np.arange(40).reshape(40, 1) % 2)
    partition = make_partition(table, [np.arange(40)])
    parts, drops = lay_out(table, partition, VisitPlan((0.25, 0.25), 0.25, stratified=stratified))
    assert [len(rows) for rows in rows_of(parts)] == [10, 10, 10]
    assert [(drop.what, drop.count) for drop in drops] == [("rows", 10)]


def test_neighbours_in_order_are_views_of_the_table():
    table = make_table(np.ones((40, 1)))
    parts, _ = lay_out(table, make_partition(table, [np.arange(40)]), VisitPlan(), shuffle=False)
    assert all(np.shares_memory(experience.X, table.X) for experience in parts.experiences)
