"""Spherical k-means finds what no move of a row improves, the same from the same seed, and the published runs."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from mlstream.data.datasets import load_dataset
from mlstream.generators.from_tables import spherical_kmeans as module
from mlstream.generators.from_tables.spherical_kmeans import published_spherical_kmeans, spherical_kmeans, tf_idf
from tests.mlstream.generators.tables import read_labels


def draw_indicator(seed):
    Y = np.unique((np.random.default_rng(seed).random((24, 5)) < 0.4) | np.eye(24, 5, dtype=bool), axis=0)
    return Y[Y.any(axis=1)].astype(np.uint8)


indicators = st.integers(0, 2**32).map(draw_indicator)


def unit(vector):
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else list(vector)


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def mean_directions(rows, weights, assignment, n_clusters):
    centres = [[0.0] * len(rows[0]) for _ in range(n_clusters)]
    for row, weight, cluster in zip(rows, weights, assignment, strict=True):
        for column, value in enumerate(row):
            centres[cluster][column] += weight * value
    return [unit(centre) for centre in centres]


def loop_until_still(rows, weights, assignment, n_clusters):
    """Lloyd's algorithm on cosines, one number at a time."""
    before = -math.inf
    for _ in range(20):
        centres = mean_directions(rows, weights, assignment, n_clusters)
        cosines = [[cosine(row, centre) for centre in centres] for row in rows]
        assignment = [max(range(n_clusters), key=lambda cluster, row=row: round(row[cluster], 12)) for row in cosines]
        criterion = sum(weight * max(row) for weight, row in zip(weights, cosines, strict=True))
        if abs(criterion - before) <= 1e-9:
            break
        before = criterion
    return assignment, criterion


def sum_of_cosines(rows, weights, assignment, n_clusters):
    centres = mean_directions(rows, weights, assignment, n_clusters)
    own = [centres[cluster] for cluster in assignment]
    return sum(weight * cosine(row, centre) for weight, row, centre in zip(weights, rows, own, strict=True))


@given(indicators, st.integers(1, 4), st.integers(0, 5), st.integers(1, 2))
def test_no_row_can_be_moved_to_another_cluster_with_gain(Y, n_clusters, seed, n_init):
    weights = np.random.default_rng(seed).integers(1, 5, len(Y)).tolist()
    found = spherical_kmeans(Y, n_clusters, seed=seed, sample_weight=weights, n_init=n_init)
    rows, assignment = [unit(row) for row in Y.tolist()], found.assignment.tolist()
    assert found.criterion == pytest.approx(sum_of_cosines(rows, weights, assignment, n_clusters))
    expected = [centre.tolist() for centre in found.centres]
    assert expected == [pytest.approx(one) for one in mean_directions(rows, weights, assignment, n_clusters)]
    assert set(assignment) == set(range(n_clusters))
    for row, cluster in product(range(len(rows)), range(n_clusters)):
        moved = [*assignment[:row], cluster, *assignment[row + 1 :]]
        if set(moved) == set(range(n_clusters)):
            assert sum_of_cosines(rows, weights, moved, n_clusters) <= found.criterion + 1e-9


def best_of_random_assignments(Y, n_clusters):
    """Cluster all rows from ten random assignments, and return the greatest sum of cosines."""
    rows = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    reached = []
    for start in range(10):
        assignment, criterion, before = np.random.RandomState(start).randint(n_clusters, size=len(rows)), 0.0, -1.0
        while criterion - before > 1e-9:
            before, cosines = criterion, np.zeros((len(rows), n_clusters))
            for cluster in np.unique(assignment):
                centre = rows[assignment == cluster].sum(axis=0)
                cosines[:, cluster] = rows @ centre / np.linalg.norm(centre)
            assignment, criterion = cosines.argmax(axis=1), cosines.max(axis=1).sum()
        reached.append(criterion)
    return max(reached)


def draw_label_sets(kind):
    rng = np.random.default_rng(0)
    if kind == "one label a row":
        return np.eye(30, dtype=np.uint8)[rng.choice(30, 3000, p=(share := 1 / np.arange(1, 31)) / share.sum())]
    if kind == "groups of labels":
        Y = np.kron(np.eye(5), np.ones(4))[rng.integers(0, 5, 3000)] * (rng.random((3000, 20)) < 0.5)
    else:
        Y = rng.random((3000, 60)) < 0.5 / np.arange(1, 61) ** 0.7
    return Y[Y.any(axis=1)].astype(np.uint8)


