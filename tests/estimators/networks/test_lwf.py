"""Learning without forgetting takes the steps of its paper, and forgets less for it."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from estimators import EWCClassifier, LwFClassifier, OnlineNeuralClassifier
from tests.estimators.streams import tasks_that_return
from tests.loops import check_all, in_two_tiers

VARIANTS = {
    "linear": {},
    "hidden": {"hidden_units": 8, "distillation": 3, "temperature": 1},
    "two layers, rows counted": {"hidden_units": (6, 5), "distillation": 0.5, "temperature": 3.5, "task_rows": 40},
}


def made(name, **parameters):
    return LwFClassifier(**{**VARIANTS[name], "random_state": 0, **parameters})


# ------------------------------------------------------------------ arithmetic
@in_two_tiers(VARIANTS)
def test_every_step_is_that_of_the_paper(cases):
    oracle = pytest.importorskip("tests.estimators.networks.continual_oracle", reason="torch is not installed")

    def check(name):
        X, Y, mask, weight = tasks_that_return()
        network = oracle.TorchLwF(made(name, dtype="float64").begin(X, Y))
        answers = network.predict_then_fit(X, Y, mask, weight)
        for kind in (np.asarray, sparse.csr_array):
            ours = made(name, dtype="float64").begin(kind(X), Y)
            for i in range(0, len(Y), 16):
                part = slice(i, i + 16)
                given = ours.predict_proba(kind(X[part][:1]))
                np.testing.assert_allclose(given, answers[i : i + 1], rtol=0, atol=1e-10, err_msg=kind.__name__)
                ours.partial_fit(kind(X[part]), Y[part], label_mask=mask[part], sample_weight=weight[part])

    check_all(cases, check)


@pytest.mark.parametrize("parameters", [{"distillation": 0}, {"task_rows": 50}])
def test_where_nothing_is_distilled_it_is_the_network_with_targeted_loss(parameters):
    X, Y, mask, _ = tasks_that_return()
    mask = mask if "distillation" in parameters else None  # no label is ever absent
    plain = OnlineNeuralClassifier(8, targeted_loss="signature", dtype="float64", random_state=0)
    ours = made("hidden", dtype="float64", **parameters)
    both = [learner.predict_then_fit(X, Y, label_mask=mask)[1] for learner in (ours, plain)]
    np.testing.assert_allclose(*both, rtol=0, atol=1e-12)


def test_predictions_for_labels_that_are_absent_are_kept():
    X = np.random.default_rng(0).random((600, 3))
    Y = X > 0.5
    mask = np.array([True, True, False])
    drift = {}
    for distillation in (0, 10):
        learner = made("hidden", distillation=distillation).partial_fit(X, Y, label_mask=mask)
        before = learner.predict_proba(X)
        after = learner.partial_fit(X, Y, label_mask=~mask).predict_proba(X)
        drift[distillation] = abs(after - before)[:, :2].mean()
    assert drift[10] < drift[0] / 3


# ----------------------------------------------------------------------- state
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_cut_anywhere_and_saved_in_between_it_goes_on_bit_for_bit(kind):
    X, Y, mask, _ = tasks_that_return()
    X = kind(X)
    whole = made("hidden").partial_fit(X, Y, label_mask=mask)
    cut = made("hidden")
    for start, stop in ((0, 1), (1, 90), (90, 150), (150, 151), (151, 400)):
        part = slice(start, stop)
        cut = pickle.loads(pickle.dumps(cut)).partial_fit(X[part], Y[part], label_mask=mask[part])  # noqa: S301
    np.testing.assert_array_equal(cut.predict_proba(X), whole.predict_proba(X))
    assert cut.n_steps_ == whole.n_steps_ == len(Y)


def test_it_keeps_one_copy_of_the_network():
    X, Y, mask, _ = tasks_that_return()
    ours, ewc = (learner(300).fit(X, Y, label_mask=mask) for learner in (LwFClassifier, EWCClassifier))
    assert ours.memory_bytes_ == pytest.approx(ewc.memory_bytes_ * 4 / 6, rel=0.1)
    before = ours.memory_bytes_
    assert ours.partial_fit(X, Y, label_mask=mask).memory_bytes_ == before


# ------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"distillation": -1}, "distillation must be a finite number at least 0. Got -1 instead"),
        ({"temperature": 0.5}, "temperature must be a finite number at least 1. Got 0.5 instead"),
        ({"temperature": np.nan}, "temperature must be a finite number at least 1. Got nan instead"),
        ({"task_rows": 2.5}, "task_rows must be a positive integer or None. Got 2.5 instead"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    X, Y, *_ = tasks_that_return(20)
    learner = LwFClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        learner.partial_fit(X, Y)
    assert not hasattr(learner, "classes_")
