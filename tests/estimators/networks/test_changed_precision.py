"""A precision that is changed while a network learns counts from the next `fit`."""

import numpy as np
from sklearn.base import clone

from estimators import (
    AGEMClassifier,
    DERClassifier,
    EWCClassifier,
    FIFOMemory,
    LwFClassifier,
    OnlineNeuralClassifier,
)
from tests.estimators import streams
from tests.loops import check_all

NETWORKS = [
    OnlineNeuralClassifier(random_state=0),
    OnlineNeuralClassifier(hidden_units=4, fifo=FIFOMemory(20), replay="mini-batch", random_state=0),
    DERClassifier(hidden_units=4, size=20, random_state=0),
    AGEMClassifier(hidden_units=4, size=20, random_state=0),
    EWCClassifier(hidden_units=4, random_state=0),
    LwFClassifier(hidden_units=4, random_state=0),
]


def test_a_precision_that_is_changed_counts_from_the_next_fit():
    def check(network):
        X, Y = streams.drawn(80, 3)
        learner, twin = (clone(network).fit(X[:40], Y[:40]) for _ in range(2))
        learner.set_params(dtype="float64").partial_fit(X[40:], Y[40:])
        expected = twin.partial_fit(X[40:], Y[40:]).predict_proba(X)
        np.testing.assert_array_equal(learner.predict_proba(X), expected)
        np.testing.assert_array_equal(learner.predict_then_fit(X[:5], Y[:5])[1], twin.predict_then_fit(X[:5], Y[:5])[1])
        assert learner.fit(X, Y).predict_proba(X).dtype == np.float64

    check_all(NETWORKS, check, lambda one: type(one).__name__ + str(one.get_params().get("replay")))
