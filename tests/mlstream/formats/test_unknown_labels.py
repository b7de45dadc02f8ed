"""Unknown labels in files: read in label columns, refused in features by the cell, and written as peers read them."""

import gzip
from pathlib import Path
from typing import Any

import arff
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from scipy.io import arff as scipy_arff

from mlstream._support.content import FormatError
from mlstream.cards.description import hash_data
from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.data.registry import list_datasets
from mlstream.formats import load, save
from mlstream.formats.arff.writer import format_arff
from mlstream.generators import task_stream
from mlstream.streams.stream import Dataset
from tests.mlstream.small_streams import Shape, assert_same_stream, hide_cells, make_stream

NAN = float("nan")
HEAD = (
    "@relation 't: -C 2'\n@attribute y {0,1}\n@attribute z {1,0}\n@attribute a numeric\n@attribute b numeric\n@data\n"
)
# Two labels, then two features; the same table in every way of writing it.
LABELS = [[1, NAN], [NAN, NAN], [0, 0]]
FEATURES = [[0.5, 0], [2, 3], [0, 7]]
TEXTS = {
    "dense.arff": HEAD + "1,?,0.5,0\n?,?,2,3\n0,0,0,7\n",
    "MOA.arff": HEAD + "1,?,0.5,0,\n\n ? , ? ,2,3,\n0,0,0,7,\n",
    "sparse.arff": HEAD + "{0 1,1 ?,2 0.5}\n{0 ?,1 ?,2 2,3 3}\n{1 0,3 7}\n",
    "numeric.arff": HEAD.replace("{0,1}", "numeric") + "1,?,0.5,0\n?,?,2,3\n0,0,0,7\n",
    "plain.csv": "y,z,a,b\n1,,0.5,0\n,,2,3\n0,0,0,7\n",
    "quoted.csv": 'y,z,a,b\r\n1,"",0.5,0\r\n" ",\t,2,3\r\n0,0,0,7\r\n',
}


def write(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(TEXTS[name], encoding="utf-8")
    return path


@pytest.mark.parametrize("name", TEXTS)
def test_a_missing_label_is_an_unknown_one(tmp_path: Path, name: str) -> None:
    table = load_dataset(write(tmp_path, name), labels=["y", "z"])
    assert table.Y.dtype == np.float32
    np.testing.assert_array_equal(table.Y, LABELS)
    np.testing.assert_array_equal(table.X.toarray() if sparse.issparse(table.X) else table.X, FEATURES)


@pytest.mark.parametrize("name", TEXTS)
def test_a_table_read_in_pieces_has_the_same_labels(tmp_path: Path, name: str) -> None:
    pieces = list(iter_dataset(write(tmp_path, name), labels=["y", "z"], chunk_size=2))
    np.testing.assert_array_equal(np.concatenate([piece.Y for piece in pieces]), LABELS)
    assert [piece.Y.dtype for piece in pieces] == [np.float32, np.uint8]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("x.arff", HEAD + "1,0,1,2\n1,0,?,2\n", "line 8: column 'a'"),
        ("x.arff", HEAD + "{0 1}\n{1 0,3 ?}\n", "line 8: column 'b'"),
        ("x.arff", HEAD.replace("a numeric", "a {red,blue}") + "1,0,red,2\n1,0,?,2\n", "line 8: column 'a'"),
        ("x.csv", "y,z,a,b\n1,0,1,2\n1,0,1,\n", "line 3: column 'b'"),
    ],
)
def test_a_missing_feature_is_one_error_with_its_cell(tmp_path: Path, name: str, text: str, place: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    message = f"{name}, {place} must have a value in every row; labels only may be unknown. Got a missing value"
    with pytest.raises(FormatError, match=message):
        load_dataset(tmp_path / name, labels=["y", "z"])
    with pytest.raises(FormatError, match=message):
        list(iter_dataset(tmp_path / name, labels=["y", "z"]))


@pytest.mark.slow
def test_a_long_table_is_read_by_compiled_loops(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40_000, 3)), hide_cells(rng.integers(0, 2, (40_000, 4)), 0.2, 0)
    text = "".join(format_arff(X, Y, ("a", "b", "c"), ("k", "l", "m", "n"), title="t"))
    with gzip.open(tmp_path / "x.arff.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    table = load_dataset(tmp_path / "x.arff.gz")
    np.testing.assert_array_equal(table.Y, Y)
    assert table.X.tobytes() == X.tobytes()


def test_parquet_holds_nulls(tmp_path: Path) -> None:
    columns = {"y": pa.array([1, None, 0], pa.uint8()), "z": pa.array([True, False, None]), "w": [0.0, NAN, None]}
    parquet.write_table(pa.table({**columns, "a": [1.0, 2.0, 3.0]}), tmp_path / "x.parquet")
    table = load_dataset(tmp_path / "x.parquet", labels=["y", "z", "w"])
    np.testing.assert_array_equal(table.Y, [[1, 1, 0], [NAN, 0, NAN], [0, NAN, NAN]])
    parquet.write_table(pa.table({"y": [1, 0], "a": [1, None]}), tmp_path / "x.parquet")
    with pytest.raises(FormatError, match="row 2: column 'a' must have a value in every row; labels only"):
        load_dataset(tmp_path / "x.parquet", labels=["y"])


def test_parquet_is_written_with_nulls_where_labels_are_unknown(tmp_path: Path) -> None:
    stream = make_stream(Shape(unknown=0.4))
    save(stream, tmp_path / "x.train.parquet")
    table = parquet.read_table(tmp_path / "x.train.parquet")
    assert [str(table.schema.field(name).type) for name in "klm"] == ["uint8"] * 3
    for number, name in enumerate("klm"):
        expected = [None if cell != cell else cell for part in stream for cell in part.Y[:, number].tolist()]  # noqa: PLR0124
        assert table[name].to_pylist() == expected


def table_of(*, is_sparse: bool) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)) * (rng.random((30, 4)) < 0.5)
    return sparse.csr_array(X) if is_sparse else X, hide_cells(rng.integers(0, 2, (30, 3)), 0.3, 0)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_liac_arff_sees_the_same_unknown_labels(is_sparse: bool) -> None:
    X, Y = table_of(is_sparse=is_sparse)
    read = arff.loads("".join(format_arff(X, Y, tuple("abcd"), tuple("klm"), title="t")), encode_nominal=True)
    dense = X.toarray() if is_sparse else X
    np.testing.assert_array_equal(np.array(read["data"], dtype=float), np.hstack([Y, dense]))


