"""A table is had from a frame, a Bunch, a pair of arrays, a file or a name; what a frame holds comes through."""

import datetime as dt
from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import load_iris, load_linnerud, make_multilabel_classification
from sklearn.utils import Bunch

from mlstream import Dataset
from mlstream.data import as_dataset
from tests.loops import check_all

FRAMES = [pd.DataFrame, pl.DataFrame]
COLUMNS = {"k": [1, 0, None], "age": [3, 4, 5], "smokes": [True, False, True], "l": [True, None, False]}


@pytest.mark.parametrize("frame", [*FRAMES, pa.table])
@pytest.mark.parametrize("labels", [["l", "k"], ("l", "k")])
def test_named_columns_are_labels_in_the_order_named_and_the_others_features(frame, labels):
    table = Dataset.from_frame(frame(COLUMNS), labels, name="mine")
    assert (table.name, table.feature_names, table.label_names) == ("mine", ("age", "smokes"), ("l", "k"))
    np.testing.assert_array_equal(table.X, [[3, 1], [4, 0], [5, 1]])
    np.testing.assert_array_equal(table.Y, [[1, 1], [np.nan, 0], [0, np.nan]])


@pytest.mark.parametrize("frame", FRAMES)
def test_labels_may_be_counted_from_either_end(frame):
    columns = {"k": [1, 0], "a": [0.5, 2], "l": [0, 1]}
    assert Dataset.from_frame(frame(columns), 1).label_names == ("k",)
    assert Dataset.from_frame(frame(columns), -1).label_names == ("l",)


def test_numbered_columns_are_named_by_their_numbers():
    table = Dataset.from_frame(pd.DataFrame([[0.5, 1], [2, 0]]), labels=[1])
    assert (table.feature_names, table.label_names) == (("0",), ("1",))


def test_nullable_columns_and_the_index_of_pandas():
    frame = pd.DataFrame(
        {
            "a": pd.array([1, 2], dtype="UInt8"),
            "b": pd.array([True, False], dtype="boolean"),
            "k": pd.array([None, 1], dtype="Int64"),
            "l": pd.array([True, None], dtype="boolean"),
            "m": pd.Series([0, None], dtype=object, index=["p", "q"]).array,
        },
        index=["p", "q"],
    )
    table = Dataset.from_frame(frame, labels=["k", "l", "m"])
    assert (table.X.tolist(), table.feature_names) == ([[1, 1], [2, 0]], ("a", "b"))
    np.testing.assert_array_equal(table.Y, [[np.nan, 1, 0], [1, np.nan, np.nan]])


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("missing", "expected", "names"),
    [
        ("drop", [[1.5], [3]], ("a",)),
        ("mean", [[1.5], [2.25], [3]], ("a",)),
        ("indicator", [[1.5, 0], [2.25, 1], [3, 0]], ("a", "a is missing")),
        ("keep", [[1.5], [np.nan], [3]], ("a",)),
    ],
)
def test_missing_features_are_read_as_asked(frame, missing, expected, names):
    table = Dataset.from_frame(frame({"a": [1.5, None, 3], "k": [1, 0, 1]}), ["k"], missing=missing)
    np.testing.assert_array_equal(table.X, expected)
    assert table.feature_names == names
    assert table.reading.missing == missing


@pytest.mark.parametrize("frame", FRAMES)
def test_words_are_read_as_asked(frame):
    words = frame({"c": ["v", "u", "v"], "k": [1, 0, 1]})
    table = Dataset.from_frame(words, ["k"], categories="one-hot")
    assert (table.X.tolist(), table.feature_names) == ([[0, 1], [1, 0], [0, 1]], ("c=u", "c=v"))
    assert Dataset.from_frame(words, ["k"], categories="ordinal").X.tolist() == [[1], [0], [1]]


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["low", "high"], categories=["low", "middle", "high"], ordered=True),
        pl.Series(["low", "high"], dtype=pl.Enum(["low", "middle", "high"])),
    ],
)
def test_declared_categories_keep_their_order(column):
    frame = (pl if isinstance(column, pl.Series) else pd).DataFrame({"c": column, "k": [1, 0]})
    assert Dataset.from_frame(frame, ["k"], categories="ordinal").X.tolist() == [[0], [2]]
    table = Dataset.from_frame(frame, ["k"])
    assert (table.X.tolist(), table.feature_names) == ([[1, 0, 0], [0, 0, 1]], ("c=low", "c=middle", "c=high"))


