"""Splits of nominal features by the iSOUP tree are those of River on words."""

import numpy as np
import pytest
from river.linear_model import LinearRegression
from river.tree import ISOUPTreeRegressor

from estimators.trees._kernels.categories import MULTIWAY
from estimators.trees._kernels.isoup import RegressionChunk, RegressionTreeParams, learn, predict
from estimators.trees._kernels.regression_arrays import new_tree
from estimators.trees._kernels.tree_arrays import NONE
from tests.estimators.trees.kernels.test_isoup import binned, children_of, codes_of, places_below
from tests.estimators.trees.test_isoup import assert_same_values


class ModelOfNumbers(LinearRegression):
    """River's model, which fails on words, without them."""

    def predict_one(self, x):
        return super().predict_one(numbers_of(x))

    def learn_one(self, x, y, w=1.0):
        super().learn_one(numbers_of(x), y, w)


def numbers_of(x):
    return {f: value for f, value in x.items() if not isinstance(value, str)}


def drawn(seed, n_values, nominal, n_features, n_targets):
    """Draw rows whose targets depend on pairs of values, on numbers and on chance.

    Two values come late, in rows that often weigh more than the grace period.
    """
    n, rng = 1200, np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_features)), 2)
    codes = np.minimum(rng.geometric(0.35, size=(n, len(nominal))) - 1, n_values - 1)
    late = codes >= n_values - 2
    codes[: n // 2][late[: n // 2]] = 0
    X[:, nominal] = codes
    table = rng.random((n_targets, n_values, n_values))
    share = table[:, codes[:, 0], codes[:, -1]].T + 0.2 * (X[:, :1] > 0)
    Y = (share + 0.3 * rng.normal(size=share.shape) > 0.5).astype(float)
    return X, Y, np.where(late.any(axis=1), rng.choice([1.0, 60.0], n), rng.choice([1.0, 2.0], n))


def compare(X, Y, weights, nominal, **parameters):
    """Compare every prediction and every node, and return the kinds of River's branches and where they grew."""
    river, outputs = ISOUPTreeRegressor(leaf_model=ModelOfNumbers(), **parameters), []
    for row, labels, weight in zip(X.tolist(), Y.tolist(), weights.tolist(), strict=True):
        x = {f: word_of(value) if f in nominal else value for f, value in enumerate(row)}
        prediction = river.predict_one(x)
        outputs.append([prediction.get(j, 0.0) for j in range(Y.shape[1])])
        river.learn_one(x, dict(enumerate(labels)), w=weight)
    proba = np.empty(Y.shape)
    rows, tree = binned(X, nominal, new_tree(X.shape[1], Y.shape[1], nominal))
    params = RegressionTreeParams(*(float(parameters[name]) for name in ("grace_period", "delta", "tau")), 1e9)
    tree = learn(tree, RegressionChunk(rows, Y, weights), params, proba)
    np.testing.assert_allclose(proba, np.clip(outputs, 0, 1), atol=1e-9)
    words = {f: {bin_: word_of(code) for bin_, code in codes_of(tree, f).items()} for f in nominal.tolist()}
    kinds = assert_same_nodes(river._root, tree, 0, words)
    # words that River has never seen
    rows[:, nominal] = NONE
    predict(tree, rows, proba)
    strange = [river.predict_one({f: "new" if f in nominal else v for f, v in enumerate(row)}) for row in X.tolist()]
    np.testing.assert_allclose(proba, np.clip([list(one.values()) for one in strange], 0, 1), atol=1e-9)
    return kinds


def word_of(code):
    return f"{int(code):03d}"


def assert_same_nodes(node, tree, i, words):
    ours = tree.nodes[i]
    if not hasattr(node, "children"):
        assert_same_leaf(node, tree, i, words)
        return set()
    assert ours["feature"] == node.feature
    children = children_of(tree, i)
    if hasattr(node, "threshold"):
        assert ours["threshold"] == node.threshold
    elif hasattr(node, "value"):
        assert words[node.feature][ours["threshold"]] == node.value
    else:
        assert ours["threshold"] == MULTIWAY
        assert [words[node.feature][tree.categories.links[child]["bin"]] for child in children] == list(node._mapping)
    below = [assert_same_nodes(one, tree, k, words) for one, k in zip(node.children, children, strict=True)]
    grew = "grew" if list(getattr(node, "_mapping", ())) != sorted(getattr(node, "_mapping", ())) else "as it was"
    return {type(node).__name__, grew}.union(*below)


def assert_same_leaf(node, tree, i, words):
    ours, leaf = tree.nodes[i], tree.nodes[i]["leaf"]
    assert (ours["feature"], ours["active"]) == (NONE, 1)
    assert (tree.weights[i, 0], ours["last_attempt"]) == (node.total_weight, node.last_split_attempt_at)
    for j, spread in node.stats.items():
        assert tree.mean[i, j] == spread.mean.get()
        # Python's power of 2 differs from a product in one bit of one number in a thousand
        np.testing.assert_allclose(tree.squares[i, j], spread._S, rtol=1e-12)
        models = (node._fmse_mean[j], node._fmse_model[j])
        np.testing.assert_allclose(tree.errors[leaf, j], models, rtol=1e-9)
    for f, splitter in node.splitters.items():
        if f in words:
            assert_same_sums(splitter._statistics, tree.search, tree.roots[leaf, f], words[f])
        else:
            assert_same_values(splitter._root, tree.search, tree.roots[leaf, f])


def assert_same_sums(statistics, search, root, words):
    found = {words[search.places[i]["key"]]: i for i in places_below(search, root)}
    assert found.keys() == statistics.keys()
    for word, spread in statistics.items():
        i = found[word]
        assert search.weights[i] == [spread[0].n]
        assert search.mean[i].tolist() == [one.mean.get() for one in spread.values()]
        assert search.squares[i].tolist() == [one._S for one in spread.values()]


@pytest.mark.parametrize(
    ("nominal", "n_features", "n_values", "n_targets"),
    [([1, 2], 3, 6, 2), ([0, 1, 2], 3, 9, 3), ([0, 1, 3, 4], 5, 4, 1), ([1], 2, 6, 1)],
)
def test_every_node_is_rivers_on_words(nominal, n_features, n_values, n_targets):
    nominal, found = np.array(nominal, np.int32), set()
    for seed in range(5):
        rows = drawn(seed, n_values, nominal, n_features, n_targets)
        found |= compare(*rows, nominal, grace_period=50, delta=1e-2, tau=0.2)
    assert {"NominalMultiwayBranch", "NominalBinaryBranch", "grew"} <= found
    assert ("NumericBinaryBranch" in found) == (len(nominal) < n_features)
