"""What each learner does with unknown labels, against slow loops written from the definitions."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from estimators import (
    ADWINBaggingClassifier,
    AGEMClassifier,
    ContextWindowClassifier,
    DERClassifier,
    EWCClassifier,
    FIFOMemory,
    GDumbClassifier,
    HoeffdingTreeClassifier,
    LabelBudget,
    LwFClassifier,
    NovelLabels,
    OCDMMemory,
    OnlineCoordinateBoosting,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PredictionSets,
    PrequentialCalibrator,
    PrequentialStack,
    PrevalenceClassifier,
    PrevalenceThreshold,
    ReplayClassifier,
    ReservoirMemory,
    StreamPipeline,
    StreamRidgeClassifier,
)
from estimators.baselines import (
    LastLabelsClassifier,
    MeanLabelsClassifier,
    NearestRowClassifier,
    PriorLabelsClassifier,
)
from estimators.contract.traits import Traits
from estimators.networks._network_state import layers_of
from tests.estimators.learners import Logistic
from tests.loops import check_all

NAN = np.nan


def stream(n_rows=150, seed=0, hidden=0.4):
    """Rows with few values, so that many tie, and labels of which some are unknown and some rows have none."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(n_rows, 5)) * (rng.random((n_rows, 5)) < 0.4)
    Y = (rng.random((n_rows, 3)) < [0.2, 0.5, 0.8]).astype(float)
    Y[rng.random(Y.shape) < hidden] = NAN
    Y[[0, 9, 10, n_rows - 1]] = NAN
    return X.astype(float), Y


def with_a_known_label(X, Y):
    kept = ~np.isnan(Y).all(axis=1)
    return X[kept], Y[kept]


# ------------------------------------------------------------------ baselines
class SlowLast:
    def __init__(self):
        self.last = [0, 0, 0]

    def predict(self, _):
        return self.last

    def learn(self, _, y):
        self.last = [old if np.isnan(new) else new for old, new in zip(self.last, y, strict=True)]


class SlowMean:
    def __init__(self, start="first-row"):
        self.start = start
        self.values = [[], [], []]

    def predict(self, _):
        return [sum(values) / len(values) if values else 0 for values in self.values]

    def learn(self, _, y):
        for values, value in zip(self.values, y, strict=True):
            if not np.isnan(value) and (values or value or self.start == "first-row"):
                values.append(value)


class SlowPrior(SlowMean):
    def decide(self, _):
        decided = []
        for values in self.values:
            ones = sum(values)
            zeros = len(values) - ones
            decided.append(ones > zeros or (ones == zeros and bool(values) and values[0] == 1))
        return decided


class SlowNearest:
    """Looks for each label among the rows of the window in which it is known."""

    def __init__(self, window, metric):
        self.window, self.metric, self.rows = window, metric, []

    def distance(self, a, b):
        if self.metric == "euclidean":
            return ((a - b) ** 2).sum()
        norms = np.sqrt((a @ a) * (b @ b))
        return -(a @ b / norms if norms else 0.0)

    def predict(self, x):
        decided = []
        for label in range(3):
            known = [(self.distance(x, row), y[label]) for row, y in self.rows if not np.isnan(y[label])]
            decided.append(min(known, key=lambda pair: round(pair[0], 9))[1] if known else 0)
        return decided

    def learn(self, x, y):
        self.rows = [*self.rows, (x, y)][-self.window :] if self.window else [*self.rows, (x, y)]


BASELINES = [
    (LastLabelsClassifier(), SlowLast),
    (MeanLabelsClassifier(), SlowMean),
    (MeanLabelsClassifier("first-positive"), lambda: SlowMean("first-positive")),
    (PriorLabelsClassifier(), SlowPrior),
    (PriorLabelsClassifier("first-positive"), lambda: SlowPrior("first-positive")),
    (NearestRowClassifier(12), lambda: SlowNearest(12, "euclidean")),
    (NearestRowClassifier(None), lambda: SlowNearest(None, "euclidean")),
    (NearestRowClassifier(12, "cosine"), lambda: SlowNearest(12, "cosine")),
]


