import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from river.tree import HoeffdingTreeClassifier as RiverTree

from estimators.trees._graphviz import class_weights
from estimators.trees._kernels.tree_arrays import NONE
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from tests.estimators import streams
from tests.loops import check_all


# ---------------------------------------------------------------- River's decisions
def rivers(X, y, weights=None, **parameters):
    tree, votes = RiverTree(**parameters), []
    for i, (row, code) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = dict(enumerate(row))
        votes.append(tree.predict_proba_one(x))
        tree.learn_one(x, code, w=1.0 if weights is None else weights[i])
    return tree, votes


def assert_same_nodes(node, arrays, i):
    """Compare everything that River's node holds, and return the number of splits below it."""
    ours = arrays.nodes[i]
    if hasattr(node, "children"):
        assert (ours["feature"], ours["threshold"]) == (node.feature, node.threshold)
        left, right = node.children
        below = assert_same_nodes(left, arrays, ours["left"]) + assert_same_nodes(right, arrays, ours["right"])
        return 1 + below
    assert ours["feature"] == NONE
    assert class_weights(arrays, i) == list(node.stats.items())
    assert ours["majority_hits"] == node._mc_correct_weight
    assert ours["bayes_hits"] == node._nb_correct_weight
    # River adds up weights with Python's `sum`, which rounds less since Python 3.12
    np.testing.assert_allclose(ours["last_attempt"], node.last_split_attempt_at, rtol=1e-14)
    return 0


def compare(X, y, n_classes, **parameters):
    tree, votes = rivers(X, y, **parameters)
    ours = HoeffdingTreeClassifier(**parameters).begin(X, y, classes=np.arange(n_classes))
    decided, proba = ours.predict_then_fit(X, y)
    expected = np.array([[vote.get(c, 0.0) for c in range(n_classes)] for vote in votes])
    voted = expected.sum(axis=1) > 0
    np.testing.assert_allclose(proba[voted], expected[voted], atol=1e-10)
    assert np.array_equal(decided[voted], expected[voted].argmax(axis=1))
    arrays, place = ours.bank_.find(0)
    return assert_same_nodes(tree._root, arrays, arrays.trees[place]["root"])


EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"grace_period": 100, "delta": 1e-7, "tau": 0.05}, EAGER])
@pytest.mark.parametrize("label", range(4))
def test_every_node_is_rivers_on_synthetic_rand(shared_data, parameters, label):
    X, Y = streams.rand(shared_data)
    assert compare(X, Y[:, label], 2, **parameters) > 2


@pytest.mark.slow
@pytest.mark.parametrize("label", [0, 5])
def test_every_node_is_rivers_on_yeast(shared_data, label):
    X, Y = streams.yeast(shared_data)
    assert compare(X[:700], Y[:700, label], 2, **EAGER) > 3


def test_every_node_is_rivers_with_many_classes(shared_data):
    X, Y = streams.rand(shared_data)
    assert compare(X, Y @ [1, 2, 4, 8], 16, grace_period=100, delta=0.1, tau=0.2) > 3


def test_every_node_is_rivers_where_features_tie_or_never_vary():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(1200, 4)).astype(float)
    X = np.hstack([X, X[:, :1], np.ones((1200, 1)), 1e-9 * X[:, 1:2], 1e9 * X[:, 2:3]])
    y = (X[:, 0] + X[:, 1] > 2).astype(int)
    assert compare(X, y, 2, **EAGER) > 1


def test_every_node_is_rivers_where_one_class_is_nearly_alone():
    rng = np.random.default_rng(0)
    X = rng.random((1500, 3))
    y = ((X[:, 0] > 0.98) & (rng.random(1500) < 0.3)).astype(int)
    y[1000:] = X[1000:, 1] > 0.5
    assert compare(X, y, 2, **EAGER) > 0


def test_weights_are_rivers():
    X, Y = streams.drawn()
    weights = np.random.default_rng(1).integers(1, 4, size=len(X)).astype(float)
    tree, _ = rivers(X, Y[:, 0], weights, **EAGER)
    ours = HoeffdingTreeClassifier(**EAGER).partial_fit(X, Y[:, 0], sample_weight=weights)
    arrays, place = ours.bank_.find(0)
    assert assert_same_nodes(tree._root, arrays, arrays.trees[place]["root"]) > 2


