"""DDM, EDDM and Page-Hinkley signal what slow forms of them do, from the list of values since the last drift."""

import math
import statistics

import pytest
from hypothesis import given, settings

from estimators.drift._kernels.extremes import (
    new_ddm_states,
    new_eddm_states,
    new_page_hinkley_states,
    run_ddm,
    run_eddm,
    run_page_hinkley,
)
from tests.estimators.drift.kernels.streams import Fresh, compare, streams

# warm-up, and the deviations of a warning and of a drift
DDM_SETTINGS = [[5, 1.0, 1.5], [30, 2.0, 3.0]]


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
def test_signals_of_ddm_are_those_of_lists(stream):
    compare(run_ddm, new_ddm_states(2), [SlowDDM(*settings) for settings in DDM_SETTINGS], stream, DDM_SETTINGS)


# warm-up, and the shares of a warning and of a drift
EDDM_SETTINGS = [[3, 1.0, 0.98], [5, 0.95, 0.9]]


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
def test_signals_of_eddm_are_those_of_lists(stream):
    compare(run_eddm, new_eddm_states(2), [SlowEDDM(*settings) for settings in EDDM_SETTINGS], stream, EDDM_SETTINGS)


# warm-up, tolerance, threshold, fading; whether an increase, and a decrease, is found
PAGE_HINKLEY_SETTINGS = [[3, 0.05, 2.3, 0.97, 1, 1], [12, 0.0, 0.77, 1.0, 1, 0]]


def far_numbers(level, chance):
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
@given(streams(far_numbers, (0.0, 1.0, -4.0, 5.0), longest=20))
def test_signals_of_page_hinkley_are_those_of_lists(stream):
    compare(
        run_page_hinkley,
        new_page_hinkley_states(2),
        [SlowPageHinkley(*settings) for settings in PAGE_HINKLEY_SETTINGS],
        stream,
        PAGE_HINKLEY_SETTINGS,
    )
