"""A stack is a Bayes mixture of its members, label by label, with fixed share: its regret is bounded on any stream."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import BernoulliNB

from estimators import (
    HoeffdingTreeClassifier,
    LabelCombination,
    LastLabelsClassifier,
    MeanLabelsClassifier,
    OnlineNeuralClassifier,
    PrequentialStack,
    PrevalenceThreshold,
    ReplayClassifier,
)
from estimators.contract.base import StreamClassifier
from estimators.contract.traits import Traits
from tests.estimators import learners, streams
from tests.loops import check_all

MARGIN = 1e-3


class Given(StreamClassifier):
    """Predicts what columns of X hold, and learns nothing but how many rows there were."""

    _traits = Traits(learns_unknown=True, fails_late=False)

    def __init__(self, place=0, on_new_labels="error"):
        self.place = place
        self.on_new_labels = on_new_labels

    def _start(self):
        self.n_seen_ = 0

    def _grow(self, n_before):
        pass

    def _learn(self, X, Y, mask, weight):
        self.n_seen_ += len(Y)

    def _predict_proba(self, X):
        return X[:, self.place * self.n_labels_ : (self.place + 1) * self.n_labels_]


def stack_of(n_members, **parameters):
    return PrequentialStack([(f"m{k}", Given(k)) for k in range(n_members)], **{"reservoir_size": 0} | parameters)


def side_by_side(proba):
    """Put the probabilities of members (n_members, n_rows, n_labels) into columns of X."""
    return np.concatenate(list(proba), axis=1)


def drawn(n_members=3, n_rows=60, n_labels=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n_members, n_rows, n_labels)), rng.integers(0, 2, (n_rows, n_labels))


def loss(p, y):
    """Return the logarithmic loss of a probability, drawn together into the margin."""
    p = MARGIN + (1 - 2 * MARGIN) * p
    return -math.log(p if y else 1 - p)


def mixed_slowly(proba, Y, share):
    """Mix one label after another, row by row, from losses alone."""
    n_members, n_rows, n_labels = proba.shape
    mixed = np.empty((n_rows, n_labels))
    for j in range(n_labels):
        weights = [1 / n_members] * n_members
        for i in range(n_rows):
            mixed[i, j] = sum(w * (MARGIN + (1 - 2 * MARGIN) * p) for w, p in zip(weights, proba[:, i, j], strict=True))
            if not np.isnan(Y[i, j]):
                weights = [w * math.exp(-loss(p, Y[i, j])) for w, p in zip(weights, proba[:, i, j], strict=True)]
                weights = [(1 - share) * w / sum(weights) + share / n_members for w in weights]
    return mixed


def log_loss(mixed, y):
    return -np.log(np.where(y == 1, mixed, 1 - mixed)).sum()


def best_with_switches(losses, n_switches):
    """Return the least loss of a sequence of members with so many switches: dynamic programming over rows."""
    n_rows, n_members = losses.shape
    least = np.full((n_switches + 1, n_members), math.inf)
    least[0] = losses[0]
    for i in range(1, n_rows):
        before = least.copy()
        for k in range(n_switches + 1):
            for m in range(n_members):
                others = [before[k - 1, o] for o in range(n_members) if o != m] if k else []
                least[k, m] = losses[i, m] + min([before[k, m], *others])
    return least[n_switches].min()


# --------------------------------------------------------------------- the mixture
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3])
def test_the_mixture_is_that_of_a_slow_loop(share):
    proba, Y = drawn()
    Y = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, np.nan, Y)
    Y[np.isnan(Y).all(axis=1), 0] = 1
    _, mixed = stack_of(3, share=share).predict_then_fit(side_by_side(proba), Y)
    np.testing.assert_allclose(mixed, mixed_slowly(proba, Y, share), atol=1e-12)


sequences = st.tuples(st.integers(2, 4), st.integers(1, 25)).flatmap(
    lambda size: st.tuples(
        hnp.arrays(float, (*size, 1), elements=st.sampled_from([0.0, 1.0, 0.5]) | st.floats(0, 1)),
        hnp.arrays(int, (size[1], 1), elements=st.integers(0, 1)),
    )
)


@given(sequences)
def test_the_regret_to_the_best_member_is_at_most_the_logarithm_of_their_number(sequence):
    proba, Y = sequence
    _, mixed = stack_of(len(proba), share=0.0).predict_then_fit(side_by_side(proba), Y)
    best = min(sum(loss(p[0], y[0]) for p, y in zip(member, Y, strict=True)) for member in proba)
    assert log_loss(mixed, Y) <= best + math.log(len(proba)) + 1e-9


@given(sequences, st.integers(0, 3), st.floats(0.001, 0.5))
def test_the_regret_to_members_that_switch_is_bounded(sequence, n_switches, share):
    proba, Y = sequence
    n_members, n_rows, _ = proba.shape
    n_switches = min(n_switches, n_rows - 1)
    _, mixed = stack_of(n_members, share=share).predict_then_fit(side_by_side(proba), Y)
    losses = np.array([[loss(proba[m, i, 0], Y[i, 0]) for m in range(n_members)] for i in range(n_rows)])
    bound = math.log(n_members) + n_switches * math.log(n_members / share)
    bound += (n_rows - 1 - n_switches) * math.log(1 / (1 - share))
    assert log_loss(mixed, Y) <= best_with_switches(losses, n_switches) + bound + 1e-9


def test_a_member_that_knows_the_labels_wins_each_label_for_itself():
    proba, Y = drawn(3, 200)
    proba[0, :, 0], proba[2, :, 1] = Y[:, 0], Y[:, 1]
    stack = stack_of(3)
    decided, _ = stack.predict_then_fit(side_by_side(proba), Y)
    assert stack.weights_.argmax(axis=0).tolist() == [0, 2]
    assert stack.weights_.max(axis=0).min() > 0.9
    assert (decided[50:] == Y[50:]).mean() > 0.98


def test_weights_follow_a_change_the_faster_the_greater_the_share():
    proba, Y = drawn(2, 400, 1)
    proba[0, :200], proba[1, 200:] = Y[:200], Y[200:]
    changed = []
    for share in (1e-6, 0.05):
        _, mixed = stack_of(2, share=share).predict_then_fit(side_by_side(proba), Y)
        changed.append(np.flatnonzero(np.abs(mixed - Y)[200:, 0] < 0.1)[0])
    assert changed[1] < changed[0]


def test_rows_outside_the_mask_leave_the_weights_of_a_label():
    X, Y = streams.drawn(100)
    mask = np.array([True, True, False])
    members = [("mean", MeanLabelsClassifier()), ("logistic", learners.Logistic(targeted=True))]
    stack = PrequentialStack(members).partial_fit(X, Y, label_mask=mask)
    assert stack.weights_[:, 2].tolist() == [0.5, 0.5]
    assert stack.weights_[:, :2].min(axis=0).max() < 0.4
    assert stack.estimators_[0][1].counts_[0].tolist() == [100, 100, 0]


def test_a_row_of_weight_two_counts_as_two_rows():
    proba, Y = drawn(2, 1)
    X = side_by_side(proba)
    once = stack_of(2, share=0.0).partial_fit(X, Y, sample_weight=[2.0])
    twice = stack_of(2, share=0.0).partial_fit(np.vstack([X, X]), np.vstack([Y, Y]))
    np.testing.assert_allclose(once.weights_, twice.weights_)


@pytest.mark.parametrize("size", [1, 7])
def test_cuts_into_chunks_change_no_bit(size):
    X, Y = streams.drawn(300)
    network = OnlineNeuralClassifier(targeted_loss="signature", learning_rate=0.1, random_state=0)
    members = [("mean", MeanLabelsClassifier()), ("network", network), ("last", LastLabelsClassifier())]
    stack = PrequentialStack(members, patience=40, negligible=0.05, random_state=0)
    whole, cut = clone(stack), clone(stack)
    expected = whole.predict_then_fit(X, Y)[1]
    got = [cut.predict_then_fit(X[i : i + size], Y[i : i + size])[1] for i in range(0, 300, size)]
    assert np.array_equal(np.concatenate(got), expected)
    assert np.array_equal(cut.predict_proba(X), whole.predict_proba(X))
    assert cut.stopped_ == whole.stopped_
    assert cut.stopped_


# ----------------------------------------------------------------- rows predicted only
def test_predict_weighs_members_on_a_sample_of_all_rows():
    proba, Y = drawn(2, 600, 1)
    proba[0, :550] = np.where(Y[:550] == 1, 0.9, 0.1)
    proba[1, 550:] = np.where(Y[550:] == 1, 0.9, 0.1)
    X = side_by_side(proba)
    stack = stack_of(2, reservoir_size=50, random_state=0).partial_fit(X, Y)
    assert stack.weights_.argmax() == 1
    old = np.array([[0.9, 0.1]])
    assert stack.predict_proba(old)[0, 0] > 0.8
    assert stack.predict_then_fit(old, [[1]])[1][0, 0] < 0.2
    assert clone(stack).set_params(reservoir_size=0).fit(X, Y).predict_proba(old)[0, 0] < 0.2


def test_the_weights_of_the_sample_are_those_of_a_slow_loop():
    proba, Y = drawn(3, 8, 2)
    stack = stack_of(3, reservoir_size=20).partial_fit(side_by_side(proba), Y)
    losses = np.array([[sum(loss(proba[k, i, j], Y[i, j]) for i in range(8)) for j in range(2)] for k in range(3)])
    weights = np.exp(-0.2 * losses) / np.exp(-0.2 * losses).sum(axis=0)
    expected = MARGIN + (1 - 2 * MARGIN) * (weights * proba[:, 0]).sum(axis=0)
    np.testing.assert_allclose(stack.predict_proba(side_by_side(proba[:, :1]))[0], expected, atol=1e-12)


def test_the_sample_is_uniform_and_bounded():
    X = np.arange(500.0)[:, np.newaxis] / 500
    counts = np.zeros(500)
    for seed in range(40):
        stack = stack_of(1, reservoir_size=50, random_state=seed).partial_fit(X, np.ones((500, 1), dtype=int))
        held = (stack._sample.rows.X[:, 0] * 500).round().astype(int)
        assert len(set(held.tolist())) == 50
        counts[held] += 1
    halves = counts[:250].sum(), counts[250:].sum()
    assert abs(halves[0] - halves[1]) < 200


# ------------------------------------------------------------------- members that stop
def patient(**parameters):
    proba, Y = drawn(3, 400)
    proba[1] = np.where(Y == 1, 0.9, 0.1)
    proba[2, :, 1] = np.where(Y[:, 1] == 1, 0.95, 0.05)
    stack = stack_of(3, patience=100, share=0.001, **parameters)
    return stack, side_by_side(proba), Y


def test_a_member_that_helps_no_label_is_stopped_and_learns_no_more():
    stack, X, Y = patient()
    first = stack.partial_fit(X[:99], Y[:99]).estimators_[0][1]
    stack.partial_fit(X[99:], Y[99:])
    assert [name for name, _ in stack.estimators_] == ["m1", "m2"]
    assert stack.stopped_ == {"m0": 100}
    assert stack.rows_learnt_ == {"m0": 100, "m1": 400, "m2": 400}
    assert (first.n_seen_, stack.estimators_[0][1].n_seen_) == (100, 400)
    assert stack.weights_[0].tolist() == [0, 0]
    np.testing.assert_allclose(stack.weights_.sum(axis=0), 1)


def test_the_bound_holds_for_the_members_that_remain():
    stack, X, Y = patient()
    _, mixed = stack.predict_then_fit(X, Y)
    losses = [[sum(loss(p, y) for p, y in zip(X[:, 2 * k + j], Y[:, j], strict=True)) for k in (1, 2)] for j in (0, 1)]
    bound = math.log(3) + 399 * math.log(1 / 0.999)
    assert all(log_loss(mixed[:, j], Y[:, j]) <= min(losses[j]) + bound for j in (0, 1))


def test_a_member_that_helps_a_label_of_another_task_is_not_stopped():
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (600, 3)).astype(float)
    good, bad = np.where(Y == 1, 0.9, 0.1), np.where(Y == 1, 0.4, 0.6)
    # m0 knows label 1, m1 label 0, which the last rows do not count; label 2 never counts
    X = side_by_side([np.where([False, True, True], good, bad), np.where([True, False, True], good, bad)])
    Y[150:300, 1] = Y[:150, 0] = Y[300:, 0] = Y[:, 2] = np.nan
    stack = stack_of(2, patience=300, negligible=0.1).partial_fit(X, Y)
    assert stack.stopped_ == {}
    assert stack.weights_[1, 0] > 0.9
    only_one = stack_of(2, patience=100, negligible=0.1).partial_fit(X[:100], Y[:100])
    assert only_one.stopped_ == {"m1": 100}


def test_weights_that_vanished_are_equal_once_the_others_are_stopped():
    Y = np.ones((900, 2))
    Y[:600, 1] = np.nan
    proba = np.full((2, 900, 2), 0.001)
    proba[0, :, 0] = proba[1, :, 1] = 0.999
    stack = stack_of(2, patience=900, negligible=1.0, share=0.0).partial_fit(side_by_side(proba), Y)
    assert stack.stopped_ == {"m1": 900}
    assert stack.weights_[0].tolist() == [1, 1]


def test_the_last_member_is_never_stopped():
    proba, Y = drawn(2, 100)
    stack = stack_of(2, patience=10, negligible=1.0).partial_fit(side_by_side(proba), Y)
    assert len(stack.estimators_) == 1
    assert stack.stopped_


def test_the_memory_of_a_stopped_member_is_freed():
    X, Y = streams.drawn(400)
    wide = OnlineNeuralClassifier(2000, learning_rate=1e-6, random_state=0)
    members = [("wide", wide), ("tree", HoeffdingTreeClassifier()), ("mean", MeanLabelsClassifier())]
    stack = PrequentialStack(members, patience=100, negligible=0.1, random_state=0).partial_fit(X[:50], Y[:50])
    before = stack.memory_bytes_
    assert "wide" in stack.partial_fit(X[50:], Y[50:]).stopped_
    assert stack.memory_bytes_ < before / 2


def test_what_was_stopped_stays_so_in_a_saved_stack():
    stack, X, Y = patient()
    loaded = pickle.loads(pickle.dumps(stack.partial_fit(X[:250], Y[:250])))  # noqa: S301 - our own bytes
    assert loaded.stopped_ == {"m0": 100}
    for one in (stack, loaded):
        one.partial_fit(X[250:], Y[250:])
    assert np.array_equal(stack.predict_proba(X), loaded.predict_proba(X))


def test_labels_that_appear_after_a_member_was_stopped_are_mixed_by_the_others():
    stack, X, Y = patient(on_new_labels="grow")
    stack.partial_fit(X, Y)
    wide = np.hstack([Y[:5], np.ones((5, 1), dtype=int)])
    stack.estimators_[0][1].place = stack.estimators_[1][1].place = 0
    assert stack.partial_fit(X[:5], wide).weights_.shape == (3, 3)
    assert stack.weights_[0].tolist() == [0, 0, 0]


# ------------------------------------------------------------------------- inside others
@pytest.mark.parametrize(
    "wrap", [PrevalenceThreshold, ReplayClassifier, lambda one: PrequentialStack([("stack", one)])]
)
def test_a_stack_learns_inside_another_estimator(wrap):
    X, Y = streams.drawn(60)
    stack = PrequentialStack([("mean", MeanLabelsClassifier()), ("network", OnlineNeuralClassifier(random_state=0))])
    assert wrap(stack).fit(X, Y).predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="X must fit float32"):
        wrap(stack).fit(np.where(X > 0.5, 1e300, X), Y)


# ------------------------------------------------------------------------- parameters
def test_parameters_of_members_are_set_by_name():
    stack = PrequentialStack([("mean", MeanLabelsClassifier()), ("network", OnlineNeuralClassifier())])
    stack.set_params(network__learning_rate=0.3, share=0.2)
    assert stack.get_params()["network__learning_rate"] == 0.3
    assert clone(stack).get_params()["network"].learning_rate == 0.3
    stack.set_params(mean=LastLabelsClassifier(), network="drop")
    X, Y = streams.drawn(20)
    assert [type(one) for _, one in stack.fit(X, Y).estimators_] == [LastLabelsClassifier]


@pytest.mark.slow
def test_any_classifier_with_partial_fit_is_a_member():
    X, Y = streams.drawn(100)
    stack = PrequentialStack([("bayes", BernoulliNB()), ("perceptron", Perceptron(random_state=0))]).fit(X, Y)
    assert stack.predict(X).shape == Y.shape
    classes = np.array(["a", "b", "c"])[Y.sum(axis=1).clip(max=2)]
    assert set(stack.fit(sparse.csr_array(X), classes).predict(X)) <= {"a", "b", "c"}


def test_senseless_parameters_are_refused():
    def check(estimators, parameters, message):
        with pytest.raises(ValueError, match=message):
            PrequentialStack(estimators, **parameters).fit(*streams.drawn(20))

    check_all(
        [
            ([], {}, r"estimators must be a list of \(name, estimator\) pairs. Got \[\] instead"),
            ([MeanLabelsClassifier()], {}, r"estimators must be a list of \(name, estimator\) pairs"),
            ([("a", MeanLabelsClassifier()), ("a", LastLabelsClassifier())], {}, "must be distinct .* Got 'a' among"),
            ([("a__b", MeanLabelsClassifier())], {}, "without '__', and no parameters of the stack. Got 'a__b'"),
            ([("share", MeanLabelsClassifier())], {}, "no parameters of the stack. Got 'share'"),
            ([("a", "drop")], {}, "at least one learner. Got 'drop' only"),
            ([("a", object())], {}, "a must be a classifier instance with partial_fit, or 'drop'. Got <object"),
            ([("a", MeanLabelsClassifier)], {}, "a must be a classifier instance with partial_fit"),
            ([("a", MeanLabelsClassifier())], {"share": 1.5}, "share must be a finite number from 0 to 1"),
            ([("a", MeanLabelsClassifier())], {"share": 1}, "share must be below 1"),
            ([("a", MeanLabelsClassifier())], {"negligible": -1}, "negligible must be a finite number from 0 to 1"),
            ([("a", MeanLabelsClassifier())], {"patience": 0}, "patience must be an integer of at least 1"),
            (
                [("a", MeanLabelsClassifier())],
                {"reservoir_size": -1},
                "reservoir_size must be an integer of at least 0",
            ),
            (
                [("a", MeanLabelsClassifier()), ("sets", LabelCombination(HoeffdingTreeClassifier()))],
                {"on_new_labels": "grow"},
                "on_new_labels must be 'error' for sets, which cannot grow",
            ),
            (
                [("a", learners.Logistic(targeted=True)), ("b", learners.Refusing())],
                {},
                "b must learn unknown labels, beside members that use the task",
            ),
        ],
        lambda case: check(*case),
    )


# ------------------------------------------------------------------------------- laws
