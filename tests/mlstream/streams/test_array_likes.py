"""A table in memory takes what users have: lists, arrays of any type, frames, sparse matrices of any format."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

from mlstream import Dataset
from tests.loops import check_all

X = np.array([[0.5, 2.0, 0.0], [1.0, 0.0, 4.0], [0.0, 3.0, 1.0]])
Y = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.uint8)
FRAMES = [pd.DataFrame, pl.DataFrame]
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


def test_two_arrays_are_enough_for_a_table():
    table = Dataset(X, Y)
    assert (table.feature_names, table.label_names, table.name) == (("x0", "x1", "x2"), ("y0", "y1"), "table")
    assert table.X is X
    assert table.Y is Y


def test_names_may_be_lists():
    table = Dataset(X, Y, ["a", "b", "c"], np.array(["k", "l"]))
    assert (table.feature_names, table.label_names) == (("a", "b", "c"), ("k", "l"))


def test_features_of_any_type_become_floats():
    def check(kind):
        whole = np.array([[1, 0], [0, 1], [1, 1]])
        table = Dataset(whole.tolist() if kind is list else whole.astype(kind), Y)
        assert table.X.dtype == np.dtype(np.float64)
        np.testing.assert_array_equal(table.X, whole)

    check_all([list, int, bool, np.int8, np.uint64, np.float16, np.longdouble, ">f8", object], check)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_keep_their_type(kind):
    assert Dataset(X.astype(kind), Y).X.dtype == kind


def test_sparse_features_and_labels_of_any_format_are_taken():
    def check(case):
        form, kind = case
        make = getattr(sparse, f"{form}_{kind}")
        table = Dataset(make(X), make(Y.astype(np.int64)))
        assert isinstance(table.X, sparse.csr_array)
        np.testing.assert_array_equal(table.X.toarray(), X)
        np.testing.assert_array_equal(table.Y, Y)

    check_all(product(FORMATS, ["array", "matrix"]), check)


@pytest.mark.parametrize("indicator", ["dense", "sparse"])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_what_scikit_learn_draws_is_taken(indicator, is_sparse):
    drawn = make_multilabel_classification(20, sparse=is_sparse, return_indicator=indicator, random_state=0)
    table = Dataset(*drawn)
    assert sparse.issparse(table.X) == is_sparse
    assert (table.X.shape, table.Y.shape) == ((20, 20), (20, 5))


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_keep_their_names_and_their_gaps(frame):
    table = Dataset(
        frame({"age": [3, 4, 5], "smokes": [True, False, True]}),
        frame({"ill": [True, None, False], "old": [1, 0, None], "tall": [0.0, 1.0, 1.0]}),
    )
    assert (table.feature_names, table.label_names) == (("age", "smokes"), ("ill", "old", "tall"))
    np.testing.assert_array_equal(table.X, [[3, 1], [4, 0], [5, 1]])
    np.testing.assert_array_equal(table.Y, [[1, 1, 0], [np.nan, 0, 1], [0, np.nan, 1]])


def test_nullable_columns_of_pandas_are_taken():
    labels = {"k": pd.array([1, None, 0], dtype="Int8"), "l": pd.array([None, True, False], dtype="boolean")}
    table = Dataset(pd.DataFrame({"a": pd.array([1, 2, 3], dtype="Int64")}), pd.DataFrame(labels))
    np.testing.assert_array_equal(table.X, [[1], [2], [3]])
    np.testing.assert_array_equal(table.Y, [[1, np.nan], [np.nan, 1], [0, 0]])


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_of_float32_stays_so(frame):
    assert Dataset(frame(X.astype(np.float32)), Y).X.dtype == np.float32


def test_numbered_columns_of_pandas_get_default_names():
    table = Dataset(pd.DataFrame(X), pd.DataFrame(Y))
    assert (table.feature_names, table.label_names) == (("x0", "x1", "x2"), ("y0", "y1"))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_a_sparse_frame_becomes_a_csr_matrix(kind):
    cells = sparse.csr_array((X * 2).astype(kind))
    table = Dataset(pd.DataFrame.sparse.from_spmatrix(cells, columns=list("abc")), Y)
    assert isinstance(table.X, sparse.csr_array)
    assert table.X.dtype == (np.float32 if kind is np.float32 else np.float64)
    assert table.X.nnz == 6
    np.testing.assert_array_equal(table.X.toarray(), X * 2)
    assert table.feature_names == ("a", "b", "c")


def test_what_is_no_table_of_numbers_is_refused_in_one_line():
    def check(case):
        features, labels, message = case
        with warnings.catch_warnings(), pytest.raises(ValueError, match=message) as caught:
            Dataset(features, labels)
        assert "\n" not in str(caught.value)

    check_all(
        [
            (X, [1, 0, 1], r"^table: Y must be 2-D, .* Got the shape \(3,\); Y.reshape\(-1, 1\) makes one column"),
            (X, pd.Series([1, 0, 1]), r"Y.to_frame\(\) of a series\.$"),
            (X[0], Y, r"^table: X and Y must be 2-D with as many rows each. Got shapes \(3,\) and \(3, 2\)\.$"),
            (3.0, Y, r"Got shapes \(\) and \(3, 2\)\.$"),
            ([["a"], ["b"], ["c"]], Y, "^table: X must hold numbers. Got the type <U1 instead.$"),
            ([[1], [2, 3], [4]], Y, "^table: X must be a table of numbers. Got list: .*inhomogeneous"),
            (
                [[1], [None], [4]],
                Y,
                "finite. Got NaN or infinity in column 0, 'x0'; missing= of Dataset.from_frame and",
            ),
            (np.eye(3) + 1j, Y, "must hold numbers. Got the type complex128 instead"),
            (
                pd.DataFrame({"a": [1, 2, 3], "b": list("uvw")}),
                Y,
                "X: column 'b' must hold numbers. Got string instead",
            ),
            (pl.DataFrame({"b": list("uvw")}), Y, "Got string instead; Dataset.from_frame reads words.$"),
            (pl.DataFrame({"a": [[1], [2], [3]]}), Y, "column 'a' must hold numbers. Got list instead"),
            (pd.DataFrame([[1, 2]] * 3, columns=["a", "a"]), Y, "different names. Got 'a' more than once"),
            (pl.DataFrame({"a": [1]}).lazy(), Y, r"must be in memory. Got a lazy one instead; pass frame.collect\(\)"),
            (X, pd.DataFrame({"k": list("uvw")}), "Y: column 'k' must hold numbers. Got string instead"),
        ],
        check,
    )


def test_a_text_is_no_list_of_names():
    with pytest.raises(TypeError, match=r"^feature_names must be a list of names. Got 'abc' instead.$"):
        Dataset(X, Y, "abc")