@pytest.mark.slow
def test_baselines_are_the_slow_loop():
    def check(estimator, oracle):
        X, Y = stream()
        slow, expected, expected_labels = oracle(), [], []
        for x, y in zip(X, Y, strict=True):
            expected.append(slow.predict(x))
            expected_labels.append(slow.decide(x) if hasattr(slow, "decide") else np.array(expected[-1]) >= 0.5)
            if not np.isnan(y).all():
                slow.learn(x, y)
        expected_later = [slow.predict(x) for x in X]
        for kind, size in product([np.asarray, sparse.csr_array], [1, 40, 150]):
            learner = clone(estimator)
            parts = [learner.predict_then_fit(kind(X[i : i + size]), Y[i : i + size]) for i in range(0, 150, size)]
            decided, proba = (np.concatenate(part) for part in zip(*parts, strict=True))
            assert np.array_equal(decided, expected_labels)
            np.testing.assert_allclose(proba, expected, atol=1e-12)
            learnt = clone(estimator).partial_fit(kind(X), Y)
            assert np.array_equal(learnt.predict(X), learner.predict(X))
            np.testing.assert_allclose(learnt.predict_proba(X), expected_later, atol=1e-12)

    check_all(BASELINES, lambda case: check(*case), lambda case: repr(case[0]))


@pytest.mark.parametrize("estimator", [LastLabelsClassifier(), PriorLabelsClassifier(), MeanLabelsClassifier()])
def test_baselines_learn_weighted_rows_with_unknown_labels(estimator):
    X, Y = stream()
    weight = np.arange(150) % 3
    repeated = np.repeat(np.arange(150), weight)
    one = clone(estimator).partial_fit(X, Y, sample_weight=weight)
    two = clone(estimator).partial_fit(X[repeated], Y[repeated])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert np.array_equal(one.predict(X), two.predict(X))


# ------------------------------------------------------------------- networks
def test_labels_of_a_linear_network_learn_the_rows_where_they_are_known():
    X, Y = with_a_known_label(*stream())
    network = OnlineNeuralClassifier(optimizer="sgd", learning_rate=0.3, dtype="float64", random_state=0).begin(X, Y)
    ((weights, biases),) = layers_of(network._state)
    weights, biases = weights.copy(), biases.copy()
    for x, y in zip(X, Y, strict=True):
        for k in range(3):
            if not np.isnan(y[k]):
                error = 1 / (1 + np.exp(-(weights[k] @ x + biases[k]))) - y[k]
                weights[k] -= 0.3 * error / 3 * x
                biases[k] -= 0.3 * error / 3
    network.partial_fit(X, Y)
    np.testing.assert_allclose(network.predict_proba(X), 1 / (1 + np.exp(-(X @ weights.T + biases))), atol=1e-12)


NETWORKS = {
    "linear": {},
    "hidden": {"hidden_units": 7},
    "frozen": {"hidden_units": 7, "freeze_masked": True},
    "sampling": {"hidden_units": 7, "reservoir": ReservoirMemory(30, 3)},
    "together": {"reservoir": ReservoirMemory(30, 3), "fifo": FIFOMemory(9, 2), "replay": "mini-batch"},
    "balanced": {"hidden_units": 7, "balance_labels": True},
}


@pytest.mark.slow
def test_a_network_without_the_task_takes_torchs_steps_on_known_labels():
    oracle = pytest.importorskip("tests.estimators.networks.torch_oracle", reason="torch is not installed")

    def check(name):
        X, Y = stream()
        ours = OnlineNeuralClassifier(**NETWORKS[name], dtype="float64", random_state=0).begin(X, Y)
        theirs = oracle.TorchNetwork(ours)
        # the sum over the labels that count, divided by the number of all labels
        theirs.options["targeted_loss"] = "published"
        kept = ~np.isnan(Y).all(axis=1)
        known = np.nan_to_num(Y[kept]).astype(int)
        expected = theirs.predict_then_fit(X[kept], known, ~np.isnan(Y[kept]))
        _, proba = ours.predict_then_fit(X, Y)
        np.testing.assert_allclose(proba[kept], expected, rtol=0, atol=1e-10)

    check_all(NETWORKS, check)


