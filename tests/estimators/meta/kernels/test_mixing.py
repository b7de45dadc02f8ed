"""Mixtures follow the likelihoods of members as Bayes' rule with a fixed share does, label by label."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.meta._kernels.mixing import mix, mix_then_weigh
from tests.scattered import tables


class SlowMixture:
    """The weights of the members of one label (Herbster and Warmuth 1998)."""

    def __init__(self, n_members, share, margin):
        self.weights, self.share, self.margin = [1 / n_members] * n_members, share, margin
        self.used, self.n = [0.0] * n_members, 0

    def inside(self, proba):
        return self.margin + (1 - 2 * self.margin) * proba

    def predict(self, proba):
        return self.inside(math.fsum(w * p for w, p in zip(self.weights, proba, strict=True)))

    def learn(self, proba, y, row_weight):
        self.used = [used + w for used, w in zip(self.used, self.weights, strict=True)]
        self.n += 1
        given = [self.inside(p) if y else 1 - self.inside(p) for p in proba]
        # a likelihood is at least exp(-600)
        likely = [max(one**row_weight, math.exp(-600)) if row_weight != 1 else one for one in given]
        joint = [w * one for w, one in zip(self.weights, likely, strict=True)]
        self.weights = [(1 - self.share) * one / math.fsum(joint) + self.share / len(joint) for one in joint]


@settings(max_examples=100)
@given(st.integers(1, 3), st.integers(0, 6), st.sampled_from([0.0, 0.01]), st.sampled_from([1e-6, 0.1]), st.data())
def test_mixtures_and_weights_are_those_of_bayes_rule(n_members, n, share, margin, data):
    n_labels = 2
    proba = data.draw(tables((n_members, n, n_labels), (0.0, 0.3, 1.0, 0.5)))
    Y, counted = data.draw(tables((n, n_labels), (0, 1), np.uint8)), data.draw(tables((n, n_labels), (True, False)))
    row_weight = data.draw(tables((n,), (1.0, 0.0, 2.5, 1e4)))
    weights, used = np.full((n_members, n_labels), 1 / n_members), np.zeros((n_members + 1, n_labels))
    mixed, expected = np.empty((n, n_labels)), np.empty((n, n_labels))
    mix_then_weigh(proba, Y, counted, row_weight, share, margin, weights, used, mixed)
    labels = [SlowMixture(n_members, share, margin) for _ in range(n_labels)]
    for i in range(n):
        for k, label in enumerate(labels):
            expected[i, k] = label.predict(proba[:, i, k].tolist())
            if counted[i, k] and row_weight[i] > 0:
                label.learn(proba[:, i, k].tolist(), Y[i, k], row_weight[i])
    # powers there are exponentials of logarithms
    np.testing.assert_allclose(mixed, expected, rtol=1e-9)
    np.testing.assert_allclose(weights.T, [label.weights for label in labels], rtol=1e-9, atol=1e-250)
    np.testing.assert_allclose(used.T, [[*label.used, label.n] for label in labels], rtol=1e-9, atol=1e-250)
    again = np.empty((n, n_labels))
    mix(proba, weights, margin, again)
    now = [[label.predict(proba[:, i, k].tolist()) for k, label in enumerate(labels)] for i in range(n)]
    np.testing.assert_allclose(again, np.array(now).reshape(n, n_labels), rtol=1e-9)
