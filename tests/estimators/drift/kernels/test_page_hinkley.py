"""The test of Page and Hinkley signals what its sums, written out, say."""

import math

from hypothesis import given, settings

from estimators.drift._kernels.page_hinkley import new_states, run
from tests.estimators.drift.kernels.streams import Fresh, compare, streams

# warm-up, tolerance, threshold, fading; whether an increase, and a decrease, is found
SETTINGS = [[3, 0.05, 2.3, 0.97, 1, 1], [12, 0.0, 0.77, 1.0, 1, 0]]


def numbers(level, chance):
    return level + 3 * chance


class SlowPageHinkley(Fresh):
    """Faded sums of the deviations from the means so far, against their extremes."""

    def sums(self, sign):
        """Return the sums up to each value, with the tolerance taken off or added."""
        _, tolerance, _, fading, *_ = self.settings
        steps = [x - math.fsum(self.values[: i + 1]) / (i + 1) - sign * tolerance for i, x in enumerate(self.values)]
        return [math.fsum(fading ** (n - i) * step for i, step in enumerate(steps[: n + 1])) for n in range(len(steps))]

    def signal(self):
        warm_up, _, threshold, _, up, down = self.settings
        if len(self.values) < warm_up:
            return 0
        rising, falling = self.sums(1), self.sums(-1)
        risen = up and rising[-1] - min(rising) > threshold
        # River's first maximum is -1
        fallen = down and max(*falling, -1.0) - falling[-1] > threshold
        return 2 if risen or fallen else 0


@settings(max_examples=100)
@given(streams(numbers, (0.0, 1.0, -4.0, 5.0), longest=20))
def test_signals_are_those_of_lists(stream):
    compare(run, new_states(2), [SlowPageHinkley(*settings) for settings in SETTINGS], stream, SETTINGS)
