"""Trees that add zeros together learn as trees of objects do, in chunks, with bounds on memory and depth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.trees._kernels.hoeffding import SKIP
from estimators.trees._kernels.sparse_learning import (
    SparseChunk,
    learn_sparse,
    new_sparse_trees,
    predict_sparse,
    sparse_size_bytes,
)
from tests.estimators.trees.kernels import comparing, comparing_sparse
from tests.estimators.trees.kernels.slow_observers import UndecidedError
from tests.estimators.trees.kernels.slow_sparse import SparseTree

N_TREES, FIRST = 2, 1
MEMORY = st.sampled_from((1e9, 1e9, 1e9, 0.0, 2000.0, 4000.0, 8000.0, 16000.0))


@st.composite
def streams(draw, scales):
    """Draw rows most values of which are zeros, codes, weights, and rows to predict: these or others."""
    dense, codes, weights = draw(comparing.rows(FIRST + N_TREES, max_rows=250, widths=(8, 3, 20, 1), min_rows=100))
    X = draw(comparing_sparse.thinned(dense, scales))
    # that the classes follow
    n_full = draw(st.sampled_from((3, 3, 0)))
    X[:, :n_full] = dense[:, :n_full]
    # leaves of few rows that weigh no more than one have no variance, and children with classes of weight 0
    weights = np.minimum(weights, draw(st.sampled_from((3.0, 0.5))))
    to_predict = np.where(np.arange(len(X))[:, np.newaxis] % 3 > 0, X[::-1], X) if draw(st.booleans()) else None
    return X, codes, weights, to_predict


def learnt_slowly(slow, stream):
    """Return the votes for rows until a tree is undecided, and whether one was."""
    X, codes, weights, to_predict = stream
    expected = []
    for i, x in enumerate(X):
        votes = [comparing.expected_votes(tree.votes(x if to_predict is None else to_predict[i])) for tree in slow]
        expected.append(votes)
        weight = weights[i] if len(weights) else 1.0
        try:
            for tree, code in zip(slow, codes[i, FIRST:], strict=True):
                if code != SKIP and weight > 0:
                    tree.learn(x, code, weight)
        except UndecidedError:
            return expected, True
    return expected, False


def learn_chunk(trees, stream, part, params, votes):
    X, codes, weights, to_predict = stream
    others = X[:0] if to_predict is None else to_predict[part]
    rows = comparing_sparse.as_rows(others, 1), comparing_sparse.as_rows(X[part], 2)
    return learn_sparse(trees, SparseChunk(*rows, codes[part], weights[part], FIRST), params, votes)


@pytest.mark.parametrize("values", comparing_sparse.SCALES)
@settings(max_examples=30)
@given(st.data(), comparing.params_of(MEMORY), st.sampled_from((30, 1, 7, 77, 250)), st.booleans())
def test_every_vote_and_node_is_that_of_the_slow_tree(values, data, params, size, voting):
    stream = data.draw(streams(comparing_sparse.SCALES[values]))
    X, d = stream[0], stream[0].shape[1]
    slow = [SparseTree(d, params) for _ in range(N_TREES)]
    expected, undecided = learnt_slowly(slow, stream)
    trees, n = new_sparse_trees(N_TREES, d), len(expected)
    votes = np.full((n if voting else 0, FIRST + N_TREES, comparing.N_CLASSES), 7.0)
    for part in comparing.chunks(n, size):
        trees = learn_chunk(trees, stream, part, params, votes[part])
    assert (votes[:, :FIRST] == 7).all()
    np.testing.assert_allclose(votes[:, FIRST:], np.array(expected)[: len(votes)], atol=1e-7)
    if not undecided:
        assert_same_trees(trees, slow)
        votes = np.full((n, FIRST + N_TREES, comparing.N_CLASSES), 7.0)
        predict_sparse(trees, comparing_sparse.as_rows(X, 3), votes, FIRST)
        expected = [[comparing.expected_votes(tree.votes(x)) for tree in slow] for x in X]
        np.testing.assert_allclose(votes[:, FIRST:], expected, atol=1e-7)
        assert (votes[:, :FIRST] == 7).all()
        assert not trees.x.any()


def assert_same_trees(trees, slow):
    def same_observer(_, o, observer):
        comparing_sparse.assert_same_moments(trees, o, observer)

    comparing.assert_same_trees(trees.arrays, slow, same_observer)
    n, arrays = len(trees.arrays.observers), (*trees.arrays, *trees[1:])
    assert {len(part) for part in trees[1:-1]} == {n}
    assert sparse_size_bytes(trees) == sum(array.size * array.itemsize for array in arrays)
