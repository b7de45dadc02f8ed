"""Boosted trees learn as single trees with sums in dictionaries; the trees themselves have twins of their own."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators import HoeffdingTreeClassifier, OnlineCoordinateBoosting
from tests.estimators.ensembles.kernels.slow_boosting import SlowBoosting
from tests.scattered import tables

TREE = {"grace_period": 4, "delta": 0.9, "tau": 0.9}


class SingleTree:
    """A tree for one label."""

    def __init__(self, n_features):
        self.tree = HoeffdingTreeClassifier(**TREE).begin(np.zeros((1, n_features)), np.zeros((1, 1), int))

    def decide(self, x):
        return bool(self.tree.predict([x])[0, 0])

    def learn(self, x, y, weight):
        self.tree.partial_fit([x], [[y]], sample_weight=[weight])


@settings(max_examples=10)
@given(st.integers(1, 25), st.integers(1, 3), st.sampled_from(["moa", "derived"]), st.data())
def test_every_prediction_and_coefficient_is_that_of_the_slow_loop(n, n_models, variant, data):
    X, Y = data.draw(tables((n, 2), (0.0, 1.0, -0.5, 3.0))), data.draw(tables((n, 1), (0, 1)))
    Y[X[:, 0] == 3.0] = 1
    learner = OnlineCoordinateBoosting(HoeffdingTreeClassifier(**TREE), n_models, variant=variant)
    _, proba = learner.predict_then_fit(X, Y)
    slow = SlowBoosting([SingleTree(2) for _ in range(n_models)], learner.smoothing, derived=variant == "derived")
    for i, x in enumerate(X.tolist()):
        assert abs(proba[i, 0] - 1 / (1 + math.exp(-2 * slow.score(x)))) < 1e-9
        slow.learn(x, int(Y[i, 0]))
    np.testing.assert_allclose(learner.alphas_[0], slow.alpha, atol=1e-9)
