"""Multi-label trees vote, learn, split and stop observing as trees of objects; with them, their arrays and splits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.trees._kernels.hoeffding import SKIP, TreeParams
from estimators.trees._kernels.multilabel_arrays import new_tree
from estimators.trees._kernels.multilabel_learning import MultilabelChunk, learn, predict
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, MEAN, NONE, SQUARES
from tests.estimators.trees.kernels.comparing import chain
from tests.estimators.trees.kernels.slow_multilabel import SlowMultilabelTree, node_bytes, slot_bytes
from tests.estimators.trees.kernels.slow_observers import UndecidedError
from tests.scattered import tables

close = np.testing.assert_allclose


@st.composite
def streams(draw):
    """Draw rows whose labels depend on features, on two of them, or hardly ever change; cells may be unknown."""
    n, d, n_labels = (draw(st.sampled_from(sizes)) for sizes in ((250, 400, 60), (3, 1, 9), (3, 1, 2)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    codes = (X[:, np.arange(n_labels) % d] > 0.3) ^ (rng.random((n, n_labels)) < draw(st.sampled_from([0.1, 0.4])))
    if draw(st.booleans()):
        codes[:, -1] &= (X[:, 0] > 0.8) & (np.arange(n) > n // 2)
    X[:, d // 2] = draw(st.sampled_from([X[:, d // 2], X[:, 0], np.ones(n), np.round(X[:, 0])]))
    codes = codes.astype(np.int64)
    codes[rng.random(codes.shape) < draw(st.sampled_from([0.0, 0.0, 0.3, 0.8]))] = SKIP
    # the last label comes late, after the first splits
    codes[: draw(st.sampled_from([0, 0, 100])), -1] = SKIP
    return X, codes, draw(tables((n,), (1.0, 0.5, 2.0, 0.0, *draw(st.sampled_from([(), (60.0,)])))))


@st.composite
def parameters(draw, n_features, n_labels):
    """Draw parameters, with memory for all or for a few leaves beside some nodes."""
    n_nodes, n_slots = draw(st.sampled_from([(1000, 1000)] * 4 + [(1, 0), (7, 1), (9, 3), (9, 6)]))
    room = n_nodes * node_bytes(n_labels) + n_slots * slot_bytes(n_features, n_labels)
    return TreeParams(
        draw(st.sampled_from([8.3, 5.3, 12.3, 5.0])),
        draw(st.sampled_from([0.9, 0.5, 0.05])),
        draw(st.sampled_from([0.3, 0.0, 0.2, 1.0])),
        draw(st.sampled_from([1000, 1000, 1000, 2, 3, 0])),
        float(room),
    )


def learnt_slowly(slow, X, codes, weights):
    """Let the slow tree predict and learn rows until it is undecided; return the votes, and whether it was."""
    expected = []
    for x, labels, weight in zip(X, codes.tolist(), weights.tolist(), strict=True):
        expected.append(slow.predict(x))
        try:
            if weight:
                slow.learn(x, labels, weight)
        except UndecidedError:
            return np.array(expected), True
    return np.array(expected), False


@pytest.mark.slow
@settings(max_examples=60)
@given(streams(), st.lists(st.integers(1, 249), max_size=4), st.data())
def test_every_vote_and_every_node_is_that_of_the_slow_tree(stream, cuts, data):
    X, codes, weights = stream
    d, n_labels = X.shape[1], codes.shape[1]
    params = data.draw(parameters(d, n_labels))
    slow = SlowMultilabelTree(d, n_labels, params)
    expected, undecided = learnt_slowly(slow, X, codes, weights)
    tree, n = new_tree(d, n_labels), len(expected)
    for k, (a, b) in enumerate(pairwise(sorted({0, n, *(cut for cut in cuts if cut < n)}))):
        # every other chunk is learnt without votes
        votes, w = np.full((0 if k % 2 else b - a, n_labels, 2), np.nan), weights[a:b]
        tree = learn(tree, MultilabelChunk(X[a:b], codes[a:b], w if (w != 1).any() else np.empty(0)), params, votes)
        close(votes, expected[a:b][: len(votes)], atol=1e-8)
    if not undecided:
        votes = np.full((n, n_labels, 2), np.nan)
        predict(tree, X, votes)
        close(votes, [slow.predict(x) for x in X], atol=1e-8)
        assert_same_tree(slow, tree)


def assert_same_tree(slow, tree):
    """Compare all nodes, and see that slots are free or those of one leaf."""
    counts, used = tree.counts[0], []
    assert counts["n_nodes"] == len(slow.nodes) <= len(tree.nodes)
    assert counts["n_inactive"] == sum(not leaf.active for leaf in slow.leaves())
    assert counts["n_slots"] == slow.n_slots()
    for i, node in enumerate(slow.nodes):
        ours = tree.nodes[i]
        assert ours["depth"] == node.depth
        if node.children:
            assert (ours["feature"], ours["threshold"], ours["slot"]) == (node.feature, node.threshold, NONE)
            assert [slow.nodes[ours[side]] for side in ("left", "right")] == node.children
        else:
            assert_same_leaf(node, tree, i)
            used += [ours["slot"]] if ours["slot"] != NONE else []
    free = chain(tree.links, counts["slot"])
    assert sorted(free + used) == list(range(len(tree.links)))
    assert len(free) == counts["n_free"]


def assert_same_leaf(leaf, tree, i):
    ours = tree.nodes[i]
    assert (ours["feature"], ours["active"], ours["slot"] != NONE) == (NONE, leaf.active, leaf.observes)
    close(ours["last_attempt"], leaf.last_attempt, atol=1e-9)
    for j, label in enumerate(leaf.labels):
        close(tree.weights[i, j], [label.weights.get(value, 0.0) for value in (0, 1)], atol=1e-9)
        assert tree.hits[i, j].tolist() == [label.majority_hits, label.bayes_hits]
        assert tree.seen_rank[i, j].tolist() == ranks(label.weights)
        if leaf.observes:
            assert tree.observed_rank[ours["slot"], j].tolist() == ranks(label.observers)
        for value, observer in label.observers.items():
            place = (ours["slot"] * len(leaf.labels) + j) * 2 + value
            assert tree.observers[place]["weight"] == observer.weight
            moments = tree.moments[place]
            assert moments[[LOWEST, HIGHEST]].tolist() == [observer.low.tolist(), observer.high.tolist()]
            close(moments[[MEAN, SQUARES]], [observer.mean, observer.squares], rtol=1e-9, atol=1e-9)


def ranks(values):
    """Return the places of the values 0 and 1 in a dictionary, from 1 on, or 0."""
    order = list(values)
    return [order.index(value) + 1 if value in values else 0 for value in (0, 1)]
