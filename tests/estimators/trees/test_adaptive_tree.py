"""Hoeffding adaptive trees: every node is River's, after drifts of every kind; random draws too."""

import pickle

import numpy as np
import pytest
from river.tree import HoeffdingAdaptiveTreeClassifier as RiverTree

from estimators.meta.binary_relevance import BinaryRelevance
from estimators.meta.classifier_chain import ClassifierChain
from estimators.trees._graphviz import class_weights
from estimators.trees._kernels.tree_arrays import NONE
from estimators.trees.adaptive_tree import HoeffdingAdaptiveTreeClassifier
from tests.estimators import streams
from tests.loops import check_all

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}
HASTY = {"grace_period": 50, "delta": 0.3, "tau": 0.05, "drift_window_threshold": 20, "switch_significance": 0.5}


# -------------------------------------------------------------------- streams
def thresholds(n_classes=2, seed=0, n_rows=3000):
    """Draw rows whose class depends on thresholds of other features in each of six parts of the stream."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 4)).round(3)
    y = np.empty(n_rows, dtype=int)
    for rows in np.array_split(np.arange(n_rows), 6):
        f, g = rng.integers(0, 4, 2)
        y[rows] = ((X[rows, f] > rng.uniform(0.2, 0.8)) + n_classes * rng.random() * X[rows, g]) % n_classes
    noisy = rng.random(n_rows) < 0.05
    y[noisy] = rng.integers(0, n_classes, noisy.sum())
    return X, y


def restless(seed, n_rows=4000, n_features=3):
    """Draw rows whose class is, in parts of the stream, a threshold, exclusive or, rare, frequent, or noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features)).round(3)
    y = np.empty(n_rows, dtype=int)
    for rows in np.array_split(np.arange(n_rows), 8):
        f, g = rng.integers(0, n_features, 2)
        chance = rng.random(len(rows))
        kinds = [X[rows, f] > 0.4, (X[rows, f] > 0.5) ^ (X[rows, g] > 0.5), chance < 0.02, chance < 0.97, chance < 0.5]
        y[rows] = kinds[rng.integers(len(kinds))]
    return X, y


# ----------------------------------------------------------- River's decisions
def rivers(X, y, weights=None, **parameters):
    tree, votes = RiverTree(**parameters), []
    for i, (row, code) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = dict(enumerate(row))
        votes.append(tree.predict_proba_one(x))
        tree.learn_one(x, code, w=1.0 if weights is None else weights[i])
    return tree, votes


def assert_same_nodes(node, trees, i):
    """Compare everything that River's node holds, and return the numbers of splits, and of alternate leaves, below."""
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


def assert_no_place_is_lost(trees):
    """Check that the places that the trees hold and the free ones are all that there are."""
    arrays, free = trees.arrays, trees.arrays.free[0]
    for name in ("nodes", "stats", "observers"):
        assert arrays.trees[f"n_{name}"].sum() + free[f"n_{name}"] == len(getattr(arrays, name))


def compare(X, y, n_classes=2, weights=None, seed=0, **parameters):
    """Compare votes, nodes and events with River's; return the events and the two trees."""
    river, votes = rivers(X, y, weights, seed=seed, **parameters)
    ours = HoeffdingAdaptiveTreeClassifier(random_state=seed, **parameters).begin(X, y, classes=np.arange(n_classes))
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
    events = {
        "alternates": river.n_alternate_trees,
        "pruned": river.n_pruned_alternate_trees,
        "switched": river.n_switch_alternate_trees,
    }
    assert [ours.n_alternate_[0], ours.n_pruned_[0], ours.n_switched_[0]] == list(events.values())
    assert_no_place_is_lost(trees)
    return {"splits": counts[0], **events}, river, ours


