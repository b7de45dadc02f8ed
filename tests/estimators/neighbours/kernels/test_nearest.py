"""The nearest row is that of a loop over lists, dense or sparse; of equal ones, the first."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from estimators.neighbours._kernels import nearest
from tests.scattered import tables

# sums of squares of these are exact, so that ties are ties in any order
VALUES = (0.0, 1.0, 0.0, -0.5, 2.0)
SHAPES = st.tuples(st.integers(0, 3), st.integers(0, 6), st.sampled_from([1, 2, 3, 5, 8, 33]))


def squared_distance(a, b):
    return math.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def cosine(a, b, zero):
    """Return the cosine; `zero` of two rows of zeros, 0 of one."""
    if not any(a) or not any(b):
        return 0.0 if any(a) or any(b) else zero
    product = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return product / (math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(x * x for x in b)))


@st.composite
def searches(draw):
    """Draw queries, rows, and the range of rows that each query looks at."""
    n, n_rows, width = draw(SHAPES)
    queries, rows = draw(tables((n, width), VALUES)), draw(tables((n_rows, width), VALUES))
    bounds = draw(tables((n, 2), tuple(range(n_rows + 1)), np.int64))
    return queries, rows, bounds.min(axis=1, initial=n_rows), bounds.max(axis=1, initial=0)


def csr(X):
    thin = sparse.csr_array(X)
    return thin.indptr.astype(np.int64), thin.indices.astype(np.int64), thin.data


@settings(max_examples=100)
@given(searches())
def test_the_row_at_the_least_distance_is_found(search):
    queries, rows, first, last = search
    expected = []
    for q, a, b in zip(queries.tolist(), first.tolist(), last.tolist(), strict=True):
        near = [(squared_distance(q, rows[j].tolist()), j) for j in range(a, b)]
        expected.append(min(near)[1] if near else -1)
    assert nearest.nearest_euclidean(queries, rows, first, last).tolist() == expected
    found = nearest.nearest_euclidean_csr(csr(queries), csr(rows), first, last, queries.shape[1])
    assert found.tolist() == expected


@settings(max_examples=100)
@given(searches(), st.sampled_from([0.0, 1.0]))
def test_the_row_of_the_greatest_cosine_is_found(search, zero):
    queries, rows, first, last = search
    dense = nearest.nearest_cosine(queries, rows, first, last, zero).tolist()
    for q, a, b, found in zip(queries.tolist(), first.tolist(), last.tolist(), dense, strict=True):
        near = [cosine(q, rows[j].tolist(), zero) for j in range(a, b)]
        assert (found < 0) == (not near)
        # of rows in one direction, rounding chooses
        assert not near or near[found - a] >= max(near) - 1e-15
    thin = nearest.nearest_cosine_csr(csr(queries), csr(rows), first, last, queries.shape[1], zero)
    assert thin.tolist() == dense


@settings(max_examples=100)
@given(searches(), st.sampled_from([math.inf, 1.0]))
def test_distances_and_products_are_those_of_lists(search, limit):
    queries, rows, *_ = search
    lanes = np.empty(4)
    for i, q in enumerate(queries.tolist()):
        for j, row in enumerate(rows.tolist()):
            distance, product = squared_distance(q, row), math.fsum(x * y for x, y in zip(q, row, strict=True))
            found = nearest.squared_distance(queries, i, rows, j, limit)
            # beyond the limit, the sum may be left unfinished
            assert found == distance or (found == math.inf and distance >= limit)
            assert nearest.dot(queries, i, rows, j) == product
            pair = csr(queries), i, csr(rows), j
            assert nearest.merge(*pair, lanes, True) == product
            assert nearest.merge(*pair, lanes, False) == distance
