"""The rule of decisions at the prevalence as a slow loop over lists, to compare with."""

import math

import numpy as np


def log_odds(p):
    return math.log(p / (1 - p))


class SlowRule:
    """The rule of one label, from the lists of its rows: no running sum."""

    def __init__(self, follow=0.5, memory=20.0):
        self.follow, self.memory, self.values, self.weights = follow, memory, [], []

    def learn(self, value, weight=1.0):
        self.values.append(value)
        self.weights.append(weight)

    def usual(self):
        return np.average(self.values, weights=self.weights)

    def late(self):
        fading = np.array([(1 - 1 / self.memory) ** age for age in range(len(self.values))])[::-1] * self.weights
        late = (fading @ self.values + 5 * self.usual()) / (fading.sum() + 5)
        return min(max(late, 1e-4), 1 - 1e-4)

    def predict(self, p, follow=None):
        if not self.values or self.usual() == 0:
            return 0
        if self.usual() == 1:
            return 1
        usual = log_odds(self.usual())
        if follow == 0 or (p <= 0 or p >= 1):
            return int(p >= self.usual())
        moved = usual - (self.follow if follow is None else follow) * (log_odds(self.late()) - usual)
        assert abs(log_odds(p) - moved) > 1e-9, "a tie, which rounding decides"
        return int(log_odds(p) > moved)
