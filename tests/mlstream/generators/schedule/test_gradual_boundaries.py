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


def test_a_window_longer_than_an_experience_is_refused():
    with pytest.raises(ValueError, match=r"window must be at most .* Got 6 for experience 1 with 5 rows"):
        blend([8, 5, 7], VisitPlan(window=6))
