"""The extremely fast decision tree has every node of River's, after every kind of revision."""

import math
import pickle
from collections import Counter

import numpy as np
import pytest
from river.proba import Gaussian
from river.tree import ExtremelyFastDecisionTreeClassifier as RiverTree

from estimators import BinaryRelevance, LabelCombination
from estimators.trees._graphviz import class_weights
from estimators.trees._kernels.tree_arrays import NONE
from estimators.trees.extremely_fast_tree import ExtremelyFastDecisionTreeClassifier
from tests.estimators import streams
from tests.loops import check_all

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


# ---------------------------------------------------------------- River's decisions
class RecordingTree(RiverTree):
    """River's tree, which counts what becomes of its nodes, and where that is lost."""

    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.events = Counter()

    def _reevaluate_best_split(self, node, parent, branch_index, **parts):
        before = list(node.children)
        stopped = super()._reevaluate_best_split(node, parent, branch_index, **parts)
        now = self._root if parent is None else parent.children[branch_index]
        if now is node:
            event = "stopped" if stopped else "kept"
        elif not hasattr(now, "children"):
            event = "closed"
        else:
            event = "replaced" if stopped else "moved"
            assert stopped or all(a is b for a, b in zip(before, now.children, strict=True))
        self._record(event, parent)
        return stopped

    def _attempt_to_split(self, node, parent, branch_index, **parts):
        super()._attempt_to_split(node, parent, branch_index, **parts)
        now = self._root if parent is None else parent.children[branch_index]
        event = "split" if now is not node else "tried" if node.is_active() else "switched off"
        self._record(event, parent)

    def _record(self, event, parent):
        reached = parent is None or any(one is parent for one in self._root.iter_dfs())
        self.events[event if reached else f"{event}, lost"] += 1


@pytest.fixture(autouse=True)
def square_roots(monkeypatch):
    """Let River take square roots: its ``** 0.5`` has another last bit once in 1,300 times."""
    monkeypatch.setattr(Gaussian, "sigma", property(lambda self: math.sqrt(self._var.get())))


def assert_same_nodes(node, arrays, i):
    """Compare everything that River's node holds, and return the number of splits below it."""
    ours = arrays.nodes[i]
    assert ours["depth"] == node.depth
    assert class_weights(arrays, i) == list(node.stats.items())
    if hasattr(node, "children"):
        assert (ours["feature"], ours["threshold"]) == (node.feature, node.threshold)
        # River adds up weights with Python's `sum`, which rounds less since Python 3.12
        np.testing.assert_allclose(ours["last_attempt"], node.last_split_reevaluation_at, rtol=1e-14)
        sides = zip(node.children, (ours["left"], ours["right"]), strict=True)
        return 1 + sum(assert_same_nodes(child, arrays, place) for child, place in sides)
    assert ours["feature"] == NONE
    assert ours["active"] == node.is_active()
    assert (ours["majority_hits"], ours["bayes_hits"]) == (node._mc_correct_weight, node._nb_correct_weight)
    np.testing.assert_allclose(ours["last_attempt"], node.last_split_attempt_at, rtol=1e-14)
    return 0


def compare(X, y, n_classes, *, chunk=100, weights=None, **parameters):
    """Compare all nodes after each chunk, and the votes for each row; return River's tree."""
    rivers = RecordingTree(**parameters)
    ours = ExtremelyFastDecisionTreeClassifier(**parameters).begin(X, y, classes=np.arange(n_classes))
    for start in range(0, len(X), chunk):
        rows = slice(start, start + chunk)
        if weights is None:
            _, proba = ours.predict_then_fit(X[rows], y[rows])
        else:
            ours.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
        for r, (row, code) in enumerate(zip(X[rows].tolist(), y[rows].tolist(), strict=True)):
            x = dict(enumerate(row))
            vote = rivers.predict_proba_one(x)
            if weights is None and sum(vote.values()):
                np.testing.assert_allclose(proba[r], [vote.get(c, 0.0) for c in range(n_classes)], atol=1e-9)
            rivers.learn_one(x, code, w=1.0 if weights is None else weights[start + r])
        arrays, place = ours.bank_.find(0)
        assert_same_nodes(rivers._root, arrays, arrays.trees[place]["root"])
    return rivers


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, EAGER, {**EAGER, "tau": 0.02, "max_depth": 2}])
@pytest.mark.parametrize("label", [0, *(pytest.param(label, marks=pytest.mark.slow) for label in (1, 2, 3))])
def test_every_node_is_rivers_on_synthetic_rand(shared_data, parameters, label):
    X, Y = streams.rand(shared_data)
    assert compare(X, Y[:, label], 2, **parameters).n_branches > 0


