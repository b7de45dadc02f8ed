"""Normal distributions of the features of lists of rows, the splits that they suggest, and careful comparisons."""

import math

import numpy as np
from hypothesis.errors import UnsatisfiedAssumption

# that a compiled observer keeps of each feature
N_MOMENTS = 5


class UndecidedError(UnsatisfiedAssumption):
    """A decision hangs on two numbers that differ in their last bits, where each order of sums has its own.

    Hypothesis leaves such an example out, unless its test catches this and goes on with the rows before.
    """


def is_more(a, b):
    """Return whether a > b; what is equal is equal in kernels, too, but what is nearly so may be anything."""
    if a != b and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9):
        raise UndecidedError
    return a > b


def is_due(weight, last, period, *, born):
    """Return whether a period is over; the weights that a leaf was born with are fractions, and others exact sums."""
    if born and math.isclose(weight - last, period, rel_tol=1e-9):
        raise UndecidedError
    return weight - last >= period


def in_turn(numbers):
    """Add numbers one by one; `sum` rounds otherwise since Python 3.12."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def entropy(weights):
    total = in_turn(weights)
    return -in_turn(w / total * math.log2(w / total) for w in weights if w > 0)


def thresholds(low, high):
    """Return the ten thresholds between the least and the greatest value."""
    return [at for k in range(1, 11) if low < (at := low + (high - low) / 11 * k) < high]


def first_best(candidates):
    """Return the best (merit, value), of equals the first; (-inf, 0.0) without any that has gain."""
    best = (-math.inf, 0.0)
    for merit, value in candidates:
        if is_more(merit, best[0]):
            best = merit, value
    return best


class Observer:
    """Weighted rows, with mean, variance and range of each feature."""

    def __init__(self):
        self.rows, self.weights = [], []

    def add(self, x, weight):
        self.rows.append(x)
        self.weights.append(weight)
        values, weights = np.array(self.rows), np.array(self.weights)[:, np.newaxis]
        self.weight, self.low, self.high = float(weights.sum()), values.min(axis=0), values.max(axis=0)
        self.mean = (weights * values).sum(axis=0) / self.weight
        varies = self.low < self.high
        self.squares = (weights * (values - self.mean) ** 2).sum(axis=0) * varies
        self.mean[~varies] = self.low[~varies]
        self.variance = self.squares / (self.weight - 1) if self.weight > 1 else np.zeros(len(varies))

    def log_density(self, x):
        """Sum over the features that vary."""
        varies = self.variance > 0
        variance, distance = self.variance[varies], (np.asarray(x) - self.mean)[varies]
        return -0.5 * float(np.sum(distance**2 / variance + np.log(math.tau * variance)))

    def below(self, f, at):
        """Estimate the weight of the rows whose feature is at most a value: a normal distribution cut where it ends."""
        if at < self.low[f]:
            return 0.0
        if at >= self.high[f]:
            return self.weight
        if self.variance[f] == 0:
            return 0.0
        distance = (at - self.mean[f]) / math.sqrt(self.variance[f])
        return 0.5 * (1 + math.erf(distance / math.sqrt(2))) * self.weight