# ------------------------------------------------------------------------- parameters
def test_depth_is_limited():
    X, Y = streams.drawn()
    shallow = HoeffdingTreeClassifier(**EAGER, max_depth=1).fit(X, Y[:, 0])
    assert shallow.bank_.find(0)[0].nodes["depth"].max() == 1


def test_a_bound_on_memory_holds_and_still_learns():
    X, Y = streams.drawn(6000, 20)
    free = HoeffdingTreeClassifier(**EAGER).fit(X, Y[:, 0])
    bound = HoeffdingTreeClassifier(**EAGER, max_bytes=6000).fit(X, Y[:, 0])
    assert bound.memory_bytes_ < free.memory_bytes_ / 3
    arrays, _ = bound.bank_.find(0)
    tree = arrays.trees[0]
    assert tree["n_inactive"] > 0
    assert tree["n_observers"] * arrays.moments[0].nbytes < 6000
    assert bound.score(X, Y[:, 0]) > 0.7


def test_memory_stays_flat_once_bound():
    rng = np.random.default_rng(0)
    learner = HoeffdingTreeClassifier(grace_period=20, delta=0.5, tau=0.5, max_bytes=20_000)
    sizes = []
    for _ in range(30):
        X = rng.random((1000, 4))
        learner.partial_fit(X, (X[:, 0] > rng.random(1000)).astype(int), classes=[0, 1])
        sizes.append(learner.memory_bytes_)
    assert sizes[-1] == sizes[10]


def test_senseless_parameters_are_refused():
    def check(parameters, message):
        with pytest.raises(ValueError, match=message):
            HoeffdingTreeClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])

    check_all(
        [
            ({"grace_period": 0}, "grace_period must be at least 1. Got 0"),
            ({"delta": 0}, r"delta must be in \(0, 1\]. Got 0"),
            ({"tau": -1}, "tau must be at least 0. Got -1"),
            ({"max_depth": -1}, "max_depth must be None or at least 0. Got -1"),
            ({"max_bytes": -1}, "max_bytes must be at least 0. Got -1"),
            ({"grace_period": "200"}, "grace_period must be at least 1. Got '200'"),
            ({"delta": None}, r"delta must be in \(0, 1\]. Got None"),
            ({"max_depth": "3"}, "max_depth must be None or at least 0. Got '3'"),
        ],
        lambda case: check(*case),
    )


# ------------------------------------------------------------------------------- use
def test_several_classes_by_name():
    X, _ = streams.drawn()
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [0.3, 0.7])]
    tree = HoeffdingTreeClassifier(delta=1e-3).fit(X, y)
    assert tree.classes_.tolist() == ["high", "low", "middle"]
    assert tree.score(X, y) > 0.9


def test_a_saved_tree_goes_on_in_the_middle_of_a_leaf():
    X, Y = streams.drawn()
    whole = HoeffdingTreeClassifier(**EAGER).fit(X, Y)
    part = HoeffdingTreeClassifier(**EAGER).fit(X[:777], Y[:777])
    part = pickle.loads(pickle.dumps(part)).partial_fit(X[777:], Y[777:])  # noqa: S301 - our own bytes
    assert np.array_equal(whole.predict_proba(X), part.predict_proba(X))


def test_a_drawing_names_features_classes_and_thresholds():
    import pandas as pd

    X, Y = streams.drawn()
    frame = pd.DataFrame(X, columns=[f'f"{j}' for j in range(6)])
    tree = HoeffdingTreeClassifier(**EAGER).fit(frame, np.array(["no", "yes"])[Y[:, 0]])
    drawing = tree.to_dot()
    arrays, _ = tree.bank_.find(0)
    root = arrays.nodes[arrays.trees[0]["root"]]
    assert drawing.startswith("digraph")
    assert f'[label="f\\"{root["feature"]} <= {root["threshold"]:.6g}", style=rounded]' in drawing
    assert drawing.count("->") == 2 * drawing.count("style=rounded")
    assert "yes\\n" in drawing
    with pytest.raises(ValueError, match=r"label must be in 0..0. Got 1"):
        tree.to_dot(1)


@pytest.mark.slow  # tests/estimators/test_kernel_cache.py tries it with a small kernel
def test_kernels_come_from_the_cache_the_second_time():
    program = "from estimators.trees.hoeffding import HoeffdingTreeClassifier as T; T().fit([[0.0], [1.0]], [0, 1])"
    environment = {**os.environ, "NUMBA_DEBUG_CACHE": "1"}
    for _ in range(2):
        log = subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)
    assert "data loaded from" in log
    assert "data saved to" not in log
