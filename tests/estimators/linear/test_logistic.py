"""Logistic regressions against River's, step by step."""

import numpy as np
import pytest
from river import linear_model, optim
from scipy import sparse

from estimators import OnlineLogisticRegression
from tests.estimators import streams
from tests.loops import check_all


# ---------------------------------------------------------------- River's steps
def rivers(X, y, weights=None, *, learning_rate=0.01, **parameters):
    """Predict each row with River's model, then learn it."""
    model, proba = linear_model.LogisticRegression(optimizer=optim.SGD(learning_rate), **parameters), []
    for i, row in enumerate(X.tolist()):
        x = dict(enumerate(row))
        proba.append(model.predict_proba_one(x)[True])
        model.learn_one(x, bool(y[i]), w=1.0 if weights is None else weights[i])
    return model, np.array(proba)


def assert_same_models(learner, models):
    for j, model in enumerate(models):
        weights = [model.weights[f] for f in range(learner.n_features_in_)]
        np.testing.assert_allclose(learner.coef_[j], weights, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(learner.intercept_[j], model.intercept, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {}),
        ({"learning_rate": 0.3, "intercept_rate": 0.0}, {"learning_rate": 0.3, "intercept_lr": 0.0}),
        ({"clip_gradient": 0.2}, {"clip_gradient": 0.2}),
    ],
)
def test_every_step_is_rivers(ours, theirs):
    X, Y = streams.drawn(600)
    learner = OnlineLogisticRegression(**ours)
    decided, proba = learner.predict_then_fit(X, Y)
    models, expected = zip(*[rivers(X, y, **theirs) for y in Y.T], strict=True)
    np.testing.assert_allclose(proba, np.transpose(expected).clip(1e-300, 1 - 1e-16), atol=1e-10)
    assert np.array_equal(decided, np.transpose(expected) > 0.5)
    assert_same_models(learner, models)


def test_scores_far_from_zero_are_rivers():
    # scores beyond 18 and 30, where River takes the asymptotes of the gradient and of the probability; steps as long as
    # these double what rounding leaves, row after row, so that few rows can be compared
    X, Y = streams.drawn(60)
    X = X * 80
    learner = OnlineLogisticRegression()
    proba = learner.predict_then_fit(X, Y)[1]
    models, expected = zip(*[rivers(X, y) for y in Y.T], strict=True)
    assert (np.transpose(expected) == 0).any()
    np.testing.assert_allclose(proba, np.transpose(expected), atol=1e-9)
    assert_same_models(learner, models)


def test_weights_of_rows_are_rivers():
    X, Y = streams.drawn(300)
    weight = np.random.default_rng(3).exponential(size=300)
    learner = OnlineLogisticRegression().partial_fit(X, Y, sample_weight=weight)
    assert_same_models(learner, [rivers(X, y, weight.tolist())[0] for y in Y.T])


def test_yeast_is_rivers(shared_data):
    X, Y = (part[:400] for part in streams.yeast(shared_data))
    decided, proba = OnlineLogisticRegression().predict_then_fit(X, Y)
    for j in (0, 7, 13):
        expected = rivers(X, Y[:, j])[1]
        np.testing.assert_allclose(proba[:, j], expected, atol=1e-12)
        assert np.array_equal(decided[:, j], expected > 0.5)


# ---------------------------------------------------------------- what River has not
def test_the_first_prediction_is_no_label_at_one_half():
    X, Y = streams.drawn(1)
    decided, proba = OnlineLogisticRegression().predict_then_fit(X, Y)
    assert decided.tolist() == [[0, 0, 0]]
    assert proba.tolist() == [[0.5, 0.5, 0.5]]


def test_csr_rows_give_the_bits_of_dense_rows():
    X, Y = streams.drawn(300)
    X[np.random.default_rng(4).random(X.shape) < 0.6] = 0
    dense, thin = OnlineLogisticRegression(), OnlineLogisticRegression()
    for one, two in zip(dense.predict_then_fit(X, Y), thin.predict_then_fit(sparse.csr_array(X), Y), strict=True):
        assert np.array_equal(one, two)
    assert np.array_equal(dense.coef_, thin.coef_)


def test_an_unknown_label_is_skipped_by_its_model_alone():
    X, Y = streams.drawn(300)
    Y = Y.astype(float)
    known = np.random.default_rng(5).random(Y.shape) < 0.7
    known[:, 0] = True
    Y[~known] = np.nan
    learner = OnlineLogisticRegression().partial_fit(X, Y)
    assert_same_models(learner, [rivers(X[k], y[k])[0] for y, k in zip(Y.T, known.T, strict=True)])


def test_labels_outside_the_task_are_zeros_unless_the_learner_is_targeted():
    X, Y, mask, weight = streams.tasks_that_return()
    kept = weight > 0
    targeted = OnlineLogisticRegression(targeted=True).partial_fit(X, Y, label_mask=mask, sample_weight=weight)
    expected = [rivers(X[m & kept], y[m & kept], weight[m & kept])[0] for y, m in zip(Y.T, mask.T, strict=True)]
    assert_same_models(targeted, expected)
    zeros = OnlineLogisticRegression().partial_fit(X, Y, label_mask=mask, sample_weight=weight)
    assert_same_models(zeros, [rivers(X[kept], y[kept], weight[kept])[0] for y in Y.T])


def test_one_class_a_row_is_learnt_one_against_the_others():
    X, Y = streams.drawn(400)
    names = np.array(["a", "b", "c"])[Y[:, 0] + Y[:, 1]]
    learner = OnlineLogisticRegression(0.1).fit(X, names)
    table = OnlineLogisticRegression(0.1).fit(X, (names[:, None] == ["a", "b", "c"]).astype(int))
    proba = table.predict_proba(X)
    np.testing.assert_allclose(learner.predict_proba(X), proba / proba.sum(axis=1, keepdims=True), rtol=1e-12)
    assert (learner.predict(X) == names[:]).mean() > 0.5


def test_features_beyond_single_precision_change_nothing():
    X, Y = streams.drawn(50)
    learner = OnlineLogisticRegression().fit(X, Y)
    before, spoilt = learner.coef_, X.copy()
    spoilt[-1, 2] = -1e200
    for method in (learner.partial_fit, learner.predict_then_fit):
        with pytest.raises(ValueError, match=r"X must fit float32\. Got -1e\+200 instead; scale the features"):
            method(spoilt, Y)
    with pytest.raises(ValueError, match="X must fit float32"):
        learner.predict(sparse.csr_array(spoilt))
    assert np.array_equal(before, learner.coef_)


def test_the_greatest_features_and_steps_leave_finite_numbers():
    X, Y = streams.drawn(50)
    learner = OnlineLogisticRegression(1e6, intercept_rate=1e6).partial_fit(
        X * 3e38, Y, sample_weight=np.full(50, 2.0**53)
    )
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.predict_proba(X * 3e38)).all()


def test_parameters_are_checked():
    def check(parameters, message):
        with pytest.raises(ValueError, match=message):
            OnlineLogisticRegression(**parameters).fit(*streams.drawn(20))

    check_all(
        [
            ({"learning_rate": 0}, "learning_rate must be positive. Got 0 instead"),
            ({"learning_rate": 1e7}, "learning_rate must be a finite number in"),
            ({"learning_rate": "fast"}, "learning_rate must be a finite number in"),
            ({"intercept_rate": -1.0}, "intercept_rate must be a finite number in"),
            ({"clip_gradient": 0.0}, "clip_gradient must be positive"),
            ({"clip_gradient": 1e13}, "clip_gradient must be a finite number in"),
        ],
        lambda case: check(*case),
    )
