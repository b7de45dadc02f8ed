"""Compiled windows detect a change where ADWIN of the paper does, which keeps every number in lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from estimators._kernels.adwin import add_levels, detect_any_change, new_windows
from tests.estimators.neighbours.slow_aesaknns import SlowDetector

CYCLES = ((0.0,), (1.0,), (0.0, 1.0), (0.25, -3.0, 7.5), (1e6,), (0.0, 0.0, 0.0, 1.0))


@st.composite
def numbers(draw):
    """Draw cycles that follow each other: means that jump."""
    parts = draw(st.lists(st.tuples(st.sampled_from(CYCLES), st.integers(1, 90)), max_size=4))
    return [cycle[i % len(cycle)] for cycle, n in parts for i in range(n)]


@given(numbers(), st.sampled_from([0.5, 0.002]), st.integers(0, 1))
def test_changes_are_detected_where_the_slow_window_does(values, delta, d):
    windows, slow, found = new_windows(2), SlowDetector(delta), []
    expected = []
    for value in values:
        found.append(bool(detect_any_change(windows, d, np.array([value]), delta)))
        expected.append(slow.add(value))
        slow = SlowDetector(delta) if expected[-1] else slow
    assert found == expected
    kept = slow.numbers()
    assert windows.heads[d]["width"] == len(kept)
    # a running sum there
    assert abs(windows.heads[d]["total"] - sum(kept)) <= 1e-9 * (1 + sum(map(abs, kept)))
    assert windows.heads[1 - d]["width"] == 0


@given(numbers(), st.sampled_from([0.5, 0.002]))
def test_a_chunk_has_a_change_if_any_of_its_numbers_has(values, delta):
    windows, slow, expected = add_levels(new_windows(1, 4), 20), SlowDetector(delta), False
    found = detect_any_change(windows, 0, np.array(values), delta)
    for value in values:
        if slow.add(value):
            expected, slow = True, SlowDetector(delta)
    assert found == expected
