"""GDumb keeps the rows that a slow loop keeps, learns them when it should, and takes no more memory than replay."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.random import RandomState
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron

from estimators import (
    GDumbClassifier,
    HoeffdingTreeClassifier,
    MeanLabelsClassifier,
    OnlineNeuralClassifier,
    make_strategy,
)
from tests.estimators.replay.slow_memories import balanced_loop
from tests.estimators.streams import drawn, tasks_that_return
from tests.loops import check_all

NETWORK = OnlineNeuralClassifier(5, targeted_loss="signature")


def made(**parameters):
    return GDumbClassifier(**{"estimator": NETWORK, "size": 50, "epochs": 2, "random_state": 0, **parameters})


# ---------------------------------------------------------------------- memory
def test_the_memory_and_its_trainings_are_those_of_a_slow_loop():
    def check(size, share, kind):
        X, Y, mask, weight = tasks_that_return()
        learner = made(size=size, share=share, dtype="float64").begin(kind(X), Y)
        for i in range(0, len(Y), 23):
            part = slice(i, i + 23)
            learner.partial_fit(kind(X[part]), Y[part], label_mask=mask[part], sample_weight=weight[part])
        rows = np.flatnonzero(weight)
        slots, trainings = balanced_loop(learner, [tuple(codes) for codes in (Y + 2 * mask)[rows]])
        held, kept = learner.memory_.held_rows(), rows[slots]
        np.testing.assert_array_equal(held.X.toarray() if sparse.issparse(held.X) else held.X, X[kept])
        np.testing.assert_array_equal(held.Y, (Y + 2 * mask)[kept])
        np.testing.assert_array_equal(held.weight, weight[kept])
        assert learner.n_trainings_ == len(trainings)

        chance = RandomState([learner._seed, len(trainings)])
        network = clone(NETWORK).set_params(random_state=chance.randint(2**31 - 1)).begin(kind(X), Y)
        last = rows[trainings[-1][1]]
        for _ in range(2):
            order = last[chance.permutation(len(last))]
            network.partial_fit(kind(X[order]), Y[order], label_mask=mask[order], sample_weight=weight[order])
        np.testing.assert_array_equal(learner.predict_proba(kind(X)), network.predict_proba(kind(X)))

    check_all(
        product([(50, 0.05), (50, 0.3), (10, 0.3)], [np.asarray, sparse.csr_array]),
        lambda case: check(*case[0], case[1]),
    )


def test_rows_that_are_tasks_of_their_own_are_held_as_in_a_reservoir():
    X, Y = drawn(200, n_features=12, n_labels=12)
    mask = (np.arange(1, 201)[:, np.newaxis] >> np.arange(12)) % 2 == 1
    held = []
    for seed in range(20):
        learner = made(size=10, epochs=1, share=1.0, random_state=seed).begin(X, Y)
        learner.partial_fit(X, Y, label_mask=mask)
        slots, _ = balanced_loop(learner, [tuple(codes) for codes in Y * mask + 2 * mask])
        np.testing.assert_array_equal(learner.memory_.held_rows().Y, (Y * mask + 2 * mask)[slots])
        held += slots
    # 200 draws of a uniform number: the mean is 99.5, and within five deviations of it
    assert abs(np.mean(held) - 99.5) < 5 * 57.7 / np.sqrt(200)


def test_groups_with_rows_enough_are_of_one_size():
    X, Y = drawn(1000)
    learner = made(size=80).fit(X, Y)
    sizes = np.unique(learner.memory_.held_rows().Y, axis=0, return_counts=True)[1]
    assert sizes.sum() == 80
    assert sizes.max() - sizes.min() <= 1
    assert len(sizes) == 8


def test_tasks_come_before_label_sets():
    rng = np.random.default_rng(0)
    X, Y = rng.random((300, 2)), rng.integers(0, 2, (300, 12))  # hardly a label set twice
    mask = np.ones(Y.shape, dtype=bool)
    mask[100:, 0] = mask[200:, 1] = False
    held = made(size=60).partial_fit(X, Y * mask, label_mask=mask).memory_.held_rows().Y
    _, sizes = np.unique(held >= 2, axis=0, return_counts=True)
    np.testing.assert_array_equal(sizes, [20, 20, 20])


def test_a_row_written_costs_no_more_than_said():
    X, Y = drawn(600)
    counted = GDumbClassifier(Counting(), size=60, epochs=3, share=0.25, random_state=0)
    Counting.n_rows, n_written, before = 0, 0, None
    for i in range(len(Y)):
        counted.partial_fit(X[i : i + 1], Y[i : i + 1])
        held = counted.memory_.held_rows().X
        n_written += before is None or before.shape != held.shape or bool((before != held).any())
        before = held
    assert 60 < n_written < 600
    assert 0 < Counting.n_rows <= n_written * 3 / 0.25


class Counting(MeanLabelsClassifier):
    n_rows = 0

    def _learn(self, X, Y, mask, weight):
        Counting.n_rows += len(Y)
        super()._learn(X, Y, mask, weight)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_it_takes_no_more_memory_than_replay_from_as_many_rows(kind):
    X, Y = drawn(2500, n_features=40, n_labels=10)
    X = kind(X)
    replay = make_strategy("NN_TLH_mini_memories").fit(X, Y)
    ours = GDumbClassifier(OnlineNeuralClassifier(200, targeted_loss="signature"), epochs=1, share=1).fit(X, Y)
    assert len(ours.memory_.held_rows().Y) == 2000 == sum(memory.size for memory in replay._memories)
    assert 0.9 * replay.memory_bytes_ < ours.memory_bytes_ <= replay.memory_bytes_


# ------------------------------------------------------------------------ laws
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_cut_anywhere_and_saved_in_between_it_goes_on_bit_for_bit(kind):
    X, Y, mask, _ = tasks_that_return()
    X = kind(X)
    whole = made().partial_fit(X, Y, label_mask=mask)
    cut = made()
    for start, stop in ((0, 1), (1, 90), (90, 150), (150, 151), (151, 400)):
        part = slice(start, stop)
        cut = pickle.loads(pickle.dumps(cut)).partial_fit(X[part], Y[part], label_mask=mask[part])  # noqa: S301
    np.testing.assert_array_equal(cut.predict_proba(X), whole.predict_proba(X))


def test_classes_are_balanced_too():
    X, Y = drawn(400)
    y = np.array(["a", "b", "c"])[Y.sum(axis=1).clip(max=2)]
    learner = made(estimator=HoeffdingTreeClassifier(grace_period=20), size=60).fit(X, y)
    np.testing.assert_array_equal(np.bincount(learner.memory_.held_rows().Y), [20, 20, 20])
    assert set(learner.predict(X)) <= {"a", "b", "c"}


# ------------------------------------------------------------------- bad input
def test_a_training_that_fails_changes_nothing():
    X, Y, mask, _ = tasks_that_return()
    learner = made(size=500).partial_fit(X[:200], Y[:200], label_mask=mask[:200])
    before, held = learner.predict_proba(X), learner.memory_.held_rows().X
    for value, message in ((1e30, "diverged"), (1e300, "X must fit float32")):
        spoilt = X.copy()
        spoilt[200:300] = value
        with pytest.raises(ValueError, match=message):
            learner.partial_fit(spoilt[200:], Y[200:], label_mask=mask[200:])
        np.testing.assert_array_equal(learner.predict_proba(X), before)
        np.testing.assert_array_equal(learner.memory_.held_rows().X, held)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"size": 0}, ValueError, "size must be a positive integer. Got 0 instead"),
        ({"epochs": 1.5}, ValueError, "epochs must be a positive integer. Got 1.5 instead"),
        ({"share": 2}, ValueError, "share must be a finite number from 0 to 1. Got 2 instead"),
        ({"dtype": "float16"}, ValueError, "dtype must be one of 'float32', 'float64'. Got 'float16' instead"),
        ({"estimator": Perceptron()}, TypeError, r"estimator must be a StreamClassifier. Got Perceptron\(\) instead"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, error, message):
    X, Y = drawn(20)
    learner = made(**parameters)
    with pytest.raises(error, match=message):
        learner.partial_fit(X, Y)
    assert not hasattr(learner, "classes_")
