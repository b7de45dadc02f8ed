"""Features, scores and correlations of ridge regressions are sums over lists."""

import math
import statistics

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from estimators.ridge._kernels.ridge import correlate, count_to_doubling, dense_scores, expand, sparse_scores
from tests.scattered import tables

VALUES = (0.0, -1.5, 0.3, 2.0, 1e6)
SIZES = st.tuples(st.integers(0, 4), st.integers(1, 3), st.integers(0, 3), st.integers(0, 3))


def slow_features(x, shift, scale, hinged, knots, pairs, weights, biases):
    z = [(value - by) * times for value, by, times in zip(x, shift, scale, strict=True)]
    hinges = [max(0.0, z[feature] - knot) for feature, line in zip(hinged, knots, strict=True) for knot in line]
    columns = [[line[unit] for line in weights] for unit in range(len(biases))]
    units = [
        b + math.fsum(v * w for v, w in zip(z, line, strict=True)) for b, line in zip(biases, columns, strict=True)
    ]
    return [1.0, *z, *hinges, *(z[i] * z[j] for i, j in pairs), *(max(0.0, unit) for unit in units)]


@settings(max_examples=100)
@given(SIZES, st.integers(0, 2), st.data())
def test_rows_are_expanded(sizes, n_pairs, data):
    n, d, n_knots, n_units = sizes
    hinged = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    pairs = data.draw(tables((n_pairs, 2), tuple(range(d)))).astype(np.int64)
    X, shift, scale, knots, weights, biases = (
        data.draw(tables(shape, VALUES))
        for shape in ((n, d), (d,), (d,), (len(hinged), n_knots), (d, n_units), (n_units,))
    )
    basis = shift, scale, hinged, knots, pairs, weights, biases
    out = np.full((n, 1 + d + knots.size + n_pairs + n_units), np.nan)
    expand(X, *basis, out)
    expected = [slow_features(x, *(part.tolist() for part in basis)) for x in X.tolist()]
    # units are sums in another order, of numbers up to 1e18 that cancel
    np.testing.assert_allclose(out, np.array(expected).reshape(out.shape), rtol=1e-12, atol=1e4)
    np.testing.assert_array_equal(out[:, : 1 + d], np.array(expected).reshape(out.shape)[:, : 1 + d])


@settings(max_examples=100)
@given(st.integers(0, 4), st.integers(1, 5), st.integers(1, 3), st.data())
def test_scores_are_products_in_one_order_dense_or_sparse(n, d, n_labels, data):
    F, coef = data.draw(tables((n, d), VALUES)), data.draw(tables((d, n_labels), VALUES))
    thin, dense, csr = sparse.csr_array(F), np.zeros((n, n_labels)), np.zeros((n, n_labels))
    dense_scores(F, coef, dense)
    sparse_scores(thin.indptr, thin.indices, thin.data, coef, csr)
    expected = np.zeros((n, n_labels))
    for row in range(n):
        for label in range(n_labels):
            expected[row, label] = sum(F[row, j] * coef[j, label] for j in range(d))
    # the same additions in the same order: to the bit
    assert dense.tolist() == csr.tolist() == expected.tolist()


@settings(max_examples=100)
@given(st.integers(2, 6), st.integers(1, 4), st.data())
def test_correlations_are_those_of_lists(n, d, data):
    X, penalty = data.draw(tables((n, d), (0.0, -1.5, 0.3, 2.0))), data.draw(tables((d,), (0.0, 1.5)))
    rows = np.hstack([np.ones((n, 1)), X])
    deviations = [statistics.pstdev(column) for column in X.T.tolist()]
    scale = np.array([1 / deviation if deviation else 0.0 for deviation in deviations])
    system = np.zeros((d, d))
    correlate(rows.T @ rows, scale, penalty, system)
    for i in range(d):
        for j in range(i + 1):
            both = deviations[i] and deviations[j]
            expected = statistics.correlation(X[:, i].tolist(), X[:, j].tolist()) if both else 0.0
            assert abs(system[i, j] - expected - (penalty[i] if i == j else 0.0)) < 1e-12
    assert not np.triu(system, 1).any()


@settings(max_examples=100)
@given(st.integers(0, 6), st.integers(1, 3), st.integers(-2, 6), st.data())
def test_rows_are_counted_up_to_the_first_that_doubles_those_of_a_label(n, n_labels, first, data):
    Y, counted = data.draw(tables((n, n_labels), (0, 1), np.uint8)), data.draw(tables((n, n_labels), (True, False)))
    before = data.draw(tables((2, n_labels), (0, 1, 2, 3), np.int64))
    after = before.copy()
    n_rows, doubled = count_to_doubling(Y, counted, after, first)
    totals = [before[0] + (Y[:end] * counted[:end]).sum(axis=0, dtype=int) for end in range(n + 1)]
    ends = [end for end in range(1, n + 1) if end > first and (totals[end] >= np.maximum(1, 2 * before[1])).any()]
    assert (n_rows, doubled) == ((ends[0], True) if ends else (n, False))
    assert after.tolist() == [totals[n_rows].tolist(), before[1].tolist()]
