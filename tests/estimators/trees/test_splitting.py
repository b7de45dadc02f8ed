"""Rough bounds of splits never contradict the exact search."""

import numpy as np
import pytest

from estimators._kernels.compile import njit
from estimators.trees._kernels import splitting
from estimators.trees._kernels.tree_arrays import NONE
from estimators.trees.hoeffding import HoeffdingTreeClassifier


# parts of kernels are called by compiled functions only
@njit()
def search(arrays, i, bound):
    """Return the merits of the best two splits, and whether the search is futile."""
    _, _, best, second = splitting.best_two_splits(arrays, i)
    return best, second, splitting.is_futile(arrays, i, bound)


@pytest.mark.slow
def test_a_split_called_futile_never_beats_the_next_best_by_the_bound():
    rng = np.random.default_rng(0)
    n_futile, n_leaves = 0, 0
    for trial in range(60):
        n = int(rng.integers(20, 800))
        X = rng.choice([rng.normal(size=(n, 5)), rng.integers(0, 3, (n, 5)), rng.exponential(size=(n, 5)) ** 3])
        X[:, 4] = X[:, 3] if trial % 2 else 1.0
        y = (X[:, 0] + rng.normal(scale=rng.choice([0.1, 1, 10]), size=n) > rng.choice([-1, 0, 1.5])).astype(int)
        weights = rng.choice([np.ones(n), 2 * rng.random(n)])
        tree = HoeffdingTreeClassifier(grace_period=200, delta=0.5, tau=0.01)
        tree.partial_fit(X, y, classes=[0, 1], sample_weight=weights)
        arrays = tree.bank_.find(0)[0]
        for i in np.flatnonzero((arrays.nodes["feature"] == NONE) & (arrays.nodes["observers"] != NONE)):
            for bound in (0.0021, 0.01, 0.05, 0.2, 0.5):
                best, second, futile = search(arrays, i, bound)
                n_futile, n_leaves = n_futile + futile, n_leaves + 1
                assert not futile or best - second < bound
    assert 0.2 < n_futile / n_leaves < 0.95
