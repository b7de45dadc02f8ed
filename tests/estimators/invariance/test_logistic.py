"""Logistic regression over environments: gradients equal to torch's, weights of environments equal to a loop."""

import math
import pickle
from itertools import product

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from estimators import InvariantLogisticClassifier, MeanLabelsClassifier, StreamPipeline, hash_categories
from estimators.invariance import _objectives
from estimators.invariance._kept_rows import random_priority
from estimators.invariance._objectives import Problem
from tests.loops import check_all

torch = pytest.importorskip("torch")


def table(n=240, seed=0, n_labels=2):
    """Draw three environments; the second feature follows the label, less so in each further environment."""
    rng = np.random.default_rng(seed)
    environment = np.repeat([7, 3, 5], n // 3)
    stable = rng.normal(size=(n, n_labels))
    Y = (stable + rng.normal(size=(n, n_labels)) > 0).astype(int)
    spurious = (2 * Y - 1) * np.repeat([1.5, 1.0, 0.5], n // 3)[:, None] + rng.normal(size=(n, n_labels))
    return np.hstack([stable, spurious]), Y, environment


def problem(seed=0, n=60):
    rng = np.random.default_rng(seed)
    environment = np.sort(rng.integers(0, 3, n))
    weight = rng.uniform(0.1, 2, n)
    share = weight / np.array([weight[environment == one].sum() for one in environment])
    return Problem(rng.normal(size=(n, 4)), rng.integers(0, 2, n).astype(float), share, environment, 3)


def slow_risk(rows, z, environment):
    total = 0.0
    for i in np.flatnonzero(rows.environment == environment):
        p = 1 / (1 + math.exp(-z[i]))
        total -= rows.share[i] * (rows.y[i] * math.log(p) + (1 - rows.y[i]) * math.log(1 - p))
    return total


def torch_objective(name, rows, strength, z):
    """Return the objective as its paper writes it, with the dummy factor of IRMv1 differentiated by torch."""
    y, share = torch.from_numpy(rows.y), torch.from_numpy(rows.share)
    risks, penalties = [], []
    for environment in range(rows.n_environments):
        own = torch.from_numpy(rows.environment == environment)
        factor = torch.ones((), dtype=torch.float64, requires_grad=True)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(z[own] * factor, y[own], reduction="none")
        risk = (share[own] * losses).sum()
        (slope,) = torch.autograd.grad(risk, factor, create_graph=True)
        risks.append(risk)
        penalties.append(slope**2)
    risks = torch.stack(risks)
    penalty = torch.stack(penalties).sum() if name == "irm" else risks.var(unbiased=False)
    return risks.sum() + (0.0 if name == "summed_risk" else strength) * penalty


# ----------------------------------------------------------------------- state
@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["none", "irm", "vrex", "group-dro"])
def test_cuts_do_not_matter_with_environments_and_a_sample(penalty):
    X, Y, environment = table()
    learner = {"memory": 30, "max_iter": 20, "random_state": 1}
    whole = InvariantLogisticClassifier(penalty, **learner).partial_fit(X, Y, environment=environment)
    pieces = InvariantLogisticClassifier(penalty, **learner)
    tested = InvariantLogisticClassifier(penalty, **learner)
    looped = InvariantLogisticClassifier(penalty, **learner)
    probas, expected = [], []
    for start in range(0, 240, 17):
        rows = slice(start, start + 17)
        pieces.partial_fit(X[rows], Y[rows], environment=environment[rows])
        probas.append(tested.predict_then_fit(X[rows], Y[rows], environment=environment[rows])[1])
    for i in range(240):
        row = slice(i, i + 1)
        expected.append(looped.predict_then_fit(X[row], Y[row], environment=environment[row])[1])
    np.testing.assert_array_equal(np.concatenate(probas), np.concatenate(expected))
    for other in (pieces, tested, looped):
        np.testing.assert_array_equal(other.coef_, whole.coef_)
        assert other.environments_ == ([] if penalty == "none" else [7, 3, 5])


def test_a_pickle_continues_exactly_with_environments():
    X, Y, environment = table()
    learner = InvariantLogisticClassifier("vrex", memory=30, random_state=0)
    learner.partial_fit(X[:150], Y[:150], environment=environment[:150])
    loaded = pickle.loads(pickle.dumps(learner))  # noqa: S301 - our own bytes
    for one in (learner, loaded):
        one.partial_fit(X[150:], Y[150:], environment=environment[150:])
    np.testing.assert_array_equal(learner.coef_, loaded.coef_)


# ------------------------------------------------------------------ objectives
def test_values_and_slopes_are_those_of_torch():
    def check(name, seed):
        rows = problem(seed)
        z = torch.from_numpy(np.random.default_rng(seed).normal(size=60) * 2).requires_grad_()
        expected = torch_objective(name, rows, 3.0, z)
        expected.backward()
        value, slopes = getattr(_objectives, name)(rows, z.detach().numpy(), 3.0)
        assert value == pytest.approx(expected.item(), rel=1e-12)
        np.testing.assert_allclose(slopes, z.grad.numpy(), atol=1e-14)

    check_all(product(["summed_risk", "irm", "vrex"], range(3)), lambda case: check(*case))


def test_risks_are_those_of_a_loop():
    rows, z = problem(), np.random.default_rng(1).normal(size=60)
    np.testing.assert_allclose(rows.risks(z), [slow_risk(rows, z, one) for one in range(3)], rtol=1e-12)


@pytest.mark.parametrize("penalty", ["irm", "vrex"])
def test_coefficients_are_a_minimum_of_the_objective_in_torch(penalty):
    X, Y, environment = table(n_labels=1)
    learner = InvariantLogisticClassifier(penalty, strength=5.0, l2=2.0, memory=None).fit(X, Y, environment=environment)
    codes = np.searchsorted([3, 5, 7], environment)
    rows = Problem(X, Y[:, 0].astype(float), np.full(240, 1 / 80), codes, 3)
    theta = torch.from_numpy(np.append(learner.coef_[0], learner.intercept_)).requires_grad_()
    z = torch.from_numpy(X) @ theta[:-1] + theta[-1]
    (torch_objective(penalty, rows, 5.0, z) + 3 * 2.0 / 240 / 2 * (theta[:-1] ** 2).sum()).backward()
    np.testing.assert_allclose(theta.grad.numpy(), 0, atol=1e-5)


def test_group_weights_are_those_of_a_slow_loop():
    rows = problem()
    step, l2, n_steps = 0.7, 0.05, 25
    theta, q = _objectives.group_dro(rows, step, l2, n_steps, np.zeros(5))
    second_moments = [
        sum(
            rows.share[i] * np.outer(x, x) for i, x in enumerate(np.c_[rows.X, np.ones(60)]) if rows.environment[i] == e
        )
        for e in range(3)
    ]
    # after 20 power iterations the estimate is below the largest eigenvalue, and near it
    curvature = max(np.linalg.eigvalsh(one)[-1] for one in second_moments) / 4
    assert 0.9 * curvature < _objectives._largest_curvature(rows) <= curvature * (1 + 1e-12)
    rate = 1 / (_objectives._largest_curvature(rows) + l2)
    slow_theta, slow_q = [0.0] * 5, [1 / 3] * 3
    for _ in range(n_steps):
        z = [sum(a * b for a, b in zip(x, slow_theta, strict=True)) for x in np.c_[rows.X, np.ones(60)]]
        slow_q = [w * math.exp(step * slow_risk(rows, z, e)) for e, w in enumerate(slow_q)]
        slow_q = [w / sum(slow_q) for w in slow_q]
        gradient = [l2 * slow_theta[j] for j in range(4)] + [0.0]
        for i, x in enumerate(np.c_[rows.X, np.ones(60)]):
            error = 1 / (1 + math.exp(-z[i])) - rows.y[i]
            for j in range(5):
                gradient[j] += slow_q[rows.environment[i]] * rows.share[i] * error * x[j]
        slow_theta = [a - rate * g for a, g in zip(slow_theta, gradient, strict=True)]
    np.testing.assert_allclose(q, slow_q, rtol=1e-10)
    np.testing.assert_allclose(theta, slow_theta, rtol=1e-10)


def test_group_dro_lowers_the_worst_risk():
    X, Y, environment = table(n_labels=1)
    options = {"memory": None, "l2": 1e-3, "max_iter": 3000}
    pooled = InvariantLogisticClassifier(**options).fit(X, Y)
    robust = InvariantLogisticClassifier("group-dro", **options).fit(X, Y, environment=environment)

    def worst(learner):
        p = learner.predict_proba(X)[:, 0]
        losses = -np.log(np.where(Y[:, 0] == 1, p, 1 - p))
        return max(losses[environment == one].mean() for one in (3, 5, 7))

    assert worst(robust) < worst(pooled) - 0.01
    assert robust.group_weights_.sum(axis=1) == pytest.approx(1)
    assert robust.environments_[robust.group_weights_[0].argmax()] == 5


# --------------------------------------------------------------- peers and data
@pytest.mark.slow
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_without_a_penalty_it_is_scikit_learns_regression(as_rows):
    X, Y, environment = table()
    weight = np.random.default_rng(0).integers(0, 4, 240)
    learner = InvariantLogisticClassifier(l2=2.0, memory=None, refresh=0.01)
    # the last coefficients are those of all 240 rows: the next were due after more
    learner.partial_fit(as_rows(X), Y, sample_weight=weight, environment=environment)
    learner._end_fit()
    for label in range(2):
        peer = LogisticRegression(C=0.5, tol=1e-8).fit(X, Y[:, label], sample_weight=weight)
        np.testing.assert_allclose(learner.coef_[label], peer.coef_[0], atol=2e-4)
        np.testing.assert_allclose(learner.intercept_[label], peer.intercept_[0], atol=2e-4)


@pytest.mark.parametrize("penalty", ["irm", "vrex", "group-dro"])
def test_each_label_is_a_problem_of_its_own_and_unknown_cells_do_not_count(penalty):
    X, Y, environment = table()
    holes = Y.astype(float)
    holes[environment == 3, 1] = np.nan
    holes[:5] = np.nan
    options = {"memory": None, "max_iter": 60}
    both = InvariantLogisticClassifier(penalty, **options).fit(X, holes, environment=environment)
    for label in range(2):
        known = ~np.isnan(holes[:, label])
        alone = InvariantLogisticClassifier(penalty, **options)
        alone.fit(X[known], Y[known][:, [label]], environment=environment[known])
        np.testing.assert_allclose(both.coef_[label], alone.coef_[0], rtol=1e-9)
    if penalty == "group-dro":
        assert both.group_weights_[1, both.environments_.index(3)] == 0
    mask = np.ones(Y.shape, dtype=bool)
    mask[environment == 3, 1] = False
    masked = InvariantLogisticClassifier(penalty, **options)
    masked.fit(X[5:], Y[5:], environment=environment[5:], label_mask=mask[5:])
    np.testing.assert_array_equal(masked.coef_, both.coef_)


def test_the_rows_kept_are_those_of_greatest_priority_in_each_environment():
    X, Y, environment = table()
    X = np.c_[X, np.arange(240)]
    learner = InvariantLogisticClassifier("vrex", memory=20, max_iter=1, random_state=4)
    learner.fit(X, Y, environment=environment)
    priority = random_priority(learner._seed, 0, 240)
    expected = sorted(
        i
        for one in (7, 3, 5)
        for i in sorted(np.flatnonzero(environment == one), key=lambda i: priority[i], reverse=True)[:20]
    )
    assert learner._kept.X[:, -1].tolist() == expected


def test_random_priorities_are_those_of_splitmix():
    def slow(seed, place):
        state = ((place + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03) % 2**64
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) % 2**64
        return state ^ (state >> 31)

    assert random_priority(12, 5, 3).tolist() == [slow(12, place) for place in (5, 6, 7)]


# --------------------------------------------------------------------- routing
def test_the_environment_is_routed_through_scikit_learn():
    X, Y, environment = table()
    with sklearn.config_context(enable_metadata_routing=True):
        learner = InvariantLogisticClassifier("vrex", memory=None).set_fit_request(environment=True)
        fitted = make_pipeline(StandardScaler(), learner).fit(X, Y, environment=environment)
        assert fitted[-1].environments_ == [7, 3, 5]
        found = cross_validate(
            learner, X, Y, params={"environment": environment}, cv=3, scoring="accuracy", return_estimator=True
        )
        # three folds without shuffling: each leaves one environment out
        assert [len(one.environments_) for one in found["estimator"]] == [2, 2, 2]
        stream = StreamPipeline([("scale", StandardScaler()), ("learn", InvariantLogisticClassifier("vrex"))])
        stream.set_fit_request(environment=True)
        found = cross_validate(
            stream, X, Y, params={"environment": environment}, cv=3, scoring="accuracy", return_estimator=True
        )
        assert [len(one.steps_[-1][1].environments_) for one in found["estimator"]] == [2, 2, 2]
        request = learner.set_partial_fit_request(environment=True).get_metadata_routing()
        assert request.consumes("partial_fit", ["environment"]) == {"environment"}


@pytest.mark.parametrize("scaler", [StandardScaler(), FunctionTransformer()], ids=["learns", "learns not"])
def test_a_pipeline_passes_the_environment_on(scaler):
    X, Y, environment = table()
    learner = InvariantLogisticClassifier("vrex", max_iter=20, refresh=0.5)
    weight = np.arange(240) % 3
    whole = StreamPipeline([("scale", scaler), ("learn", learner)])
    assert whole.uses_environment
    whole.partial_fit(X[:100], Y[:100], environment=environment[:100], sample_weight=weight[:100])
    holes = Y[100:].astype(float)
    holes[3:6] = np.nan
    whole.predict_then_fit(X[100:], holes, environment=environment[100:])
    last = whole.steps_[-1][1]
    assert last.environments_ == [7, 3, 5]
    assert last.n_rows_ == np.count_nonzero(weight[:100]) + 137
    kept = whole.fit(X, Y, environment=environment).steps_[-1][1]
    assert kept._waiting == []


def test_the_same_rows_hashed_give_the_same_as_one_hot_columns():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(200, 2))
    Y = (codes[:, :1] + rng.normal(size=(200, 1)) > 1).astype(int)
    one_hot = np.hstack([np.eye(3)[column] for column in codes.T])
    hashed = hash_categories(codes)
    assert sorted(map(tuple, hashed[:, hashed.sum(axis=0) > 0].toarray().T)) == sorted(map(tuple, one_hot.T))
    assert (hash_categories(codes.astype(float)) != hashed).nnz == 0
    pipeline = StreamPipeline(
        [("hash", FunctionTransformer(hash_categories)), ("learn", InvariantLogisticClassifier(memory=None))]
    )
    expected = InvariantLogisticClassifier(memory=None).fit(one_hot, Y).predict_proba(one_hot)
    np.testing.assert_allclose(pipeline.fit(codes, Y).predict_proba(codes), expected, atol=1e-5)


