"""Parts of trees that revise their splits: a quick proof, places that become free, and bounded memory."""

import numpy as np
import pytest

from estimators.trees._kernels.tree_arrays import NONE
from estimators.trees.extremely_fast_tree import ExtremelyFastDecisionTreeClassifier
from tests.estimators import streams
from tests.estimators.trees.kernels.compiled_search import best_split, is_settled

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


@pytest.mark.slow
def test_a_branch_called_settled_is_never_revised():
    n_settled, n_branches = 0, 0
    for seed in range(60):
        X, y, n_classes, parameters = streams.shifting(seed)
        tree = ExtremelyFastDecisionTreeClassifier(**parameters).begin(X, y, classes=np.arange(n_classes))
        for start in range(0, len(X), 50):
            tree.partial_fit(X[start : start + 50], y[start : start + 50])
            arrays = tree.bank_.find(0)[0]
            for i in in_use(arrays, arrays.trees[0]["root"]):
                current = arrays.nodes[i]["feature"]
                if current == NONE:
                    continue
                feature, _, best, own = best_split(arrays, i, current)
                merits = [best_split(arrays, i, f)[3] for f in range(X.shape[1])]
                assert best == max(merits)
                assert own == merits[current]
                assert feature == max(f for f, merit in enumerate(merits) if merit == best) or best == -np.inf
                for bound in (0.0021, 0.05, 0.5):
                    settled = is_settled(arrays, i, bound)
                    n_settled, n_branches = n_settled + settled, n_branches + 1
                    assert not settled or (feature != NONE and best - own < bound and best > -bound)
    assert 0.2 < n_settled / n_branches < 0.95


def in_use(arrays, i):
    """List a node and all nodes below it."""
    node = arrays.nodes[i]
    below = [] if node["feature"] == NONE else [*in_use(arrays, node["left"]), *in_use(arrays, node["right"])]
    return [i, *below]


def test_places_of_what_was_replaced_are_used_again():
    rng = np.random.default_rng(0)
    X = rng.random((12_000, 3))
    y = (X[np.arange(len(X)), np.arange(len(X)) // 400 % 3] > 0.5).astype(int)
    tree = ExtremelyFastDecisionTreeClassifier(grace_period=20, delta=0.5, tau=0.0).begin(X, y)
    for start in range(0, len(X), 400):
        tree.partial_fit(X[start : start + 400], y[start : start + 400])
        arrays = tree.bank_.find(0)[0]
        root, free = arrays.trees[0], arrays.free[0]
        nodes = in_use(arrays, root["root"])
        n_observers = sum(chained(arrays.observers, arrays.nodes[i]["observers"]) for i in nodes)
        n_stats = sum(chained(arrays.stats, arrays.nodes[i]["stats"]) for i in nodes)
        assert (root["n_nodes"], root["n_stats"], root["n_observers"]) == (len(nodes), n_stats, n_observers)
        assert free["n_nodes"] == len(arrays.nodes) - len(nodes)
        assert free["n_observers"] == len(arrays.observers) - n_observers
        leaves = [arrays.nodes[i] for i in nodes if arrays.nodes[i]["feature"] == NONE]
        assert root["n_inactive"] == sum(not leaf["active"] for leaf in leaves)


def chained(places, first):
    """Count the places of a chain."""
    return 0 if first == NONE else 1 + chained(places, places[first]["next"])


def test_a_bound_on_memory_holds_and_still_learns():
    X, Y = streams.drawn(6000, 20)
    free = ExtremelyFastDecisionTreeClassifier(**EAGER).fit(X, Y[:, 0])
    bound = ExtremelyFastDecisionTreeClassifier(**EAGER, max_bytes=12_000).fit(X, Y[:, 0])
    assert bound.memory_bytes_ < free.memory_bytes_ / 2
    arrays = bound.bank_.find(0)[0]
    assert arrays.trees[0]["n_inactive"] > 0
    assert arrays.trees[0]["n_observers"] * arrays.moments[0].nbytes < 12_000
    assert bound.score(X, Y[:, 0]) > 0.7


def test_a_branch_without_memory_for_a_new_class_is_not_revised_any_more():
    X = np.random.default_rng(0).random((3000, 2))
    y = (X[:, 0] > 0.5).astype(int)
    y[1500:] += 2
    tree = ExtremelyFastDecisionTreeClassifier(**EAGER, max_bytes=1500).begin(X, y, classes=np.arange(4))
    tree.partial_fit(X[:1500], y[:1500])
    arrays = tree.bank_.find(0)[0]
    root = arrays.trees[0]["root"]
    assert arrays.nodes[root]["feature"] == 0
    tree.partial_fit(X[1500:], y[1500:])
    arrays = tree.bank_.find(0)[0]
    assert arrays.nodes[root]["feature"] == 0
    assert (arrays.nodes[root]["active"], arrays.nodes[root]["observers"]) == (0, NONE)
    assert arrays.trees[0]["n_observers"] * arrays.moments[0].nbytes < 1500


def test_memory_stays_flat_once_bound():
    rng = np.random.default_rng(0)
    learner = ExtremelyFastDecisionTreeClassifier(grace_period=20, delta=0.5, tau=0.5, max_bytes=20_000)
    sizes = []
    for _ in range(30):
        X = rng.random((1000, 4))
        learner.partial_fit(X, (X[:, 0] > rng.random(1000)).astype(int), classes=[0, 1])
        sizes.append(learner.memory_bytes_)
    assert sizes[-1] == sizes[10]
