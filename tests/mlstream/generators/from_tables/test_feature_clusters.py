"""Clusters of features have rows enough to be tasks, however far away outliers are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans

from mlstream.generators.from_tables.environments_from_table import carve_environments
from mlstream.generators.from_tables.feature_clusters import cluster_features
from mlstream.generators.from_tables.scenarios import scenario_stream
from tests.mlstream.generators.tables import make_table


def long_tailed_rows(seed, n_rows=600, n_features=40):
    """Draw a sparse table of counts: topics, rare words, and a few rows with very many of these."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 6, n_rows)
    X = (rng.random((n_rows, n_features)) < 0.02 + 0.3 * (np.arange(n_features) % 6 == topics[:, np.newaxis])) * 1.0
    outlying = rng.permutation(n_rows)[:5]
    X[outlying] += 200 * (rng.random((5, n_features)) < 0.4)
    return X


def table_of(X, seed=0):
    return make_table(np.random.default_rng(seed).random((len(X), 3)) < 0.5, sparse.csr_array(X))


@pytest.mark.parametrize("seed", range(3))
def test_defaults_make_streams_of_tables_with_outliers(seed):
    table = table_of(long_tailed_rows(seed))
    stream = carve_environments(table, seed=seed)
    rows = np.concatenate([part.row_ids for part in (*stream.experiences, *stream.evaluation_sets)])
    assert sorted(rows.tolist()) == list(range(600))
    assert "of rows scaled to unit length, as outliers were clusters of < 10 rows" in stream.card.description
    assert min(len(held_out) for held_out in stream.evaluation_sets[3:]) >= 10
    domains = scenario_stream(table, "domain-incremental", seed=seed, unlabelled="keep")
    assert min(map(len, domains.experiences)) >= 0.7 * 15 - 1
    assert "unit length" in domains.card.description


@pytest.mark.slow
@given(st.integers(0, 1000), st.integers(2, 5), st.integers(1, 6), st.sampled_from([1, 2, 8]))
def test_no_cluster_is_too_small_and_rows_are_where_they_were_if_none_was(seed, n_tasks, least, n_features):
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(80, n_features)) * rng.choice([0.1, 2]))
    spread = X.std(axis=0)
    found = cluster_features(X, spread, n_tasks, least_rows=least, seed=seed)
    plain = KMeans(n_tasks, n_init=10, random_state=seed).fit_predict(X / spread)
    least = max(least, 80 / (10 * n_tasks))
    assert len(found.assignment) == 80
    assert np.bincount(found.assignment, minlength=n_tasks).min() >= least
    enough = np.bincount(plain, minlength=n_tasks).min() >= least
    assert (found.remark == "") == enough
    if enough:
        np.testing.assert_array_equal(found.assignment, plain)


def test_rows_that_were_set_aside_join_the_nearest_centre():
    groups = np.repeat([[50.0, 0], [50, 10], [50, -10]], 50, axis=0) + 0.1 * np.random.default_rng(0).random((150, 2))
    # Opposite to all groups, a cluster of two rows at any length; on its way round, each comes to another group first.
    X = sparse.csr_array(np.vstack([groups, [[-300, 60], [-300, -60]]]))
    found = cluster_features(X, np.ones(2), 3, least_rows=4, seed=0)
    middle, upper, lower = (set(found.assignment[start : start + 50].tolist()) for start in (0, 50, 100))
    assert len(middle | upper | lower) == 3
    assert [len(middle), len(upper), len(lower)] == [1, 1, 1]
    assert [{number} for number in found.assignment[150:].tolist()] == [upper, lower]
    assert found.remark


def test_same_seed_same_clusters_and_sparse_rows_like_dense_ones():
    X = long_tailed_rows(1)
    options = {"spread": X.std(axis=0), "n_tasks": 4, "least_rows": 4, "seed": 3}
    first, again, dense = (cluster_features(rows, **options) for rows in (sparse.csr_array(X), sparse.csr_array(X), X))
    np.testing.assert_array_equal(first.assignment, again.assignment)
    np.testing.assert_array_equal(first.assignment, dense.assignment)
    assert first.remark


def test_tables_without_so_many_clusters_are_refused_with_the_way_out():
    X = np.repeat([[0.0, 1], [1, 0]], 30, axis=0)
    for layout in (np.asarray, sparse.csr_array):
        table = make_table(np.tile(np.eye(2), (30, 1)), layout(X))
        with pytest.raises(ValueError, match=r"must have 4 clusters of at least 4 rows. Got fewer in 60 rows; ask for"):
            scenario_stream(table, "domain-incremental")
        assert scenario_stream(table, "domain-incremental", n_tasks=2).n_tasks == 2
