"""The iSOUP tree, its search trees and its models are those of a loop over lists of rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators._kernels.label_codes import UNKNOWN
from estimators.trees._kernels.categories import MULTIWAY, free_values, with_values, write_bins
from estimators.trees._kernels.isoup import RegressionChunk, RegressionTreeParams, learn, predict
from estimators.trees._kernels.regression_arrays import new_tree
from estimators.trees._kernels.tree_arrays import NONE
from tests.estimators.trees.kernels.slow_isoup import Branch, SlowIsoup, n_places
from tests.scattered import tables

close = np.testing.assert_allclose


@st.composite
def streams(draw):
    """Draw rows, targets with unknown cells (NaN), weights, and nominal features.

    Values round to the same tenth, some of them from a tie; targets differ everywhere, so that merits do. Some codes
    come late.
    """
    n, d, n_targets = (draw(st.sampled_from(sizes)) for sizes in ((150, 90, 250, 20), (2, 1, 5), (3, 1, 2)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    # features that are about as good as each other, so that leaves prune
    X[:, 1:] += draw(st.sampled_from([0.0, 3.0])) * X[:, :1]
    nominal = np.array(draw(st.sampled_from([[], [], [d - 1], list(range(d)), list(range(1, d))])), np.int32)
    codes = rng.integers(0, draw(st.sampled_from([3, 4, 12])), (n, len(nominal)))
    codes[: 2 * n // 3] = np.maximum(codes[: 2 * n // 3], draw(st.sampled_from([0, 1])))
    signal = np.where(X > 0.3, 1.0, 0.0)
    signal[:, nominal] = 2.0 * rng.random(12)[codes]
    Y = signal[:, np.arange(n_targets) % d] + 0.3 * rng.random((n, n_targets))
    first_hidden, share = draw(st.sampled_from([30, 0, 150])), draw(st.sampled_from([0.1, 0.5]))
    hidden = (rng.random(Y.shape) < share) & (np.arange(n) >= first_hidden)[:, np.newaxis]
    hidden[np.arange(n), rng.integers(0, n_targets, n)] = False
    weights = draw(tables((n,), (1.0, 0.5, 2.0, 0.0)))
    # models of huge values take the steepest steps
    X = draw(st.sampled_from([1.0, 1.0, 1.0, 1e8])) * np.round(X, 2)
    X[:, nominal] = codes
    return X, np.where(hidden, np.nan, Y), weights, nominal


PARAMS = st.builds(
    RegressionTreeParams,
    st.sampled_from([40.0, 5.0, 12.0, 20.5, 40.0]),
    st.sampled_from([0.9, 0.5, 0.05]),
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from([1e9, 1e9, 1e9, 6000.0, 2500.0, 0.0]),
)


@pytest.mark.slow
@settings(max_examples=120)
@given(streams(), PARAMS, st.lists(st.integers(0, 150), max_size=4))
def test_the_tree_is_that_of_lists_of_rows(stream, params, cuts):
    X, Y, weights, nominal = stream
    slow, expected = SlowIsoup(X.shape[1], Y.shape[1], params, set(nominal.tolist())), []
    for x, y, w in zip(X.tolist(), Y.tolist(), weights.tolist(), strict=True):
        expected.append(slow.predict(x))
        slow.learn(x, y, w)
        if slow.tied:
            break
    X, Y, weights = X[: len(expected)], Y[: len(expected)], weights[: len(expected)]
    tree = new_tree(X.shape[1], Y.shape[1], nominal)
    cuts = sorted({0, len(X), *(cut for cut in cuts if cut < len(X))})
    for k, (a, b) in enumerate(pairwise(cuts)):
        # every other chunk is learnt without predictions
        proba = np.empty((0 if k % 2 else b - a, Y.shape[1]))
        targets, w = np.where(np.isnan(Y[a:b]), UNKNOWN, Y[a:b]), weights[a:b]
        rows, tree = binned(X[a:b], nominal, tree)
        chunk = RegressionChunk(rows, targets, w if (w != 1).any() else np.empty(0))
        tree = learn(tree, chunk, params, proba)
        close(proba, np.array(expected)[a:b][: len(proba)], atol=1e-9)
    if not slow.tied:
        # each second row has codes that were never seen
        X[::2, nominal] = 99.0
        rows = binned(X, nominal, tree)[0]
        rows[::2, nominal] = NONE
        proba = np.empty(Y.shape)
        predict(tree, rows, proba)
        close(proba, [slow.predict(x) for x in X.tolist()], atol=1e-9)
        assert_same_tree(slow, tree)


def binned(X, nominal, tree):
    """Return rows with bins in the place of codes, and the tree that knows these."""
    X, values, done = X.copy(), tree.categories.values.copy(), 0
    while (done := write_bins(X, nominal, values, True, done)) < len(X) * len(nominal):
        values = np.hstack([values, free_values(*values.shape)])
    return X, tree._replace(categories=with_values(tree.categories, values)) if len(nominal) else tree


def assert_same_tree(slow, tree):
    """Compare the nodes, then the numbers of places in use, and those that are free."""
    n_nodes = assert_same_node(slow, slow.root, tree, 0)
    leaves, free = slow.leaves(slow.root), chain_of(tree.search)
    assert tree.counts.tolist() == [n_nodes, len(leaves)]
    n_values = sum(n_places(values) for leaf in leaves for values in leaf.values)
    assert (len(set(free)), tree.search.free[1], len(tree.search.places) - n_values) == (len(free),) * 3


def assert_same_node(slow, node, tree, i):
    """Compare a node and those below it, and return how many they are."""
    ours = tree.nodes[i]
    if isinstance(node, Branch):
        children = children_of(tree, i)
        codes = codes_of(tree, node.feature) if node.is_nominal else {}
        if node.test is None:
            assert ours["threshold"] == MULTIWAY
            assert [codes[tree.categories.links[child]["bin"]] for child in children] == list(node.children)
        else:
            assert codes.get(ours["threshold"], ours["threshold"]) == node.test
        assert ours["feature"] == node.feature
        below = zip(node.children.values(), children, strict=True)
        return 1 + sum(assert_same_node(slow, child, tree, k) for child, k in below)
    assert (ours["feature"], ours["active"], ours["last_attempt"]) == (NONE, node.active, node.last)
    assert_same_sums(slow, node.rows, tree, i, slow.means(node))
    # steps that are too long multiply what was rounded
    close(tree.coefs[ours["leaf"]], node.coefs, rtol=1e-6, atol=1e-9 * max(1.0, np.abs(node.coefs).max()))
    close(tree.errors[ours["leaf"]], node.errors, atol=1e-9)
    for f, (values, root) in enumerate(zip(node.values, tree.roots[ours["leaf"]], strict=True)):
        if f in slow.nominal:
            assert_same_bins(slow, values or {}, tree.search, root, codes_of(tree, f))
        else:
            assert_same_values(slow, values, tree.search, root)
    return 1


def children_of(tree, i):
    """Return the children of a branch."""
    node, categories = tree.nodes[i], tree.categories
    children = [node["left"]]
    if len(categories.places) and categories.places[node["feature"]] != NONE and node["threshold"] == MULTIWAY:
        while children[-1] != node["right"]:
            children.append(categories.links[children[-1]]["next"])
        return children
    return [*children, node["right"]]


def codes_of(tree, f):
    """Return the code of each bin of a nominal feature."""
    values = tree.categories.values[tree.categories.places[f]]
    return {value["bin"]: value["code"] for value in values if value["bin"] != NONE}


def assert_same_sums(slow, rows, sums, i, mean):
    weights, _, squares = slow.spread(rows)
    assert np.array_equal(np.broadcast_to(sums.weights[i], weights.shape), weights)
    close(sums.mean[i], mean, atol=1e-9)
    close(sums.squares[i], squares, atol=1e-9)


def assert_same_bins(slow, rows, search, root, codes):
    found = {codes[search.places[i]["key"]]: i for i in places_below(search, root)}
    assert found.keys() == rows.keys()
    for code, i in found.items():
        assert_same_sums(slow, rows[code], search, i, slow.spread(rows[code])[1])


def places_below(search, root):
    """Return the places of a search tree."""
    if root == NONE:
        return []
    place = search.places[root]
    return [root, *places_below(search, place["left"]), *places_below(search, place["right"])]


def assert_same_values(slow, value, search, i):
    assert (value is None) == (i == NONE)
    if value is None:
        return
    assert search.places[i]["key"] == value.key
    assert_same_sums(slow, value.rows, search, i, slow.spread(value.rows)[1])
    assert_same_values(slow, value.left, search, search.places[i]["left"])
    assert_same_values(slow, value.right, search, search.places[i]["right"])


def chain_of(search):
    """Return the free places of search trees."""
    places, i = [], search.free[0]
    while 0 <= i < len(search.places) and len(places) <= len(search.places):
        places.append(int(i))
        i = search.places[i]["left"]
    return places
