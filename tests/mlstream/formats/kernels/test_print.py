"""Rows of ARFF are written as joined strings of `repr`."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mlstream.formats._kernels.print import print_dense, print_sparse
from tests.scattered import tables

VALUES = (0.0, 1.0, -2.5, 1e300, 5e-324, 0.1, 123456.789)
# the distance of the sign of an unknown label from the sign 0
LABELS = (0, 1, ord("?") - ord("0"))
SHAPES = st.tuples(st.integers(0, 4), st.integers(1, 3), st.integers(1, 12))


def sign(label):
    return chr(ord("0") + label)


@settings(max_examples=100)
@given(SHAPES, st.data())
def test_dense_rows_list_every_cell(shape, data):
    n, n_labels, n_features = shape
    X, Y = data.draw(tables((n, n_features), VALUES)), data.draw(tables((n, n_labels), LABELS, np.uint8))
    rows = [[*map(sign, y), *map(repr, x)] for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
    assert print_dense(X, Y).decode() == "".join(",".join(row) + "\n" for row in rows)


@settings(max_examples=100)
@given(SHAPES, st.data())
def test_sparse_rows_list_pairs(shape, data):
    n, n_labels, n_features = shape
    X, Y = data.draw(tables((n, n_features), VALUES)), data.draw(tables((n, n_labels), LABELS, np.uint8))
    thin, expected = sparse.csr_array(X), ""
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        pairs = [f"{k} {sign(label)}" for k, label in enumerate(y) if label]
        pairs += [f"{n_labels + j} {value!r}" for j, value in enumerate(x) if value]
        # River cannot read {}
        expected += "{" + ",".join(pairs or ["0 0"]) + "}\n"
    assert print_sparse(thin.data, thin.indices, thin.indptr, Y).decode() == expected
