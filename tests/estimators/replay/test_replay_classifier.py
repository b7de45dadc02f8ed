"""Replay around any classifier: the rows drawn are those of the memories, whatever learns them."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron

from estimators import (
    FIFOMemory,
    HoeffdingTreeClassifier,
    MeanLabelsClassifier,
    OnlineNeuralClassifier,
    ReplayClassifier,
    ReservoirMemory,
)
from tests.estimators import learners, streams

BOTH = {"reservoir": ReservoirMemory(12, 3), "fifo": FIFOMemory(8, 2)}


def test_each_row_and_then_its_draws_are_learnt_one_after_the_other():
    X, Y = streams.drawn(200)
    weight = np.random.default_rng(1).choice([0, 1, 2.5], len(Y))
    mask = np.random.default_rng(2).random(Y.shape) < 0.7
    mask[:, 0] = True
    ours = ReplayClassifier(learners.Logistic(targeted=True), **BOTH, random_state=0).begin(X, Y)
    plain, memories, held = clone(learners.Logistic(targeted=True)).begin(X, Y), [], {}
    for memory in ours.memories_:
        memories.append(clone(memory).begin())
        memories[-1].seed_ = memory.seed_
    ours.partial_fit(X, Y, label_mask=mask, sample_weight=weight)
    for i in np.flatnonzero(weight):
        plans = [memory.plan(1) for memory in memories]
        drawn = [held[k, slot] for k, plan in enumerate(plans) for slot in plan.draws[0] if slot >= 0]
        for j in [i, *drawn]:
            row = slice(j, j + 1)
            plain.partial_fit(X[row], Y[row], label_mask=mask[row], sample_weight=weight[row])
        held.update({(k, plan.slots[0]): i for k, plan in enumerate(plans) if plan.slots[0] >= 0})
    np.testing.assert_array_equal(ours.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_network_replays_the_same_by_itself(kind):
    X, Y = streams.drawn(300)
    X = kind(X)
    network = OnlineNeuralClassifier(7, **BOTH, dtype="float64", random_state=0).begin(X, Y)
    inner = OnlineNeuralClassifier(7, dtype="float64", random_state=0)
    ours = ReplayClassifier(inner, **BOTH).begin(X, Y)
    for memory, same in zip(ours.memories_, network._memories, strict=True):
        memory.seed_ = same.seed_
    np.testing.assert_allclose(ours.predict_then_fit(X, Y)[1], network.predict_then_fit(X, Y)[1], rtol=1e-9, atol=1e-12)


def test_classes_are_replayed_too():
    X, Y = streams.drawn(400)
    y = np.array(["a", "b", "c"])[Y.sum(axis=1).clip(max=2)]
    learner = ReplayClassifier(HoeffdingTreeClassifier(grace_period=20), **BOTH, random_state=0)
    whole = learner.fit(X, y).predict_proba(X)
    looped = clone(learner)
    proba = [looped.partial_fit(X[i : i + 1], y[i : i + 1], classes=["a", "b", "c"]) for i in range(len(y))]
    np.testing.assert_array_equal(proba[-1].predict_proba(X), whole)
    assert set(learner.predict(X)) <= {"a", "b", "c"}


def test_rows_learnt_with_weights_are_replayed_with_them_while_testing_and_training():
    X, Y = streams.drawn(60)
    learner = ReplayClassifier(learners.Logistic(), **BOTH, random_state=0)
    one, two = (clone(learner).partial_fit(X[:30], Y[:30], sample_weight=np.full(30, 3.0)) for _ in range(2))
    answered = one.predict_then_fit(X[30:], Y[30:])[1]
    for i in range(30, 60):
        np.testing.assert_array_equal(two.predict_proba(X[i : i + 1])[0], answered[i - 30])
        two.partial_fit(X[i : i + 1], Y[i : i + 1])


def test_long_chunks_are_learnt_like_short_ones_and_kept_no_longer(monkeypatch):
    X, Y = streams.drawn(300)
    learner = ReplayClassifier(learners.Logistic(), **BOTH, random_state=0)
    whole = clone(learner).fit(X, Y).predict_proba(X)
    monkeypatch.setattr("estimators.replay.replay_classifier.BLOCK", 64)
    np.testing.assert_array_equal(clone(learner).fit(X, Y).predict_proba(X), whole)
    learnt = clone(learner).fit(X, Y)
    before = learnt.predict_proba(X)
    spoilt = X.copy()
    spoilt[200, 1] = 1e308  # the second step on it overflows
    monkeypatch.setattr(learners.Logistic, "_learn", _refuse_large(learners.Logistic._learn))
    with pytest.raises(ValueError, match="too large"):
        learnt.partial_fit(spoilt, Y)
    np.testing.assert_array_equal(learnt.predict_proba(X), before)


def _refuse_large(learn):
    def refusing(self, X, Y, mask, weight):
        if X.max() > 1e300:
            raise ValueError("too large")
        learn(self, X, Y, mask, weight)

    return refusing


@pytest.mark.slow
def test_the_memory_lets_go_of_the_chunks():
    X, Y = np.zeros((20_000, 50)), np.zeros((20_000, 2), dtype=int)
    learner = ReplayClassifier(MeanLabelsClassifier(), **BOTH, random_state=0)
    tracemalloc.start()
    learner.partial_fit(X.copy(), Y)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < X.nbytes / 20


def test_what_cannot_replay_is_refused():
    X, Y = streams.drawn(5)
    with pytest.raises(TypeError, match=r"estimator must be a StreamClassifier. Got Perceptron\(\) instead"):
        ReplayClassifier(Perceptron()).fit(X, Y)
    with pytest.raises(ValueError, match="Got size 3 and draws 5 instead"):
        ReplayClassifier(MeanLabelsClassifier(), fifo=FIFOMemory(3, 5)).fit(X, Y)
    with pytest.raises(TypeError, match=r"reservoir must be a ReservoirMemory, .* or None. Got 7 instead"):
        ReplayClassifier(MeanLabelsClassifier(), reservoir=7).fit(X, Y)