def test_strings_are_categories_too():
    hashed = hash_categories(np.array([["red", "round"], ["blue", "round"]], dtype=object), n_features=64)
    assert (hashed.toarray().sum(axis=1) == 2).all()
    assert (hashed[[0]] != hashed[[1]]).nnz == 2


# ---------------------------------------------------------------------- errors
def test_wrong_parameters_are_refused():
    def check(options, message):
        X, Y, _ = table(30)
        with pytest.raises(ValueError, match=message):
            InvariantLogisticClassifier(**options).fit(X, Y)

    check_all(
        [
            ({"penalty": "rex"}, r"penalty must be one of 'none', 'irm', 'vrex', 'group-dro'\. Got 'rex'"),
            ({"strength": -1}, r"strength must be a number, at least 0\. Got -1"),
            ({"group_step": np.inf}, r"group_step must be a number, at least 0\. Got inf"),
            ({"l2": 0}, r"l2 must be a positive number\. Got 0"),
            ({"max_iter": 0.5}, r"max_iter must be a whole number, at least 1\. Got 0\.5"),
            ({"memory": 0}, r"memory must be a whole number, at least 1, or None for all rows\. Got 0"),
            ({"refresh": 2}, r"refresh must be a number above 0, at most 1\. Got 2"),
        ],
        lambda case: check(*case),
    )


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (np.arange(3), r"environment must have shape \(30,\), one value a row\. Got \(3,\) instead"),
        (np.array([np.nan] * 30), r"environment must be known in every row\. Got NaN"),
        (np.array([None] * 30), r"environment must hold numbers only, or names only\. Got other values"),
        (
            np.array(["a", 1] * 15, dtype=object),
            r"environment must hold numbers only, or names only\. Got other values",
        ),
        (None, r"environment must be passed in every call, or in none\. Got both"),
    ],
)
def test_wrong_environments_are_refused_and_change_nothing(environment, message):
    X, Y, known = table(30)
    learner = InvariantLogisticClassifier("vrex").partial_fit(X, Y, environment=known)
    before = learner.n_rows_, learner.environments_, learner.coef_
    for call in (learner.partial_fit, learner.predict_then_fit):
        with pytest.raises(ValueError, match=message):
            call(X, Y, environment=environment)
    assert (learner.n_rows_, learner.environments_) == before[:2]
    assert learner.coef_ is before[2]


def test_too_many_environments_are_refused():
    X = np.zeros((1001, 1))
    with pytest.raises(ValueError, match=r"environment must have at most 1000 different values\. Got 1001 instead"):
        InvariantLogisticClassifier("vrex").fit(X, X, environment=np.arange(1001))


def test_features_beyond_the_range_of_numbers_are_refused():
    X, Y, environment = table(30)
    with pytest.raises(ValueError, match=r"X must be small enough for finite log-odds: scale it\. Got features up to"):
        InvariantLogisticClassifier("group-dro").fit(X * 1e200, Y, environment=environment)


def test_a_learner_that_takes_no_environment_refuses_it_in_a_pipeline():
    X, Y, environment = table(30)
    pipeline = StreamPipeline([("scale", StandardScaler()), ("learn", MeanLabelsClassifier())])
    assert not pipeline.uses_environment
    with pytest.raises(ValueError, match=r"environment must be None: StreamPipeline does not learn from it"):
        pipeline.fit(X, Y, environment=environment)
