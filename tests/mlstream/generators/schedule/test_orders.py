"""Every order visits each task as often as asked, and does what its name says."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream.generators.schedule.orders import resolve_order
from mlstream.generators.schedule.visit_plan import ORDERS, VisitPlan


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
