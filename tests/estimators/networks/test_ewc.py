"""Elastic weight consolidation takes the steps of its papers, and forgets less for it."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from estimators import DivergedError, EWCClassifier, LwFClassifier, OnlineNeuralClassifier
from tests.estimators.learners import refuses_until_it_is_fitted
from tests.estimators.streams import tasks_that_return
from tests.loops import check_all, in_two_tiers

VARIANTS = {
    "linear": {"penalty": 10},
    "hidden": {"hidden_units": 8, "penalty": 100},
    "forgetting": {"hidden_units": 8, "penalty": 300, "decay": 0.5},
    "two layers, rows counted": {"hidden_units": (6, 5), "penalty": 50, "decay": 0.9, "task_rows": 40},
}


def made(name, **parameters):
    return EWCClassifier(**{**VARIANTS[name], "random_state": 0, **parameters})


# ------------------------------------------------------------------ arithmetic
@in_two_tiers(VARIANTS)
def test_every_step_is_that_of_the_papers(cases):
    oracle = pytest.importorskip("tests.estimators.networks.continual_oracle", reason="torch is not installed")

    def check(name):
        X, Y, mask, weight = tasks_that_return()
        network = oracle.TorchEWC(made(name, dtype="float64").begin(X, Y))
        answers = network.predict_then_fit(X, Y, mask, weight)
        for kind in (np.asarray, sparse.csr_array):
            ours = made(name, dtype="float64").begin(kind(X), Y)
            for i in range(0, len(Y), 16):
                part = slice(i, i + 16)
                given = ours.predict_proba(kind(X[part][:1]))
                np.testing.assert_allclose(given, answers[i : i + 1], rtol=0, atol=1e-10, err_msg=kind.__name__)
                ours.partial_fit(kind(X[part]), Y[part], label_mask=mask[part], sample_weight=weight[part])

    check_all(cases, check)


def test_without_a_penalty_it_is_the_network_with_targeted_loss():
    X, Y, mask, _ = tasks_that_return()
    plain = OnlineNeuralClassifier(8, targeted_loss="signature", dtype="float64", random_state=0)
    ours = made("hidden", penalty=0, dtype="float64")
    both = [learner.predict_then_fit(X, Y, label_mask=mask)[1] for learner in (ours, plain)]
    np.testing.assert_allclose(*both, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["linear", "hidden"])
def test_what_an_earlier_task_has_taught_is_kept(name):
    X = np.random.default_rng(0).random((600, 3))
    first, second = X > 0.5, X < 0.5  # the same labels, turned around
    mask = np.array([True, True, False])
    kept = {}
    for penalty in (0, 1e4):
        learner = made(name, penalty=penalty).partial_fit(X, first, label_mask=mask)
        learner.partial_fit(X, second, label_mask=~mask).partial_fit(X, second)
        kept[penalty] = (learner.predict(X) == first)[:, :2].mean()
    assert kept[0] < 0.4
    assert kept[1e4] > 0.8


# ----------------------------------------------------------------------- state
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["hidden", "two layers, rows counted"])
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


def test_memory_does_not_grow_with_tasks():
    X, Y, mask, _ = tasks_that_return()
    learner = made("hidden").partial_fit(X, Y, label_mask=mask)
    before = learner.memory_bytes_
    assert before > 6 * learner._state["w"].nbytes
    assert learner.partial_fit(X, Y, label_mask=mask).memory_bytes_ == before


# ------------------------------------------------------------------- bad input
@pytest.mark.parametrize("method", ["partial_fit", "predict_then_fit"])
@pytest.mark.parametrize("kind", [EWCClassifier, LwFClassifier])
def test_a_row_too_large_to_learn_asks_for_fit(kind, method):
    X, Y, mask, _ = tasks_that_return()
    learner = kind(8, random_state=0).partial_fit(X, Y, label_mask=mask)
    spoilt = X.copy()
    spoilt[3, 2] = 1e30
    with pytest.raises(DivergedError, match=r"diverged at row 3: .* features up to 1e[+]30"):
        getattr(learner, method)(spoilt, Y, label_mask=mask)
    refuses_until_it_is_fitted(learner, clone(learner), X, Y)


@pytest.mark.parametrize("value", [np.nan, 1e300])
@pytest.mark.parametrize("kind", [EWCClassifier, LwFClassifier])
def test_a_call_with_invalid_input_changes_nothing(kind, value):
    X, Y, mask, _ = tasks_that_return()
    learner = kind(8, random_state=0).partial_fit(X, Y, label_mask=mask)
    before = pickle.dumps((learner._state, learner._past))
    X[3, 2] = value
    with pytest.raises(ValueError, match="X must"):
        learner.partial_fit(X, Y, label_mask=mask)
    assert pickle.dumps((learner._state, learner._past)) == before


@pytest.mark.parametrize("n_rows", [1, 20])
@pytest.mark.parametrize("kind", [EWCClassifier, LwFClassifier])
def test_a_learning_rate_too_large_for_the_precision_changes_nothing(kind, n_rows):
    X, Y, mask, _ = tasks_that_return()
    learner = kind(8, random_state=0).partial_fit(X, Y, label_mask=mask)
    before = learner.predict_proba(X)
    with pytest.raises(ValueError, match=r"learning_rate must be .* less than 1e\+18 in float32. Got 1e\+39"):
        learner.set_params(learning_rate=1e39).partial_fit(X[:n_rows], Y[:n_rows], label_mask=mask[:n_rows])
    np.testing.assert_array_equal(learner.predict_proba(X), before)


def test_parameters_that_make_no_sense_are_refused():
    def check(parameters, message):
        X, Y, *_ = tasks_that_return(20)
        learner = EWCClassifier(**parameters)
        with pytest.raises(ValueError, match=message):
            learner.partial_fit(X, Y)
        assert not hasattr(learner, "classes_")

    check_all(
        [
            ({"penalty": -1}, "penalty must be a finite number at least 0. Got -1 instead"),
            ({"penalty": np.inf}, "penalty must be a finite number at least 0. Got inf instead"),
            ({"decay": 1.5}, "decay must be a finite number from 0 to 1. Got 1.5 instead"),
            ({"task_rows": 0}, "task_rows must be a positive integer or None. Got 0 instead"),
            ({"learning_rate": 0}, "learning_rate must be a number greater than 0 and less than .* Got 0 instead"),
            ({"hidden_units": 0}, "hidden_units must be positive integers. Got 0 instead"),
            ({"dtype": "float16"}, "dtype must be one of 'float32', 'float64'. Got 'float16' instead"),
        ],
        lambda case: check(*case),
    )
