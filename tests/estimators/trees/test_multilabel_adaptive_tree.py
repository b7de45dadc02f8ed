"""MLHAT: a slow loop of objects, bounded memory, and published scores."""

from itertools import product

import numpy as np
import pytest
from sklearn.utils import check_random_state

from estimators.trees._kernels.mlhat.arrays import NONE, slot_bytes
from estimators.trees.multilabel_adaptive_tree import MultiLabelHoeffdingAdaptiveTreeClassifier as Tree
from tests.estimators import streams
from tests.estimators.trees.kernels.comparing import chain
from tests.estimators.trees.slow_adaptive import SlowAdaptiveTree, drifting
from tests.loops import check_all

EAGER = {
    "grace_period": 60,
    "delta": 0.1,
    "tau": 0.3,
    "drift_window_threshold": 30,
    "cardinality_threshold": 80,
    "window": 25,
    "n_models": 3,
    "random_state": 0,
}
HASTY = {**EAGER, "switch_significance": 0.9}


# -------------------------------------------------------------- the slow loop
def slow_twin(tree, d, n_labels):
    parameters = tree.get_params()
    seed = int(check_random_state(parameters.pop("random_state")).randint(2**31 - 1))
    return SlowAdaptiveTree(d, n_labels, seed, **parameters)


def assert_same(tree, X, Y):
    """Compare every prediction with the slow loop; return how often it replaced and pruned alternates."""
    slow = slow_twin(tree, X.shape[1], Y.shape[1])
    Y_pred, proba = tree.predict_then_fit(X, Y)
    for t, (x, y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
        votes = np.array(slow.predict_proba(x))
        np.testing.assert_allclose(proba[t], votes[:, 1], atol=1e-9, err_msg=f"row {t}")
        assert Y_pred[t].tolist() == (votes[:, 1] > votes[:, 0]).tolist(), t
        slow.learn(x, y)
    assert (tree.n_switched_, tree.n_pruned_) == (slow.n_switched, slow.n_pruned)
    assert tree.n_splits_ == slow.n_splits > 0
    return tree.n_switched_, tree.n_pruned_


@pytest.mark.slow
def test_without_drift_the_tree_is_the_slow_loop():
    switched, _ = assert_same(Tree(**EAGER), *drifting(1500))
    assert switched > 3


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "every", "entropy"), [(1, 300, 0.3), (2, 200, 1.5)])
def test_under_drift_the_tree_is_the_slow_loop(seed, every, entropy):
    switched, pruned = assert_same(Tree(**HASTY, entropy_threshold=entropy), *drifting(1500, seed=seed, every=every))
    assert switched > 1
    assert pruned > 1


def test_rows_with_weights_are_those_of_the_slow_loop():
    X, Y = drifting(400, seed=4)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 400)
    tree = Tree(**EAGER).partial_fit(X, Y, sample_weight=weight)
    slow = slow_twin(tree, 5, 4)
    for x, y, w in zip(X.tolist(), Y.tolist(), weight.tolist(), strict=True):
        if w:
            slow.learn(x, y, w)
    assert tree.n_splits_ == slow.n_splits > 0
    votes = np.array([slow.predict_proba(x) for x in X.tolist()])
    np.testing.assert_allclose(tree.predict_proba(X), votes[:, :, 1], atol=1e-9)


def test_rows_of_whole_numbers_with_many_ties_are_those_of_the_slow_loop():
    X, Y = drifting(600, seed=5)
    assert_same(Tree(**EAGER, poisson_rate=0.0), np.round(4 * X), Y)


