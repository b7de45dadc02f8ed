"""Rows that are learnt and evaluated are found, however they are stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from mlstream.diagnosis.duplicates import duplicated_evaluation_rows, row_digests
from tests.mlstream.small_streams import Shape, build_stream

SMALL = hnp.arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=st.sampled_from([0.0, -0.0, 1.0]))


@given(SMALL, st.booleans())
def test_rows_with_equal_numbers_have_equal_digests(X, as_sparse):
    digests = row_digests(sparse.csr_array(X) if as_sparse else X)
    for one, first in zip(digests, X, strict=True):
        for other, second in zip(digests, X, strict=True):
            assert (one == other) == (first == second).all()


def test_stored_zeros_and_the_order_of_columns_do_not_count():
    stored = sparse.csr_array((np.array([2.0, 0.0, 1.0]), np.array([2, 1, 0]), np.array([0, 3])), shape=(1, 3))
    assert row_digests(stored) == row_digests(sparse.csr_array(np.array([[1.0, 0.0, 2.0]])))
    assert stored.nnz == 3


@pytest.mark.parametrize("as_sparse", [False, True])
def test_evaluation_rows_are_compared_with_all_learning_rows(as_sparse):
    X = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(float)
    stream = build_stream(X, Shape(sparse=as_sparse, sizes=(4, 0, 3), evaluation_sizes=(50, 3)))
    learnt = {tuple(row) for row in X[:7]}
    expected = [tuple(row) in learnt for row in X[7:60]]
    assert np.concatenate(duplicated_evaluation_rows(stream)).tolist() == expected
    assert 0 < sum(expected) < 53
