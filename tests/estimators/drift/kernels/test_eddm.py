"""EDDM signals what Baena-Garcia et al. (2006) write, from the list of errors since the last drift."""

import statistics

import pytest
from hypothesis import given, settings

from estimators.drift._kernels.eddm import new_states, run
from tests.estimators.drift.kernels.streams import Fresh, compare, streams

# warm-up, and the shares of a warning and of a drift
SETTINGS = [[3, 1.0, 0.98], [5, 0.95, 0.9]]


class SlowEDDM(Fresh):
    """The mean and two deviations of the distances between errors, against the greatest such sum."""

    def signal(self):
        warm_up, warning, drift = self.settings
        places = [i for i, value in enumerate(self.values, 1) if value == 1]
        signal, greatest = 0, -1.0
        for n in range(1, len(places) + 1):
            distances = [b - a for a, b in zip([0, *places], places[:n], strict=False)]
            deviation = statistics.stdev(distances) if n > 1 else 0.0
            level = statistics.fmean(distances) + 2 * deviation
            if places[n - 1] <= warm_up:
                continue
            # distances that are the largest, or few, change nothing
            if level > greatest:
                greatest = level
            elif n > warm_up:
                share = level / greatest
                signal = 2 if share < drift else int(share < warning)
        return signal


@pytest.mark.slow
@settings(max_examples=50)
@given(streams())
def test_signals_are_those_of_lists(stream):
    compare(run, new_states(2), [SlowEDDM(*settings) for settings in SETTINGS], stream, SETTINGS)
