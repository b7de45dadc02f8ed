"""The multi-label Hoeffding adaptive tree, all that its nodes hold included, is that of a loop over objects."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.trees._kernels.mlhat.arrays import ABSENT, NONE, Shape, new_tree, slot_bytes
from estimators.trees._kernels.mlhat.learning import learn, predict
from estimators.trees._kernels.mlhat.scratch import AdaptiveParams, Chunk, LeafParams, Scratch
from tests.estimators.trees.kernels.comparing import chain
from tests.estimators.trees.slow_adaptive import Branch, SlowAdaptiveTree, drifting
from tests.scattered import tables

SEED = 5


def close(actual, expected, scale=1.0):
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-9 * scale)


@st.composite
def streams(draw):
    """Draw rows, labels that depend on other features every so many rows, and weights.

    Squares of the values add up exactly, so that neighbours that are equally far are so in any order.
    """
    n, d, n_labels = draw(st.sampled_from([(250, 2, 3), (250, 3, 1), (120, 1, 2), (100, 70, 2), (20, 5, 4)]))
    X, Y = drifting(n, d, n_labels, seed=draw(st.integers(0, 2**32 - 1)), every=draw(st.sampled_from([40, 25, 100])))
    coarseness, scale = draw(st.sampled_from([64, 4])), draw(st.sampled_from([1.0, 1.0, 128.0]))
    X = np.round(coarseness * X) / coarseness * scale
    # features that cannot split a leaf, and a label of nearly all rows
    X *= draw(tables((d,), (1.0, 1.0, 0.0)))
    Y[: draw(st.sampled_from([0, n // 2, n])), 0] = 1
    weights = draw(tables((n,), (1.0, 1.0, 2.0, 0.5, 0.0)))
    return X, Y.astype(np.uint8), weights


PARAMS = st.fixed_dictionaries(
    {
        "grace_period": st.sampled_from([15.0, 5.0, 60.0]),
        "delta": st.sampled_from([0.5, 1e-3]),
        "tau": st.sampled_from([0.5, 0.05]),
        "drift_window_threshold": st.sampled_from([5.0, 0.0, 30.0]),
        "switch_significance": st.sampled_from([0.9, 0.05]),
        "cardinality_threshold": st.sampled_from([20.0, 0.0, 1e9]),
        "entropy_threshold": st.sampled_from([0.3, 1.5]),
        "n_neighbors": st.sampled_from([3, 1, 5]),
        "window": st.sampled_from([8, 1, 40]),
        "n_models": st.sampled_from([2, 1]),
        "learning_rate": st.sampled_from([0.3, 2.0]),
        "poisson_rate": st.sampled_from([1.0, 0.0]),
    }
)


class Kernels:
    """A tree of the kernels with memory for so many leaves, and votes kept of so many."""

    def __init__(self, d, n_labels, most_leaves, n_kept, p):
        shape = Shape(d, n_labels, p["window"], p["n_models"])
        leaf = slot_bytes(new_tree(shape, SEED, 0))
        max_bytes = 1e9 if most_leaves == math.inf else float((most_leaves - 1) * leaf)
        self.tree, self.n_labels = new_tree(shape, SEED, max_bytes), n_labels
        rates = p["learning_rate"], 0.01
        self.params = AdaptiveParams(
            *(p[name] for name in ("grace_period", "delta", "tau", "drift_window_threshold", "switch_significance")),
            math.exp(-p["poisson_rate"]),
            max_bytes,
            LeafParams(p["cardinality_threshold"], p["entropy_threshold"], *rates),
        )
        self.scratch = Scratch(
            votes=np.empty((n_kept, n_labels, 2)),
            owners=np.zeros(n_kept + 1, np.int64),
            logits=np.empty(p["n_models"] * n_labels),
            filled=np.zeros(d + 1, np.int64),
            distances=np.empty(p["n_neighbors"] + 1),
            places=np.zeros(p["n_neighbors"] + 1, np.int64),
            repeats=np.zeros(p["n_models"], np.int64),
            sides=np.empty((2, n_labels + 2)),
        )

    def learn(self, X, Y, weights, *, shows):
        votes = np.empty((len(X) if shows else 0, self.n_labels, 2))
        weights = weights if (weights != 1).any() else np.zeros(0)
        self.tree = learn(self.tree, Chunk(X, Y, weights), self.params, self.scratch, votes)
        return votes

    def predict(self, X):
        votes = np.empty((len(X), self.n_labels, 2))
        predict(self.tree, X, self.params, self.scratch, votes)
        return votes


@pytest.mark.slow
@settings(max_examples=60)
@given(
    streams(),
    PARAMS,
    st.sampled_from([math.inf, 3, 1, 6]),
    st.sampled_from([16, 1, 2]),
    st.lists(st.integers(0, 250), max_size=4),
)
def test_the_tree_is_that_of_the_slow_loop(stream, p, most_leaves, n_kept, cuts):
    X, Y, weights = stream
    slow, expected = SlowAdaptiveTree(X.shape[1], Y.shape[1], SEED, most_leaves=most_leaves, **p), []
    for x, y, w in zip(X.tolist(), Y.tolist(), weights.tolist(), strict=True):
        expected.append(slow.predict_proba(x))
        if w:
            slow.learn(x, y, w)
    ours = Kernels(X.shape[1], Y.shape[1], most_leaves, n_kept, p)
    cuts = sorted({0, len(X), *(cut for cut in cuts if cut < len(X))})
    for k, (a, b) in enumerate(pairwise(cuts)):
        # every other chunk is learnt without predictions
        votes = ours.learn(X[a:b], Y[a:b], weights[a:b], shows=k % 2 == 0)
        close(votes, np.array(expected[a:b])[: len(votes)])
    close(ours.predict(X), [slow.predict_proba(x) for x in X.tolist()])
    assert_same_tree(slow, ours.tree, most_leaves)


def assert_same_tree(slow, tree, most_leaves):
    state = tree.state[0]
    counts = slow.n_splits, slow.n_switched, slow.n_pruned, slow.numbers.state
    assert (state["n_splits"], state["n_switched"], state["n_pruned"], int(state["draws"])) == counts
    nodes = list(assert_same_nodes(slow, slow.root, tree, state["root"]))
    free = chain(tree.nodes["left"], state["node"])
    assert sorted(nodes + free) == list(range(len(tree.nodes)))
    assert state["n_free_nodes"] == len(free)
    leaves = [i for i in nodes if tree.nodes[i]["feature"] == NONE]
    slots, free = tree.nodes["slot"][leaves].tolist(), chain(tree.slots["next"], state["slot"])
    assert sorted(slots + free) == list(range(len(tree.slots)))
    assert state["n_free_slots"] == len(free)
    assert len(tree.slots) == most_leaves or most_leaves == math.inf
    assert state["n_inactive"] == sum(not tree.nodes[i]["active"] for i in leaves)


def keys(n_labels):
    """Return the keys of the slow loop in the order of the columns of the kernels."""
    return [*range(n_labels), "empty", "total"]


def assert_same_nodes(slow, node, tree, i):
    """Compare a subtree, and yield its places, those of alternates included."""
    ours = tree.nodes[i]
    close(tree.counts[i], [node.counts.get(key, ABSENT) for key in keys(slow.n_labels)])
    assert (ours["used"], ours["background"]) == (1, node.background)
    assert tree.windows.heads[i]["width"] == (0 if node.window.drift_detected else node.window.width)
    yield int(i)
    if not isinstance(node, Branch):
        assert_same_leaf(slow, node, tree, i)
        return
    assert (ours["feature"], ours["threshold"]) == (node.feature, node.threshold)
    close([ours["error"], ours["error_weight"], ours["post_weight"]], [node.error.value, node.error.n, node.post])
    for child, place in zip(node.children, (ours["left"], ours["right"]), strict=True):
        yield from assert_same_nodes(slow, child, tree, place)
    assert (node.alternate is None) == (ours["alternate"] == NONE)
    if node.alternate:
        yield from assert_same_nodes(slow, node.alternate, tree, ours["alternate"])


def assert_same_leaf(slow, leaf, tree, i):
    ours, s = tree.nodes[i], tree.nodes[i]["slot"]
    assert (ours["feature"], ours["alternate"]) == (NONE, NONE)
    assert (ours["weight"], ours["active"]) == (leaf.weight, leaf.active)
    close(ours["last_attempt"], leaf.last_attempt)
    shared = ours if ours["shares"] == NONE else tree.nodes[ours["shares"]]
    close(shared["error"], leaf.error.value)
    assert (tree.slots[s]["n_sets"], int(tree.slots[s]["draws"])) == (len(leaf.sets), leaf.numbers.state)
    assert_same_window(leaf, tree, s)
    coefs = np.array(leaf.coefs).transpose(2, 0, 1).reshape(tree.coefs[s].shape)
    close(tree.coefs[s], coefs, scale=max(1.0, np.abs(coefs).max()))
    if leaf.active:
        assert_same_observers(slow, leaf, tree, s)


def assert_same_window(leaf, tree, s):
    n_rows, window = tree.slots[s]["n_rows"], tree.rows.shape[1]
    places = [r % window for r in range(max(n_rows - window, 0), n_rows)]
    for place, (x, y) in zip(places, leaf.rows, strict=True):
        assert (tree.rows[s, place].tolist(), tree.labels[s, place].tolist()) == (x, y)
        assert tree.ranks[s, place] == leaf.sets.index(tuple(y))
    if leaf.sets:
        assert tuple(tree.labels[s, window]) == leaf.sets[0]


def assert_same_observers(slow, leaf, tree, s):
    for o, key in enumerate(keys(slow.n_labels)):
        for f in range(slow.d):
            one = leaf.observers.get(f, {}).get(key)
            close(tree.observed[s, o], one.n if one else 0.0)
            if one:
                close(tree.moments[s, o, :, f], [one.mean, one.squares, one.low, one.high], scale=1e4)
