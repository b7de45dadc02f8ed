"""Observers know what the rows, kept in a list, have for moments, densities and weights below a value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators._kernels.compile import njit
from estimators.trees._kernels import gaussian
from estimators.trees._kernels.tree_arrays import add_observer, new_trees
from tests.estimators.trees.kernels import comparing
from tests.estimators.trees.kernels.slow_observers import Observer

SCALES = ((1.0,), (1.0, 0.0), (1e30, 1.0), (1e-30, 1.0), (1e-30, 1e30, 1e-12, 1e12), (1e-6,), (1e6,))


# parts of kernels are called by compiled functions only
@njit()
def observe_all(arrays, X, weights):
    """Return the observer of some rows."""
    o = add_observer(arrays, 0, 0, 1)
    for r in range(len(X)):
        gaussian.observe(arrays, o, X[r], weights[r])
    return o


@njit()
def measure(arrays, o, x, f):
    """Return the log density of a row, and the weight below a feature of it, exactly and roughly."""
    scale = gaussian.scale_of(arrays, o, f)
    rough = gaussian.rough_weight_below(arrays, o, f, x[f], scale)
    return gaussian.log_likelihood(arrays, o, x), gaussian.weight_below(arrays, o, f, x[f]), rough


@pytest.mark.slow
@given(st.integers(1, 40), st.sampled_from((1, 3, 8, 19, 33)), st.sampled_from(SCALES), st.integers(0))
def test_observers_are_those_of_the_list_of_rows(n, d, scales, seed):
    rng = np.random.default_rng(seed)
    scale, weights = rng.choice(scales, d), rng.choice((1.0, 0.5, 2.5), n)
    X, others = rng.random((n, d)) * scale, np.vstack([np.zeros(d), (2 * rng.random((5, d)) - 0.5) * scale])
    arrays, slow = new_trees(1, d), Observer()
    o = observe_all(arrays, X, weights)
    for x, weight in zip(X, weights, strict=True):
        slow.add(x, weight)
    comparing.assert_same_observer(arrays, o, slow)
    for x in [*others, *X]:
        f = int(rng.integers(d))
        density, below, rough = measure(arrays, o, x, f)
        expected = slow.log_density(x)
        assert abs(density - expected) <= 1e-6 * (1 + abs(expected))
        assert abs(below - slow.below(f, x[f])) <= 1e-9
        assert abs(rough - below) <= 1e-6 * slow.weight
