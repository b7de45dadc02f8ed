"""Probabilities, decisions and weights of the calibration are those of a slow loop over lists of rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

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
