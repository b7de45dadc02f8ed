"""The most promising leaves observe, as many as memory is for: as in a search of drawn trees of objects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.compile import njit
from estimators.trees._kernels import leaf_budget
from estimators.trees._kernels.tree_arrays import (
    NODE,
    NONE,
    OBSERVER,
    STAT,
    add_observer,
    add_stat,
    grow,
    new_trees,
    take_leaf,
)
from tests.estimators.trees.kernels import comparing

N_CLASSES, N_MOMENTS = 4, 5


# parts of kernels are called by compiled functions only
@njit()
def add_children(arrays, t, i):
    """Turn a leaf into a branch; return its children."""
    node = arrays.nodes[i]
    node.left, node.right = take_leaf(arrays, t, node.depth + 1), take_leaf(arrays, t, node.depth + 1)
    node.feature = 0
    return node.left, node.right


@njit()
def add_class(arrays, t, i, code, weight, observes):
    s = add_stat(arrays, t, i, code)
    arrays.stats[s].weight = weight
    if observes:
        arrays.stats[s].observer = add_observer(arrays, t, i, code)


@njit()
def allowed_in(arrays, t, max_bytes):
    return leaf_budget.observers_allowed(arrays, t, max_bytes)


@njit()
def keep(arrays, t, max_bytes, max_depth):
    leaf_budget.keep_promising(arrays, t, max_bytes, max_depth)


@njit()
def keep_some(arrays, t, leaves, allowed, max_depth):
    leaf_budget.keep_most_promising(arrays, t, leaves, allowed, max_depth)


@njit()
def stop(arrays, t, i):
    leaf_budget.deactivate(arrays, t, i)


class Node:
    """A node with the weights of its classes, and the classes that it observes."""

    def __init__(self, depth, rng, values):
        codes = rng.permutation(N_CLASSES)[: rng.integers(N_CLASSES + 1)]
        self.depth, self.counts, self.children = depth, {int(code): float(rng.choice(values)) for code in codes}, ()
        self.active = True
        self.observed = [code for code in self.counts if rng.random() < 0.8]

    @property
    def promise(self):
        """Return the weight of all classes but the heaviest."""
        return sum(sorted(self.counts.values())[:-1])

    def walk(self):
        """Yield the nodes, left before right."""
        yield self
        for child in self.children:
            yield from child.walk()

    def leaves(self):
        return [node for node in self.walk() if not node.children]

    def n_observers(self):
        return sum(len(node.observed) for node in self.walk())

    def bytes_left(self, max_bytes):
        return max_bytes - sum(NODE.itemsize + STAT.itemsize * len(node.counts) for node in self.walk())

    def stop(self):
        self.active, self.observed = False, []


@st.composite
def trees(draw):
    """Draw a tree, whose branches observe or not, and some of whose leaves have stopped."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # of which all sums are exact
    values = draw(st.sampled_from(((0.5, 1.0, 2.5, 0.0), (1.0,), (0.125, 0.75, 3.25, 20.0, 2.0**-10))))
    root, branches_observe, share = Node(0, rng, values), draw(st.booleans()), draw(st.sampled_from((0.0, 0.5)))
    for _ in range(draw(st.integers(0, 8))):
        leaf = root.leaves()[rng.integers(len(root.leaves()))]
        leaf.children = [Node(leaf.depth + 1, rng, values) for _ in range(2)]
        leaf.observed = leaf.observed if branches_observe else []
    for leaf in root.leaves():
        if rng.random() < share:
            leaf.stop()
    return root


def planted(roots, d):
    """Return the trees in arrays, and the places of their nodes."""
    arrays, places = new_trees(len(roots), d), {}
    arrays = grow(arrays, N_CLASSES, n_rows=40 * len(roots))
    for t, root in enumerate(roots):
        places[root] = int(arrays.trees[t]["root"])
        for node in root.walk():
            i = places[node]
            for code, weight in node.counts.items():
                add_class(arrays, t, i, code, weight, code in node.observed)
            if node.children:
                places.update(zip(node.children, add_children(arrays, t, i), strict=True))
            elif not node.active:
                stop(arrays, t, i)
    return arrays, places


def observer_bytes(d):
    return OBSERVER.itemsize + 8 * N_MOMENTS * d


def keep_slowly(leaves, allowed, max_depth):
    """Let the most promising leaves observe; equals stay in order, and a leaf that is too deep does not begin."""
    needed = 0
    for leaf in sorted(leaves, key=lambda leaf: leaf.promise, reverse=True):
        needed += len(leaf.counts)
        if needed > allowed:
            leaf.stop()
        elif leaf.depth < max_depth:
            leaf.active = True


def assert_same(arrays, places, roots):
    used = [[] for _ in roots]
    for t, root in enumerate(roots):
        for node in root.walk():
            i = places[node]
            stats = comparing.chain(arrays.stats["next"], arrays.nodes[i]["stats"])
            observers = comparing.chain(arrays.observers["next"], arrays.nodes[i]["observers"])
            used[t].append((i, stats, observers))
            assert bool(arrays.nodes[i]["active"]) == node.active
            assert arrays.stats["code"][stats].tolist() == list(node.counts)
            assert arrays.stats["weight"][stats].tolist() == list(node.counts.values())
            assert arrays.observers["code"][observers].tolist() == node.observed
            linked = [code for code, s in zip(node.counts, stats, strict=True) if arrays.stats["observer"][s] != NONE]
            assert linked == node.observed
        assert arrays.trees[t]["n_inactive"] == sum(not leaf.active for leaf in root.leaves())
    comparing.assert_every_place_is_used_once(arrays, used)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.tuples(trees(), trees()), st.integers(0, 1), st.sampled_from((3, 1, 10)), st.data())
def test_memory_is_for_the_most_promising_leaves(roots, t, d, data):
    (arrays, places), root = planted(roots, d), roots[t]
    assert_same(arrays, places, roots)
    for _ in range(2):
        # so many observers exactly, or a byte less or more
        n_classes = sum(len(node.counts) for node in root.walk())
        n_allowed = data.draw(st.just(root.n_observers()) | st.integers(0, n_classes))
        max_bytes = float(n_allowed * observer_bytes(d) - root.bytes_left(0) + data.draw(st.sampled_from((0, -1, 1))))
        allowed = root.bytes_left(max_bytes) / observer_bytes(d)
        assert allowed_in(arrays, t, max_bytes) == allowed
        max_depth = data.draw(st.sampled_from((2, 1, 3, 100)))
        keep(arrays, t, max_bytes, max_depth)
        if not all(leaf.active for leaf in root.leaves()) or root.n_observers() > allowed:
            elsewhere = sum(len(node.observed) for node in root.walk() if node.children)
            keep_slowly(root.leaves(), allowed - elsewhere, max_depth)
        assert_same(arrays, places, roots)


@pytest.mark.slow
@given(st.tuples(trees(), trees()), st.integers(0, 1), st.data())
def test_some_leaves_are_kept_and_the_others_stay(roots, t, data):
    (arrays, places), leaves = planted(roots, 2), roots[t].leaves()
    chosen = data.draw(st.lists(st.sampled_from(leaves), unique=True))
    allowed, max_depth = data.draw(st.integers(-1, 4 * len(leaves))), data.draw(st.sampled_from((2, 1, 3, 100)))
    keep_some(arrays, t, np.array([places[leaf] for leaf in chosen], np.int64), float(allowed), max_depth)
    keep_slowly(chosen, allowed, max_depth)
    assert_same(arrays, places, roots)