@pytest.mark.parametrize("n_clusters", [2, 4, 8])
@pytest.mark.parametrize(
    "table",
    ["20ng", "reuters-k500", "slashdot", "scene", "yeast", "one label a row", "groups of labels", "frequent and rare"],
)
def test_no_start_from_random_assignments_is_better_by_one_percent(monkeypatch, request, table, n_clusters):
    if " " in table:
        Y = draw_label_sets(table)
    else:
        monkeypatch.setenv("MLSTREAM_DATA", str(request.getfixturevalue("shared_data")("multilabel").parent))
        Y = load_dataset(table).Y
    Y = Y[Y.any(axis=1)]
    label_sets, count = np.unique(Y, axis=0, return_counts=True)
    found = spherical_kmeans(label_sets, n_clusters, seed=0, sample_weight=count)
    assert found.criterion > 0.99 * best_of_random_assignments(Y, n_clusters)


def shuffle_stored(Y, seed):
    """Store the same matrix with unsorted columns, and some ones as two halves."""
    rng = np.random.default_rng(seed)
    row, column = np.nonzero(Y)
    halved = rng.random(len(row)) < 0.5
    data = np.where(halved, 0.5, 1.0)
    row, column = np.append(row, row[halved]), np.append(column, column[halved])
    mixed = rng.permutation(len(row))
    mixed = mixed[np.argsort(row[mixed], kind="stable")]
    ends = np.append(0, np.cumsum(np.bincount(row, minlength=len(Y))))
    return sparse.csr_array((np.append(data, data[halved])[mixed], column[mixed], ends), shape=Y.shape)


@pytest.mark.slow
@given(indicators, st.integers(0, 5))
@example(draw_indicator(1856396396), 3)  # a dense product, summed in another order, broke a tie differently here
def test_dense_and_sparse_rows_give_the_same_bits(Y, seed):
    found = spherical_kmeans(Y, 3, seed=seed)
    for rows in (sparse.csr_array(Y), sparse.csc_array(Y), shuffle_stored(Y, seed), np.asfortranarray(Y, dtype=float)):
        again = spherical_kmeans(rows, 3, seed=seed)
        np.testing.assert_array_equal(found.assignment, again.assignment)
        np.testing.assert_array_equal(found.centres, again.centres)
        assert found.criterion == again.criterion


@pytest.mark.slow
@given(indicators, st.integers(0, 5))
def test_lengths_of_rows_do_not_matter(Y, seed):
    scaled = Y * 2.0 ** np.random.default_rng(seed).integers(-20, 20, (len(Y), 1))
    np.testing.assert_array_equal(
        spherical_kmeans(Y, 3, seed=seed).assignment, spherical_kmeans(scaled, 3, seed=seed).assignment
    )


def test_one_start_only_is_followed_to_its_last_small_gain(monkeypatch):
    n_steps, find_moves = [0], module._find_moves

    def count_steps(*args):
        n_steps[0] += 1
        return find_moves(*args)

    monkeypatch.setattr(module, "_find_moves", count_steps)
    Y = np.random.default_rng(0).random((5000, 40)) < 0.5  # without clusters, steps grow with the number of rows
    found = spherical_kmeans(Y, 8, seed=0)
    assert n_steps[0] < 1200
    rows = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    sums = np.array([rows[found.assignment == cluster].sum(axis=0) for cluster in range(8)])
    gain = np.linalg.norm(sums[:, np.newaxis] + rows, axis=2) - np.linalg.norm(sums, axis=1)[:, np.newaxis]
    own = sums[found.assignment]
    lost = np.linalg.norm(own, axis=1) - np.linalg.norm(own - rows, axis=1)
    gain[found.assignment, np.arange(5000)] = 0
    assert (gain.max(axis=0) <= lost + 1e-7).all()


def test_well_separated_directions_are_found():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 30)
    X = np.eye(4, 12)[truth] + 0.05 * rng.random((120, 12))
    found = spherical_kmeans(X, 4, seed=3).assignment
    assert len(set(zip(truth.tolist(), found.tolist(), strict=True))) == 4


def test_more_starts_are_never_worse():
    Y = np.random.default_rng(1).random((200, 12)) < 0.3
    Y = Y[Y.any(axis=1)]
    criteria = [spherical_kmeans(Y, 6, seed=0, n_init=n_init).criterion for n_init in (1, 3, 10)]
    assert criteria == sorted(criteria)


