"""Experiences and evaluation sets hold the rows and labels of their tasks, in the order that is asked for."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators.schedule.experiences import blend, lay_out, resolve_order
from mlstream.generators.schedule.partition import make_partition
from mlstream.generators.schedule.visit_plan import ORDERS, VisitPlan
from tests.mlstream.generators.tables import make_table

SHAPES = st.sampled_from(["linear", "sigmoid"])


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


def plan(n_visits, order, seed=0):
    return VisitPlan([0.5 / n_visits] * n_visits, 0.5, order, seed=seed)


@given(st.integers(1, 6), st.integers(1, 4), st.sampled_from([None, *ORDERS]), st.integers(0, 9))
@settings(max_examples=60)
def test_each_task_is_visited_as_often_as_asked(n_tasks, n_visits, order, seed):
    profiles = np.random.default_rng(seed).random((n_tasks, 3))
    found = resolve_order(profiles, plan(n_visits, order, seed))
    assert sorted(found) == sorted(list(range(n_tasks)) * n_visits)
    if order != "interleaved":
        assert found == found[:n_tasks] * n_visits
    elif n_tasks > 1:
        assert all(a != b for a, b in pairwise(found))


@given(st.integers(2, 6), st.sampled_from(["similarity", "dissimilarity"]), st.integers(0, 9))
def test_each_step_goes_to_the_nearest_or_farthest_task_left(n_tasks, order, seed):
    profiles = np.random.default_rng(seed).random((n_tasks, 4)).tolist()

    def cosine(a, b):
        return np.dot(a, b) / np.sqrt(np.dot(a, a) * np.dot(b, b))

    path = resolve_order(profiles, plan(1, order, seed))
    for place in range(1, n_tasks):
        left = {task: cosine(profiles[path[place - 1]], profiles[task]) for task in path[place:]}
        best = max(left.values()) if order == "similarity" else min(left.values())
        assert left[path[place]] == pytest.approx(best)


@pytest.mark.parametrize("order", [None, "interleaved", "similarity"])
def test_the_order_depends_on_the_seed(order):
    profiles = np.random.default_rng(0).random((6, 3))
    assert len({tuple(resolve_order(profiles, plan(2, order, seed))) for seed in range(20)}) > 3


def test_a_given_order_is_taken_as_it_is():
    assert resolve_order(np.eye(3), plan(2, np.array([2, 0, 1, 1, 0, 2]))) == [2, 0, 1, 1, 0, 2]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ((0, 1, 2, 0, 1, 3), r"order must name tasks from 0 to 2. Got 3 in"),
        ((0, 1, 2, 0, 1, -1), r"order must name tasks from 0 to 2. Got -1 in"),
        ((0, 1, 2), r"order must visit each of 3 tasks 2 times.* Got task 0 1 times in \[0, 1, 2\]"),
        ((0, 0, 0, 1, 2, 2), r"Got task 0 3 times"),
        ((), r"Got task 0 0 times in \[\]"),
    ],
)
def test_an_order_that_does_not_fit_is_refused(order, message):
    with pytest.raises(ValueError, match=message):
        resolve_order(np.eye(3), plan(2, order))


@given(st.lists(st.integers(10, 30), min_size=1, max_size=5), st.integers(0, 10), SHAPES, st.integers(0, 99))
def test_every_row_is_used_once_and_only_in_its_window(sizes, window, shape, seed):
    places = blend(sizes, VisitPlan(window=window, shape=shape, seed=seed))
    assert sorted(places.tolist()) == list(range(sum(sizes)))
    near = np.zeros(sum(sizes), dtype=bool)
    for boundary in np.cumsum(sizes)[:-1]:
        near[boundary - window // 2 : boundary - window // 2 + window] = True
    np.testing.assert_array_equal(places[~near], np.flatnonzero(~near))
    task = np.repeat(np.arange(len(sizes)), sizes)
    for number in range(len(sizes)):
        assert (np.diff(places[task[places] == number]) > 0).all()


@pytest.mark.parametrize("shape", ["linear", "sigmoid"])
def test_the_share_of_the_next_task_rises_as_the_shape_says(shape):
    window, pieces = 20_000, 20
    next_task = blend([window, window], VisitPlan(window=window, shape=shape, seed=1)) >= window
    share = next_task[window // 2 : window // 2 + window].reshape(pieces, -1).mean(axis=1)
    t = (np.arange(pieces) + 0.5) / pieces
    expected = t if shape == "linear" else 1 / (1 + np.exp(-10 * (t - 0.5)))
    np.testing.assert_allclose(share, expected, atol=0.05)


def test_no_window_is_no_change():
    assert blend([3, 4], VisitPlan(window=0)).tolist() == list(range(7))


WIDE = {"sizes": st.lists(st.integers(1, 30), min_size=1, max_size=6), "window": st.integers(1, 250)}


@given(**WIDE, shape=SHAPES, seed=st.integers(0, 99))
def test_a_wide_window_uses_every_row_once_in_order_and_moves_none_further_than_itself(sizes, window, shape, seed):
    places = blend(sizes, VisitPlan(window=window, shape=shape, seed=seed))
    assert sorted(places.tolist()) == list(range(sum(sizes)))
    assert (abs(places - np.arange(sum(sizes))) <= window).all()
    task = np.repeat(np.arange(len(sizes)), sizes)
    for number in range(len(sizes)):
        assert (np.diff(places[task[places] == number]) > 0).all()


@pytest.mark.parametrize("shape", ["linear", "sigmoid"])
def test_a_wide_window_spans_several_boundaries_and_blends_several_tasks(shape):
    size, n_tasks, window, pieces = 40_000, 8, 120_000, 80
    places = blend([size] * n_tasks, VisitPlan(window=window, shape=shape, seed=3))
    task = (places // size).reshape(pieces, -1)
    share = np.stack([(task == number).mean(axis=1) for number in range(n_tasks)])
    # Shares by the rule, one loop per task and piece; rows near the ends of the stream crowd, so they are left out.
    place = (np.arange(pieces) + 0.5) * size * n_tasks / pieces
    inner = [piece for piece in range(pieces) if window / 2 < place[piece] < size * n_tasks - window / 2]
    for number in range(n_tasks):
        for piece in inner:
            before, after = (
                rise((place[piece] - boundary) / window + 0.5, shape)
                for boundary in (number * size, (number + 1) * size)
            )
            assert share[number, piece] == pytest.approx(before - after, abs=0.035)
    assert ((share[:, inner] > 0.02).sum(axis=0) >= 3).all()


def rise(t, shape):
    if not 0 < t < 1:
        return float(t >= 1)
    return t if shape == "linear" else 1 / (1 + np.exp(-10 * (t - 0.5)))


def test_a_window_as_long_as_an_experience_still_blends_neighbours_only():
    places = blend([6, 6, 6], VisitPlan(window=6))
    task = places // 6
    assert set(task[:9].tolist()) == {0, 1}
    assert set(task[9:].tolist()) == {1, 2}
