"""The ADWIN of every stream detects where a window of lists does."""

import pytest
from hypothesis import given

from estimators._kernels.adwin import new_windows
from estimators.drift._kernels.adwin import run
from tests.estimators.drift.kernels.streams import compare, streams
from tests.estimators.neighbours.slow_aesaknns import SlowDetector

DELTAS = (0.5, 0.002)


class SlowADWIN:
    """A window that is emptied at a change."""

    def __init__(self, delta):
        self.delta, self.window = delta, SlowDetector(delta)

    def add(self, value):
        if self.window.add(value):
            self.window = SlowDetector(self.delta)
            return 2
        return 0


@pytest.mark.slow
@given(streams(longest=90))
def test_drifts_are_those_of_the_slow_window(stream):
    compare(run, new_windows(2), [SlowADWIN(delta) for delta in DELTAS], stream, [[delta] for delta in DELTAS])