@given(st.integers(2, 12))
def test_an_emptied_cluster_is_filled_again(n_rows):
    # A random assignment of n rows to n clusters leaves clusters empty, but for a chance of n! / n**n.
    assert sorted(published_spherical_kmeans(np.eye(n_rows), n_rows).assignment.tolist()) == list(range(n_rows))


def test_opposite_rows_that_cancel_out_are_no_error():
    found = spherical_kmeans(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), 2, seed=0, n_init=3)
    assert np.isfinite(found.criterion)


@given(indicators, st.integers(2, 4))
def test_published_variant_equals_the_slow_loop(Y, n_clusters):
    n, df = len(Y), Y.sum(axis=0)
    rows = [unit([y * (math.log((1 + n) / (1 + d)) + 1) for y, d in zip(row, df, strict=True)]) for row in Y.tolist()]
    seed = np.random.RandomState(1).randint(2**31 - 1, size=10)[-1]
    start = np.random.RandomState(seed).randint(n_clusters, size=n).tolist()
    if len(set(start)) < n_clusters:
        return  # the published code has no repair
    found = published_spherical_kmeans(Y, n_clusters)
    assignment, criterion = loop_until_still(rows, [1] * n, start, n_clusters)
    if len(set(assignment)) == n_clusters:
        assert found.criterion == pytest.approx(criterion)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "n_labels", "last", "best"),
    [
        ("Yeast.arff.gz", 14, [744, 644, 555, 474], [560, 558, 760, 539]),
        ("Slashdot.arff", 22, [927, 846, 1223, 786], [561, 1263, 1196, 762]),
        ("Reuters-K500.arff", 103, [2231, 1130, 1604, 1035], [1672, 777, 2234, 1317]),
    ],
)
def test_published_runs_come_out_again(shared_data, file, n_labels, last, best):
    Y = read_labels(shared_data(f"multilabel/{file}"), n_labels)
    assert np.bincount(published_spherical_kmeans(Y, 4).assignment).tolist() == last
    assert np.bincount(published_spherical_kmeans(Y, 4, keep="best").assignment).tolist() == best


@given(indicators)
def test_tf_idf_equals_scikit_learn(Y):
    expected = TfidfTransformer(norm=None).fit_transform(sparse.csr_matrix(Y)).toarray()
    np.testing.assert_allclose(tf_idf(Y).toarray(), expected)
    np.testing.assert_allclose(tf_idf(sparse.csr_array(Y)).toarray(), expected)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1, 0], [0, 0]], {"n_clusters": 1}, r"point somewhere. Got length 0.0 in row 1"),
        ([[1, 0], [np.nan, 0]], {"n_clusters": 1}, r"finite .* Got length nan in row 1"),
        ([[1, 0]], {"n_clusters": 2}, r"as many rows as clusters. Got 1 for 2"),
        ([[1, 1], [2, 2], [0, 1]], {"n_clusters": 3}, r"at least 3 directions, one per cluster. Got 2"),
        ([[1, 0], [0, 1]], {"n_clusters": 0}, r"n_clusters must be a whole number, at least 1. Got 0"),
        ([[1, 0], [0, 1]], {"n_clusters": 1, "n_init": 0}, r"n_init must be a whole number, at least 1. Got 0"),
        ([[1, 0], [0, 1]], {"n_clusters": 1, "seed": -1}, r"seed must be a whole number, at least 0. Got -1"),
        ([[1, 0], [0, 1]], {"n_clusters": 1, "sample_weight": [1, 0]}, r"2 positive numbers. Got shape \(2,\)"),
    ],
)
def test_errors_name_rule_and_value(X, options, message):
    with pytest.raises(ValueError, match=message):
        spherical_kmeans(X, **{"seed": 0} | options)


def test_published_variant_refuses_an_unknown_rule():
    with pytest.raises(ValueError, match=r"keep must be one of 'last', 'best'. Got 'first'"):
        published_spherical_kmeans(np.eye(3), 2, keep="first")


def test_the_rows_given_are_left_as_they_are():
    for dtype in (np.float32, np.float64):
        rows = shuffle_stored(draw_indicator(0), 0).astype(dtype)
        before = rows.copy()
        spherical_kmeans(rows, 3, seed=0)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(rows, part), getattr(before, part))
