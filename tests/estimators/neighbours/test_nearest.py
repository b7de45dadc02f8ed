import math
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from estimators.neighbours._window import DenseWindow, Metric, SparseWindow, Tail
from tests.loops import check_all

EUCLIDEAN, COSINE = Metric("euclidean", 0.0), Metric("cosine", 0.0)


def table(n_rows, n_columns, density, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < density) * scale
    X[rng.random(n_rows) < 0.1] = 0
    return X


def every_row(X, n_rows):
    return np.zeros(len(X), np.int64), np.full(len(X), n_rows)


def nearness(q, rows, metric):
    """Sums that round once only, so that they are right whatever the order."""
    if metric.name == "euclidean":
        return np.array([-math.fsum((a - b) ** 2 for a, b in zip(q, row, strict=True)) for row in rows.tolist()])
    return np.array([slow_cosine(q, row, metric.zero_similarity) for row in rows.tolist()])


def slow_cosine(a, b, zero):
    aa, bb = (math.fsum(x * x for x in row) for row in (a, b))
    if not aa or not bb:
        return zero if aa == bb else 0.0
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(aa) / math.sqrt(bb)


def test_the_nearest_row_is_found():
    def check(metric, kind, n_columns):
        rows, queries = table(60, n_columns, 0.5), table(25, n_columns, 0.5, seed=1)
        found = kind.of_width(n_columns).append(rows).nearest(queries, *every_row(queries, 60), metric)
        for q, row in zip(queries.tolist(), found.tolist(), strict=True):
            near = nearness(q, rows, metric)
            # rows with one non-zero tie, and rounding chooses
            assert near[row] == pytest.approx(near.max(), rel=1e-14)

    check_all(
        product([EUCLIDEAN, COSINE, Metric("cosine", 1.0)], [DenseWindow, SparseWindow], [1, 2, 3, 4, 7, 66]),
        lambda case: check(*case),
    )


def test_sparse_and_dense_rows_find_the_same_even_among_near_ties():
    def check(metric, scale):
        base = table(1, 50, 0.6, seed=2, scale=scale)
        rng = np.random.default_rng(3)
        # copies that differ in their last bits only
        rows = np.repeat(base, 200, axis=0) * (1 + rng.integers(-3, 4, size=(200, 50)) * 2**-52)
        queries = rows[:40] * (1 + rng.integers(-3, 4, size=(40, 50)) * 2**-52)
        bounds = every_row(queries, 200)
        dense = DenseWindow.of_width(50).append(rows).nearest(queries, *bounds, metric)
        csr = SparseWindow.of_width(50).append(sparse.csr_array(rows))
        assert np.array_equal(dense, csr.nearest(sparse.csr_array(queries), *bounds, metric))
        assert len(set(dense.tolist())) > 3

    check_all(product([EUCLIDEAN, COSINE], [1e-3, 1.0, 1e6]), lambda case: check(*case))


@pytest.mark.parametrize("kind", [DenseWindow, SparseWindow])
def test_only_rows_between_first_and_last_are_looked_at(kind):
    rows = np.arange(10.0)[:, np.newaxis]
    window = kind.of_width(1).append(rows)
    queries = np.zeros((4, 1))
    found = window.nearest(queries, np.array([0, 3, 5, 5]), np.array([10, 4, 9, 5]), EUCLIDEAN)
    assert found.tolist() == [0, 3, 5, -1]


@pytest.mark.parametrize("kind", [DenseWindow, SparseWindow])
def test_distances_beyond_the_largest_float_still_find_a_row(kind):
    window = kind.of_width(2).append(np.full((3, 2), 1e300))
    queries = np.full((1, 2), -1e300)
    assert window.nearest(queries, *every_row(queries, 3), EUCLIDEAN).tolist() == [0]


@pytest.mark.parametrize("kind", [DenseWindow, SparseWindow])
def test_single_precision_rows_are_taken_as_they_are(kind):
    X = table(50, 6, 0.7).astype(np.float32)
    single, double = (kind.of_width(6).append(rows) for rows in (X, X.astype(np.float64)))
    bounds = every_row(X, 50)
    assert np.array_equal(single.nearest(X, *bounds, EUCLIDEAN), double.nearest(X, *bounds, EUCLIDEAN))


def test_a_tail_is_a_list_that_forgets():
    tail, expected = Tail(np.empty((0, 2))), []
    rng = np.random.default_rng(0)
    for step in range(200):
        rows = np.full((rng.integers(0, 5), 2), step)
        tail, expected = tail.append(rows), [*expected, *rows.tolist()]
        n_rows = rng.integers(0, len(expected) + 1) if step % 3 == 0 else 0
        tail, expected = tail.drop(n_rows), expected[n_rows:]
        assert tail.live.tolist() == expected


def test_appending_leaves_the_earlier_tail_as_it_was():
    tail = Tail(np.empty(0)).append(np.arange(3.0))
    tail.append(np.array([9.0]))
    tail.append(np.arange(100.0))
    assert tail.live.tolist() == [0, 1, 2]


def test_room_is_at_most_twice_what_is_live():
    tail = Tail(np.empty(0))
    for _ in range(1000):
        tail = tail.append(np.zeros(1))
        tail = tail.drop(max(len(tail) - 10, 0))
        assert len(tail.store) <= 22
