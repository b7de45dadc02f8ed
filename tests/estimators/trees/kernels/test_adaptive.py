"""Adaptive trees learn as trees of objects with windows of River, in chunks, with bounds on memory and depth."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.trees._kernels.adaptive import AdaptiveParams, learn, predict
from estimators.trees._kernels.adaptive_arrays import new_adaptive_trees
from estimators.trees._kernels.hoeffding import SKIP, TreeChunk
from estimators.trees._kernels.tree_arrays import NONE
from tests.estimators.trees.kernels import comparing
from tests.estimators.trees.kernels.slow_adaptive_tree import SlowAdaptiveTree
from tests.estimators.trees.kernels.slow_observers import UndecidedError

FIRST = 1
WINDOWS, SIGNIFICANCE = st.sampled_from((5.0, 0.0, 40.0)), st.sampled_from((0.8, 2.0))
CONFIDENCE = st.sampled_from((0.9, 0.5, 0.05))


def params_of(memory):
    tree = comparing.params_of(st.sampled_from(memory))
    return st.builds(AdaptiveParams, tree, WINDOWS, SIGNIFICANCE, CONFIDENCE)


def assert_same_monitor(trees, i, node, used):
    """Compare how nodes have erred, and alternates, which no branch has as its child."""
    monitor = trees.monitors[i]
    np.testing.assert_allclose([monitor["n_rows"], monitor["error"]], [node.n_rows, node.error], atol=1e-12)
    assert (monitor["alternate"] == NONE) == (node.alternate is None)
    if node.alternate:
        comparing.assert_same_node(trees.arrays, monitor["alternate"], node.alternate, used)
        assert_same_monitor(trees, monitor["alternate"], node.alternate, used)
    for side, child in zip(("left", "right"), node.children, strict=bool(node.children)):
        assert_same_monitor(trees, trees.arrays.nodes[i][side], child, used)


def assert_same_trees(trees, slow):
    used_by_tree = [[] for _ in slow]
    for t, (tree, used) in enumerate(zip(slow, used_by_tree, strict=True)):
        root = trees.arrays.trees[t]["root"]
        comparing.assert_same_node(trees.arrays, root, tree.root, used)
        assert_same_monitor(trees, root, tree.root, used)
        for name in ("n_alternate", "n_pruned", "n_switched"):
            assert trees.histories[t][name] == getattr(tree, name)
    comparing.assert_every_place_is_used_once(trees.arrays, used_by_tree)


@st.composite
def changing(draw, n_columns):
    """Draw rows of which one class is split off after the other, until classes change, everywhere or on one side."""
    n, d, every = draw(st.sampled_from((400, 300, 600))), 2, draw(st.sampled_from((70, 40, 150)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.random((n, d)) - 0.5
    epochs = np.arange(n) // every
    codes = np.empty((n, n_columns), np.int64)
    for k in range(n_columns):
        first, second = rng.permutation(X.T)
        where = rng.integers(0, 3, epochs[-1] + 1)[epochs]
        turned = (where == 0) | ((first > 0) == (where == 1))
        shift = np.cumsum(rng.integers(0, comparing.N_CLASSES, epochs[-1] + 1))[epochs]
        codes[:, k] = ((first > 0) * (1 + (second > 0)) + turned * shift) % comparing.N_CLASSES
    noise = rng.random(codes.shape) < draw(st.sampled_from((0.0, 0.05, 0.2)))
    codes[noise] = rng.integers(0, comparing.N_CLASSES, codes.shape)[noise]
    codes[rng.random(codes.shape) < draw(st.sampled_from((0.0, 0.0, 0.1)))] = SKIP
    return X, codes, rng.choice((1.0, 0.0, 2.5, 0.5), n if draw(st.booleans()) else 0)


def learnt_slowly(new_trees, stream, to_predict):
    """Let slow trees predict and learn rows until one is undecided; return them, their votes, and how many rows."""
    X, codes, weights = stream
    slow, votes = new_trees(), []
    for i in range(len(X)):
        votes.append([comparing.expected_votes(tree.votes(to_predict[i])) for tree in slow])
        weight = weights[i] if len(weights) else 1.0
        for t, tree in enumerate(slow, FIRST):
            if codes[i, t] != SKIP and weight > 0:
                try:
                    tree.learn(X[i], codes[i, t], weight)
                except UndecidedError:
                    return learnt_slowly(new_trees, (X[:i], codes[:i], weights[:i]), to_predict)
    return slow, votes, len(X)


# room for levels of windows is shared: only a tree alone knows its memory
@pytest.mark.slow
@pytest.mark.parametrize(
    ("streams", "n_trees", "memory"),
    [
        (partial(comparing.rows, max_rows=400, widths=(3, 2)), 2, (1e9, 0.0)),
        (partial(comparing.rows, max_rows=400, widths=(3, 2)), 1, (4000.0, 8000.0)),
        (changing, 2, (1e9,)),
        (changing, 1, (3000.0, 2400.0, 4000.0, 6000.0)),
    ],
    ids=["two", "bound memory", "two that change", "one that changes, in bound memory"],
)
@settings(max_examples=25)
@given(st.data())
def test_every_vote_and_node_is_that_of_the_slow_tree(streams, n_trees, memory, data):
    stream = data.draw(streams(FIRST + n_trees))
    params, size = data.draw(params_of(memory)), data.draw(st.integers(1, 200))
    seeds = data.draw(st.sampled_from(([], [5, 11][:n_trees])))
    (n, d), other = stream[0].shape, data.draw(st.booleans())
    to_predict = np.where(np.arange(n)[:, np.newaxis] % 3 > 0, stream[0][::-1], stream[0]) if other else stream[0]
    slow, expected, n = learnt_slowly(
        lambda: [SlowAdaptiveTree(d, params, seed) for seed in seeds or [None] * n_trees], stream, to_predict
    )
    X, codes, weights = (array[:n] for array in stream)
    trees = new_adaptive_trees(n_trees, d, seeds)
    votes = np.full((n, FIRST + n_trees, comparing.N_CLASSES), 7.0)
    for part in comparing.chunks(n, size):
        chunk = TreeChunk(to_predict[part] if other else X[:0], X[part], codes[part], weights[part], FIRST)
        trees = learn(trees, chunk, params, votes[part])
    assert (votes[:, :FIRST] == 7).all()
    np.testing.assert_allclose(votes[:, FIRST:], np.reshape(expected, votes[:, FIRST:].shape), atol=1e-7)
    assert_same_trees(trees, slow)
    predict(trees, X, votes, FIRST)
    expected = [[comparing.expected_votes(tree.votes(x)) for tree in slow] for x in X]
    np.testing.assert_allclose(votes[:, FIRST:], np.reshape(expected, votes[:, FIRST:].shape), atol=1e-7)