@pytest.mark.slow
@pytest.mark.parametrize("bootstrap", [False, True])
def test_every_node_is_rivers_after_drifts(bootstrap):
    events, _, _ = compare(*thresholds(), **EAGER, bootstrap_sampling=bootstrap)
    assert events["splits"] > 3
    assert events["alternates"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("bootstrap", [pytest.param(False, marks=pytest.mark.slow), True])
def test_every_node_is_rivers_where_branches_are_replaced_and_alternates_given_up(bootstrap):
    events = [compare(*restless(seed), **HASTY, bootstrap_sampling=bootstrap, seed=seed)[0] for seed in range(6)]
    for kind in ("splits", "alternates", "pruned", "switched"):
        assert sum(one[kind] for one in events) > 3, kind


@pytest.mark.parametrize("max_depth", [0, 1, 2])
def test_every_node_is_rivers_where_depth_is_limited(max_depth):
    compare(*restless(1), **HASTY, max_depth=max_depth)


@pytest.mark.slow
def test_every_node_is_rivers_with_several_classes_and_weights():
    X, y = thresholds(n_classes=5)
    assert compare(X, y, 5, **EAGER)[0]["splits"] > 3
    weights = np.random.default_rng(1).integers(1, 4, size=len(X)).astype(float)
    assert compare(X, y, 5, weights, **EAGER)[0]["alternates"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("label", range(4))
def test_every_node_is_rivers_on_synthetic_rand(shared_data, label):
    X, Y = streams.rand(shared_data)
    assert compare(X, Y[:, label], **EAGER)[0]["splits"] > 1


@pytest.mark.slow
def test_every_node_is_rivers_on_yeast(shared_data):
    X, Y = streams.yeast(shared_data)
    assert compare(X[:700], Y[:700, 0], **EAGER, drift_window_threshold=50)[0]["splits"] > 1


def test_as_in_river_an_alternate_leaf_of_the_root_that_stops_never_splits_again():
    rng = np.random.default_rng(0)
    X = rng.random((7000, 1))
    y = (X[:, 0] > 0.5).astype(int)
    # next to no positives, and then half of them again
    y[3000:5000] = np.arange(2000) % 150 == 0
    events, river, ours = compare(X, y, **EAGER, drift_window_threshold=200, bootstrap_sampling=False)
    assert events["switched"] == 1
    assert not river._root.is_active()
    assert ours.predict([[0.9]]) == [0]


def test_each_label_draws_as_rivers_tree_does():
    X, Y = streams.drawn(800)
    ours = HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=7).fit(X, Y)
    inside = BinaryRelevance(HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=7), n_jobs=2).fit(X, Y)
    for j in range(Y.shape[1]):
        tree, _ = rivers(X, Y[:, j], **EAGER, seed=7)
        trees = ours.bank_.tree_arrays[0]
        assert assert_same_nodes(tree._root, trees, trees.arrays.trees[j]["root"])[0] > 1
    assert np.array_equal(inside.predict_proba(X), ours.predict_proba(X))


def test_inside_binary_relevance_with_a_seed_each_label_draws_otherwise():
    X, Y = streams.drawn(800)
    Y[:, 1] = Y[:, 0]
    learner = BinaryRelevance(HoeffdingAdaptiveTreeClassifier(**EAGER), random_state=3).fit(X, Y)
    seeds = learner._models.seeds
    assert len(set(seeds)) == 3
    assert not np.array_equal(*learner.predict_proba(X)[:, :2].T)
    alone = HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=seeds[1]).fit(X, Y[:, [1]])
    assert np.array_equal(learner.predict_proba(X)[:, 1], alone.predict_proba(X)[:, 0])


