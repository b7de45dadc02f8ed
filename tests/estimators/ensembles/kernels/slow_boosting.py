"""Online coordinate boosting of one label, with the sums of pairs of weak learners in dictionaries."""

import math

LEAST, MOST, HEAVIEST = 1e-100, 1e100, 1e50


class SlowBoosting:
    """Weak learners have `decide(x)` and `learn(x, y, weight)`; `derived` sums follow the weights of rows."""

    def __init__(self, weak, smoothing, *, derived):
        self.weak, self.derived = weak, derived
        pairs = [(j, k) for j in range(len(weak)) for k in range(j + 1)]
        self.right, self.wrong = dict.fromkeys(pairs, smoothing), dict.fromkeys(pairs, smoothing)
        self.alpha, self.change = [0.0] * len(weak), [0.0] * len(weak)

    def score(self, x):
        return math.fsum(a if weak.decide(x) else -a for a, weak in zip(self.alpha, self.weak, strict=True))

    def learn(self, x, y, weight=1.0):
        """Pelossof et al.: each learner's sums, then its coefficient, then its weight of the row."""
        right = [weak.decide(x) == bool(y) for weak in self.weak]
        mass, weights = 1.0, []
        for j, is_right in enumerate(right):
            for sums, side in ((self.right, True), (self.wrong, False)):
                growth = math.prod(self.growth(sums, side, j, k) for k in range(j))
                for k in range(j + 1):
                    both = mass if right[k] == is_right == side else 0.0
                    sums[j, k] = min(max(sums[j, k] * growth + both, LEAST), MOST)
            alpha = math.log(self.right[j, j] / self.wrong[j, j]) / 2
            self.change[j], self.alpha[j] = alpha - self.alpha[j], alpha
            mass = min(mass * math.exp(-alpha if is_right else alpha), HEAVIEST)
            weights.append(mass)
        for weak, one in zip(self.weak, weights, strict=True):
            weak.learn(x, y, weight * one)

    def growth(self, sums, side, j, k):
        """Return how the rows of j's sums change their weight with the coefficient of k, on average."""
        share, down = sums[j, k] / sums[j, j], math.exp(-self.change[k])
        if self.derived and not side:
            # rows on which both are wrong weigh more as the coefficient grows; MOA has the opposite
            return share / down + (1 - share) * down
        return share * down + (1 - share) / down
