"""Decisions at the prevalence: a slow loop, and the best balanced accuracy where probabilities are true."""

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import BernoulliNB

from estimators import (
    BinaryRelevance,
    InvariantLogisticClassifier,
    MeanLabelsClassifier,
    OnlineNeuralClassifier,
    PrevalenceThreshold,
    StreamPipeline,
)
from metrics import ba_macro
from tests.estimators import streams
from tests.estimators.learners import Given
from tests.estimators.slow_prevalence import SlowRule
from tests.loops import check_all, in_two_tiers

FOREIGN = BernoulliNB()


def drifting(n=400, seed=0):
    """Draw probabilities, and labels of which the first has bursts, the third is rare, and the last never occurs."""
    rng = np.random.default_rng(seed)
    P = rng.beta(1, 2, size=(n, 4))
    burst = (np.arange(n) // 50 % 2)[:, np.newaxis] * [2.0, 0.5, 0.1, 0.0]
    return P, (rng.random((n, 4)) < P * [0.4, 0.6, 0.05, 0] * (0.5 + burst)).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize(("follow", "memory"), [(0.0, 20), (0.5, 20), (1.0, 3.5)])
def test_each_row_is_decided_by_the_rows_before_it(follow, memory):
    P, Y = drifting()
    learner = PrevalenceThreshold(Given(), follow=follow, memory=memory)
    decided, proba = learner.predict_then_fit(P, Y)
    rules = [SlowRule(follow, memory) for _ in Y[0]]
    expected = np.zeros_like(Y)
    for i, (p, y) in enumerate(zip(P, Y, strict=True)):
        for k, rule in enumerate(rules):
            expected[i, k] = rule.predict(p[k])
            rule.learn(y[k])
    np.testing.assert_array_equal(decided, expected)
    np.testing.assert_array_equal(proba, P)
    assert 0 < expected[:, :3].mean() < 1
    held_out = drifting(50, seed=1)[0]
    usual = [[rule.predict(p, follow=0) for rule, p in zip(rules, row, strict=True)] for row in held_out]
    late = [[rule.predict(p) for rule, p in zip(rules, row, strict=True)] for row in held_out]
    np.testing.assert_array_equal(learner.predict(held_out), usual)
    np.testing.assert_array_equal(learner.set_params(late_in_predict=True).predict(held_out), late)
    assert follow == 0 or usual != late


def test_labels_count_inside_their_masks_where_they_are_known_and_with_the_weights_of_rows():
    P, Y = drifting()
    rng = np.random.default_rng(2)
    mask, weight = rng.random(Y.shape) < 0.7, rng.choice([0, 1, 2.5], len(Y))
    mask[:, 0] = True
    unknown = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    learner = PrevalenceThreshold(Given(targeted=True)).partial_fit(P, unknown, label_mask=mask, sample_weight=weight)
    rules = [SlowRule() for _ in Y[0]]
    for i, k in zip(*np.nonzero(mask & ~np.isnan(unknown) & (weight > 0)[:, np.newaxis]), strict=True):
        rules[k].learn(Y[i, k], weight[i])
    np.testing.assert_allclose(learner.prevalence_, [rule.usual() for rule in rules])
    late = learner.set_params(late_in_predict=True).predict(P)
    np.testing.assert_array_equal(late, [[rule.predict(p) for rule, p in zip(rules, row, strict=True)] for row in P])


@pytest.mark.parametrize("targeted", [False, True])
def test_unknown_labels_of_a_stream_do_not_count(targeted):
    P, Y = drifting()
    unknown = np.where(np.random.default_rng(3).random(Y.shape) < 0.5, np.nan, Y)
    decided, _ = PrevalenceThreshold(Given(targeted)).predict_then_fit(P, unknown)
    rules = [SlowRule() for _ in Y[0]]
    for i, (p, y) in enumerate(zip(P, unknown, strict=True)):
        assert decided[i].tolist() == [rule.predict(one) for rule, one in zip(rules, p, strict=True)]
        for rule, value in zip(rules, y, strict=True):
            if not np.isnan(value):
                rule.learn(value)


def test_a_learner_without_the_task_counts_zeros_outside_the_mask():
    P, Y = drifting(100)
    mask = np.arange(4) != 0
    learner = PrevalenceThreshold(Given()).partial_fit(P, Y * mask, label_mask=mask)
    np.testing.assert_allclose(learner.prevalence_, (Y * mask).mean(axis=0))


@in_two_tiers(product([1, 7, 1000], [OnlineNeuralClassifier(8, random_state=0), FOREIGN]))
def test_cuts_into_chunks_do_not_change_a_bit(cases):
    def check(size, inner):
        X, Y = streams.drawn(300)
        whole, cut = (PrevalenceThreshold(clone(inner)) for _ in range(2))
        expected = whole.predict_then_fit(X, Y)
        parts = [cut.predict_then_fit(X[i : i + size], Y[i : i + size]) for i in range(0, 300, size)]
        for one, two in zip(expected, zip(*parts, strict=True), strict=True):
            np.testing.assert_array_equal(one, np.concatenate(two))
        np.testing.assert_array_equal(whole.predict(X), cut.predict(X))

    check_all(cases, lambda case: check(*case))


def test_probabilities_are_those_of_the_classifier_inside():
    X, Y = streams.drawn(300)
    inner = OnlineNeuralClassifier(8, random_state=0)
    np.testing.assert_array_equal(
        PrevalenceThreshold(inner).predict_then_fit(X, Y)[1], clone(inner).predict_then_fit(X, Y)[1]
    )


def test_labels_of_one_value_are_always_or_never_predicted():
    P = np.tile([1e-9, 1 - 1e-9, 0.5], (30, 1))
    Y = np.tile([1, 0, 0], (30, 1))
    decided, _ = PrevalenceThreshold(Given()).predict_then_fit(P, Y)
    assert decided[0].tolist() == [0, 0, 0]
    assert np.unique(decided[1:], axis=0).tolist() == [[1, 0, 0]]


@pytest.mark.slow
def test_no_threshold_on_true_probabilities_has_a_greater_balanced_accuracy():
    rng = np.random.default_rng(0)
    P = rng.beta(0.7, 3, size=(40_000, 2))
    Y = (rng.random(P.shape) < P).astype(int)
    learner = PrevalenceThreshold(Given(), follow=0).partial_fit(P, Y)
    # with the true probabilities in the place of labels, the balanced accuracy is its expectation
    wanted = P.mean(axis=0)

    def expected(decided):
        recall = (P * decided).sum(axis=0) / P.sum(axis=0)
        specificity = ((1 - P) * (1 - decided)).sum(axis=0) / (1 - P).sum(axis=0)
        return (recall + specificity) / 2

    ours = expected(learner.predict(P))
    best = np.max([expected(threshold <= P) for threshold in np.linspace(0.001, 0.999, 250)], axis=0)
    np.testing.assert_allclose(learner.prevalence_, wanted, atol=0.01)
    assert (ours > best - 1e-4).all()
    assert (ours > expected(P >= 0.5) + 0.1).all()
    assert ba_macro(Y, learner.predict(P)) > ba_macro(Y, P >= 0.5) + 0.1


def slow_class(p, history, follow, memory=20.0):
    """Choose a class by the weights of the rule, from the list of classes so far."""
    if not history:
        return 0
    columns = np.eye(len(p))[history]
    usual = columns.mean(axis=0)
    fading = np.array([(1 - 1 / memory) ** age for age in range(len(history))])[::-1]
    late = ((fading @ columns + 5 * usual) / (fading.sum() + 5)).clip(1e-4, 1 - 1e-4)
    seen = np.flatnonzero(usual)
    return seen[np.argmax(p[seen] / usual[seen] * (late[seen] / usual[seen]) ** follow)]


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_class_a_row_is_the_greatest_probability_over_its_prevalence(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    scores = X @ rng.normal(size=(3, n_classes)) + rng.normal(size=(300, n_classes)) - np.arange(n_classes)
    y = np.array(["a", "b", "c", "d"])[scores.argmax(axis=1)]
    inner = BinaryRelevance(FOREIGN)
    decided, proba = PrevalenceThreshold(inner).predict_then_fit(X, y, classes=list("abcd"[:n_classes]))
    codes = np.array(["abcd".index(one) for one in y])
    expected = [slow_class(proba[i], codes[:i].tolist(), 0.5) for i in range(300)]
    assert decided.tolist() == ["abcd"[code] for code in expected]
    assert decided.tolist() != ["abcd"[code] for code in proba.argmax(axis=1)]


def test_two_classes_are_decided_as_one_label_is():
    P, Y = drifting()
    X, y = P[:, :1], Y[:, 0]

    class OfClasses(Given):
        def _predict_proba(self, X):
            return X[:, :1]

    of_classes, _ = PrevalenceThreshold(OfClasses()).predict_then_fit(X, y, classes=[0, 1])
    of_labels, _ = PrevalenceThreshold(OfClasses()).predict_then_fit(X, y[:, np.newaxis])
    np.testing.assert_array_equal(of_classes[1:], of_labels[1:, 0])


def test_it_continues_from_a_pickle_and_grows_with_its_classifier():
    X, Y = streams.drawn(300)
    learner = PrevalenceThreshold(MeanLabelsClassifier(on_new_labels="grow"))
    learner.partial_fit(X[:100], Y[:100, :2])
    loaded = pickle.loads(pickle.dumps(learner))  # noqa: S301 - our own bytes
    for one in (learner, loaded):
        one.partial_fit(X[100:], Y[100:])
        np.testing.assert_allclose(one.prevalence_, [*Y[:, :2].mean(axis=0), Y[100:, 2].mean()])


@pytest.mark.slow
def test_a_pipeline_can_be_inside():
    X, Y = streams.drawn(100)
    pipeline = StreamPipeline([("learn", BinaryRelevance(FOREIGN))])
    inner = PrevalenceThreshold(BinaryRelevance(FOREIGN))
    np.testing.assert_array_equal(
        PrevalenceThreshold(pipeline).predict_then_fit(X, Y)[0], inner.predict_then_fit(X, Y)[0]
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"follow": 1.5}, "follow must be a number from 0 to 1. Got 1.5 instead."),
        ({"memory": 0}, "memory must be a number, at least 1. Got 0 instead."),
        ({"late_in_predict": "no"}, "late_in_predict must be True or False. Got 'no' instead."),
        ({"estimator": Perceptron()}, r"estimator must have predict_proba, for probabilities. Got Perceptron\(\)"),
        ({"estimator": 3}, "estimator must have predict_proba, for probabilities. Got 3 instead."),
    ],
)
def test_invalid_parameters_are_refused(parameters, message):
    X, Y = streams.drawn(10)
    with pytest.raises((TypeError, ValueError), match=message):
        PrevalenceThreshold(**({"estimator": MeanLabelsClassifier()} | parameters)).fit(X, Y)


def test_environments_reach_the_classifier_inside():
    X, Y = drifting(120)
    environment = np.repeat(["a", "b", "c"], 40)
    inner = InvariantLogisticClassifier("vrex", max_iter=5, refresh=1.0, random_state=0)
    outer, alone = PrevalenceThreshold(inner), clone(inner)
    assert outer.uses_environment
    for learner in (outer, alone):
        learner.partial_fit(X[:60], Y[:60], environment=environment[:60])
        learner.predict_then_fit(X[60:], Y[60:], environment=environment[60:])
    assert alone.environments_ == ["a", "b", "c"]
    np.testing.assert_array_equal(outer.predict_proba(X), alone.predict_proba(X))
