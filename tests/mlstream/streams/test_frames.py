"""Tables, streams and their parts become frames of pandas, from which tables come back as they were."""

import sys
import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

from mlstream import Dataset
from tests.loops import check_all
from tests.mlstream.small_streams import NAMES, Shape, assert_same_array, make_stream

X = np.array([[0.5, 2.0, 0.0], [1.0, 0.0, 4.0], [0.0, 3.0, 1.0]])
Y = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.uint8)
FRAMES = [pd.DataFrame, pl.DataFrame]
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
    n_labels = draw(st.integers(1, len(names) - 1))
    n_rows, kind = draw(st.integers(1, 5)), draw(st.sampled_from([np.float32, np.float64]))
    numbers = st.floats(width=kind(0).nbytes * 8, allow_nan=False, allow_infinity=False)
    X = draw(hnp.arrays(kind, (n_rows, len(names) - n_labels), elements=numbers))
    Y = draw(hnp.arrays(np.float32, (n_rows, n_labels), elements=st.sampled_from([0, 1, np.nan])))
    is_sparse = draw(st.booleans())
    return Dataset(sparse.csr_array(X) if is_sparse else X, Y, names[n_labels:], names[:n_labels], name="drawn")


@given(tables())
def test_a_table_comes_back_from_its_frame(table):
    back = Dataset.from_frame(table.to_frame(), table.label_names)
    assert (back.feature_names, back.label_names) == (table.feature_names, table.label_names)
    assert (sparse.issparse(back.X), back.X.dtype) == (sparse.issparse(table.X), table.X.dtype)
    X, again = (one.X.toarray() if sparse.issparse(one.X) else one.X for one in (table, back))
    np.testing.assert_array_equal(again, X)
    assert_same_array(back.Y, table.Y)


@given(tables())
def test_a_dense_table_comes_back_from_a_frame_of_polars(table):
    frame = pl.DataFrame({name: np.asarray(column) for name, column in table.to_frame().items()})
    back = Dataset.from_frame(frame, table.label_names)
    np.testing.assert_array_equal(back.X, table.X.toarray() if sparse.issparse(table.X) else table.X)
    assert_same_array(back.Y, table.Y)


@pytest.mark.parametrize("kind", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).to_arrow()])
def test_keys_come_back_from_a_frame(kind):
    times = np.array(["2026-01-01T00:00", "2026-01-02T00:00"], "datetime64[us]")
    keys = {"host": ["a", "b"], "start": times, "port": [2**62, 0], "share": [-0.0, 5e-324]}
    table = Dataset([[0.5], [1]], [[1, 0], [0, 1]], ["a"], ["k", "l"], keys=keys)
    back = Dataset.from_frame(kind(table.to_frame().reset_index()), ["k", "l"], keys=list(keys))
    assert (back.feature_names, back.keys.dtype) == (("a",), table.keys.dtype)
    np.testing.assert_array_equal(back.keys, table.keys)


def test_the_frame_of_a_table_has_labels_first_in_their_types():
    frame = Dataset(np.array([[0.5], [1]], np.float32), [[1, 0], [0, 1]], ["a"], ["k", "l"]).to_frame()
    assert frame.dtypes.map(str).to_dict() == {"k": "uint8", "l": "uint8", "a": "float32"}
    assert frame.index.tolist() == [0, 1]


def test_the_frame_of_a_csr_matrix_has_sparse_columns():
    frame = Dataset(sparse.eye_array(3).tocsr(), np.eye(3)[:, :1]).to_frame()
    assert [isinstance(kind, pd.SparseDtype) for kind in frame.dtypes] == [False, True, True, True]


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("evaluation", [False, True])
def test_the_frame_of_a_stream_has_its_rows_in_order(is_sparse, evaluation):
    stream = make_stream(Shape(sparse=is_sparse, by_row=True, unknown=0.2))
    frame = stream.to_frame(evaluation=evaluation)
    rows = iter(frame.reset_index().to_dict("records"))
    for number, part in enumerate(stream.evaluation_sets if evaluation else stream):
        for place in range(len(part)):
            task = part.task_id if evaluation else part.task_ids[place]
            expected = {} if evaluation else {"experience": number}
            expected |= {"task": f"task {task}", "row": part.row_ids[place]}
            expected |= dict(zip(stream.card.label_names, part.Y[place], strict=True))
            x = part.X[[place]].toarray()[0] if is_sparse else part.X[place]
            expected |= dict(zip(stream.card.feature_names, x, strict=True))
            got = next(rows)
            assert list(got) == list(expected)
            np.testing.assert_equal([*got.values()], [*expected.values()])
    assert next(rows, None) is None


def test_a_table_comes_back_from_the_frame_of_a_stream():
    stream = make_stream()
    table = Dataset.from_frame(stream.to_frame(), stream.card.label_names)
    np.testing.assert_array_equal(table.X, np.concatenate([part.X for part in stream]))
    np.testing.assert_array_equal(table.Y, np.concatenate([part.Y for part in stream]))


def test_parts_of_a_stream_become_frames():
    stream = make_stream()
    experience, held_out = stream.experiences[0], stream.evaluation_sets[1]
    frame = experience.to_frame()
    assert frame.columns.tolist() == ["y0", "y1", "y2", "x0", "x1", "x2", "x3"]
    assert frame.index.tolist() == list(zip(experience.task_ids, experience.row_ids, strict=True))
    np.testing.assert_array_equal(frame, np.hstack([experience.Y, experience.X]))
    frame = held_out.to_frame(stream.card.feature_names, stream.card.label_names)
    assert frame.columns.tolist() == [*stream.card.label_names, *stream.card.feature_names]
    assert frame.index.tolist() == [(1, row) for row in held_out.row_ids]


def test_a_name_of_a_feature_and_of_a_label_cannot_stand_in_one_frame():
    with pytest.raises(ValueError, match=r"must have different names in a frame\. Got 'a' twice\.$"):
        Dataset([[0.5]], [[1]], ["a"], ["a"]).to_frame()


def test_without_pandas_an_error_names_the_way_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^pandas must be installed for to_frame: pip install pandas\.$"):
        Dataset([[0.5]], [[1]]).to_frame()


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