@pytest.mark.parametrize("size", [1, 7])
def test_chunks_change_no_bit(size):
    X, Y = drifting(700, every=200)
    one, other = Tree(**HASTY), Tree(**HASTY)
    whole = one.predict_then_fit(X, Y)[1]
    parts = [other.predict_then_fit(X[a : a + size], Y[a : a + size])[1] for a in range(0, 700, size)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    for ours, theirs in zip(one.tree_.state[0], other.tree_.state[0], strict=True):
        assert ours == theirs


# ------------------------------------------------------------------- places
def below(nodes, i):
    """Return the nodes of a subtree, alternates included."""
    if i == NONE:
        return []
    node = nodes[i]
    children = [] if node["feature"] == NONE else [*below(nodes, node["left"]), *below(nodes, node["right"])]
    return [i, *children, *below(nodes, node["alternate"])]


def test_places_of_dropped_nodes_are_free_again():
    X, Y = drifting(3000, every=150)
    tree = Tree(**HASTY)
    for a in range(0, 3000, 100):
        tree.partial_fit(X[a : a + 100], Y[a : a + 100])
        nodes, slots, state = tree.tree_.nodes, tree.tree_.slots, tree.tree_.state[0]
        used = below(nodes, state["root"])
        assert sorted(used + chain(nodes["left"], state["node"])) == list(range(len(nodes)))
        assert len(used) == len(nodes) - state["n_free_nodes"]
        held = [int(nodes[i]["slot"]) for i in used if nodes[i]["feature"] == NONE]
        assert sorted(held + chain(slots["next"], state["slot"])) == list(range(len(slots)))
        assert state["n_free_slots"] == len(slots) - len(held)
        assert state["n_inactive"] == sum(not nodes[i]["active"] for i in used if nodes[i]["feature"] == NONE)
    assert tree.n_switched_ + tree.n_pruned_ > 10


def test_memory_is_bounded():
    X, Y = drifting(2000, 200, every=200)
    free = Tree(**HASTY).fit(X, Y)
    room = 4 * slot_bytes(free.tree_) + 60_000
    bound = Tree(**HASTY, max_bytes=room).fit(X, Y)
    tight = Tree(**HASTY, max_bytes=0).fit(X, Y)
    assert len(free.tree_.slots) > room // slot_bytes(free.tree_) >= len(bound.tree_.slots) > 1
    assert free.memory_bytes_ > bound.memory_bytes_ > tight.memory_bytes_
    assert bound.n_splits_ > tight.n_splits_ == 0
    assert len(tight.tree_.slots) == 1


def test_a_leaf_counts_its_label_sets():
    rng = np.random.default_rng(0)
    X, Y = rng.random((3000, 2)), rng.integers(0, 2, (3000, 14))
    tree = Tree(random_state=0, delta=1e-300, tau=0, n_models=1).fit(X, Y)
    seen = len(np.unique(Y, axis=0))
    assert seen > 1024
    assert tree.tree_.slots["n_sets"].max() == seen


# --------------------------------------------------------------------- input
def test_rows_known_in_part_are_predicted_and_not_learnt():
    X, Y = drifting(400)
    some = Y.astype(float)
    some[::3, 1] = np.nan
    whole = Tree(**EAGER).fit(np.delete(X, np.s_[::3], axis=0), np.delete(Y, np.s_[::3], axis=0))
    part = Tree(**EAGER)
    shown = part.predict_then_fit(X, some)[1]
    np.testing.assert_array_equal(part.predict_proba(X), whole.predict_proba(X))
    assert shown.shape == Y.shape


def test_huge_features_leave_probabilities():
    X, Y = drifting(300)
    proba = Tree(**EAGER).predict_then_fit(1e200 * X, Y)[1]
    assert ((proba >= 0) & (proba <= 1)).all()


def test_parameters_are_checked():
    def check(parameters, message):
        with pytest.raises(ValueError, match=message):
            Tree(**parameters).fit(*streams.drawn(20))

    check_all(
        [
            ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1. Got 0 instead."),
            ({"window": 1.5}, "window must be an integer of at least 1. Got 1.5 instead."),
            ({"n_models": 0}, "n_models must be an integer of at least 1. Got 0 instead."),
            ({"switch_significance": 0}, r"switch_significance must be in \(0, 1\]. Got 0 instead."),
            ({"poisson_rate": -1}, "poisson_rate must be at least 0. Got -1 instead."),
            ({"learning_rate": 0}, "learning_rate must be greater than 0. Got 0 instead."),
            ({"cardinality_threshold": -1}, "cardinality_threshold must be at least 0. Got -1 instead."),
            ({"delta": 0}, r"delta must be in \(0, 1\]. Got 0 instead."),
            ({"learning_rate": "0.3"}, "learning_rate must be greater than 0. Got '0.3' instead."),
            ({"poisson_rate": None}, "poisson_rate must be at least 0. Got None instead."),
            ({"switch_significance": "x"}, r"switch_significance must be in \(0, 1\]. Got 'x' instead."),
        ],
        lambda case: check(*case),
    )


def test_a_number_of_neighbours_set_later_is_checked():
    def check(n_neighbors, method):
        X, Y = streams.drawn(20)
        tree = Tree().fit(X, Y).set_params(n_neighbors=n_neighbors)
        with pytest.raises(ValueError, match="n_neighbors must be an integer of at least 1"):
            getattr(tree, method)(*((X,) if method == "predict" else (X, Y)))

    check_all(product([0, -1, 1.5, "4"], ["predict", "partial_fit"]), lambda case: check(*case))


# ------------------------------------------------------------------ published
def test_the_published_scores_of_scene_come_out(shared_data):
    """Seeds are ours: bags of the authors are drawn from a number that they drew at random."""
    from benchmarks.reproduction.field_scores import cumulative_scores
    from mlstream import load_dataset

    data = load_dataset(shared_data("multilabel/Scene.arff.gz"), labels=6)
    X, Y = np.asarray(data.X), np.asarray(data.Y).astype(int)
    scores = cumulative_scores(Y, Tree(random_state=0).predict_then_fit(X, Y)[0])
    printed = {"subset": 0.8867, "hamming": 0.0207, "f1_micro": 0.9364, "f1_macro": 0.9406}
    for score, value in printed.items():
        assert scores[score] == pytest.approx(value, abs=0.015), score