@pytest.mark.parametrize("name", ["linear", "hidden", "frozen", "together"])
def test_a_device_learns_unknown_labels_as_the_compiled_network_does(name):
    pytest.importorskip("torch", reason="torch is not installed")
    X, Y = stream()
    learner = OnlineNeuralClassifier(**NETWORKS[name], dtype="float64", random_state=0)
    _, proba = learner.predict_then_fit(X, Y)
    _, on_device = clone(learner).set_params(device="cpu").predict_then_fit(X, Y)
    np.testing.assert_allclose(on_device, proba, rtol=0, atol=1e-10)


# ------------------------------------------------- learners that use the task
TASK_LEARNERS = {
    "targeted": OnlineNeuralClassifier(7, targeted_loss="signature", random_state=0),
    "published": OnlineNeuralClassifier(targeted_loss="published", fifo=FIFOMemory(9, 2), random_state=0),
    "logistic": OnlineLogisticRegression(0.1, targeted=True),
    "bagging": ADWINBaggingClassifier(3, targeted=True, random_state=0),
    "boosted trees": OnlineCoordinateBoosting(HoeffdingTreeClassifier(grace_period=10), 3, targeted=True),
    "EWC": EWCClassifier(7, random_state=0),
    "LwF": LwFClassifier(7, random_state=0),
    "DER++": DERClassifier(7, size=30, draws=2, random_state=0),
    "A-GEM": AGEMClassifier(7, size=30, draws=3, random_state=0),
    "OCDM": OnlineNeuralClassifier(7, targeted_loss="signature", reservoir=OCDMMemory(20), random_state=0),
    "ridge": StreamRidgeClassifier(random_state=0),
    "GDumb": GDumbClassifier(OnlineNeuralClassifier(targeted_loss="signature"), size=30, epochs=2, random_state=0),
    "replay": ReplayClassifier(Logistic(targeted=True), fifo=FIFOMemory(9, 2), random_state=0),
    "context": ContextWindowClassifier(GaussianNB(), context_size=40, policy="task"),
    "no features": PrevalenceClassifier(),
    "label budget": LabelBudget(Logistic(targeted=True), 1),
    "calibrator": PrequentialCalibrator(Logistic(targeted=True)),
    "novel labels": NovelLabels(Logistic(targeted=True)),
    "prediction sets": PredictionSets(Logistic(targeted=True)),
    "threshold": PrevalenceThreshold(Logistic(targeted=True)),
    "pipeline": StreamPipeline([("scale", StandardScaler()), ("learn", Logistic(targeted=True))]),
    "stack": PrequentialStack(
        [("logistic", Logistic(targeted=True)), ("mean", MeanLabelsClassifier())], random_state=0
    ),
}


@pytest.mark.slow
def test_an_unknown_label_is_outside_the_mask():
    def check(name):
        X, Y = with_a_known_label(*stream())
        counted, label_mask = ~np.isnan(Y), np.random.default_rng(3).random(Y.shape) < 0.8
        label_mask |= ~(label_mask & counted).any(axis=1, keepdims=True)
        for given, mask in ((None, counted), (label_mask, counted & label_mask)):
            one, two = clone(TASK_LEARNERS[name]), clone(TASK_LEARNERS[name])
            of_nan = one.predict_then_fit(X, Y, label_mask=given)
            # values outside the mask do not matter
            of_mask = two.predict_then_fit(X, np.nan_to_num(Y, nan=1), label_mask=mask)
            for a, b in zip((*of_nan, one.predict_proba(X)), (*of_mask, two.predict_proba(X)), strict=True):
                assert np.array_equal(a, b)

    check_all(TASK_LEARNERS, check)


