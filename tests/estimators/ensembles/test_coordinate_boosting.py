"""Online coordinate boosting: a slow loop with single weak learners, and published scores."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from estimators import HoeffdingTreeClassifier, OnlineCoordinateBoosting, OnlineLogisticRegression
from tests.estimators import streams
from tests.loops import check_all

TREE = HoeffdingTreeClassifier(grace_period=20, delta=0.01, tau=0.2)
MODEL = OnlineLogisticRegression(0.1)


# ---------------------------------------------------------------- the algorithm
class SlowBoosting:
    """One label: weak learners of our own, one object each, and sums in dictionaries, as the algorithm is written."""

    def __init__(self, weak, n_models, smoothing, variant):
        self.weak, self.derived = [clone(weak) for _ in range(n_models)], variant == "derived"
        pairs = [(j, k) for j in range(n_models) for k in range(j + 1)]
        self.right, self.wrong = dict.fromkeys(pairs, smoothing), dict.fromkeys(pairs, smoothing)
        self.alpha, self.change = [0.0] * n_models, [0.0] * n_models

    def begin(self, x):
        for weak in self.weak:
            weak.begin(x, np.zeros((1, 1), dtype=int))
        return self

    def votes(self, x):
        return [1 if weak.predict(x)[0, 0] else -1 for weak in self.weak]

    def score(self, x):
        return sum(alpha * vote for alpha, vote in zip(self.alpha, self.votes(x), strict=True))

    def learn(self, x, y, weight=1.0):
        signs = [vote * (1 if y else -1) for vote in self.votes(x)]
        d = 1.0
        for j, sign in enumerate(signs):
            grow_right = grow_wrong = 1.0
            for k in range(j):
                up, down = math.exp(self.change[k]), math.exp(-self.change[k])
                q = self.right[j, k] / self.right[j, j]
                grow_right *= q * down + (1 - q) * up
                q = self.wrong[j, k] / self.wrong[j, j]
                grow_wrong *= q * up + (1 - q) * down if self.derived else q * down + (1 - q) * up
            for k in range(j + 1):
                self.right[j, k] = self.right[j, k] * grow_right + d * (signs[k] == 1 == sign)
                self.wrong[j, k] = self.wrong[j, k] * grow_wrong + d * (signs[k] == -1 == sign)
            alpha = math.log(self.right[j, j] / self.wrong[j, j]) / 2
            self.change[j], self.alpha[j] = alpha - self.alpha[j], alpha
            d *= math.exp(-alpha * sign)
            self.weak[j].partial_fit(x, [[y]], sample_weight=[weight * d])


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["moa", "derived"])
@pytest.mark.parametrize("weak", [TREE, MODEL], ids=["trees", "models"])
def test_every_prediction_and_coefficient_is_that_of_the_slow_loop(weak, variant):
    X, Y = streams.drawn(400, n_labels=2)
    learner = OnlineCoordinateBoosting(weak, 5, smoothing=0.3, variant=variant)
    decided, proba = learner.predict_then_fit(X, Y)
    for label in range(2):
        slow = SlowBoosting(weak, 5, 0.3, variant).begin(X[:1])
        for i in range(len(X)):
            score = slow.score(X[i : i + 1])
            # what is zero but for rounding may have either sign
            assert abs(score) < 1e-9 or decided[i, label] == (score > 0), i
            assert abs(proba[i, label] - 1 / (1 + math.exp(-2 * score))) < 1e-9, i
            slow.learn(X[i : i + 1], Y[i, label])
        np.testing.assert_allclose(learner.alphas_[label], slow.alpha, atol=1e-8)
    assert len({round(alpha, 6) for alpha in learner.alphas_[0].tolist()}) > 1


@pytest.mark.parametrize("weak", [TREE, MODEL], ids=["trees", "models"])
def test_unknown_labels_and_weights_are_those_of_the_slow_loop(weak):
    X, Y = streams.drawn(300, n_labels=2)
    rng = np.random.default_rng(2)
    weight, known = rng.choice([0.0, 0.5, 2.0], 300), rng.random(Y.shape) < 0.7
    known[:, 0] |= ~known.any(axis=1)
    learner = OnlineCoordinateBoosting(weak, 3).partial_fit(X, np.where(known, Y, np.nan), sample_weight=weight)
    for label in range(2):
        slow = SlowBoosting(weak, 3, 0.5, "moa").begin(X[:1])
        for i in np.flatnonzero(known[:, label] & (weight > 0)):
            slow.learn(X[i : i + 1], Y[i, label], weight[i])
        np.testing.assert_allclose(learner.alphas_[label], slow.alpha, atol=1e-8)


def test_two_learners_that_always_agree_have_one_coefficient_by_the_derived_rule():
    # the second learner's rows weigh as much where it is right as where it is wrong: it has nothing to add
    X, Y = streams.drawn(500, n_labels=1)
    derived = OnlineCoordinateBoosting(MODEL, 2, variant="derived").fit(X, Y)
    assert abs(derived.alphas_[0, 1]) < 0.05 < derived.alphas_[0, 0]


def test_scene_is_near_the_printed_scores_with_trees_and_far_from_them_with_models(shared_data):
    from benchmarks.reproduction.field_scores import faded_scores
    from mlstream import load_dataset

    data = load_dataset(shared_data("multilabel/Scene.arff.gz"), labels=6)
    # Alberghini et al.: subset .837, Hamming .969, micro-averaged F1 .909; macro-averaged F1 depends on the last rows
    printed = {"subset": 0.837, "hamming": 0.969, "f1_micro": 0.909}
    scores = {}
    for name, weak in (("trees", None), ("models", OnlineLogisticRegression())):
        learner = OnlineCoordinateBoosting(weak)
        scores[name] = faded_scores(np.asarray(data.Y), learner.predict_then_fit(data.X, data.Y)[0])
    assert all(abs(scores["trees"][key] - value) < 0.012 for key, value in printed.items())
    assert scores["models"]["subset"] > printed["subset"] + 0.03


# ---------------------------------------------------------------- what MOA has not
def test_trees_that_grow_out_of_their_places_continue_where_they_were():
    # in one call, places run out in the middle of rows; in calls of a row, between them
    X, Y = streams.drawn(600, n_labels=2)
    eager = HoeffdingTreeClassifier(grace_period=5, delta=0.5, tau=0.5)
    one, many = OnlineCoordinateBoosting(eager, 6), OnlineCoordinateBoosting(eager, 6).begin(X[:1], Y[:1])
    proba = one.predict_then_fit(X, Y)[1]
    by_row = [many.predict_then_fit(X[i : i + 1], Y[i : i + 1])[1] for i in range(600)]
    assert np.array_equal(proba, np.concatenate(by_row))
    assert len(one.boosted_.trees[0].nodes) > 100


def test_csr_rows_give_the_bits_of_dense_rows():
    X, Y = streams.drawn(300)
    X[np.random.default_rng(4).random(X.shape) < 0.6] = 0
    for weak in (TREE, MODEL):
        dense, thin = OnlineCoordinateBoosting(weak, 3), OnlineCoordinateBoosting(weak, 3)
        for one, two in zip(dense.predict_then_fit(X, Y), thin.predict_then_fit(sparse.csr_array(X), Y), strict=True):
            assert np.array_equal(one, two)


def test_numbers_stay_finite_on_long_streams():
    def check(variant, weak, share):
        rng = np.random.default_rng(3)
        X, Y = rng.random((8000, 1)), (rng.random((8000, 1)) < share).astype(int)
        learner = OnlineCoordinateBoosting(weak, 20, variant=variant).begin(X[:1], Y[:1])
        assert np.isfinite(learner.predict_then_fit(X, Y)[1]).all()
        assert np.isfinite(learner.alphas_).all()

    check_all(product(["moa", "derived"], [TREE, MODEL], [0.0, 0.001, 0.5]), lambda case: check(*case))


def test_a_weak_learner_can_be_changed_between_calls_and_is_never_learnt_itself():
    X, Y = streams.drawn(100)
    weak = OnlineLogisticRegression(0.1)
    learner = OnlineCoordinateBoosting(weak, 2).partial_fit(X, Y)
    assert not hasattr(weak, "models_")
    with pytest.raises(ValueError, match="learning_rate must be positive"):
        learner.set_params(estimator__learning_rate=0).partial_fit(X, Y)


@pytest.mark.parametrize(
    "kinds", [(HoeffdingTreeClassifier, OnlineLogisticRegression), (OnlineLogisticRegression, None)]
)
@pytest.mark.parametrize("method", ["partial_fit", "predict_then_fit"])
def test_weak_learners_of_another_kind_are_refused_until_fit(kinds, method):
    X, Y = streams.drawn(100)
    first, other = (kind and kind() for kind in kinds)
    learner, twin = (OnlineCoordinateBoosting(first, 2).partial_fit(X, Y) for _ in range(2))
    learner.set_params(estimator=other)
    with pytest.raises(TypeError, match=r"estimator must remain of type \w+, which has learnt\. Got .*; call `fit`"):
        getattr(learner, method)(X, Y)
    assert np.array_equal(learner.predict_proba(X), twin.predict_proba(X))
    assert np.array_equal(learner.fit(X, Y).alphas_, OnlineCoordinateBoosting(other, 2).fit(X, Y).alphas_)


def test_parameters_are_checked():
    def check(parameters, error, message):
        with pytest.raises(error, match=message):
            OnlineCoordinateBoosting(**parameters).fit(*streams.drawn(20))

    check_all(
        [
            (
                {"estimator": "tree"},
                TypeError,
                "estimator must be a HoeffdingTreeClassifier, an OnlineLogisticRegression",
            ),
            ({"estimator": HoeffdingTreeClassifier(delta=0)}, ValueError, "delta must be in"),
            ({"n_models": 2.5}, ValueError, "n_models must be an integer of at least 1"),
            ({"smoothing": 0.0}, ValueError, "smoothing must be positive"),
            ({"smoothing": -1.0}, ValueError, "smoothing must be a finite number"),
            ({"variant": "river"}, ValueError, "variant must be one of 'moa', 'derived'. Got 'river' instead"),
        ],
        lambda case: check(*case),
    )
