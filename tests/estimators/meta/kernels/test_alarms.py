"""Alarms are those of a slow loop that keeps every row, and looks for the threshold from the top each time."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from estimators.meta._alarm_meter import AlarmMeter, Limits
from estimators.meta._alarm_weights import Weights
from estimators.meta._kernels.alarms import HASTE, N_BINS, NEARLY_ONE, REACH, RELIEF


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
        self.alarms, self.lost, self.credit = [], 0.0, 0.0

    def pass_time(self, now):
        length = min(now - (now if self.now is None else self.now), self.most / self.rate)
        saved, self.now = self.saved + self.rate * length, now
        self.saved, self.lost = min(saved, self.most), self.lost + max(saved - self.most, 0.0)
        self.fade(length / self.memory)
        if self.saved == self.most and self.rows:
            self.fade(min(HASTE * self.elapsed / (sum(w for w, _ in self.rows) * self.memory), 3.0))
        self.elapsed += length

    def fade(self, length):
        kept = math.exp(-length)
        self.elapsed *= kept
        self.rows = [(weight * kept, places) for weight, places in self.rows]

    def threshold(self):
        """Return the lowest bin, but 0, from which on cells weigh no more than wanted; and the share below it."""
        wanted = self.rate * self.elapsed * (0.5 + self.saved / self.most) * 2 ** min(self.lost, 60)
        cells = [(place, weight) for weight, places in self.rows for place in places]
        above = {place: math.fsum(w for other, w in cells if other >= place) for place, _ in cells}
        tied = max((place for place in above if place > 0 and above[place] > wanted + 1e-9), default=0)
        of_bin = math.fsum(w for place, w in cells if place == tied)
        return tied + 1, (wanted - above[tied] + of_bin) / of_bin if tied else 0.0

    def permits(self, key):
        tick = self.limits.is_timed
        lately = [at for at, _ in self.alarms if self.now - at < 10 * self.limits.period + tick]
        of_key = [at for at, one in self.alarms if one == key and self.now - at < self.limits.period + tick]
        most_of_key = math.inf if self.limits.key_budget is None else self.limits.key_budget
        return len(lately) < math.floor(10.5 * self.limits.budget) and len(of_key) < most_of_key

    def spend(self, worth, now, key):
        self.pass_time(now)
        (least, share), places = self.threshold(), [bin_of(one) for one in worth]
        raised = set()
        while self.saved >= 1:
            left = [k for k, place in enumerate(places) if place >= least and k not in raised]
            if not left and least > 1:
                left = [k for k, place in enumerate(places) if place == least - 1 and k not in raised]
                self.credit += share if left else 0
                if self.credit < NEARLY_ONE and self.saved <= self.most - 1:
                    break
                self.credit = max(self.credit - 1, 0) if left else self.credit
            if not left or not self.permits(key):
                break
            raised.add(max(left, key=lambda k: (worth[k], -k)))
            self.saved -= 1
            self.lost *= RELIEF
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
