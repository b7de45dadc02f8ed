"""Paths of rows through trees, beside loops over nodes in Python."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import norm

from estimators import (
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
    ISOUPTreeClassifier,
    MultiLabelHoeffdingAdaptiveTreeClassifier,
)
from estimators.trees._graphviz import class_weights
from estimators.trees._kernels.tree_arrays import NONE


def leaves_below(arrays, i):
    node = arrays.nodes[i]
    if node["feature"] == NONE:
        return [i]
    return [*leaves_below(arrays, node["left"]), *leaves_below(arrays, node["right"])]


def slow_share(arrays, i):
    """Return the share of class 1 in the leaves below a node."""
    weights = np.zeros(2)
    for leaf in leaves_below(arrays, i):
        for code, weight in class_weights(arrays, leaf):
            weights[code] += weight
    return weights[1] / weights.sum() if weights.sum() else 0.0


def slow_bayes(arrays, i, x):
    """Return what each feature adds by naive Bayes: the slope of log-odds times its log likelihood ratio."""
    node, logs = arrays.nodes[i], {}
    observers, weights = {}, dict(class_weights(arrays, i))
    s = node["stats"]
    while s != NONE:
        observers[int(arrays.stats[s]["code"])] = arrays.stats[s]["observer"]
        s = arrays.stats[s]["next"]
    uses = node["active"] and node["bayes_hits"] >= node["majority_hits"]
    if not uses or len(weights) < 2 or min(weights.values()) == 0:
        return np.zeros(len(x))
    for code, o in observers.items():
        logs[code] = np.zeros(len(x))
        if o == NONE:
            # no row since the split
            continue
        n, mean, squares = arrays.observers[o]["weight"], arrays.moments[o, 0], arrays.moments[o, 1]
        spread = np.sqrt(squares / max(n - 1, 1))
        varies = (squares > 0) & (n > 1)
        logs[code] = np.where(varies, norm.logpdf(x, mean, np.where(varies, spread, 1)), 0.0)
    ratio, before = logs[1] - logs[0], np.log(weights[1] / weights[0])
    first, last = (1 / (1 + np.exp(-np.clip(z, -700, 700))) for z in (before, before + ratio.sum()))
    return ratio * (last - first) / ratio.sum() if ratio.any() else ratio


def slow_contributions(arrays, root, x):
    added, i = np.zeros(len(x)), root
    while (feature := arrays.nodes[i]["feature"]) != NONE:
        side = "left" if x[feature] <= arrays.nodes[i]["threshold"] else "right"
        added[feature] += slow_share(arrays, arrays.nodes[i][side]) - slow_share(arrays, i)
        i = arrays.nodes[i][side]
    return added + slow_bayes(arrays, i, x)


@example(seed=537, n_rows=199)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(20, 1200))
def test_a_path_adds_changes_of_shares_and_what_naive_bayes_says(seed, n_rows):
    X = np.random.default_rng(seed).normal(size=(n_rows + 10, 4))
    tree = HoeffdingTreeClassifier(delta=0.5, grace_period=50, tau=0.3).partial_fit(X[:n_rows], X[:n_rows, :1] > 0.4)
    found = tree.explain(X[n_rows:])
    arrays, t = tree.bank_.find(0)
    root = int(arrays.trees[t]["root"])
    for x, contributions in zip(X[n_rows:], found.contributions[:, 0], strict=True):
        assert contributions == pytest.approx(slow_contributions(arrays, root, x), abs=1e-8)
    assert found.base[0] == pytest.approx(slow_share(arrays, root))


@given(seed=st.integers(0, 10**6))
def test_an_adaptive_tree_without_alternate_leaves_is_its_main_path(seed):
    X = np.random.default_rng(seed).normal(size=(810, 3))
    tree = HoeffdingAdaptiveTreeClassifier(grace_period=100, delta=0.5, tau=0.3, random_state=None)
    tree.partial_fit(X[:800], X[:800, :1] > 0)
    trees = tree.bank_.tree_arrays[0]
    found, root = tree.explain(X[800:]), int(trees.arrays.trees[0]["root"])
    if (trees.monitors["alternate"] == NONE).all():
        for x, contributions in zip(X[800:], found.contributions[:, 0], strict=True):
            assert contributions == pytest.approx(slow_contributions(trees.arrays, root, x), abs=1e-8)
    total = found.base + found.contributions.sum(axis=2) + found.interactions.sum(axis=2)
    assert total == pytest.approx(found.scores, abs=1e-9)


@given(seed=st.integers(0, 10**6), is_adaptive=st.booleans())
def test_a_path_of_any_tree_leads_from_the_share_at_the_root_to_that_in_the_leaf(seed, is_adaptive):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(610, 3))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(610, 2)) > 0.4).astype(int)
    settings = {"grace_period": 50, "delta": 0.5, "tau": 0.3}
    kind = MultiLabelHoeffdingAdaptiveTreeClassifier if is_adaptive else ISOUPTreeClassifier
    learner = kind(**settings).partial_fit(X[:600], Y[:600])
    tree, found = learner.tree_, learner.explain(X[600:])
    root = int(tree.state["root"][0]) if is_adaptive else 0

    def share(i):
        total = sum((learner._leaf_weights(leaf) for leaf in leaves_below(tree, i)), np.zeros((2, 2)))
        return total[:, 1] / total.sum(axis=1)

    for x, contributions in zip(X[600:], found.contributions, strict=True):
        added, i = np.zeros((2, 3)), root
        while (feature := tree.nodes[i]["feature"]) != NONE:
            child = tree.nodes[i]["left" if x[feature] <= tree.nodes[i]["threshold"] else "right"]
            added[:, feature] += share(child) - share(i)
            i = child
        assert contributions == pytest.approx(added, abs=1e-9)
    assert found.base == pytest.approx(share(root))
