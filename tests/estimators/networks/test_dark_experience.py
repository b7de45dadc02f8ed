"""DER++ takes the steps of its paper, keeps the logits it says, and forgets less for it."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone

from estimators import DERClassifier, DivergedError, OnlineNeuralClassifier, ReservoirMemory
from tests.estimators.learners import refuses_until_it_is_fitted
from tests.estimators.streams import tasks_that_return
from tests.loops import check_all, in_two_tiers

VARIANTS = {
    "linear": {"draws": 2},
    "hidden": {"hidden_units": 8, "draws": 3, "alpha": 1.0, "beta": 0.3},
    "two layers, descent": {"hidden_units": (6, 5), "optimizer": "sgd", "learning_rate": 0.1, "draws": 1},
    "logits alone": {"hidden_units": 8, "alpha": 2.0, "beta": 0, "draws": 4},
}


def made(name, **parameters):
    return DERClassifier(**{**VARIANTS[name], "size": 30, "random_state": 0, **parameters})


# ------------------------------------------------------------------ arithmetic
@in_two_tiers(VARIANTS)
def test_every_step_is_that_of_the_paper(cases):
    oracle = pytest.importorskip("tests.estimators.networks.rehearsal_oracle", reason="torch is not installed")

    def check(name):
        X, Y, mask, weight = tasks_that_return()
        network = oracle.TorchDER(made(name, dtype="float64").begin(X, Y))
        answers = network.predict_then_fit(X, Y, mask, weight)
        for kind in (np.asarray, sparse.csr_array):
            ours = made(name, dtype="float64").begin(kind(X), Y)
            for i in range(0, len(Y), 16):
                part = slice(i, i + 16)
                given = ours.predict_proba(kind(X[part][:1]))
                np.testing.assert_allclose(given, answers[i : i + 1], rtol=0, atol=1e-10, err_msg=kind.__name__)
                ours.partial_fit(kind(X[part]), Y[part], label_mask=mask[part], sample_weight=weight[part])

    check_all(cases, check)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_without_replay_it_is_the_network_with_targeted_loss(optimizer):
    X, Y, mask, _ = tasks_that_return()
    options = {"optimizer": optimizer, "dtype": "float64", "random_state": 0}
    plain = OnlineNeuralClassifier(8, targeted_loss="signature", **options)
    ours = DERClassifier(8, alpha=0, beta=0, size=30, **options)
    both = [learner.predict_then_fit(X, Y, label_mask=mask)[1] for learner in (ours, plain)]
    np.testing.assert_allclose(*both, rtol=0, atol=1e-12)


def test_rows_are_kept_with_the_logits_of_labels_met_before_the_step_on_them():
    X, Y, mask, _ = tasks_that_return()
    ours = made("hidden", dtype="float64").begin(X, Y)
    memory = ReservoirMemory(30, 6).begin()
    memory.seed_ = ours._memory.seed_
    proba = np.concatenate(
        [ours.predict_then_fit(X[i : i + 7], Y[i : i + 7], label_mask=mask[i : i + 7])[1] for i in range(0, len(Y), 7)]
    )
    held = {slot: row for row, slot in enumerate(memory.plan(len(Y)).slots) if slot >= 0}
    rows = np.array([held[slot] for slot in range(30)])
    known = np.logical_or.accumulate(mask, axis=0)[rows]
    np.testing.assert_array_equal(~np.isnan(ours._held), known)
    np.testing.assert_allclose(ours._held[known], logit(proba[rows])[known], rtol=1e-6)
    assert len(ours._store.codes) == 30
    assert not known.all()


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_an_earlier_task_is_remembered(optimizer):
    X = np.random.default_rng(0).random((3000, 3))
    first, second = X > 0.5, X < 0.5  # the same labels, turned around
    options = {"optimizer": optimizer, "learning_rate": 0.01 if optimizer == "adam" else 0.5, "random_state": 0}
    errors = []
    for weights in ({"alpha": 0.1, "beta": 0}, {"alpha": 0.1, "beta": 1}, {"alpha": 0, "beta": 0}):
        learner = DERClassifier(8, **weights, **options).partial_fit(X, first, label_mask=[True, True, False])
        learner.partial_fit(X[:400], second[:400], label_mask=[True, False, True])
        errors.append(((learner.predict_proba(X) - first)[:, 1] ** 2).mean())
    assert errors[0] < errors[2]
    assert errors[1] < 0.5 * errors[2]


# ----------------------------------------------------------------------- state
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["hidden", "two layers, descent"])
def test_cut_anywhere_and_saved_in_between_it_goes_on_bit_for_bit(name, kind):
    X, Y, mask, _ = tasks_that_return()
    X = kind(X)
    whole = made(name).partial_fit(X, Y, label_mask=mask)
    cut = made(name)
    for start, stop in ((0, 1), (1, 90), (90, 150), (150, 151), (151, 400)):
        part = slice(start, stop)
        cut = pickle.loads(pickle.dumps(cut)).partial_fit(X[part], Y[part], label_mask=mask[part])  # noqa: S301
    np.testing.assert_array_equal(cut.predict_proba(X), whole.predict_proba(X))
    assert cut.n_steps_ == whole.n_steps_ == len(Y)


def test_dense_rows_may_be_followed_by_sparse_ones():
    X, Y, mask, _ = tasks_that_return()
    dense, mixed = (made("hidden", dtype="float64") for _ in range(2))
    dense.partial_fit(X, Y, label_mask=mask)
    mixed.partial_fit(X[:150], Y[:150], label_mask=mask[:150])
    mixed.partial_fit(sparse.csr_array(X[150:]), Y[150:], label_mask=mask[150:])
    np.testing.assert_allclose(mixed.predict_proba(X), dense.predict_proba(X), rtol=0, atol=1e-10)


def test_memory_does_not_grow_once_it_is_full():
    X, Y, mask, _ = tasks_that_return()
    learner = made("hidden").partial_fit(X, Y, label_mask=mask)
    before = learner.memory_bytes_
    assert learner.partial_fit(X, Y, label_mask=mask).memory_bytes_ == before
    assert learner._held.shape == (30, 5)


# ------------------------------------------------------------------- bad input
@pytest.mark.parametrize("method", ["partial_fit", "predict_then_fit"])
def test_a_row_too_large_to_learn_asks_for_fit(method):
    X, Y, mask, _ = tasks_that_return()
    learner = made("hidden").partial_fit(X, Y, label_mask=mask)
    spoilt = X.copy()
    spoilt[3, 2] = 1e30
    with pytest.raises(DivergedError, match=r"diverged at row 3: .* features up to 1e[+]30"):
        getattr(learner, method)(spoilt, Y, label_mask=mask)
    refuses_until_it_is_fitted(learner, clone(learner), X, Y)


def test_a_call_with_invalid_input_changes_nothing():
    X, Y, mask, _ = tasks_that_return()
    learner = made("hidden").partial_fit(X, Y, label_mask=mask)
    before = pickle.dumps(vars(learner))
    for value in (np.nan, 1e300):
        spoilt = X.copy()
        spoilt[3, 2] = value
        with pytest.raises(ValueError, match="X must"):
            learner.partial_fit(spoilt, Y, label_mask=mask)
        assert pickle.dumps(vars(learner)) == before


def test_parameters_that_make_no_sense_are_refused():
    def check(parameters, message):
        X, Y, *_ = tasks_that_return(20)
        learner = DERClassifier(**parameters)
        with pytest.raises(ValueError, match=message):
            learner.partial_fit(X, Y)
        assert not hasattr(learner, "classes_")

    check_all(
        [
            ({"alpha": -1}, "alpha must be a finite number at least 0. Got -1 instead"),
            ({"beta": np.inf}, "beta must be a finite number at least 0. Got inf instead"),
            ({"size": 10}, "size must be greater than two times draws. Got size 10 and draws 5 instead"),
            ({"draws": 0}, "draws must be .* 1. Got 0 instead"),
            ({"size": 2.5}, "size must be .* Got 2.5 instead"),
            ({"optimizer": "rmsprop"}, "optimizer must be one of 'adam', 'sgd'. Got 'rmsprop' instead"),
            ({"learning_rate": 0}, "learning_rate must be a number greater than 0 and less than .* Got 0 instead"),
        ],
        lambda case: check(*case),
    )
