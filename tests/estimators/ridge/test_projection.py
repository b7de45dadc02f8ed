"""Projection in StreamRidge: equal to an explicit sketch, unbiased; memory that is bounded or refused."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from estimators import StreamRidgeClassifier
from estimators.ridge._projection import Projection, largest_basis, sums_bytes
from estimators.strategies import make_strategy


def words(n=260, n_features=700, n_labels=3, seed=0):
    """Draw sparse rows, as of texts, and labels that depend on some of the features."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, n_features)) < 0.05, rng.normal(size=(n, n_features)), 0.0)
    Y = (
        X[:, :40] @ rng.normal(size=(min(40, n_features), n_labels)) + 0.2 * rng.normal(size=(n, n_labels)) > 0.3
    ).astype(int)
    return X, Y


def slow_sketch(X, n_components, random_state):
    """Add up features with signs, one after the other."""
    dimensions = [place % n_components for place in random_state.permutation(X.shape[1])]
    signs = [1.0 if bit else -1.0 for bit in random_state.randint(2, size=X.shape[1])]
    Z = np.zeros((len(X), n_components))
    for feature, (dimension, sign) in enumerate(zip(dimensions, signs, strict=True)):
        for row in range(len(X)):
            Z[row, dimension] += sign * X[row, feature]
    return Z


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [30, 520])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_it_is_the_ridge_of_an_explicit_sketch(n_components, as_rows):
    X, Y = words()
    projected = StreamRidgeClassifier(n_components=n_components, random_state=5)
    random_state = np.random.RandomState(5)
    Z = as_rows(slow_sketch(X, n_components, random_state))
    # the random units are drawn after the sketch
    plain = StreamRidgeClassifier(random_state=random_state)
    for found, expected in zip(projected.predict_then_fit(as_rows(X), Y), plain.predict_then_fit(Z, Y), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(projected.predict_proba(as_rows(X)), plain.predict_proba(Z))


def test_as_many_components_as_features_project_nothing():
    X, Y = words(n_features=600)
    ridges = [StreamRidgeClassifier(n_components=n, random_state=0).partial_fit(X, Y) for n in (600, None, "auto", 999)]
    expected = ridges[0].predict_proba(X)
    for ridge in ridges[1:]:
        np.testing.assert_array_equal(ridge.predict_proba(X), expected)


@given(
    n_features=st.integers(1, 60),
    n_components=st.integers(1, 60),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_sparse_rows_single_rows_and_dense_ones_have_the_same_sketch(n_features, n_components, seed, dtype):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((7, n_features)) < 0.5, rng.normal(size=(7, n_features)), 0.0).astype(dtype)
    projection = Projection.draw(n_features, n_components, np.random.RandomState(seed))
    dense, rows = projection.apply(X), projection.apply(sparse.csr_array(X))
    assert rows.has_canonical_format
    assert dense.flags.c_contiguous
    np.testing.assert_array_equal(rows.toarray(), dense)
    for row in range(7):
        np.testing.assert_array_equal(projection.apply(X[row : row + 1]), dense[row : row + 1])


@given(n_features=st.integers(1, 200), n_components=st.integers(1, 50), seed=st.integers(0, 1000))
def test_every_feature_counts_once_and_dimensions_have_equally_many(n_features, n_components, seed):
    table = Projection.draw(n_features, n_components, np.random.RandomState(seed)).table.toarray()
    assert (np.abs(table).sum(axis=1) == 1).all()
    sizes = np.abs(table).sum(axis=0)
    assert sizes.max() - sizes.min() <= 1


def test_inner_products_are_unbiased_and_vary_little():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 90))
    both = np.array([x, y])
    found = [
        np.prod(Projection.draw(90, 12, np.random.RandomState(seed)).apply(both), axis=0).sum() for seed in range(2000)
    ]
    variance = 2 / 12 * (x @ x) * (y @ y)
    assert abs(np.mean(found) - x @ y) < 5 * np.sqrt(variance / 2000)
    assert np.var(found) < variance


# ------------------------------------------------------------------------ memory
@given(max_bytes=st.integers(10**4, 10**13), n_labels=st.integers(1, 20_000), follow_drift=st.booleans())
def test_the_largest_basis_fits_and_no_larger_one(max_bytes, n_labels, follow_drift):
    n_basis = largest_basis(max_bytes, n_labels, follow_drift=follow_drift)
    assert sums_bytes(n_basis, n_labels, follow_drift=follow_drift) <= max_bytes
    assert sums_bytes(n_basis + 1, n_labels, follow_drift=follow_drift) > max_bytes