WORDS = ["b", None, "a"]
CELLS = {
    "Int64": (pd.array([1, None, 5], "Int64"), [[1], [np.nan], [5]]),
    "boolean": (pd.array([True, None, False], "boolean"), [[1], [np.nan], [0]]),
    "objects": (pd.array([True, None, False], object), [[1], [np.nan], [0]]),
    "decimals": (pd.array([Decimal("1.5"), None, Decimal(2)], object), [[1.5], [np.nan], [2]]),
    "float16": (np.array([1.5, np.nan, 2], np.float16), [[1.5], [np.nan], [2]]),
    "nothing": (pd.array([None] * 3, object), [[np.nan]] * 3),
    "numbers as text": (pd.array(["1", None, "2.5"], "string"), [[1], [np.nan], [2.5]]),
    "truth values": (pd.array(["True", None, "FALSE"], "string"), [[1], [np.nan], [0]]),
    "text": (pd.array(WORDS, "string"), [[0, 1], [np.nan] * 2, [1, 0]]),
    "text of pyarrow": (pd.array(WORDS, pd.ArrowDtype(pa.string())), [[0, 1], [np.nan] * 2, [1, 0]]),
    "dictionary": (
        pd.array(WORDS, pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        [[0, 1], [np.nan] * 2, [1, 0]],
    ),
    "categories": (pd.Categorical(WORDS, ["c", "b", "a"]), [[0, 1], [np.nan] * 2, [1, 0]]),
    "categories of numbers": (pd.Categorical([3, None, 1]), [[3], [np.nan], [1]]),
}


def test_a_column_of_any_type_is_read_alike_from_every_library_and_from_parquet(tmp_path):
    def check(name):
        cells, expected = CELLS[name]
        frame = pd.DataFrame({"c": cells, "k": [1, 0, 1]})
        frame.to_parquet(tmp_path / "t.parquet")
        for source in (frame, pa.table(frame), pl.from_pandas(frame), tmp_path / "t.parquet"):
            table = as_dataset(source, labels=["k"], missing="keep", categories="one-hot")
            np.testing.assert_array_equal(table.X, expected)
            assert table.feature_names == (("c",) if len(expected[0]) == 1 else ("c=a", "c=b"))

    check_all(CELLS, check)


@pytest.mark.parametrize("frame", FRAMES)
def test_whole_numbers_that_floats_round_are_refused_until_they_are_ignored(frame):
    for number in (2**53 + 1, -(2**53) - 1, 2**64):
        for other in (1, None):
            # pandas would round a number beside a missing one itself.
            ids = [number, other] if frame is pl.DataFrame else pd.array([number, other], object)
            columns = {"id": ids, "a": [5, 7], "k": [1, 0]}
            with pytest.raises(ValueError, match=rf"row 1: column 'id' must hold .* 2\*\*53 .*ignore= .* Got {number}"):
                Dataset.from_frame(frame(columns), ["k"], missing="keep")
            assert Dataset.from_frame(frame(columns), ["k"], ignore=["id"]).X.tolist() == [[5], [7]]
    assert Dataset.from_frame(frame({"a": [2**53, -(2**53)], "k": [1, 0]}), ["k"]).X.tolist() == [[2**53], [-(2**53)]]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sparse_columns_become_a_csr_matrix_however_full(kind):
    cells = sparse.csr_array(np.array([[0, 2, 1, 3], [1, 1, 0, 2], [0, 0, 4, 5]], dtype=kind))
    labels = {"k": [1, None, 0], "l": pd.array([True, None, False], dtype="boolean"), "m": [0, 1, 1]}
    frame = pd.DataFrame.sparse.from_spmatrix(cells, columns=list("abcd")).assign(**labels)
    table = Dataset.from_frame(frame, ["k", "l", "m"])
    assert isinstance(table.X, sparse.csr_array)
    assert (table.X.dtype, table.X.nnz) == (kind, cells.nnz)
    np.testing.assert_array_equal(table.X.toarray(), cells.toarray())
    np.testing.assert_array_equal(table.Y, [[1, 1, 0], [np.nan, np.nan, 1], [0, 0, 1]])


def test_numbers_among_sparse_columns_and_words_among_them():
    cells = pd.DataFrame.sparse.from_spmatrix(sparse.eye_array(2).tocsr(), columns=["a", "b"])
    numbers = Dataset.from_frame(cells.assign(n=[5, 6], k=[0, 1]), ["k"])
    assert (sparse.issparse(numbers.X), numbers.X.toarray().tolist()) == (True, [[1, 0, 5], [0, 1, 6]])
    words = Dataset.from_frame(cells.assign(w=["u", "v"], k=[0, 1]), ["k"], categories="ordinal")
    assert words.X.tolist() == [[1, 0, 0], [0, 1, 1]]


def test_a_frame_that_cannot_be_read_is_refused_in_one_line():
    def check(case):
        (columns, labels, message), frame = case
        with pytest.raises(ValueError, match=message) as caught:
            Dataset.from_frame(frame(columns), labels)
        assert "\n" not in str(caught.value)

    check_all(
        product(
            [
                (
                    {"a": [1], "k": [1]},
                    ["z"],
                    "labels must be columns, each named once. Got 'z', which is not a column",
                ),
                ({"a": [1], "k": [1]}, "k", "labels must be a number of columns, a list of names"),
                ({"a": [1], "k": [1]}, None, "labels must name the label columns of a frame, as in Dataset.from_frame"),
                ({"a": [1], "k": [1]}, ["a", "k"], "features the others. Got 2 labels"),
                ({"a": [1], "k": [2]}, ["k"], "label 'k' must be 0 or 1. Got 2"),
                ({"a": [], "k": []}, ["k"], "^table must hold at least one row. Got 0.$"),
                ({"a": [1.0, None], "k": [1, 0]}, ["k"], "column 'a' must have a value in every row.*missing="),
                ({"a": ["u", "v"], "k": [1, 0]}, ["k"], "column 'a' must be a finite number.*categories="),
                ({"a": [np.inf, 1], "k": [1, 0]}, ["k"], "column 'a' must hold finite numbers. Got infinity"),
                ({"a": [dt.datetime(2026, 1, 1)], "k": [1]}, ["k"], "column 'a' must hold numbers or words. Got dates"),
            ],
            FRAMES,
        ),
        check,
    )


@pytest.mark.parametrize("cell", [dt.time(1), [1, 2], {"b": 1}, b"x"])
def test_columns_of_polars_that_are_no_cells_are_refused(cell):
    with pytest.raises(ValueError, match=r"column 'a' must hold numbers or words. Got \w+; ignore= or"):
        Dataset.from_frame(pl.DataFrame({"a": [cell], "k": [1]}), ["k"])


def test_an_infinity_among_sparse_columns_is_refused():
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array([[1, np.inf]]), columns=["a", "b"]).assign(k=1)
    with pytest.raises(ValueError, match=r"column .b. must hold finite numbers\. Got infinity"):
        Dataset.from_frame(frame, ["k"])