# ------------------------------------------------------------------- parameters
def test_senseless_parameters_are_refused():
    def check(parameters, message):
        with pytest.raises(ValueError, match=message):
            HoeffdingAdaptiveTreeClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])

    check_all(
        [
            ({"grace_period": 0}, "grace_period must be at least 1. Got 0"),
            ({"drift_window_threshold": -1}, "drift_window_threshold must be at least 0. Got -1"),
            ({"drift_window_threshold": "300"}, "drift_window_threshold must be at least 0. Got '300'"),
            ({"drift_delta": None}, r"drift_delta must be in \(0, 1\). Got None"),
            ({"switch_significance": "x"}, r"switch_significance must be in \(0, 1\]. Got 'x'"),
            ({"drift_delta": 1}, r"drift_delta must be in \(0, 1\). Got 1"),
            ({"switch_significance": 0}, r"switch_significance must be in \(0, 1\]. Got 0"),
            ({"random_state": "one"}, "one"),
        ],
        lambda case: check(*case),
    )


def test_a_bound_on_memory_holds_and_still_learns():
    X, y = thresholds(n_rows=6000)
    free = HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0).fit(X, y)
    bound = HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0, max_bytes=6000).fit(X, y)
    assert bound.memory_bytes_ < free.memory_bytes_ / 2
    trees = bound.bank_.tree_arrays[0]
    tree, windows = trees.arrays.trees[0], sum(array[0].nbytes for array in trees.windows)
    assert tree["n_inactive"] > 0
    assert tree["n_nodes"] * windows + tree["n_observers"] * trees.arrays.moments[0].nbytes < 2 * 6000
    assert_no_place_is_lost(trees)


def test_memory_stays_flat_under_endless_drift():
    learner = HoeffdingAdaptiveTreeClassifier(**HASTY, random_state=0, max_bytes=40_000)
    chunks = (restless(seed, n_rows=1000) for seed in range(20))
    sizes = [learner.partial_fit(X, y, classes=[0, 1]).memory_bytes_ for X, y in chunks]
    assert sizes[-1] == sizes[10]


# -------------------------------------------------------------------------- use
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunks_and_a_pickle_in_the_middle_change_nothing(size):
    X, y = restless(3, n_rows=1500)
    Y = np.column_stack([y, X[:, 0] > 0.5])
    whole = HoeffdingAdaptiveTreeClassifier(**HASTY, random_state=5).begin(X, Y)
    parts = HoeffdingAdaptiveTreeClassifier(**HASTY, random_state=5).begin(X, Y)
    expected, found = whole.predict_then_fit(X, Y)[1], []
    for start in range(0, len(X), size):
        if start == 700 // size * size:
            parts = pickle.loads(pickle.dumps(parts))  # noqa: S301 - our own bytes
        found.append(parts.predict_then_fit(X[start : start + size], Y[start : start + size])[1])
    assert np.array_equal(np.concatenate(found), expected)


def test_a_chain_of_adaptive_trees_predicts_rows_that_differ_from_those_it_learns():
    X, Y = streams.drawn(600)
    chunk = ClassifierChain(HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0)).predict_then_fit(X, Y)[1]
    learner = ClassifierChain(HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0)).begin(X, Y)
    rows = []
    for i in range(len(X)):
        rows.append(learner.predict_proba(X[[i]]))
        learner.partial_fit(X[[i]], Y[[i]])
    assert np.array_equal(np.concatenate(rows), chunk)


def test_errors_that_return_after_a_drift_are_fewer_than_those_of_a_tree_that_keeps_its_branches():
    from estimators.trees.hoeffding import HoeffdingTreeClassifier

    rng = np.random.default_rng(0)
    X = rng.random((12_000, 3))
    y = (X[np.arange(12_000), np.arange(12_000) // 3000 % 2] > 0.5).astype(int)
    adaptive = HoeffdingAdaptiveTreeClassifier(random_state=0, delta=1e-5).predict_then_fit(X, y)[0]
    fixed = HoeffdingTreeClassifier(delta=1e-5).predict_then_fit(X, y)[0]
    assert (adaptive != y).mean() < 0.7 * (fixed != y).mean()


def test_a_drawing_shows_the_branches():
    X, Y = streams.drawn()
    tree = HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0).fit(X, Y)
    drawing = tree.to_dot(1)
    assert drawing.count("->") == 2 * drawing.count("style=rounded") > 0
