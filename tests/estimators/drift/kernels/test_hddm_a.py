"""HDDM-A signals what Frias-Blanco et al. (2015) write, from the list of values since the last drift."""

import math

import pytest
from hypothesis import given, settings

from estimators.drift._kernels.hddm_a import new_states, run
from tests.estimators.drift.kernels.streams import Fresh, compare, streams

# confidences of a drift and of a warning, and whether a decrease counts
SETTINGS = [[0.05, 0.2, 1], [0.001, 0.005, 0]]


class SlowHDDMA(Fresh):
    """The mean of all values against that up to the cut where its bound was the most extreme."""

    def mean(self, n):
        return math.fsum(self.values[:n]) / n

    def bound(self, n):
        return math.sqrt(math.log(1 / self.settings[0]) / (2 * n))

    def differs(self, difference, cut, confidence):
        """Hoeffding's inequality for the means of a part and of all values."""
        n = len(self.values)
        return cut < n and difference >= math.sqrt((1 / cut - 1 / n) / 2 * math.log(2 / confidence))

    def signal(self):
        drift, warning, two_sided = self.settings
        n = len(self.values)
        sizes = range(n, 0, -1)
        low = min(sizes, key=lambda i: round(self.mean(i) + self.bound(i), 12))
        high = max(sizes, key=lambda i: round(self.mean(i) - self.bound(i), 12))
        tested = [(self.mean(n) - self.mean(low), low)]
        tested += [(self.mean(high) - self.mean(n), high)] if two_sided else []
        levels = (warning, drift)
        return max(sum(self.differs(*one, confidence) for confidence in levels) for one in tested)


def numbers(level, chance):
    return 0.8 * level + 0.2 * chance


@pytest.mark.slow
@settings(max_examples=50)
@given(streams() | streams(numbers))
def test_signals_are_those_of_lists(stream):
    compare(run, new_states(2), [SlowHDDMA(*settings) for settings in SETTINGS], stream, SETTINGS)
