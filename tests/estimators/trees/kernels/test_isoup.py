"""The iSOUP tree, its search trees and its models are those of a loop over lists of rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.label_codes import UNKNOWN
from estimators.trees._kernels.isoup import RegressionChunk, RegressionTreeParams, learn, predict
from estimators.trees._kernels.regression_arrays import new_tree
from estimators.trees._kernels.tree_arrays import NONE
from tests.estimators.trees.kernels.slow_isoup import Branch, SlowIsoup
from tests.scattered import tables

close = np.testing.assert_allclose


@st.composite
def streams(draw):
    """Draw rows, targets with unknown cells (NaN), and weights.

    Values round to the same tenth, some of them from a tie; targets differ everywhere, so that merits do.
    """
    n, d, n_targets = (draw(st.sampled_from(sizes)) for sizes in ((90, 150, 20), (2, 1, 5), (3, 1, 2)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    # features that are about as good as each other, so that leaves prune
    X[:, 1:] += draw(st.sampled_from([0.0, 3.0])) * X[:, :1]
    Y = (X[:, np.arange(n_targets) % d] > 0.3) + 0.3 * rng.random((n, n_targets))
    first_hidden, share = draw(st.sampled_from([30, 0, 150])), draw(st.sampled_from([0.1, 0.5]))
    hidden = (rng.random(Y.shape) < share) & (np.arange(n) >= first_hidden)[:, np.newaxis]
    hidden[np.arange(n), rng.integers(0, n_targets, n)] = False
    weights = draw(tables((n,), (1.0, 0.5, 2.0, 0.0)))
    # models of huge values take the steepest steps
    X = draw(st.sampled_from([1.0, 1.0, 1.0, 1e8])) * np.round(X, 2)
    return X, np.where(hidden, np.nan, Y), weights


PARAMS = st.builds(
    RegressionTreeParams,
    st.sampled_from([5.0, 12.0, 20.5]),
    st.sampled_from([0.9, 0.5, 0.05]),
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from([1e9, 6000.0, 2500.0, 0.0]),
)


@pytest.mark.slow
@settings(max_examples=80)
@given(streams(), PARAMS, st.lists(st.integers(0, 150), max_size=4))
def test_the_tree_is_that_of_lists_of_rows(stream, params, cuts):
    X, Y, weights = stream
    slow, expected = SlowIsoup(X.shape[1], Y.shape[1], params), []
    for x, y, w in zip(X.tolist(), Y.tolist(), weights.tolist(), strict=True):
        expected.append(slow.predict(x))
        if w:
            slow.learn(x, y, w)
        if slow.tied:
            break
    X, Y, weights = X[: len(expected)], Y[: len(expected)], weights[: len(expected)]
    tree = new_tree(X.shape[1], Y.shape[1])
    cuts = sorted({0, len(X), *(cut for cut in cuts if cut < len(X))})
    for k, (a, b) in enumerate(pairwise(cuts)):
        # every other chunk is learnt without predictions
        proba = np.empty((0 if k % 2 else b - a, Y.shape[1]))
        targets, w = np.where(np.isnan(Y[a:b]), UNKNOWN, Y[a:b]), weights[a:b]
        chunk = RegressionChunk(X[a:b], targets, w if (w != 1).any() else np.empty(0))
        tree = learn(tree, chunk, params, proba)
        close(proba, np.array(expected)[a:b][: len(proba)], atol=1e-9)
    if not slow.tied:
        proba = np.empty(Y.shape)
        predict(tree, X, proba)
        close(proba, [slow.predict(x) for x in X.tolist()], atol=1e-9)
        assert_same_tree(slow, tree)


def assert_same_tree(slow, tree):
    """Compare the nodes, then the numbers of places in use, and those that are free."""
    assert_same_node(slow, slow.root, tree, 0)
    leaves, free = slow.leaves(slow.root), chain_of(tree.search)
    assert tree.counts.tolist() == [2 * len(leaves) - 1, len(leaves)]
    n_values = sum(n_places(value) for leaf in leaves for value in leaf.values)
    assert (len(set(free)), tree.search.free[1], len(tree.search.places) - n_values) == (len(free),) * 3


def assert_same_node(slow, node, tree, i):
    ours = tree.nodes[i]
    if isinstance(node, Branch):
        assert (ours["feature"], ours["threshold"]) == (node.feature, node.threshold)
        assert_same_node(slow, node.left, tree, ours["left"])
        assert_same_node(slow, node.right, tree, ours["right"])
        return
    assert (ours["feature"], ours["active"], ours["last_attempt"]) == (NONE, node.active, node.last)
    weights, _, squares = slow.spread(node.rows)
    assert np.array_equal(np.broadcast_to(tree.weights[i], weights.shape), weights)
    close(tree.mean[i], slow.means(node), atol=1e-9)
    close(tree.squares[i], squares, atol=1e-9)
    # steps that are too long multiply what was rounded
    close(tree.coefs[ours["leaf"]], node.coefs, rtol=1e-6, atol=1e-9 * max(1.0, np.abs(node.coefs).max()))
    close(tree.errors[ours["leaf"]], node.errors, atol=1e-9)
    for value, root in zip(node.values, tree.roots[ours["leaf"]], strict=True):
        assert_same_values(slow, value, tree.search, root)


def assert_same_values(slow, value, search, i):
    assert (value is None) == (i == NONE)
    if value is None:
        return
    weights, mean, squares = slow.spread(value.rows)
    assert search.places[i]["key"] == value.key
    assert np.array_equal(np.broadcast_to(search.weights[i], weights.shape), weights)
    close(search.mean[i], mean, atol=1e-9)
    close(search.squares[i], squares, atol=1e-9)
    assert_same_values(slow, value.left, search, search.places[i]["left"])
    assert_same_values(slow, value.right, search, search.places[i]["right"])


def n_places(value):
    return len(list(value.below())) if value else 0


def chain_of(search):
    """Return the free places of search trees."""
    places, i = [], search.free[0]
    while 0 <= i < len(search.places) and len(places) <= len(search.places):
        places.append(int(i))
        i = search.places[i]["left"]
    return places
