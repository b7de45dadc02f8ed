"""Observers that add zeros together know what the list of rows, zeros included, has for moments and densities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.compile import njit
from estimators.trees._kernels import sparse_moments
from estimators.trees._kernels.sparse_learning import new_sparse_trees
from estimators.trees._kernels.tree_arrays import add_observer
from tests.estimators.trees.kernels import comparing, comparing_sparse
from tests.estimators.trees.kernels.slow_observers import Observer, UndecidedError
from tests.estimators.trees.kernels.slow_sparse import SparseObserver

close = np.testing.assert_allclose


# parts of kernels are called by compiled functions only
@njit()
def start(trees, code):
    """Return a new observer of the first leaf."""
    o = add_observer(trees.arrays, 0, 0, code)
    sparse_moments.clear_observer(trees, o)
    return o


@njit()
def observe(trees, o, rows, r, weight):
    sparse_moments.observe_values(trees, o, rows, r, weight)


@njit()
def measure(trees, o, rows, r):
    return sparse_moments.log_likelihood_of(trees, o, rows, r)


@njit()
def with_zeros(trees):
    return sparse_moments.with_zeros(trees, 0)


# with great weights, too, features are not light
CASES = {
    "usual values": (comparing_sparse.SCALES["usual values"], (1.0, 0.5**7)),
    "extreme values": (comparing_sparse.SCALES["extreme values"], (1.0,)),
    "great weights": (comparing_sparse.SCALES["usual values"], (1e13, 2.0**50)),
}


@st.composite
def tables(draw, scales, units):
    """Draw sparse rows, of which classes, and weights."""
    n, d = draw(st.sampled_from((120, 200, 30))), draw(st.sampled_from((20, 6, 1)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    normal = rng.normal(draw(st.sampled_from((0.0, 1.0, 30.0))), 1, (n, d))
    weights = rng.choice((1.0, 0.5, 2.5), n) * draw(st.sampled_from(units))
    return draw(comparing_sparse.thinned(normal, scales)), rng.integers(0, draw(st.sampled_from((1, 3))), n), weights


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@settings(max_examples=25)
@given(data=st.data())
def test_observers_are_those_of_the_list_of_rows(case, data):
    X, codes, weights = data.draw(tables(*CASES[case]))
    n, d = X.shape
    trees, rows, slow = new_sparse_trees(1, d), comparing_sparse.as_rows(X), {}
    # places that others have left
    for part, rubbish in ((trees.series, 3.0), (trees.n_heavy, 1), (trees.n_light, 2), (trees.kinds, 1)):
        part[:] = rubbish
    places = {}
    for r, (x, code, weight) in enumerate(zip(X, codes.tolist(), weights, strict=True)):
        if code not in slow:
            places[code], slow[code] = start(trees, code), SparseObserver(d)
        observe(trees, places[code], rows, r, weight)
        try:
            slow[code].add(x, weight)
        except UndecidedError:
            return
        assert trees.kinds[places[code]].tolist() == slow[code].kinds
        if r % 10 == 0 or r == n - 1:
            comparing_sparse.assert_same_moments(trees, places[code], slow[code])
    assert_same_densities(trees, places, slow, X)
    assert_same_with_zeros(trees, slow)


def assert_same_densities(trees, places, slow, X):
    rng = np.random.default_rng(0)
    others = np.vstack([np.zeros(X.shape[1]), X[:5], X[:10] * rng.choice((0.0, 0.7, 1.0, -2.0), (len(X[:10]), 1))])
    rows = comparing_sparse.as_rows(others)
    for r, x in enumerate(others):
        trees.x[0] = x
        for code, observer in slow.items():
            expected = observer.log_density(x)
            assert measure(trees, places[code], rows, r) == pytest.approx(expected, rel=1e-8, abs=1e-7)


def assert_same_with_zeros(trees, slow):
    """Compare the moments by which leaves split: of features that have been seen, zeros included."""
    columns, seen = with_zeros(trees)
    everything = np.vstack([observer.rows for observer in slow.values()])
    assert columns.tolist() == np.flatnonzero((everything != 0).any(axis=0)).tolist()
    assert seen.moments.shape[2] == len(columns)
    assert comparing.chain(seen.observers["next"], 0) == list(range(len(slow)))
    for j, (code, observer) in enumerate(slow.items()):
        assert seen.observers[j]["code"] == code
        narrow = Observer()
        for x, weight in zip(observer.rows, observer.weights, strict=True):
            narrow.add(x[columns], weight)
        if len(columns):
            comparing.assert_same_observer(seen, j, narrow)
