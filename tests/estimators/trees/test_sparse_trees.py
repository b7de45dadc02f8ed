"""Trees that add zeros together: the same Gaussians and decisions, whatever the form and the cuts of the rows."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from estimators import (
    BinaryRelevance,
    ClassifierChain,
    HoeffdingTreeClassifier,
    OnlineCoordinateBoosting,
    make_strategy,
)
from estimators.trees._tree_bank import TreeBank

# leaves start with weights that are fractions: no grace period ends at a weight that is equal to it but for rounding
EAGER = {"grace_period": 40.5, "delta": 0.05, "tau": 0.2}


def sparse_table(seed, n_rows=400, n_features=60, share=0.06):
    """Draw rows of few values; labels follow two of the more frequent features."""
    rng = np.random.default_rng(seed)
    shares = np.full(n_features, share)
    shares[:3] = 0.4, 0.3, 1.0
    X = rng.normal(1, 1, (n_rows, n_features)) * (rng.random((n_rows, n_features)) < shares)
    return X, ((X[:, :2] > 0.5) ^ (rng.random((n_rows, 2)) < 0.05)).astype(int)


def tree(zeros, **parameters):
    return HoeffdingTreeClassifier(zeros=zeros, **(EAGER | parameters))


def one_leaf(zeros):
    return HoeffdingTreeClassifier(zeros=zeros, grace_period=10**9)


def log_densities(rows, weights, x):
    """Sum the log densities of a row by definition: weighted mean and variance of every feature that varies."""
    total = 0.0
    for column, value in zip(rows.T, x, strict=True):
        mean = np.average(column, weights=weights)
        variance = (weights * (column - mean) ** 2).sum() / (weights.sum() - 1)
        if variance > 0:
            total -= (value - mean) ** 2 / (2 * variance) + 0.5 * np.log(2 * np.pi * variance)
    return total


def nodes_of(learner, label=0):
    """Return the nodes of a tree, from the root on, the left one first."""
    arrays, place = learner.bank_.find(label)
    names = ["feature", "threshold", "weight", "majority_hits", "bayes_hits"]
    waiting, places = [arrays.trees[place]["root"]], []
    while waiting:
        places.append(waiting.pop())
        node = arrays.nodes[places[-1]]
        if node["feature"] >= 0:
            waiting += [node["right"], node["left"]]
    return arrays.nodes[places][names]


def test_naive_bayes_is_that_of_its_definition():
    X, _ = sparse_table(0, n_rows=300)
    rng = np.random.default_rng(1)
    weights, y = rng.integers(1, 4, 300).astype(float), rng.integers(0, 2, 300)
    X[y == 1] *= 2
    learner = one_leaf("together").partial_fit(X, y, sample_weight=weights)
    # naive Bayes must have been right more often than the majority, or it does not vote
    arrays, _ = learner.bank_.find(0)
    assert arrays.nodes[0]["bayes_hits"] > arrays.nodes[0]["majority_hits"]
    for x in X[:20] * 0.8:
        joint = [np.log(weights[y == c].sum()) + log_densities(X[y == c], weights[y == c], x) for c in (0, 1)]
        expected = 1 / (1 + np.exp(joint[0] - joint[1]))
        assert learner.predict_proba(x[np.newaxis])[0, 1] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_most_features_are_light_and_few_are_heavy():
    X, Y = sparse_table(0)
    bank = one_leaf("together").fit(X, Y[:, 0]).bank_
    [trees] = bank.tree_arrays
    assert trees.n_light[:2].tolist() > [30, 30]
    assert (trees.n_heavy[:2] >= 3).all()


@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.5]))
def test_votes_and_splits_are_those_of_zeros_one_by_one(seed, share):
    X, Y = sparse_table(seed, share=share)
    each, together = tree("one-by-one"), tree("together")
    _, expected = each.predict_then_fit(X, Y)
    _, proba = together.predict_then_fit(X, Y)
    np.testing.assert_allclose(proba, expected, atol=1e-6)
    for label in (0, 1):
        ours, theirs = nodes_of(together, label), nodes_of(each, label)
        for name in ("feature", "threshold", "majority_hits", "bayes_hits"):
            np.testing.assert_array_equal(ours[name], theirs[name])
        np.testing.assert_allclose(ours["weight"], theirs["weight"], rtol=1e-12)


def test_these_trees_split():
    X, Y = sparse_table(3)
    learner = tree("together").fit(X, Y)
    assert min(len(nodes_of(learner, label)) for label in (0, 1)) > 1


def test_without_zeros_nodes_are_the_same_to_the_last_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(5, 1, (600, 4))
    y = (X[:, 1] > 5).astype(int)
    each, together = tree("one-by-one").fit(X, y), tree("together").fit(X, y)
    assert len(nodes_of(each)) > 1
    np.testing.assert_array_equal(nodes_of(together), nodes_of(each))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_dense_rows_csr_rows_and_chunks_give_the_same_bits(size):
    X, Y = sparse_table(1)
    _, expected = tree("together").predict_then_fit(X, Y)
    learner = tree("together").begin(X, Y)
    rows = sparse.csr_array(X)
    parts = [learner.predict_then_fit(rows[a : a + size], Y[a : a + size])[1] for a in range(0, len(X), size)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_a_stored_zero_is_a_zero():
    X, Y = sparse_table(1, n_rows=200)
    full = sparse.csr_array((X.ravel(), np.tile(np.arange(60), 200), np.arange(0, 200 * 60 + 1, 60)), shape=X.shape)
    _, expected = tree("together").predict_then_fit(X, Y)
    np.testing.assert_array_equal(tree("together").predict_then_fit(full, Y)[1], expected)


def test_a_pickle_goes_on_and_a_prediction_changes_nothing():
    X, Y = sparse_table(2)
    learner = tree("together").fit(X[:150], Y[:150])
    twin = pickle.loads(pickle.dumps(learner))  # noqa: S301
    learner.predict_proba(X[:50])
    np.testing.assert_array_equal(
        twin.predict_then_fit(X[150:], Y[150:])[1], learner.predict_then_fit(X[150:], Y[150:])[1]
    )


@pytest.mark.parametrize("scale", [1e-160, 1e-110, 1e110, 1e150])
def test_values_of_any_size_are_predicted(scale):
    X, Y = sparse_table(4)
    expected = one_leaf("one-by-one").fit(X * scale, Y[:, 0]).predict_proba(X * scale)
    proba = one_leaf("together").fit(X * scale, Y[:, 0]).predict_proba(X * scale)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba, expected, atol=1e-6)


@pytest.mark.parametrize("weight", [1e-3, 1e15])
def test_weights_of_any_size_count(weight):
    X, Y = sparse_table(5)
    weights = np.full(len(X), weight)
    expected = one_leaf("one-by-one").partial_fit(X, Y[:, 0], sample_weight=weights).predict_proba(X)
    proba = one_leaf("together").partial_fit(X, Y[:, 0], sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(proba, expected, atol=1e-6)


def test_bounds_of_depth_and_memory_hold():
    X, Y = sparse_table(6, n_rows=1000)
    shallow = tree("together", max_depth=1).fit(X, Y[:, 0])
    assert shallow.bank_.find(0)[0].nodes["depth"].max() == 1
    # one observer takes 60 features of 40 bytes
    bound = tree("together", max_bytes=6000).fit(X, Y[:, 0])
    assert bound.bank_.find(0)[0].trees[0]["n_observers"] <= 2
    assert tree("together").fit(X, Y[:, 0]).bank_.find(0)[0].trees[0]["n_observers"] > 2


@pytest.mark.parametrize("meta", [BinaryRelevance, ClassifierChain])
def test_meta_estimators_use_them(meta):
    X, Y = sparse_table(7)
    _, expected = meta(tree("one-by-one")).predict_then_fit(X, Y)
    _, proba = meta(tree("together")).predict_then_fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(proba, expected, atol=1e-9)


def test_new_labels_get_trees_of_the_same_kind():
    X, Y = sparse_table(8)
    learner = BinaryRelevance(tree("together"), on_new_labels="grow").partial_fit(X[:200], Y[:200, :1])
    learner.partial_fit(X[200:], Y[200:])
    alone = tree("together").partial_fit(X[200:], Y[200:, 1:])
    np.testing.assert_array_equal(learner.predict_proba(X)[:, 1:], alone.predict_proba(X))


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_the_default_adds_zeros_one_by_one_however_wide_and_sparse(form):
    row = np.zeros((1, 3000))
    row[0, 5] = 1.0
    learner = HoeffdingTreeClassifier().partial_fit(form(row), [[1]])
    assert type(learner.bank_) is TreeBank


def test_the_strategy_passes_the_option_on():
    assert make_strategy("BR_HT", estimator__zeros="together").estimator.zeros == "together"


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match=r"zeros must be one of 'one-by-one', 'together'\. Got 'never' instead"):
        HoeffdingTreeClassifier(zeros="never").fit([[1.0]], [[1]])
    with pytest.raises(ValueError, match=r"zeros of boosted trees must be 'one-by-one'\. Got 'together'"):
        OnlineCoordinateBoosting(HoeffdingTreeClassifier(zeros="together")).fit([[1.0]], [[1]])
