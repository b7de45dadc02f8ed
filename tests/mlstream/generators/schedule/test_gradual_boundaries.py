"""Windows use every row once, touch nothing outside, and rise as their shape says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.generators.schedule.gradual_boundaries import blend
from mlstream.generators.schedule.visit_plan import VisitPlan

SHAPES = st.sampled_from(["linear", "sigmoid"])


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
