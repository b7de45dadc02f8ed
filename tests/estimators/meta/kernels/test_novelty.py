"""Novelty is what the loop that the documentation of `NovelLabels` describes makes of rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.meta._kernels import novelty as kernel
from tests.scattered import tables

PLACES = (0.0, 1.0, -2.0, 0.25, 1e3, 1e-6)
PROBA = (0.0, 1.0, 0.5, 0.1, 0.99)


def distance(rows, x):
    """Return the squared distance of a row from the mean of others, in units of what is usual, by matrix algebra."""
    rows = np.array(rows)
    moments = np.cov(rows.T, bias=True).reshape(rows.shape[1], -1)
    varies = np.diag(moments) > 1e-10 * (rows**2).mean(axis=0)
    if not varies.any():
        return 1e-9
    deviations = np.sqrt(np.diag(moments)[varies])
    correlations = moments[np.ix_(varies, varies)] / np.outer(deviations, deviations)
    correlations[np.diag_indices(len(correlations))] = 1.0
    z = (x - rows.mean(axis=0))[varies] / deviations
    inverse = np.linalg.inv(correlations + rows.shape[1] / len(rows) * np.eye(len(z)))
    return max(z @ inverse @ z / len(z), 1e-9)


def slow_novelty(X, proba, Y, counted):
    """Return the novelty of each row, and what its labels tell."""
    seen, told, novelty, kinds = [], [], [], []
    for x, p, y, counts in zip(X, proba, Y, counted, strict=True):
        g = (sum(told) + 0.5) / (len(told) + 1)
        recent = 0.5
        for i, none in enumerate(told):
            recent += (none - recent) / min(i + 2, 20)
        r = (20 * recent + 2 * g) / 22
        none = np.log(1 - np.minimum(p, 1 - 1e-6)).sum()
        # the factor is made anew after every 50 rows, the mean after each
        d = 1.0
        if len(seen) >= 50:
            old = seen[: len(seen) // 50 * 50]
            shift = np.mean(old, axis=0) - np.mean(seen, axis=0)
            d = distance(old, x + shift)
        novelty.append((1 - g**2) * np.log(r) + (1 - g) / 2 * none + g**2 * np.log(d))
        known = y[counts]
        if len(known) == 0:
            kinds.append(kernel.NOTHING)
            continue
        seen.append(x)
        kinds.append(kernel.LABELLED if (known == 1).any() else kernel.UNLABELLED if counts.all() else kernel.PARTLY)
        if kinds[-1] != kernel.PARTLY:
            told.append(float(kinds[-1] == kernel.UNLABELLED))
    return novelty, kinds


@settings(max_examples=10)
@given(data=st.data())
def test_novelty_is_that_of_the_loop(data):
    n_rows, n_labels = 120, 2
    X = data.draw(tables((n_rows, 3), PLACES, np.float64))
    proba = data.draw(tables((n_rows, n_labels), PROBA, np.float64))
    Y = data.draw(tables((n_rows, n_labels), (0, 0, 0, 1, 2), np.uint8))
    masks = data.draw(tables((n_rows, n_labels), (True, True, False), np.bool_) | st.none())
    counted = np.empty((0, 0), dtype=np.bool_) if masks is None else masks
    if masks is not None:
        Y = np.where(Y == 2, 0, Y).astype(np.uint8)
    expected, kinds = slow_novelty(X, proba, Y, Y != 2 if masks is None else masks)
    state, novelty, told = kernel.State.start(3), np.empty(n_rows), np.empty(n_rows, dtype=np.int8)
    assert kernel.measure_then_learn(
        X, proba, Y, counted, np.empty(0), state, False, novelty, told, np.empty((3, X.shape[1]))
    )
    np.testing.assert_array_equal(told, kinds)
    np.testing.assert_allclose(novelty, expected, rtol=1e-6, atol=1e-6)
    # what is measured afterwards is what the next row would have had
    after = np.empty(1)
    assert kernel.measure(X[:1], proba[:1], state.copy(), False, after)
    more = np.empty(1), np.empty(1, dtype=np.int8)
    assert kernel.measure_then_learn(
        X[:1], proba[:1], Y[:1], counted[:1], np.ones(1), state, False, *more, np.empty((1, 3))
    )
    assert after[0] == more[0][0]


def test_rows_without_weight_teach_nothing_and_what_is_no_probability_is_refused():
    X, proba, Y = np.ones((2, 1)), np.full((2, 1), 0.5), np.zeros((2, 1), dtype=np.uint8)
    state, novelty, told = kernel.State.start(1), np.empty(2), np.empty(2, dtype=np.int8)
    rest = Y, np.empty((0, 0), dtype=np.bool_), np.array([0.0, 1.0]), state, False, novelty, told, np.empty((1, 1))
    assert kernel.measure_then_learn(X, proba, *rest)
    assert told.tolist() == [kernel.NOTHING, kernel.UNLABELLED]
    assert state.counts[kernel.LEARNT] == 1
    assert not kernel.measure_then_learn(X, np.array([[0.5], [np.nan]]), *rest)
    assert not kernel.measure(X, np.array([[0.5], [1.5]]), state, False, novelty)
    assert state.counts[kernel.LEARNT] == 1


def test_values_of_any_size_have_a_finite_novelty():
    X = np.array([[1e308, -1e308], [-1e308, 1.0]] * 60)
    Y, proba = np.zeros((120, 1), dtype=np.uint8), np.full((120, 1), 0.5)
    state, novelty, told = kernel.State.start(2), np.empty(120), np.empty(120, dtype=np.int8)
    empty = np.empty((0, 0), dtype=np.bool_), np.empty(0)
    assert kernel.measure_then_learn(X, proba, Y, *empty, state, False, novelty, told, np.empty((3, X.shape[1])))
    assert np.isfinite(novelty).all()


def test_a_jump_of_a_feature_that_hardly_varied_has_a_finite_novelty():
    X = np.random.default_rng(0).normal(size=(120, 2)) * [1.0, 1e-160]
    X[110:, 1] = 1.0
    Y, proba = np.zeros((120, 1), dtype=np.uint8), np.full((120, 1), 0.5)
    state, novelty, told = kernel.State.start(2), np.empty(120), np.empty(120, dtype=np.int8)
    empty = np.empty((0, 0), dtype=np.bool_), np.empty(0)
    assert kernel.measure_then_learn(X, proba, Y, *empty, state, False, novelty, told, np.empty((3, 2)))
    assert np.isfinite(novelty).all()
    assert novelty[110:].min() > novelty[:110].max()