def test_what_is_no_frame_is_refused():
    with pytest.raises(TypeError, match=r"frame must be a data frame.* Got ndarray instead; Dataset\(X, Y\) takes arr"):
        Dataset.from_frame(np.eye(3), ["a"])


cells = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.slow
@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=cells), st.data())
def test_a_table_comes_back_from_the_frame_of_its_columns(X, data):
    labels = hnp.arrays(np.float32, (len(X), data.draw(st.integers(1, 3))), elements=st.sampled_from([0, 1, np.nan]))
    table = Dataset(X, data.draw(labels))
    columns = {f"x{place}": column for place, column in enumerate(X.T)}
    columns |= {f"y{place}": column for place, column in enumerate(table.Y.T)}
    names = data.draw(st.permutations(list(columns)))
    frame = data.draw(st.sampled_from(FRAMES))({name: columns[name] for name in names})
    back = Dataset.from_frame(frame, table.label_names)
    assert sorted(back.feature_names) == sorted(table.feature_names)
    np.testing.assert_array_equal(back.X, X[:, [int(name[1:]) for name in back.feature_names]])
    np.testing.assert_array_equal(back.Y, table.Y)


def test_a_dataset_a_name_a_path_and_a_frame_are_tables(tmp_path):
    yeast = as_dataset("yeast")
    assert (yeast.name, as_dataset(yeast)) == ("yeast", yeast)
    (tmp_path / "t.csv").write_text("a,k\n1,0\n2,1\n")
    for source in (tmp_path / "t.csv", str(tmp_path / "t.csv"), pd.DataFrame({"a": [1, 2], "k": [0, 1]})):
        table = as_dataset(source, labels=["k"])
        assert (table.X.tolist(), table.Y.tolist()) == ([[1], [2]], [[0], [1]])


def test_options_reach_files_and_frames(tmp_path):
    (tmp_path / "t.csv").write_text("a,k\n1,0\n,1\n")
    for source in (tmp_path / "t.csv", pd.DataFrame({"a": [1, None], "k": [0, 1]})):
        assert as_dataset(source, labels=["k"], missing="drop").X.tolist() == [[1]]


def test_pairs_and_bunches_of_scikit_learn_are_tables():
    pair = make_multilabel_classification(20, random_state=0)
    np.testing.assert_array_equal(as_dataset(pair).X, pair[0])
    names = {"feature_names": [f"f{place}" for place in range(20)], "target_names": list("abcde")}
    table = as_dataset(Bunch(data=pair[0], target=pair[1], **names))
    assert (table.feature_names[0], table.label_names) == ("f0", tuple("abcde"))
    np.testing.assert_array_equal(table.Y, pair[1])


