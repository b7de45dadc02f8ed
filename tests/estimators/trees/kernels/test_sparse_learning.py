"""Trees that add zeros together learn as trees of objects do, in chunks, with bounds on memory and depth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.trees._kernels.hoeffding import SKIP, TreeParams
from estimators.trees._kernels.sparse_learning import (
    SparseChunk,
    learn_sparse,
    new_sparse_trees,
    predict_sparse,
    sparse_size_bytes,
)
from estimators.trees._kernels.tree_arrays import NONE
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


@pytest.mark.slow
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
    n, arrays = len(trees.arrays.observers), (*trees.arrays[:-1], *trees.arrays.categories, *trees[1:])
    assert {len(part) for part in trees[1:-1]} == {n}
    assert sparse_size_bytes(trees) == sum(array.size * array.itemsize for array in arrays)


def learnt_row_by_row(X, codes, params):
    """Yield the arrays of one tree after each row."""
    trees = new_sparse_trees(1, X.shape[1])
    none, no_votes = comparing_sparse.as_rows(X[:0]), np.empty((0, 1, comparing.N_CLASSES))
    for i in range(len(X)):
        rows = comparing_sparse.as_rows(X[i : i + 1])
        chunk = SparseChunk(none, rows, codes[i : i + 1, np.newaxis], np.empty(0), 0)
        trees = learn_sparse(trees, chunk, params, no_votes)
        yield trees.arrays


def test_a_leaf_of_one_class_goes_on_observing():
    X, codes = np.eye(4)[np.arange(60) % 4], np.zeros(60, np.int64)
    *_, arrays = learnt_row_by_row(X, codes, TreeParams(9.0, 0.3, 0.3, 100, 1e9))
    (seen,) = comparing.chain(arrays.observers["next"], arrays.nodes[arrays.trees[0]["root"]]["observers"])
    assert arrays.observers["weight"][seen] == 60


def test_leaves_at_the_greatest_depth_never_observe_again():
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    codes = (X[:, 0] > 0.5) + 2 * (X[:, 1] > 0.5) - 3 * ((X[:, 0] > 0.5) & (X[:, 1] > 0.5))
    stopped = set()
    for arrays in learnt_row_by_row(X, codes, TreeParams(9.0, 0.3, 0.3, 2, 1e9)):
        nodes = arrays.nodes
        assert not any(nodes["active"][i] for i in stopped)
        leaves = (nodes["feature"] == NONE) & (nodes["depth"] == 2) & (nodes["active"] == 0)
        stopped |= set(np.flatnonzero(leaves[: arrays.trees[0]["n_nodes"]]).tolist())
    # those of one branch had stopped while the other one was split
    assert len(stopped) > 2