@pytest.mark.slow
@pytest.mark.parametrize("follow_drift", [True, False])
def test_sums_take_no_more_than_is_stated(follow_drift):
    rng = np.random.default_rng(0)
    X = (rng.random((3000, 500)) < 0.02).astype(float)
    concepts = rng.normal(size=(6, 500, 20))
    Y = np.concatenate([part @ W > 0.5 for part, W in zip(np.split(X, 6), concepts, strict=True)]).astype(int)
    rows = sparse.csr_array(X)
    ridge = StreamRidgeClassifier(follow_drift=follow_drift, random_state=0)
    ridge.predict_then_fit(rows[:200], Y[:200])
    tracemalloc.start()
    ridge.fit(rows[:1], Y[:1])
    for start in range(1, 3000, 250):
        ridge.predict_then_fit(rows[start : start + 250], Y[start : start + 250])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not follow_drift or len(ridge._concepts_.experts) > 3
    assert 1 / 3 < peak / sums_bytes(501, 20, follow_drift=follow_drift) < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["StreamRidge", "Stack"])
def test_a_hundred_thousand_features_are_learnt(name):
    X = sparse.random_array((60, 100_000), density=1e-3, format="csr", rng=np.random.default_rng(0))
    Y = np.eye(4, dtype=int)[np.arange(60) % 4]
    learner = make_strategy(name, random_state=0)
    ridge = learner if name == "StreamRidge" else dict(learner.estimator.estimators)["ridge"]
    ridge.set_params(n_components=500)
    assert np.isfinite(learner.predict_then_fit(X, Y)[1]).all()
    assert learner.memory_bytes_ < 200e6


def test_a_default_ridge_projects_more_features_than_it_can_hold_to_two_thousand():
    X = sparse.csr_array((np.ones(2), np.array([7, 99_999]), np.arange(3)), shape=(2, 100_000))
    ridge = StreamRidgeClassifier(random_state=0).begin(X, np.eye(2, dtype=int))
    assert ridge._sums_.products.shape == (2001, 2001)
    assert ridge.begin(X[:, :5000], np.eye(2, dtype=int))._sums_.products.shape == (5001, 5001)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        (
            {"n_components": None},
            # 8 D (24 D + 90 L) bytes of 100,001 dimensions, with the constant
            rf"max_bytes must be at least {8 * 100_001 * (24 * 100_001 + 90 * 2):,} for sums over 100,000 dimensions "
            r"and 2 labels\. Got 8,589,934,592 instead; n_components=6\d{3}, or raise it\.",
        ),
        ({"n_components": None, "follow_drift": False}, r"Got 8,589,934,592 instead; n_components=12\d{3}, or raise"),
        (
            {"max_bytes": 10**6},
            r"max_bytes must be at least 7\d\d,.* for sums over 2,000 dimensions .*instead; raise it",
        ),
        ({"max_bytes": 6 * 10**8}, r"Got 600,000,000 instead; .*follow_drift=False, or raise it"),
    ],
)
def test_sums_beyond_the_bound_are_refused_before_memory_is_taken(parameters, text):
    X = sparse.csr_array((np.ones(2), np.array([7, 99_999]), np.arange(3)), shape=(2, 100_000))
    tracemalloc.start()
    with pytest.raises(ValueError, match=text):
        StreamRidgeClassifier(**parameters).partial_fit(X, np.eye(2, dtype=int))
    assert tracemalloc.get_traced_memory()[1] < 1e7
    tracemalloc.stop()


def test_the_components_that_an_error_names_are_enough_and_one_more_is_not():
    X, Y = words(n=3, n_features=700)
    with pytest.raises(ValueError, match="instead; n_components=") as caught:
        StreamRidgeClassifier(max_bytes=60_000_000).partial_fit(X, Y)
    room = int(str(caught.value).split("n_components=")[1].split(",")[0])
    StreamRidgeClassifier(max_bytes=60_000_000, n_components=room).partial_fit(X, Y)
    with pytest.raises(ValueError, match=f"over {room + 1} dimensions"):
        StreamRidgeClassifier(max_bytes=60_000_000, n_components=room + 1).partial_fit(X, Y)


def test_new_labels_beyond_the_bound_are_refused_and_leave_no_trace():
    X, Y = words(n=20, n_features=8)
    ridge = StreamRidgeClassifier(max_bytes=5_000_000, on_new_labels="grow", random_state=0).partial_fit(X, Y)
    before = ridge.predict_proba(X)
    with pytest.raises(ValueError, match=r"max_bytes must be at least .* and 300 labels"):
        ridge.partial_fit(X, np.zeros((20, 300), dtype=int))
    np.testing.assert_array_equal(ridge.predict_proba(X), before)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("n_components", 0), ("n_components", 1.5), ("n_components", "all"), ("n_components", True), ("max_bytes", 0)],
)
def test_bad_parameters_are_named(parameter, value):
    X, Y = words(n=3, n_features=5)
    with pytest.raises(ValueError, match=f"{parameter} must be"):
        StreamRidgeClassifier(**{parameter: value}).fit(X, Y)


def test_sums_of_features_that_cannot_be_squared_are_refused():
    with pytest.raises(ValueError, match="X must be small enough"):
        StreamRidgeClassifier(n_components=2, random_state=0).fit(np.full((3, 60), 9e149), np.eye(3, dtype=int))