def test_ridge_learns_means_and_products_of_a_label_from_the_rows_where_it_is_known():
    X, Y = with_a_known_label(*stream(400))
    X = X + np.random.default_rng(1).random(X.shape)
    ridge = StreamRidgeClassifier(knots=0, hidden_units=0, l2=0.01, refresh=1e-9).fit(X, Y)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    covariance = z.T @ z / len(z) + 0.01 * 5 / len(z) * np.eye(5)
    for k in range(3):
        known = ~np.isnan(Y[:, k])
        zk, y = z[known], Y[known, k]
        target = (zk - zk.mean(axis=0)).T @ y / len(y)
        expected = y.mean() + (z - zk.mean(axis=0)) @ np.linalg.solve(covariance, target)
        np.testing.assert_allclose(ridge._score(ridge._features(X))[:, k], expected, atol=1e-8)


# -------------------------------------------------------------------- memories
def test_rows_replayed_keep_their_unknown_labels():
    X, Y = stream()
    memory = ReservoirMemory(20, 3)
    learner = ReplayClassifier(MeanLabelsClassifier(), reservoir=memory, random_state=0).partial_fit(X, Y)
    twin = clone(memory).begin()
    twin.seed_ = learner.memories_[0].seed_
    held, slow = {}, SlowMean()
    for y in with_a_known_label(X, Y)[1]:
        plan = twin.plan(1)
        for row in (y, *(held[slot] for slot in plan.draws[0] if slot >= 0)):
            slow.learn(None, row)
        if plan.slots[0] >= 0:
            held[plan.slots[0]] = y
    np.testing.assert_allclose(learner.predict_proba(X[:1])[0], slow.predict(None), atol=1e-12)


def test_gdumb_learns_the_known_labels_of_its_memory():
    X, Y = stream()
    X, Y = with_a_known_label(X, Y)
    learner = GDumbClassifier(MeanLabelsClassifier(), size=200, epochs=3, share=0, random_state=0).partial_fit(X, Y)
    np.testing.assert_allclose(learner.predict_proba(X[:1])[0], np.nanmean(Y, axis=0), atol=1e-12)


def test_rows_whose_known_labels_differ_are_of_different_tasks_in_a_balanced_memory():
    # of 30 rows known in full, and 10 with an unknown label: 6 places of 12 for each
    Y = np.zeros((40, 2))
    Y[::4, 1] = NAN
    learner = GDumbClassifier(MeanLabelsClassifier(), size=12, random_state=0).partial_fit(np.zeros((40, 1)), Y)
    codes = learner.memory_.held_rows().Y
    assert np.unique(codes, axis=0, return_counts=True)[1].tolist() == [6, 6]
    assert codes.min(axis=0).tolist() == [2, 0]


@pytest.mark.parametrize("make", [GDumbClassifier, ReplayClassifier])
def test_memories_around_a_learner_that_refuses_refuse(make):
    class Refusing(Logistic):
        _traits = Traits()

    X, Y = stream()
    with pytest.raises(ValueError, match=r"that \w+ learns. Got NaN at row 1, column"):
        make(Refusing()).partial_fit(X, Y)


# ------------------------------------------------------------------- pipelines
def test_transformers_learn_the_rows_that_have_a_known_label():
    X, Y = stream()
    pipeline = StreamPipeline([("scale", StandardScaler()), ("learn", LastLabelsClassifier())])
    decided, _ = pipeline.predict_then_fit(X, Y)
    expected, _ = LastLabelsClassifier().predict_then_fit(X, Y)
    assert np.array_equal(decided, expected)
    kept, _ = with_a_known_label(X, Y)
    scaler = pipeline.steps_[0][1]
    assert scaler.n_samples_seen_ == len(kept)
    np.testing.assert_allclose(scaler.mean_, kept.mean(axis=0), atol=1e-12)
