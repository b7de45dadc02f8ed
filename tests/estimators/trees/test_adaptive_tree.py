"""Hoeffding adaptive trees: every node is River's, after drifts of every kind; random draws too."""

import numpy as np
import pytest
from river.tree import HoeffdingAdaptiveTreeClassifier as RiverTree

from estimators.trees._graphviz import class_weights
from estimators.trees._kernels.tree_arrays import NONE
from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier
from tests.estimators import streams

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


def drifting(n_rows=3000, n_features=4, n_parts=6, *, seed=0, n_classes=2, noise=0.05):
    """Draw rows whose class depends on a threshold, or on two, of other features in each part of the stream."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features)).round(3)
    y = np.empty(n_rows, dtype=int)
    for rows in np.array_split(np.arange(n_rows), n_parts):
        f, g = rng.integers(0, n_features, 2)
        level = rng.uniform(0.2, 0.8)
        y[rows] = ((X[rows, f] > level) + n_classes * rng.random() * X[rows, g] * (rng.random() < 0.7)) % n_classes
        if rng.random() < 0.3:
            y[rows] = n_classes - 1 - y[rows]
    noisy = rng.random(n_rows) < noise
    y[noisy] = rng.integers(0, n_classes, noisy.sum())
    return X, y


def rivers(X, y, weights=None, **parameters):
    tree, votes = RiverTree(**parameters), []
    for i, (row, code) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = dict(enumerate(row))
        votes.append(tree.predict_proba_one(x))
        tree.learn_one(x, code, w=1.0 if weights is None else weights[i])
    return tree, votes


def as_ours(parameters):
    """Give River's parameters our names."""
    return {{"seed": "random_state"}.get(name, name): value for name, value in parameters.items()}


def assert_same_nodes(node, trees, i):
    """Compare everything that River's node holds, and return the numbers of splits below it, and of alternates."""
    ours, monitor = trees.arrays.nodes[i], trees.monitors[i]
    assert class_weights(trees.arrays, i) == list(node.stats.items())
    assert ours["depth"] == node.depth
    assert (monitor["n_rows"], monitor["error"]) == (node._mean_error.n, node._mean_error.get())
    if not node.drift_detector.drift_detected:
        head = trees.windows.heads[i]
        assert (head["width"], head["total"]) == (node.drift_detector.width, node.drift_detector.total)
    if hasattr(node, "children"):
        assert (ours["feature"], ours["threshold"]) == (node.feature, node.threshold)
        assert (monitor["alternate"] == NONE) == (node._alternate_tree is None)
        counts = np.array([1, 0])
        if node._alternate_tree is not None:
            assert_same_nodes(node._alternate_tree, trees, monitor["alternate"])
            counts += [0, 1]
        for child, place in zip(node.children, (ours["left"], ours["right"]), strict=True):
            counts += assert_same_nodes(child, trees, place)
        return counts
    assert ours["feature"] == NONE
    assert bool(ours["active"]) == node.is_active()
    assert (ours["majority_hits"], ours["bayes_hits"]) == (node._mc_correct_weight, node._nb_correct_weight)
    # River adds up weights with Python's `sum`, which rounds less since Python 3.12
    np.testing.assert_allclose(ours["last_attempt"], node.last_split_attempt_at, rtol=1e-14)
    return np.array([0, 0])


def compare(X, y, n_classes=2, weights=None, **parameters):
    river, votes = rivers(X, y, weights, **parameters)
    ours = HoeffdingAdaptiveTreeClassifier(**as_ours(parameters)).begin(X, y, classes=np.arange(n_classes))
    if weights is None:
        decided, proba = ours.predict_then_fit(X, y)
        expected = np.array([[vote.get(c, 0.0) for c in range(n_classes)] for vote in votes])
        voted = expected.sum(axis=1) > 0
        np.testing.assert_allclose(proba[voted], expected[voted], atol=1e-10)
        assert np.array_equal(decided[voted], expected[voted].argmax(axis=1))
    else:
        ours.partial_fit(X, y, sample_weight=weights)
    trees = ours.bank_.tree_arrays[0]
    counts = assert_same_nodes(river._root, trees, trees.arrays.trees[0]["root"])
    events = [river.n_alternate_trees, river.n_pruned_alternate_trees, river.n_switch_alternate_trees]
    assert [ours.n_alternate_[0], ours.n_pruned_[0], ours.n_switched_[0]] == events
    assert_no_place_is_lost(trees)
    return np.array([*counts, *events])


def assert_no_place_is_lost(trees):
    """Check that what the trees hold and what is free are all places that there are."""
    arrays, free = trees.arrays, trees.arrays.free[0]
    for name, places in (("nodes", arrays.nodes), ("stats", arrays.stats), ("observers", arrays.observers)):
        assert arrays.trees[f"n_{name}"].sum() + free[f"n_{name}"] == len(places)
