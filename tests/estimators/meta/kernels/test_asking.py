"""What is asked for is what a slow loop over the rules of the documentation asks for."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from estimators import LabelBudget
from estimators.replay.memories import chances
from tests.estimators.meta.test_label_budget import Given


class SlowBudget:
    """The rules for rows of probabilities, answers known or None."""

    def __init__(self, budget, strategy, ask, window, n_labels):
        self.budget, self.strategy, self.ask, self.window = budget, strategy, ask, window
        self.thresholds = [0.0] * (n_labels if ask == "labels" else 1)
        self.answers = [[0, 0] for _ in range(n_labels)]
        self.costs = []

    def has_room(self, cost):
        in_window = sum(self.costs[max(len(self.costs) + 1 - self.window, 0) :])
        since_start = sum(self.costs)
        return (
            since_start + cost <= self.budget * (len(self.costs) + 1) + 1e-9
            and in_window + cost <= self.budget * self.window + 1e-9
        )

    def worth(self, p, j):
        negative, positive = self.answers[j]
        if self.strategy == "rarity":
            return p[j] / math.sqrt(positive + 1) + (1 - p[j]) / math.sqrt(negative + 1)
        return 2 * min(p[j], 1 - p[j])

    def wants(self, p, labels, counted, place, chance):
        if self.strategy == "random":
            return chance < (1 + self.budget) / 2
        value, z = np.mean([self.worth(p, j) for j in labels]), 1 + norm.ppf(chance)
        if self.strategy == "cardinality":
            usual = sum((self.answers[j][1] + 0.5) / (sum(self.answers[j]) + 1) for j in counted)
            value = math.sqrt(value * abs(sum(p[j] >= 0.5 for j in counted) - usual))
        t = self.thresholds[place] or value
        asks = value >= t * z
        self.thresholds[place] = t * 1.01 if asks else t / (1 + 0.01 * (1 + self.budget) / (1 - self.budget))
        return asks

    def decide(self, p, counted, drawn):
        asked, cost = [], 0
        if self.ask == "rows":
            if self.has_room(1) and self.wants(p, counted, counted, 0, drawn[0]):
                asked, cost = counted, 1
        else:
            share = 1 / len(counted)
            for j in sorted(counted, key=lambda j: drawn[len(p) + j]):
                if self.has_room(cost + share) and self.wants(p, [j], counted, j, drawn[j]):
                    asked, cost = [*asked, j], cost + share
        self.costs.append(cost)
        return asked

    def learn(self, asked, y):
        for j in asked:
            if y[j] is not None:
                self.answers[j][y[j]] += 1


@given(
    seed=st.integers(0, 2**31 - 2),
    budget=st.sampled_from([0.05, 0.1, 1 / 3, 0.7]),
    strategy=st.sampled_from(["random", "uncertainty", "cardinality", "rarity"]),
    ask=st.sampled_from(["rows", "labels"]),
    window=st.integers(20, 40),
    masked=st.booleans(),
)
def test_a_slow_loop_asks_for_the_same(seed, budget, strategy, ask, window, masked):
    rng = np.random.default_rng(seed)
    n_rows, n_labels = 90, 3
    X = rng.random((n_rows, n_labels))
    Y = (rng.random(X.shape) < X).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[:, 0] = np.nan_to_num(Y[:, 0])
    mask = rng.random(X.shape) < 0.8
    mask[:, 0] = True
    learner = LabelBudget(Given(masked), budget, strategy=strategy, ask=ask, window=window, random_state=seed)
    learner.begin(X[:1], Y[:1]).partial_fit(X, Y, label_mask=mask)
    slow = SlowBudget(budget, strategy, ask, window, n_labels)
    drawn = chances(learner._seed, np.arange(n_rows), 2 * len(slow.thresholds))
    for row in range(n_rows):
        counted = np.flatnonzero(mask[row]).tolist() if masked else list(range(n_labels))
        y = [None if np.isnan(value) else int(value) for value in Y[row]]
        asked = slow.decide(X[row], counted, drawn[row])
        slow.learn(asked, y)
        assert learner.estimator_.learnt_.get(tuple(X[row]), []) == sorted(j for j in asked if y[j] is not None)
    np.testing.assert_array_equal(learner.n_answers_, slow.answers)
    np.testing.assert_allclose(learner.share_asked_, np.mean(slow.costs))