@pytest.mark.slow
@pytest.mark.parametrize("label", [0, 5])
def test_every_node_is_rivers_on_yeast(shared_data, label):
    X, Y = streams.yeast(shared_data)
    assert compare(X[:700], Y[:700, label], 2, **EAGER).n_branches > 1


@pytest.mark.slow
def test_every_node_is_rivers_with_many_classes(shared_data):
    X, Y = streams.rand(shared_data)
    assert compare(X, Y @ [1, 2, 4, 8], 16, grace_period=100, delta=0.1, tau=0.2).n_branches > 3


def test_every_node_is_rivers_where_features_tie_or_never_vary():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(800, 4)).astype(float)
    X = np.hstack([X, X[:, :1], np.ones((800, 1)), 1e-9 * X[:, 1:2], 1e9 * X[:, 2:3]])
    y = (X[:, 0] + X[:, 1] > 2).astype(int)
    assert compare(X, y, 2, **EAGER).n_branches > 1


@pytest.mark.slow
def test_weights_are_rivers():
    X, Y = streams.drawn()
    weights = np.random.default_rng(1).integers(1, 4, size=len(X)).astype(float)
    assert compare(X, Y[:, 0], 2, weights=weights, **EAGER).n_branches > 1


@pytest.mark.slow  # tests/estimators/trees/kernels/test_revising.py draws such cases
def test_every_revision_of_rivers_is_ours():
    events = Counter()
    for seed in range(60):
        X, y, n_classes, parameters = streams.shifting(seed)
        events += compare(X, y, n_classes, chunk=37, **parameters).events
    kinds = {"kept", "stopped", "moved", "replaced", "closed", "split", "tried", "switched off"}
    assert {*events} >= kinds | {f"{kind}, lost" for kind in ("kept", "moved", "replaced", "split", "tried")}


def test_senseless_parameters_are_refused():
    def check(parameters, message):
        with pytest.raises(ValueError, match=message):
            ExtremelyFastDecisionTreeClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])

    check_all(
        [
            ({"grace_period": 0}, "grace_period must be at least 1. Got 0"),
            ({"min_samples_reevaluate": 0}, "min_samples_reevaluate must be at least 1. Got 0"),
            ({"max_share_to_split": 0}, r"max_share_to_split must be in \(0, 1\]. Got 0"),
            ({"max_share_to_split": 1.1}, r"max_share_to_split must be in \(0, 1\]. Got 1.1"),
            ({"max_share_to_split": None}, r"max_share_to_split must be in \(0, 1\]. Got None"),
            ({"min_samples_reevaluate": "20"}, "min_samples_reevaluate must be at least 1. Got '20'"),
            ({"min_samples_reevaluate": float("nan")}, "min_samples_reevaluate must be at least 1. Got nan"),
        ],
        lambda case: check(*case),
    )


# ------------------------------------------------------------------------------- use
def test_a_rare_label_is_learnt_only_if_its_leaf_may_be_nearly_pure():
    rng = np.random.default_rng(0)
    X = rng.random((6000, 2))
    y = (X[:, 0] > 0.995).astype(int)
    usual, pure = (
        ExtremelyFastDecisionTreeClassifier(max_share_to_split=share).fit(X, y).predict(X) for share in (0.99, 1.0)
    )
    assert not usual.any()
    assert (pure == y).mean() > 0.999


def test_a_saved_tree_goes_on_in_the_middle_of_a_leaf():
    X, Y = streams.drawn()
    whole = ExtremelyFastDecisionTreeClassifier(**EAGER).fit(X, Y)
    part = ExtremelyFastDecisionTreeClassifier(**EAGER).fit(X[:777], Y[:777])
    part = pickle.loads(pickle.dumps(part)).partial_fit(X[777:], Y[777:])  # noqa: S301 - our own bytes
    assert np.array_equal(whole.predict_proba(X), part.predict_proba(X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_binary_relevance_holds_a_tree_for_each_label(n_jobs):
    X, Y = streams.drawn(700)
    X, Y = np.tile(X, (1, 20)), np.tile(Y, 2)
    together = BinaryRelevance(ExtremelyFastDecisionTreeClassifier(**EAGER), n_jobs=n_jobs).begin(X, Y)
    decided, proba = together.predict_then_fit(X, Y)
    for j in range(3):
        alone = ExtremelyFastDecisionTreeClassifier(**EAGER).begin(X, Y[:, [j]]).predict_then_fit(X, Y[:, [j]])
        assert np.array_equal(decided[:, [j]], alone[0])
        assert np.array_equal(proba[:, [j]], alone[1])


def test_label_sets_that_appear_grow_the_tree_inside():
    X, Y = streams.drawn()
    learner = LabelCombination(ExtremelyFastDecisionTreeClassifier(**EAGER)).fit(X, Y)
    assert (learner.predict(X) == Y).mean() > 0.75
