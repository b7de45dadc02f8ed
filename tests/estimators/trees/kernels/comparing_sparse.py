"""Sparse rows for kernels, and observers that add zeros together compared with those of lists of rows."""

import numpy as np
from hypothesis import strategies as st

from estimators.trees._kernels.sparse_moments import SparseRows
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, MEAN, PRECISION, SQUARES
from tests.estimators.trees.kernels.slow_sparse import HEAVY, LIGHT

close = np.testing.assert_allclose
SHARES = ((1.0, 0.5, 0.1, 0.03), (0.5, 0.03), (0.1,), (1.0,), (0.06, 0.11))
# squares and their products leave, or nearly leave, the range of doubles, and squares that of light features
SCALES = {
    "usual values": ((1.0,), (1.0,), (1e-11,), (1e11,)),
    "extreme values": ((1.0, 6e99, 1e-100), (1e22, 1e110), (1e-110, 1e110), (1.0, 1e-20, 1e20)),
}


@st.composite
def thinned(draw, X, scales):
    """Scale the columns of a table, and make most values zeros; all others of a column may be ones."""
    rng, d = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), X.shape[1]
    X = (
        X
        * rng.choice(draw(st.sampled_from(scales)), d)
        * (rng.random(X.shape) < rng.choice(draw(st.sampled_from(SHARES)), d))
    )
    alike = rng.random(d) < draw(st.sampled_from((0.0, 0.0, 0.5)))
    X[:, alike] = X[:, alike] != 0
    # a feature becomes frequent, or rare, half-way
    half = len(X) // 2
    X[slice(half, None) if draw(st.booleans()) else slice(half), 0] = 0.0
    return X


def as_rows(X, seed=0):
    """Return sparse rows, their columns in any order, in which a few zeros are stored."""
    rng = np.random.default_rng(seed)
    stored = (X != 0) | (rng.random(X.shape) < 0.05)
    columns = [rng.permutation(np.flatnonzero(row)) for row in stored]
    starts = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int64)
    values = np.concatenate([np.empty(0), *(x[those] for x, those in zip(X, columns, strict=True))])
    return SparseRows(starts, np.concatenate([np.empty(0), *columns]).astype(np.int32), values)


def assert_same_moments(trees, o, observer):
    """Compare the values that are not zero, the kinds of features, and the sums of the light ones."""
    moments, n = trees.arrays.moments[o], observer.weight
    assert trees.arrays.observers[o]["weight"] == n
    assert moments[PRECISION].tolist() == observer.present_weight.tolist()
    assert moments[[LOWEST, HIGHEST]].tolist() == [observer.least.tolist(), observer.greatest.tolist()]
    size = np.abs(np.array(observer.rows)).max(axis=0)
    assert (np.abs(moments[MEAN] - observer.present_mean) <= 1e-9 * size).all()
    close(moments[SQUARES], observer.present_squares, rtol=1e-6)
    assert trees.kinds[o].tolist() == observer.kinds
    heavy = [f for f, kind in enumerate(observer.kinds) if kind == HEAVY]
    assert sorted(trees.heavy[o, : trees.n_heavy[o]]) == heavy
    assert trees.n_light[o] == observer.kinds.count(LIGHT)
    # that is how the sums are used: what was added and taken away leaves a rest
    powers = n ** np.arange(trees.series.shape[1])
    close(trees.series[o] / powers, observer.series(len(powers) - 1) / powers, rtol=1e-9, atol=1e-9)
    close(trees.arrays.observers[o]["log_norm"], observer.log_norm(), rtol=1e-11, atol=1e-10)
