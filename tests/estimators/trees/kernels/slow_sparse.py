"""Trees that add zeros together, as objects: those of dense rows, whose observers also sort their features by rareness.

A feature is heavy from its first value on, light from the row on after which at most a sixteenth of the weight has a
value, and heavy again from the value on with which that is more than an eighth.
"""

import math

import numpy as np

from tests.estimators.trees.kernels.slow_hoeffding import Node, SlowTree
from tests.estimators.trees.kernels.slow_observers import Observer, UndecidedError, is_more

UNSEEN, LIGHT, HEAVY = range(3)


class SparseObserver(Observer):
    """Weighted rows, with the moments of the values that are not zero, and the kind of each feature."""

    def __init__(self, n_features):
        super().__init__()
        self.kinds = [UNSEEN] * n_features

    def add(self, x, weight):
        super().add(x, weight)
        values, weights = np.array(self.rows), np.array(self.weights)[:, np.newaxis]
        self.present = values != 0
        self.present_weight = (weights * self.present).sum(axis=0)
        shares = weights * self.present / np.where(self.present_weight > 0, self.present_weight, 1.0)
        self.present_mean = (shares * values).sum(axis=0)
        self.present_squares = (weights * self.present * (values - self.present_mean) ** 2).sum(axis=0)
        self.least = np.where(self.present, values, np.inf).min(axis=0)
        self.greatest = np.where(self.present, values, -np.inf).max(axis=0)
        same = self.least == self.greatest
        self.present_mean[same], self.present_squares[same] = self.least[same], 0.0
        self.sort_features(np.flatnonzero(x))

    def sort_features(self, seen):
        for f in seen:
            if not (self.kinds[f] == LIGHT and self.is_at_most(f, 1 / 8)):
                self.kinds[f] = HEAVY
        if self.weight >= 16:
            for f, kind in enumerate(self.kinds):
                if kind == HEAVY and self.is_at_most(f, 1 / 16):
                    self.kinds[f] = LIGHT

    def is_at_most(self, f, share):
        """Return whether a share of the weight has a value, and neither weights nor squares are too small or great."""
        if self.present_weight[f] > share * self.weight or self.weight >= 1e15:
            return False
        if abs(self.present_mean[f]) < 1e-12 * (self.greatest[f] - self.least[f]):
            # values that cancel out but for the rounding
            raise UndecidedError
        square = self.about_mean(f)
        return square > 1e-200 and square + self.present_squares[f] < 1e200

    def about_mean(self, f):
        return self.present_weight[f] * self.present_mean[f] ** 2

    def series(self, n_terms):
        """Return half the sum of logarithms of squares about zero of light features, and sums of powers of ratios."""
        light = [f for f, kind in enumerate(self.kinds) if kind == LIGHT]
        squares = [self.about_mean(f) + self.present_squares[f] for f in light]
        pairs = zip(light, squares, strict=True)
        ratios = [self.present_weight[f] * (self.about_mean(f) / square) for f, square in pairs]
        logs = math.fsum(math.log(square) / 2 for square in squares)
        return [logs, *(math.fsum(ratio**j for ratio in ratios) for j in range(1, n_terms + 1))]

    def log_norm(self):
        """Return minus the log density of a row of zeros, but for what heavy features are off their means."""
        far = np.where(np.array(self.kinds) == HEAVY, self.mean, 0.0)
        return -self.log_density(far)


class SparseNode(Node):
    """A node that refuses to choose between classes where only the rounding does."""

    def majority(self):
        return best_key(self.counts)

    def guess(self, x):
        return best_key(self.log_joint(x)) if self.active and self.weight else None


def best_key(scores):
    """Return the key of the greatest number, of equals the first; None without any."""
    best = None
    for key, score in scores.items():
        if best is None or is_more(score, scores[best]):
            best = key
    return best


class SparseTree(SlowTree):
    """A tree that learns dense rows as a compiled tree learns sparse ones."""

    def new_leaf(self, depth, counts=()):
        return SparseNode(depth, self.draw_features(), counts)

    def new_observer(self):
        return SparseObserver(self.d)
