"""KSWIN compares the latest values with those that Python itself samples from the others."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.adwin import new_windows
from estimators.drift._kernels.windows import run_adwin, run_kswin
from estimators.drift.kswin import KSWIN
from tests.estimators.drift.kernels.streams import compare, streams
from tests.estimators.neighbours.slow_aesaknns import SlowDetector

# values in a window, and the latest of them: sampled from a pool, and drawn until they differ
SIZES = st.sampled_from([(8, 3), (12, 4), (60, 4)])


class SlowKSWIN:
    """A list of values; the greatest distance of two distribution functions."""

    def __init__(self, size, n_latest, distance):
        self.size, self.n_latest, self.distance = size, n_latest, distance
        self.begin()

    def begin(self):
        self.values, self.random = [], random.Random(7)  # noqa: S311 - no secret

    def add(self, value):
        self.values = [*self.values, value][-self.size :]
        if len(self.values) < self.size:
            return 0
        latest = self.values[-self.n_latest :]
        sample = self.random.sample(self.values[: -self.n_latest], self.n_latest)
        points = sample + latest
        apart = max(abs(sum(x <= point for x in sample) - sum(x <= point for x in latest)) for point in points)
        if apart < self.distance:
            return 0
        self.begin()
        return 2


def quarters(level, chance):
    """Return quarters, so that values tie."""
    return level + round(8 * chance) / 4


@settings(max_examples=100)
@given(streams(quarters, (0.0, 1.0, -3.0)), SIZES, st.integers(2, 4))
def test_drifts_are_those_of_lists(stream, sizes, distance):
    size, n_latest = sizes
    detector = KSWIN(window_size=size, stat_size=n_latest, random_state=7)
    by_pool = detector._settings(1.0)[2]
    detectors = [SlowKSWIN(size, n_latest, distance) for _ in range(2)]
    compare(run_kswin, detector._new_states(2), detectors, stream, [[n_latest, distance, by_pool]] * 2)


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
    compare(run_adwin, new_windows(2), [SlowADWIN(delta) for delta in DELTAS], stream, [[delta] for delta in DELTAS])
