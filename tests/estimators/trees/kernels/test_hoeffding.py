"""Trees learn as trees of objects do, in chunks, with bounds on memory and depth, and predict other rows meanwhile."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.trees._kernels.hoeffding import SKIP, TreeChunk, learn, predict
from estimators.trees._kernels.tree_arrays import new_trees
from tests.estimators.trees.kernels import comparing
from tests.estimators.trees.kernels.slow_hoeffding import SlowTree

N_TREES, FIRST = 2, 1
MEMORY = st.sampled_from((1e9, 1e9, 0.0, 1000.0, 1500.0, 2000.0, 3000.0, 4500.0))
STATES = np.array([5, 11], np.uint64)


@pytest.mark.slow
@pytest.mark.parametrize("width", [None, 2], ids=["all features", "subsets"])
@settings(max_examples=50)
@given(comparing.rows(FIRST + N_TREES), comparing.params_of(MEMORY), st.integers(1, 200), st.booleans(), st.booleans())
def test_every_vote_and_node_is_that_of_the_slow_tree(width, stream, params, size, other, voting):
    X, codes, weights = stream
    (n, d), width = X.shape, width and min(width, X.shape[1])
    to_predict = np.where(np.arange(n)[:, np.newaxis] % 3 > 0, X[::-1], X) if other else X
    arrays = new_trees(N_TREES, d, width=width, seeds=STATES)
    slow = [SlowTree(d, params, width=width, state=state) for state in STATES]
    votes = np.full((n if voting else 0, FIRST + N_TREES, comparing.N_CLASSES), 7.0)
    for part in comparing.chunks(n, size):
        chunk = TreeChunk(to_predict[part] if other else X[:0], X[part], codes[part], weights[part], FIRST)
        arrays = learn(arrays, chunk, params, votes[part])
    for i in range(n):
        for t, tree in enumerate(slow, FIRST):
            if voting:
                assert_same_votes(votes[i, t], tree, to_predict[i])
            weight = weights[i] if len(weights) else 1.0
            if codes[i, t] != SKIP and weight > 0:
                tree.learn(X[i], codes[i, t], weight)
    assert (votes[:, :FIRST] == 7).all()
    comparing.assert_same_trees(arrays, slow)
    votes = np.full((n, FIRST + N_TREES, comparing.N_CLASSES), 7.0)
    predict(arrays, X, votes, FIRST)
    for i in range(n):
        for t, tree in enumerate(slow, FIRST):
            assert_same_votes(votes[i, t], tree, X[i])


def assert_same_votes(votes, tree, x):
    np.testing.assert_allclose(votes, comparing.expected_votes(tree.votes(x)), atol=1e-7)
