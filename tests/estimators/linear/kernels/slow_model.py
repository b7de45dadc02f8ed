"""A logistic regression in a dictionary."""

import math


class SlowModel:
    """One label: weights by feature, the intercept under None; a step on the logarithmic loss of each row."""

    def __init__(self, n_features, step):
        self.w, self.step = dict.fromkeys([None, *range(n_features)], 0.0), step

    def score(self, x):
        return self.w[None] + math.fsum(self.w[f] * value for f, value in enumerate(x))

    def predict(self, x):
        score = self.score(x)
        # beyond 30, probabilities are 0 and 1, as River has it
        return float(score > 0) if abs(score) > 30 else 1 / (1 + math.exp(-score))

    def decide(self, x):
        return self.predict(x) > 0.5

    def learn(self, x, y, weight=1.0):
        slope = weight * self.slope(self.score(x), y)
        slope = min(max(slope, -self.step.clip), self.step.clip)
        self.w[None] -= self.step.intercept * slope
        for f, value in enumerate(x):
            self.w[f] -= self.step.weights * slope * value

    @staticmethod
    def slope(score, y):
        """P(label = 1) less the label; beyond 18, the asymptotes: the exponential, and 1."""
        margin, sign = (score, -1.0) if y else (-score, 1.0)
        if abs(margin) > 18:
            return sign * (math.exp(-margin) if margin > 0 else 1.0)
        return sign / (1 + math.exp(margin))