def test_scipy_sees_the_same_unknown_labels(tmp_path: Path) -> None:
    X, Y = table_of(is_sparse=False)
    path = tmp_path / "x.arff"
    path.write_text("".join(format_arff(X, Y, tuple("abcd"), tuple("klm"), title="t")), encoding="utf-8")
    rows, _ = scipy_arff.loadarff(str(path))
    for number, name in enumerate("klm"):
        expected = ["?" if np.isnan(cell) else str(int(cell)) for cell in Y[:, number]]
        assert [cell.decode() for cell in rows[name]] == expected


def test_pandas_sees_the_same_unknown_labels(tmp_path: Path) -> None:
    pandas, stream = pytest.importorskip("pandas", reason="needs pandas"), make_stream(Shape(unknown=0.4))
    save(stream, tmp_path / "x.train.csv")
    table = pandas.read_csv(tmp_path / "x.train.csv")
    np.testing.assert_array_equal(table[list("klm")], np.concatenate([part.Y for part in stream]))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_compiled_loops_write_the_same_text(is_sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 7)) * (rng.random((20_000, 7)) < 0.9)
    Y = hide_cells(rng.integers(0, 2, (20_000, 3)), 0.3, 0)
    names = tuple("abcdefg"), tuple("klm")
    whole = sparse.csr_array(X) if is_sparse else X
    rows = "".join(format_arff(whole, Y, *names, title="t")).splitlines()[-20_000:]
    for start in (0, 10_000, 19_990):
        few = format_arff(whole[start : start + 10], Y[start : start + 10], *names, title="t")
        assert rows[start : start + 10] == "".join(few).splitlines()[-10:]


def test_an_npz_file_that_is_mapped_holds_each_part_in_its_own_type(tmp_path: Path) -> None:
    stream = make_stream(Shape(unknown=0.1, sizes=(6, 6, 2, 1)))
    kinds = [part.Y.dtype for part in (*stream.experiences, *stream.evaluation_sets)]
    assert set(kinds) == {np.dtype(np.uint8), np.dtype(np.float32)}
    save(stream, tmp_path / "x.npz")
    assert_same_stream(load(tmp_path / "x.npz", mmap=True), stream)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".npz", ".arff", ".train.csv", ".train.parquet"])
def test_yeast_with_hidden_cells_comes_back_bit_by_bit(tmp_path: Path, suffix: str) -> None:
    if "yeast" not in {entry.name for entry in list_datasets()}:
        pytest.skip("needs the table of Yeast")
    yeast = load_dataset("yeast")
    hidden = hide_cells(yeast.Y, 0.2, 0)
    table = Dataset(yeast.X, hidden, yeast.feature_names, yeast.label_names, name="yeast")
    stream = task_stream(table, n_init=1)
    save(stream, tmp_path / f"x{suffix}")
    read = load(tmp_path / f"x{suffix}")
    assert_same_stream(read, stream)
    assert hash_data(read) == stream.card.data_sha256
    parts = (*read.experiences, *read.evaluation_sets)
    rows = np.concatenate([part.row_ids for part in parts])
    np.testing.assert_array_equal(np.concatenate([part.Y for part in parts]), hidden[rows])
