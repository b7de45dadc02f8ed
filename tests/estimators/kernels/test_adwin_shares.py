"""The mean of a window right after a change is that of the numbers that the slow window keeps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from estimators._kernels.adwin import new_windows
from tests.estimators.drift.test_adwin_shares import watch
from tests.estimators.neighbours.slow_aesaknns import SlowDetector

CYCLES = ((0.0,), (1.0,), (0.0, 1.0), (0.0, 0.0, 0.0, 1.0))


@given(st.lists(st.tuples(st.sampled_from(CYCLES), st.integers(1, 90)), max_size=4), st.sampled_from([0.5, 0.002]))
def test_means_are_those_of_what_is_left(parts, delta):
    values = [cycle[i % len(cycle)] for cycle, n in parts for i in range(n)]
    means, slow, expected, n_changes = np.empty(len(values)), SlowDetector(delta), [], 0
    for value in values:
        changed = slow.add(int(value))
        expected.append(slow.mean())
        n_changes += changed
        slow = SlowDetector(delta) if changed else slow
    assert watch(new_windows(1), 0, np.array(values), delta, means) == n_changes
    # whole numbers over whole numbers: the same to the bit
    assert means.tolist() == expected
