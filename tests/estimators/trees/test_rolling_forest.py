"""The rolling forest: as good as a forest that is fitted again, within bounds of memory, whatever the values."""

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from estimators import ContextWindowClassifier, RollingForestClassifier
from estimators.trees._kernels.rolling import RollingForest
from metrics import ba_macro


def steps(n, seed=0, n_labels=3):
    """Draw rows whose labels are boxes of three features of six."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6))
    Y = np.stack([(X[:, [j, j + 1, j + 2]] > rng.random(3) * 0.5).all(axis=1) for j in range(n_labels)], axis=1)
    return X, Y.astype(int)


def test_it_is_as_good_as_a_forest_that_is_fitted_again_and_follows_drift():
    X, Y = steps(3000)
    Y[1500:] = 1 - Y[1500:]
    again = ContextWindowClassifier(
        RandomForestClassifier(20, random_state=0), context_size=1000, change=None, refit_every=100, multilabel="native"
    )
    scores = [
        [ba_macro(Y[part], decided[part]) for part in (slice(1000, 1500), slice(2500, 3000))]
        for decided in (learner.predict_then_fit(X, Y)[0] for learner in (RollingForestClassifier(window=1000), again))
    ]
    assert np.all(np.array(scores[0]) > np.array(scores[1]) - 0.02)
    assert np.all(np.array(scores[0]) > 0.9)


def test_sparse_rows_are_learnt_as_dense_ones():
    X, Y = steps(300)
    X[X < 0.5] = 0
    one, other = (RollingForestClassifier(5, random_state=0).fit(rows, Y) for rows in (X, sparse.csr_array(X)))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("values", [(-1e308, 1e308), (0.0, 5e-324), (1e-320, 2e-320), (3.0, 3.0)])
def test_values_whose_range_is_no_number_do_no_harm(values):
    X, Y = steps(200)
    odd = np.random.default_rng(0).choice(values, (200, 1))
    forest = RollingForestClassifier(5, random_state=0).fit(np.hstack([X, odd]), Y)
    assert np.isfinite(forest.predict_proba(np.hstack([X, odd]))).all()
    assert ba_macro(Y, forest.predict(np.hstack([X, odd]))) > 0.8


def test_memory_is_bounded_however_many_labels_and_features():
    rng = np.random.default_rng(0)
    many_labels = RollingForestClassifier().fit(rng.random((200, 2)), rng.integers(0, 2, (200, 10_000)))
    wide = sparse.random_array((200, 100_000), density=1e-4, format="csr", rng=rng)
    many_features = RollingForestClassifier().fit(wide, rng.integers(0, 2, (200, 2)))
    assert max(many_labels._size_bytes(), many_features._size_bytes()) < 200 * 2**20


def test_a_model_that_is_mapped_from_a_file_learns_on(tmp_path):
    X, Y = steps(300)
    forest = RollingForestClassifier(5, random_state=0).fit(X, Y)
    joblib.dump(forest, tmp_path / "forest.joblib")
    mapped = joblib.load(tmp_path / "forest.joblib", mmap_mode="r").partial_fit(X, Y)
    np.testing.assert_array_equal(mapped.predict_proba(X), forest.partial_fit(X, Y).predict_proba(X))


def test_a_forest_saved_before_there_were_categories_learns_on():
    X, Y = steps(300)
    old, new = (RollingForestClassifier(5, random_state=0).fit(X, Y) for _ in range(2))
    old._forest = RollingForest(*old._forest[:10])
    np.testing.assert_array_equal(old.partial_fit(X, Y).predict_proba(X), new.partial_fit(X, Y).predict_proba(X))


def categories(n, n_features=50, n_values=30, seed=0):
    """Draw codes, and a label that is one value of one of the features, by codes in no order."""
    rng = np.random.default_rng(seed)
    X, feature, value = rng.integers(0, n_values, (n, n_features)), rng.integers(0, n_features), n_values // 2
    X[rng.random(n) < 0.3, feature] = value
    return X, (X[:, [feature]] == value).astype(int), feature, value


def test_one_split_finds_the_value_that_is_a_label():
    X, Y, feature, value = categories(400)
    forest = RollingForestClassifier(max_features=50, window=400, categorical_features=range(50), random_state=0)
    trees = [tree[1:4] for tree in forest.fit(X, Y)._trees() if tree[1][0] == feature and tree[3][0] == value]
    assert len(trees) > 20
    assert {len(features) for features, _, _ in trees} == {3}
    np.testing.assert_array_equal(forest.predict(X), Y)
    # values that were never seen go with the rest
    assert not forest.predict(np.full((1, 50), 2**53 - 1)).any()
    numbers = RollingForestClassifier(max_features=50, window=400, random_state=0).fit(X, Y)
    assert min(len(features) for _, features, *_ in numbers._trees()) > 3


def test_the_order_of_codes_does_not_matter():
    X, _, _, _ = categories(600, n_features=6, n_values=20)
    rng = np.random.default_rng(1)
    Y = np.isin(X[:, :2], [3, 4, 9, 17]).astype(int) ^ (rng.random((600, 2)) < 0.1)
    codes = rng.permutation(2**20)[:20]
    one, two = (
        RollingForestClassifier(10, window=200, categorical_features=range(5), random_state=0).predict_then_fit(rows, Y)
        for rows in (X, np.column_stack([codes[X[:, :5]], X[:, 5]]))
    )
    np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize("name", ["n_trees", "window", "max_features", "min_samples_leaf"])
def test_parameters_out_of_range_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        RollingForestClassifier(**{name: 0}).fit(*steps(10))
