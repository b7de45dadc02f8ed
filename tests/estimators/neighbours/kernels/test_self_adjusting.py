"""A window that adjusts its size predicts and learns as a loop over lists, with its parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.neighbours.mlsaknn import MLSAkNNClassifier
from estimators.neighbours.mlsampknn import MLSAMPkNNClassifier
from tests.estimators.neighbours.test_self_adjusting import slow_pass, slow_version
from tests.scattered import tables

OPTIONS = st.fixed_dictionaries(
    {
        "max_window": st.sampled_from([6, 12, 25]),
        "min_window": st.sampled_from([1, 3]),
        "reduction": st.sampled_from([0.5, 0.8]),
        "penalty": st.sampled_from([0.5, 1.0, 3.0]),
        "criterion": st.sampled_from(["subset_accuracy", "hamming_score"]),
        "faithful": st.booleans(),
    }
)


@st.composite
def streams(draw):
    """Draw rows whose distances are exact, and tie: halves in ranges of 1; labels that may be unknown; weights."""
    n = draw(st.integers(1, 40))
    X, Y = draw(tables((n, 2), (0.0, 0.5, -0.5))), draw(tables((n, 2), (0.0, 1.0, np.nan)))
    X[:2] = [[0.5, 0.5], [-0.5, -0.5]][:n]
    Y[np.isnan(Y).all(axis=1), 0] = 1.0
    return X, Y, draw(tables((n,), (1.0, 0.5, 2.0)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [MLSAMPkNNClassifier, MLSAkNNClassifier])
@settings(max_examples=100)
@given(streams(), OPTIONS)
def test_every_row_is_that_of_the_loop(kind, stream, options):
    X, Y, weight = stream
    learner = kind(**options)
    slow = slow_version(learner, 2)
    expected, sizes = slow_pass(slow, X, Y, weight, 0.5 if learner.faithful and slow.adaptive else 0.0)
    proba, windows = [], []
    for i in range(len(X)):
        part = slice(i, i + 1)
        proba.append(learner.predict_proba(X[part])[0] if i else expected[0])
        learner.partial_fit(X[part], Y[part], sample_weight=weight[part])
        windows.append(learner.window_size_)
    np.testing.assert_allclose(proba, expected, atol=1e-12)
    assert windows == sizes
