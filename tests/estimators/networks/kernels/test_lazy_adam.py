"""Steps of Adam without a gradient, taken all at once, are the steps one after the other."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from estimators.networks._kernels.adam import make_constants
from estimators.networks._kernels.lazy_adam import make_lazy, refresh_all
from tests.scattered import tables

RATE, WIDTH = 0.01, 2
# what a step adds to a weight is rounded to the precision of the weight, as the sum of many is
TOLERANCE = {np.float64: 1e-12, np.float32: 2e-6}


def slow(w, m, v, t, now):
    """Adam's steps t + 1 to now where the gradient is 0."""
    for step in range(t + 1, now + 1):
        m, v = 0.9 * m, 0.999 * v
        w -= RATE * (m / (1 - 0.9**step)) / (math.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return w, m, v


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 5, 60, 499, 500, 2000]), st.integers(0, 600)), min_size=1, max_size=3),
    tables((3, WIDTH), (0.0, 0.1, -1.0, 1e-6)),
    tables((3, WIDTH), (0.01, 1e-10, 1e-16, 4.0)),
    st.sampled_from([None, (True, True), (True, False), (False, False)]),
)
@example([(0, 1000)], np.full((3, WIDTH), 0.1), np.full((3, WIDTH), 1e-3), None)
@example([(41_000, 400)], np.full((3, WIDTH), 0.1), np.full((3, WIDTH), 1e-16), None)
def test_weights_and_moments_are_those_of_single_steps(dtype, times, moments, squares, live):
    n = len(times)
    now = max(t + skipped for t, skipped in times)
    last = np.array([now - skipped for _, skipped in times])
    parts = np.ones(n * WIDTH), moments[:n].ravel(), squares[:n].ravel()
    w, m, v = (part.astype(dtype) for part in parts)
    flags = None if live is None else np.array(live)
    eps = float(np.finfo(np.dtype(dtype)).eps)
    first = [part.tolist() for part in (w, m, v, last)]
    refresh_all(w, m, v, make_constants(dtype), RATE, make_lazy(dtype), flags, WIDTH, last, now)
    for i, start in enumerate(zip(*first[:3], strict=True)):
        moves = live is None or live[i % WIDTH]
        found, expected = (w[i], m[i], v[i]), slow(*start, first[3][i // WIDTH], now) if moves else start
        change = abs(expected[0] - start[0])
        assert abs(found[0] - expected[0]) <= TOLERANCE[dtype] * (1 + change)
        # a first moment that has shrunk below the rounding of what it was becomes 0
        assert abs(found[1] - expected[1]) <= 10 * eps * abs(start[1])
        assert found[2] == pytest.approx(expected[2], rel=1e3 * eps, abs=0.0)
    assert last.tolist() == [now] * n