@pytest.mark.parametrize("target", ["frame", "series"])
def test_bunches_of_frames_as_openml_gives_them_are_tables(target):
    labels = pd.DataFrame({"k": pd.Categorical(["TRUE", "FALSE"]), "l": pd.Categorical(["0", "1"])})
    data = pd.DataFrame({"a": [0.5, 1], "c": pd.Categorical(["u", "v"])})
    bunch = Bunch(data=data, target=labels if target == "frame" else labels["k"], frame=None)
    table = as_dataset(bunch, categories="ordinal")
    assert (table.feature_names, table.X.tolist()) == (("a", "c"), [[0.5, 0], [1, 1]])
    assert table.Y.tolist() == ([[1, 0], [0, 1]] if target == "frame" else [[1], [0]])


@pytest.mark.parametrize("as_bunch", [False, True])
@pytest.mark.parametrize("kind", [object, str])
def test_arrays_of_words_are_tables(as_bunch, kind):
    X, Y = np.array([[0.5, "u"], [1, "v"]], dtype=object), np.array([["TRUE", "no"], ["FALSE", "yes"]], dtype=kind)
    table = as_dataset(Bunch(data=X, target=Y) if as_bunch else (X, Y), categories="one-hot")
    assert (table.feature_names, table.X.tolist()) == (("x0", "x1=u", "x1=v"), [[0.5, 1, 0], [1, 0, 1]])
    assert table.Y.tolist() == [[1, 0], [0, 1]]


def test_arrays_are_read_with_the_options_of_tables():
    X, Y = np.array([[1, 7], [np.nan, 8], [3, 9]]), np.array([[1, 0], [0, 1], [1, 1]])
    table = as_dataset((X, Y), ignore=["x1", "y0"], missing="drop")
    assert (table.feature_names, table.X.tolist(), table.Y.tolist()) == (("x0",), [[1], [3]], [[0], [1]])


def test_what_is_no_table_is_refused_in_one_line():
    def check(case):
        source, options, message = case
        with pytest.raises((TypeError, ValueError, FileNotFoundError), match=message) as caught:
            as_dataset(source, **options)
        assert "\n" not in str(caught.value)

    check_all(
        [
            (3, {}, r"A table must be a Dataset, the name .* or a pair \(X, Y\). Got int instead"),
            (np.eye(3), {"labels": [1]}, "Got ndarray instead"),
            ({"data": np.eye(3)}, {}, "Got dict instead"),
            ((np.eye(3),), {}, "Got tuple instead"),
            ((np.eye(3), np.eye(3)), {"labels": ["a"]}, r"labels must be left out for a tuple, .*. Got \['a'\]"),
            (
                (np.eye(3).tolist(), np.eye(3)),
                {"missing": "drop"},
                "missing must be left out, unless X and Y are dense",
            ),
            ((np.eye(3), np.eye(3)), {"header": False}, "header must be left out for arrays"),
            (pd.DataFrame({"a": [1], "k": [1]}), {}, "labels must name the label columns of a frame"),
            ("yeats", {}, "did you mean 'yeast'"),
            (load_iris(), {}, r"Y must be 2-D, .* Got the shape \(150,\)"),
            (load_iris(as_frame=True), {}, "label 'target' must be 0 or 1. Got 2"),
            (load_linnerud(), {}, r"Y must hold 0, 1 and NaN \(unknown\) only. Got 191"),
        ],
        check,
    )


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, None], "k": [0, 1]}, r"table, row 2: column 'a' must have a value"),
        ({"a": ["red", "red"], "k": [0, 1]}, r"table, row 1: column 'a' must be a finite number"),
        ({"a": ["7", "2024-01-01"], "k": [0, 1]}, r"table, row 2: column 'a' must hold numbers or words"),
        ({"a": [1, 2], "k": [0, 5]}, r"table, row 2: label 'k' must be 0 or 1"),
    ],
)
def test_errors_about_frames_count_rows(frame, columns, message):
    with pytest.raises(ValueError, match=message):
        Dataset.from_frame(frame(columns), labels=["k"])


def test_errors_about_labels_show_the_way():
    frame = pd.DataFrame({"pump, left": [0, 1], "a": [0.5, 2]})
    with pytest.raises(ValueError, match=r"Got 'pump, left'; labels=\['pump, left'\] names one column\.$"):
        Dataset.from_frame(frame, labels="pump, left")
    with pytest.raises(
        ValueError, match=r"Got 'pumb left', which is not a column; did you mean 'pump, left' \(a name with"
    ):
        Dataset.from_frame(frame, labels=["pumb left"])
    with pytest.raises(ValueError, match=r"Got the shape \(150,\); Y.reshape\(-1, 1\) == np.unique\(Y\) makes one"):
        as_dataset(load_iris())
