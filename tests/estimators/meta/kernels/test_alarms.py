"""Alarms are those of a slow loop that keeps every row, and looks for the threshold from the top each time."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from estimators.meta._alarm_meter import AlarmMeter, Limits
from estimators.meta._alarm_weights import Weights
from estimators.meta._kernels.alarms import HASTE, N_BINS, REACH


def bin_of(worth):
    log_odds = math.log(worth / (1 - worth))
    return min(max(math.floor((log_odds + REACH) * N_BINS / (2 * REACH)), 0), N_BINS - 1)


class SlowMeter:
    """The rule of the documentation, for rows of lists."""

    def __init__(self, limits):
        self.limits, self.rate = limits, limits.budget / limits.period
        self.most = max(limits.budget, 1.0)
        self.memory = limits.memory * limits.period
        self.saved, self.now, self.elapsed, self.rows = 0.0, None if limits.is_timed else 0.0, 0.0, []
        self.alarms = []

    def pass_time(self, now):
        length = min(now - (now if self.now is None else self.now), self.most / self.rate)
        expires = self.saved + self.rate * length > self.most
        self.saved, self.now = min(self.saved + self.rate * length, self.most), now
        self.fade(length / self.memory)
        if expires and self.rows:
            self.fade(min(HASTE * self.elapsed / (sum(w for w, _ in self.rows) * self.memory), 3.0))
        self.elapsed += length

    def fade(self, length):
        kept = math.exp(-length)
        self.elapsed *= kept
        self.rows = [(weight * kept, places) for weight, places in self.rows]

    def threshold(self):
        """Return the lowest bin from which on cells weigh no more than is wanted."""
        wanted = self.rate * self.elapsed * (0.5 + self.saved / self.most)
        cells = [(place, weight) for weight, places in self.rows for place in places]
        weights = {place: math.fsum(w for other, w in cells if other >= place) for place, _ in cells}
        return 1 + max((place for place, above in weights.items() if above > wanted + 1e-9), default=-1)

    def permits(self, key):
        tick = self.limits.is_timed
        lately = [at for at, _ in self.alarms if self.now - at < 10 * self.limits.period + tick]
        of_key = [at for at, one in self.alarms if one == key and self.now - at < self.limits.period + tick]
        most_of_key = math.inf if self.limits.key_budget is None else self.limits.key_budget
        return len(lately) < math.floor(10.5 * self.limits.budget) and len(of_key) < most_of_key

    def spend(self, worth, now, key):
        self.pass_time(now)
        least, places = self.threshold(), [bin_of(one) for one in worth]
        raised = set()
        while self.saved >= 1:
            lowest = least - (self.saved > self.most - 1)
            left = [k for k, place in enumerate(places) if place >= lowest and k not in raised]
            if not left or not self.permits(key):
                break
            raised.add(max(left, key=lambda k: (worth[k], -k)))
            self.saved -= 1
            self.alarms.append((now, key))
        self.rows.append((1.0, places))
        return [int(k in raised) for k in range(len(worth))]


LIMITS = st.builds(
    Limits,
    st.sampled_from([0.3, 1.0, 1.7, 4.3]),
    st.sampled_from([3.0, 7.0]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([1.0, 2.3]),
    st.booleans(),
)


@settings(max_examples=150)
@given(LIMITS, st.integers(1, 3), st.integers(1, 60), st.integers(0, 2**32 - 1), st.sampled_from([2, 50]))
def test_alarms_are_those_of_the_slow_loop(limits, n_labels, n_rows, seed, n_values):
    rng = np.random.default_rng(seed)
    proba = expit(rng.integers(-n_values, n_values + 1, (n_rows, n_labels)) / 2)
    weights = Weights.of(rng.choice([1.0, 3.0], n_labels), {}, 1.0)
    gaps = rng.choice([0, 1, 2, 200], n_rows, p=[0.3, 0.4, 0.28, 0.02]) if limits.is_timed else np.ones(n_rows)
    times, owners = gaps.cumsum().astype(float), rng.choice(["a", "b"], n_rows).tolist()
    slow, fast = SlowMeter(limits), AlarmMeter(limits)
    worth = proba * (weights.of_labels + 1) / (weights.of_labels.max(initial=1.0) + 1)
    expected = [slow.spend(*row) for row in zip(worth.tolist(), times.tolist(), owners, strict=True)]
    cut = int(rng.integers(0, n_rows + 1))
    parts = [
        fast.spend(
            proba[rows], weights, times[rows] if limits.is_timed else None, owners[rows] if limits.key_budget else None
        )
        for rows in (slice(0, cut), slice(cut, None))
        if len(owners[rows])
    ]
    np.testing.assert_array_equal(np.concatenate(parts), expected)
