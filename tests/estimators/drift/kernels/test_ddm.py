"""DDM signals what Gama et al. (2004) write, from the list of errors since the last drift."""

import math

import pytest
from hypothesis import given, settings

from estimators.drift._kernels.ddm import new_states, run
from tests.estimators.drift.kernels.streams import Fresh, compare, streams

# warm-up, and the deviations of a warning and of a drift
SETTINGS = [[5, 1.0, 1.5], [30, 2.0, 3.0]]


class SlowDDM(Fresh):
    """p + s against their least sum, with s = sqrt(p (1 - p) / i)."""

    def rates(self):
        for i in range(int(self.settings[0]) + 1, len(self.values) + 1):
            p = math.fsum(self.values[:i]) / i
            yield p, math.sqrt(p * (1 - p) / i)

    def signal(self):
        rates = list(self.rates())
        if not rates:
            return 0
        _, warning, drift = self.settings
        least_p, least_s = min(reversed(rates), key=lambda rate: round(sum(rate), 12))
        p, s = rates[-1]
        # levels that are equal but for rounding are not exceeded
        return 2 if p + s > least_p + drift * least_s + 1e-12 else int(p + s > least_p + warning * least_s + 1e-12)


@pytest.mark.slow
@settings(max_examples=100)
@given(streams())
def test_signals_are_those_of_lists(stream):
    compare(run, new_states(2), [SlowDDM(*settings) for settings in SETTINGS], stream, SETTINGS)
