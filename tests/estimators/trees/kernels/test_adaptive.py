"""Adaptive trees learn as trees of objects with windows of River, in chunks, with bounds on memory and depth."""

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


# room for levels of windows is shared: only a tree alone knows its memory
@pytest.mark.parametrize(("n_trees", "memory"), [(2, (1e9, 0.0)), (1, (4000.0, 8000.0))], ids=["two", "bound memory"])
@settings(max_examples=25)
@given(st.data())
def test_every_vote_and_node_is_that_of_the_slow_tree(n_trees, memory, data):
    X, codes, weights = data.draw(comparing.rows(FIRST + n_trees, max_rows=400, widths=(3, 2)))
    params, size = data.draw(params_of(memory)), data.draw(st.integers(1, 200))
    seeds = data.draw(st.sampled_from(([], [5, 11][:n_trees])))
    (n, d), other = X.shape, data.draw(st.booleans())
    to_predict = np.where(np.arange(n)[:, np.newaxis] % 3 > 0, X[::-1], X) if other else X
    trees = new_adaptive_trees(n_trees, d, seeds)
    slow = [SlowAdaptiveTree(d, params, seed) for seed in seeds or [None] * n_trees]
    votes = np.full((n, FIRST + n_trees, comparing.N_CLASSES), 7.0)
    for part in comparing.chunks(n, size):
        chunk = TreeChunk(to_predict[part] if other else X[:0], X[part], codes[part], weights[part], FIRST)
        trees = learn(trees, chunk, params, votes[part])
    for i in range(n):
        assert_same_votes(votes[i], slow, to_predict[i])
        for t, tree in enumerate(slow, FIRST):
            weight = weights[i] if len(weights) else 1.0
            if codes[i, t] != SKIP and weight > 0:
                tree.learn(X[i], codes[i, t], weight)
    assert (votes[:, :FIRST] == 7).all()
    assert_same_trees(trees, slow)
    predict(trees, X, votes, FIRST)
    for i in range(n):
        assert_same_votes(votes[i], slow, X[i])


def assert_same_votes(votes, slow, x):
    expected = [comparing.expected_votes(tree.votes(x)) for tree in slow]
    np.testing.assert_allclose(votes[FIRST:], expected, atol=1e-7)
