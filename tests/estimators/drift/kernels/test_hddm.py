"""HDDM-A and HDDM-W signal what Frias-Blanco et al. (2015) write, from the list of values since the last drift."""

import math

import pytest
from hypothesis import given, settings

from estimators.drift._kernels.hddm import new_hddm_a_states, new_hddm_w_states, run_hddm_a, run_hddm_w
from tests.estimators.drift.kernels.streams import Fresh, compare, streams

# confidences of a drift and of a warning, and whether a decrease counts
HDDM_A_SETTINGS = [[0.05, 0.2, 1], [0.001, 0.005, 0]]


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
def test_signals_of_hddm_a_are_those_of_lists(stream):
    compare(
        run_hddm_a,
        new_hddm_a_states(2),
        [SlowHDDMA(*settings) for settings in HDDM_A_SETTINGS],
        stream,
        HDDM_A_SETTINGS,
    )


# confidences of a drift and of a warning, the weight of the latest value, and whether a decrease counts
HDDM_W_SETTINGS = [[0.05, 0.2, 0.2, 1], [0.001, 0.005, 0.05, 0]]


class SlowHDDMW(Fresh):
    """Exponentially weighted means before and after a cut, by McDiarmid's inequality."""

    def weighted(self, values):
        """Return the weighted mean and the sum of squared weights, of which that of the start is 1."""
        decay, n = self.settings[2], len(values)
        weights = [(1 - decay) ** (n - 1) if i == 0 else decay * (1 - decay) ** (n - 1 - i) for i in range(n)]
        squares = (1 - decay) ** (2 * n) + math.fsum((decay * (1 - decay) ** i) ** 2 for i in range(n))
        return math.fsum(w * value for w, value in zip(weights, values, strict=True)), squares

    def bound(self, squares, confidence):
        return math.sqrt(squares * math.log(1 / confidence) / 2)

    def cut(self, sign):
        """Return the first number of values whose bounded mean, times the sign, is the least."""
        sizes = range(1, len(self.values) + 1)
        parts = {n: self.weighted(self.values[:n]) for n in sizes}
        return min(sizes, key=lambda n: sign * parts[n][0] + self.bound(parts[n][1], self.settings[0]))

    def differs(self, sign, confidence):
        cut = self.cut(sign)
        if cut == len(self.values):
            return False
        (before, one), (after, other) = self.weighted(self.values[:cut]), self.weighted(self.values[cut:])
        return sign * (after - before) > self.bound(one + other, confidence)

    def signal(self):
        drift, warning, _, two_sided = self.settings
        signs = (1, -1) if two_sided else (1,)
        return max(sum(self.differs(sign, confidence) for confidence in (warning, drift)) for sign in signs)


@pytest.mark.slow
@settings(max_examples=50)
@given(streams(longest=20) | streams(numbers, longest=20))
def test_signals_of_hddm_w_are_those_of_lists(stream):
    compare(
        run_hddm_w,
        new_hddm_w_states(2),
        [SlowHDDMW(*settings) for settings in HDDM_W_SETTINGS],
        stream,
        HDDM_W_SETTINGS,
    )
