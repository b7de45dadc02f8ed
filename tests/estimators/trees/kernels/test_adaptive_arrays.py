"""Alternates begin, leaves stop, and memory is bound at any moment, in adaptive trees as in trees of objects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.compile import njit
from estimators.trees._kernels import adaptive_arrays, leaf_budget
from estimators.trees._kernels.adaptive import AdaptiveParams, learn
from estimators.trees._kernels.hoeffding import TreeChunk, TreeParams
from estimators.trees._kernels.leaf_budget import OBSERVER_BYTES
from estimators.trees._kernels.tree_arrays import size_bytes
from tests.estimators.trees.kernels.comparing import N_CLASSES
from tests.estimators.trees.kernels.slow_adaptive_tree import SlowAdaptiveTree
from tests.estimators.trees.kernels.slow_observers import N_MOMENTS
from tests.estimators.trees.kernels.test_adaptive import assert_same_trees

# by themselves, errors neither change nor are compared
STEADY = AdaptiveParams(TreeParams(4.25, 0.9, 0.3, 3, 1e9), 1e9, 1.0, 1e-12)
N_FEATURES = 2


# parts of kernels are called by compiled functions only
@njit()
def begin_alternate(trees, i):
    adaptive_arrays.begin_alternate(trees, 0, i)


@njit()
def deactivate(trees, i):
    leaf_budget.deactivate(trees.arrays, 0, i)


@njit()
def keep_promising_leaves(trees, max_bytes, max_depth):
    adaptive_arrays.keep_promising_leaves(trees, 0, max_bytes, max_depth)


def pairs(trees, i, node):
    """Yield the places of a node and of all below, alternates too, with their twins."""
    yield i, node
    if node.alternate:
        yield trees.monitors[i]["alternate"], node.alternate
    for side, child in zip(("left", "right"), node.children, strict=bool(node.children)):
        yield from pairs(trees, trees.arrays.nodes[i][side], child)


def begin(trees, slow, rng, found):
    branches = [(i, node) for i, node in found if node.children]
    if branches:
        i, node = branches[rng.integers(len(branches))]
        begin_alternate(trees, i)
        node.alternate, slow.n_alternate = slow.new_leaf(node.depth), slow.n_alternate + 1


def stop(trees, _, rng, found):
    """Stop a leaf, an alternate if there is one."""
    leaves = [(i, node) for i, node in found if not node.children and node.active]
    alternates = [node.alternate for _, node in found if node.alternate]
    leaves = [(i, node) for i, node in leaves if node in alternates] or leaves
    if leaves:
        i, node = leaves[rng.integers(len(leaves))]
        deactivate(trees, i)
        node.stop()


def keep(trees, slow, rng, _):
    """Bound memory to what nodes and a few observers need."""
    size = OBSERVER_BYTES + 8 * N_MOMENTS * N_FEATURES
    slow.params = STEADY.tree._replace(max_bytes=0.0)
    max_bytes = float(size * (rng.integers(0, 12) + 0.5 - slow.allowed()))
    slow.params = STEADY.tree._replace(max_bytes=max_bytes)
    slow.keep_promising()
    keep_promising_leaves(trees, max_bytes, STEADY.tree.max_depth)
    slow.params = STEADY.tree


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from((begin, begin, stop, keep)), min_size=4, max_size=16))
def test_every_node_is_that_of_the_slow_tree(seed, steps):
    rng = np.random.default_rng(seed)
    trees, slow = adaptive_arrays.new_adaptive_trees(1, N_FEATURES, []), SlowAdaptiveTree(N_FEATURES, STEADY)
    for step in steps:
        X = rng.random((rng.integers(1, 30), N_FEATURES))
        codes = ((X > 0.5).sum(axis=1) + (rng.random(len(X)) < 0.2)) % N_CLASSES
        chunk = TreeChunk(X[:0], X, codes[:, np.newaxis], np.empty(0), 0)
        trees = learn(trees, chunk, STEADY, np.empty((0, 1, N_CLASSES)))
        for x, code in zip(X, codes.tolist(), strict=True):
            slow.learn(x, code, 1.0)
        trees = adaptive_arrays.grow_adaptive(trees, N_CLASSES, 1)
        step(trees, slow, rng, list(pairs(trees, trees.arrays.trees[0]["root"], slow.root)))
        assert_same_trees(trees, [slow])
        assert trees.arrays.trees[0]["n_inactive"] == sum(not leaf.active for leaf in slow.leaves())
    others = (*trees.windows, trees.monitors, trees.histories, trees.random)
    assert adaptive_arrays.adaptive_bytes(trees) == size_bytes(trees.arrays) + sum(len(a.tobytes()) for a in others)
