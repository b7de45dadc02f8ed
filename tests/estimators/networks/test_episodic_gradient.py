"""A-GEM takes the steps of its paper: none points against the sample of earlier tasks."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from estimators import AGEMClassifier, DivergedError, OnlineNeuralClassifier
from estimators.replay.memories import TaskMemory
from tests.estimators.learners import refuses_until_it_is_fitted
from tests.estimators.streams import tasks_that_return
from tests.loops import check_all, in_two_tiers

VARIANTS = {
    "linear": {"draws": 4},
    "hidden": {"hidden_units": 8, "draws": 5},
    "two layers, descent": {"hidden_units": (6, 5), "optimizer": "sgd", "learning_rate": 0.1, "draws": 3},
    "rows counted": {"hidden_units": 8, "draws": 1, "task_rows": 40},
}


def made(name, **parameters):
    return AGEMClassifier(**{**VARIANTS[name], "size": 40, "random_state": 0, **parameters})


def twin_of(learner):
    memory = TaskMemory(learner.size, learner.draws, task_rows=learner.task_rows).begin()
    memory.seed_ = learner._memory.seed_
    return memory


# ------------------------------------------------------------------ arithmetic
@in_two_tiers(VARIANTS)
def test_every_step_is_that_of_the_paper(cases):
    oracle = pytest.importorskip("tests.estimators.networks.rehearsal_oracle", reason="torch is not installed")

    def check(name):
        X, Y, mask, weight = tasks_that_return()
        first = made(name, dtype="float64").begin(X, Y)
        network = oracle.TorchAGEM(first, twin_of(first))
        answers = network.predict_then_fit(X, Y, mask, weight)
        assert 20 < network.n_projected < (weight > 0).sum() - 20
        for kind in (np.asarray, sparse.csr_array):
            ours = made(name, dtype="float64").begin(kind(X), Y)
            for i in range(0, len(Y), 16):
                part = slice(i, i + 16)
                given = ours.predict_proba(kind(X[part][:1]))
                np.testing.assert_allclose(given, answers[i : i + 1], rtol=0, atol=1e-10, err_msg=kind.__name__)
                ours.partial_fit(kind(X[part]), Y[part], label_mask=mask[part], sample_weight=weight[part])

    check_all(cases, check)


def test_before_a_task_is_over_it_is_the_network_with_targeted_loss():
    X, Y, mask, _ = tasks_that_return()
    plain = OnlineNeuralClassifier(8, targeted_loss="signature", dtype="float64", random_state=0)
    ours = made("hidden", dtype="float64")
    proba, expected = (learner.predict_then_fit(X, Y, label_mask=mask)[1] for learner in (ours, plain))
    np.testing.assert_allclose(proba[:101], expected[:101], rtol=0, atol=1e-12)
    assert abs(proba[101:] - expected[101:]).max() > 1e-3


@pytest.mark.slow
def test_no_step_points_against_the_sample():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X, Y, mask, _ = tasks_that_return()
    learner = made("two layers, descent", dtype="float64").begin(X, Y)
    memory, held, products = twin_of(learner), {}, []
    for i in range(len(Y)):
        row = slice(i, i + 1)
        plan = memory._plan_learnt((Y + 2 * mask)[row].astype(np.uint8), np.ones(1, dtype=bool))
        module = learner.to_torch()
        before = torch.nn.utils.parameters_to_vector(module.parameters())
        learner.partial_fit(X[row], Y[row], label_mask=mask[row])
        after = torch.nn.utils.parameters_to_vector(learner.to_torch().parameters())
        if plan.draws[0, 0] >= 0:
            drawn = [held[slot] for slot in plan.draws[0]]
            losses = [_loss(module, X[j], Y[j], mask[j]) for j in drawn]
            r = torch.autograd.grad(sum(losses) / len(losses), list(module.parameters()))
            r = torch.nn.utils.parameters_to_vector(r)
            products.append(float(((before - after) @ r / (r @ r)).detach()))
        if plan.slots[0] >= 0:
            held[plan.slots[0]] = i
    products = np.array(products)
    is_right = abs(products) < 1e-12
    assert 20 < is_right.sum() < len(products) - 20
    assert products[~is_right].min() > 0


def _loss(module, x, y, mask):
    import torch

    logits = module[:-1](torch.tensor(x))[torch.tensor(mask)]
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(y[mask], dtype=torch.float64))


def test_an_earlier_task_is_remembered():
    X = np.random.default_rng(0).random((3000, 3))
    first, second = X > 0.5, X < 0.5  # the same labels, turned around
    free = OnlineNeuralClassifier(8, targeted_loss="signature", random_state=0)
    errors = []
    for learner in (AGEMClassifier(8, random_state=0), free):
        learner.partial_fit(X, first, label_mask=[True, True, False])
        learner.partial_fit(X[:400], second[:400], label_mask=[True, False, True])
        errors.append(((learner.predict_proba(X) - first)[:, 1] ** 2).mean())
    assert errors[0] < 0.5 * errors[1]


# ----------------------------------------------------------------------- state
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["hidden", "rows counted"])
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
    assert learner.partial_fit(X, Y, label_mask=mask).memory_bytes_ == before
    assert len(learner._store.codes) == 40


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"size": 10}, "size must be greater than draws.* Got size 10 and draws 10 instead"),
        ({"draws": 0}, "draws must be .* 1. Got 0 instead"),
        ({"task_rows": 0}, "task_rows must be .* 1. Got 0 instead"),
        ({"optimizer": "rmsprop"}, "optimizer must be one of 'adam', 'sgd'. Got 'rmsprop' instead"),
        ({"dtype": "float16"}, "dtype must be one of 'float32', 'float64'. Got 'float16' instead"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    X, Y, *_ = tasks_that_return(20)
    learner = AGEMClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        learner.partial_fit(X, Y)
    assert not hasattr(learner, "classes_")
