"""Probabilities, decisions and weights of the calibration are those of a slow loop, and contributions are secants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit

from estimators import StreamRidgeClassifier
from estimators.ridge._calibration import Calibration
from tests.estimators.ridge.slow_calibration import slow_loop
from tests.scattered import tables

# no score is the same as a share of rows, so that no probability is exactly at the prevalence
SCORES = (0.137, -2.5, 0.861, 0.523, 3.7)


@settings(max_examples=50)
@given(st.integers(1, 9), st.integers(1, 3), st.sampled_from([20.0, 3.0, 0.5]), st.data())
def test_every_row_is_that_of_the_loop(n, n_labels, memory, data):
    shape = n, n_labels
    scores, Y = data.draw(tables(shape, SCORES)), data.draw(tables(shape, (0, 1), np.uint8))
    counted, weight = data.draw(tables(shape, (True, True, False))), data.draw(tables((n,), (1.0, 0.5, 2.0)))
    decided, proba, after = Calibration.start(n_labels, memory).estimate_then_learn(scores, Y, counted, weight)
    expected, probabilities, mean, steady, _ = slow_loop(scores, Y, counted, weight, memory)
    # covariances are kept there, and precisions inverted here
    np.testing.assert_allclose(proba, probabilities, rtol=1e-9)
    np.testing.assert_allclose(after.weights, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(after.steady, steady, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(decided, expected)


def with_flags(rng, n_rows):
    X = rng.normal(size=(n_rows, 6))
    X[:, 4:] = X[:, 4:] > 0
    return X, np.column_stack([X[:, 0] > 0.5, X[:, 4] * X[:, 5] > 0, rng.random(n_rows) > 0.7])


@given(seed=st.integers(0, 10**6), n_rows=st.integers(1, 300))
def test_contributions_are_the_secant_times_those_to_the_score(seed, n_rows):
    X, Y = with_flags(np.random.default_rng(seed), n_rows + 5)
    ridge = StreamRidgeClassifier(random_state=0, hidden_units=20)
    ridge.partial_fit(X[:n_rows], Y[:n_rows])
    found = ridge.explain(X[n_rows:])
    coef, F = ridge._coefficients(late=True), ridge._features(X[n_rows:])
    usual = ridge._usual_row()
    base, p = (ridge.calibration_.estimate(G @ coef, late=True)[1] for G in (usual[np.newaxis], F))
    assert found.base == pytest.approx(logit(base[0]))
    assert found.scores == pytest.approx(logit(p))
    added = (F - usual)[:, np.newaxis, 1:7] * coef[1:7].T
    if ridge._basis_ is not None:
        basis = ridge._basis_
        for place, feature in enumerate(np.repeat(basis.hinged, basis.knots.shape[1]), start=7):
            added[:, :, feature] += (F[:, place] - usual[place])[:, np.newaxis] * coef[place]
    own = found.scores - found.base - found.interactions[:, :, -1]
    difference = F @ coef - usual @ coef
    secant = np.divide(own, difference, out=np.zeros_like(own), where=np.abs(difference) > 1e-12)
    assert found.contributions == pytest.approx(secant[:, :, np.newaxis] * added, abs=1e-7)
