"""Keys of rows in files: with the rows of NPZ, Parquet and CSV, beside those of ARFF, and in no feature."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream import iter_dataset, load, load_dataset, save
from mlstream._support.content import FormatError
from mlstream.data.in_memory import as_dataset
from mlstream.formats.io import files_of
from mlstream.formats.key_files import _read_keys, describe_types, infer_keys, keys_path, parse_keys, write_keys
from mlstream.formats.table_io import write_table
from mlstream.publishing.source_tables import without_keys
from mlstream.streams.keys import to_objects
from mlstream.streams.stream import Dataset
from tests.mlstream.small_streams import Shape, assert_same_stream, keys, make_keyed_stream

COLUMNS = {
    "host": ["=1+1", "'", 'say "hi", all', "NA or so", "007"],
    "start": np.datetime64("2026-01-01T00:00", "us") + np.arange(5),
    "port": [1, -2, 2**62, 0, 5],
    "share": [0.1, -0.0, 1e300, 5e-324, 3.0],
}
TABLE = Dataset(
    np.arange(10.0).reshape(5, 2), [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]], ("a", "b"), ("k", "l"), keys=COLUMNS
)


def write(table: Dataset, path: Path) -> None:
    """Write a plain table with its keys."""
    names, is_arff = (table.feature_names, table.label_names), ".arff" in path.name
    write_table(path, path.name, (table.X, table.Y), names, "t", keys=None if is_arff else table.keys)
    if is_arff and table.keys is not None:
        write_keys(keys_path(path), table.keys)


@pytest.mark.parametrize("suffix", [".npz", ".arff", ".arff.gz", ".train.csv", ".train.csv.gz", ".train.parquet"])
@pytest.mark.parametrize("shape", [Shape(), Shape(sizes=(0,), evaluation_sizes=(0,)), Shape(sparse=True)])
def test_a_stream_keeps_its_keys(tmp_path: Path, suffix: str, shape: Shape) -> None:
    if "csv" in suffix:
        # It holds dense streams only.
        shape = replace(shape, sparse=False)
    stream, path = make_keyed_stream(shape), tmp_path / f"x{suffix}"
    save(stream, path)
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in files_of(path)}
    assert_same_stream(load(path), stream)
    again = {file: file.read_bytes() for file in tmp_path.iterdir()}
    save(load(path), path)
    assert again == {file: file.read_bytes() for file in tmp_path.iterdir()}


def test_a_mapped_stream_has_keys(tmp_path: Path) -> None:
    stream = make_keyed_stream()
    save(stream, tmp_path / "x.npz")
    assert_same_stream(load(tmp_path / "x.npz", mmap=True), stream)
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        joined = np.concatenate([part.keys["host"] for part in stream if part.keys is not None])
        np.testing.assert_array_equal(arrays["learning_keys_host"], joined)
        assert {name for name in arrays if name.startswith("evaluation_keys_")} == {
            f"evaluation_keys_{name}" for name in stream.card.keys
        }


@pytest.mark.parametrize("name", ["x.arff", "x.evaluation.arff"])
def test_arff_is_plain_whether_rows_have_keys_or_not(tmp_path: Path, name: str) -> None:
    stream = make_keyed_stream()
    for folder, one in (("with", stream), ("without", without_keys(stream))):
        (tmp_path / folder).mkdir()
        save(one, tmp_path / folder / "x.arff")
    assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()
    assert not list((tmp_path / "without").glob("*.keys.csv"))


@pytest.mark.parametrize("name", ["x.keys.csv", "x.evaluation.keys.csv"])
def test_keys_beside_arff_are_those_that_were_written(tmp_path: Path, name: str) -> None:
    save(make_keyed_stream(), tmp_path / "x.arff")
    content = (tmp_path / name).read_text("utf-8")
    (tmp_path / name).write_text(content.replace("0", "1", 1), "utf-8")
    with pytest.raises(FormatError, match=f"{name} must be the file that its card lists, unchanged"):
        load(tmp_path / "x.arff")
    (tmp_path / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{name} must be there, to read a stream"):
        load(tmp_path / "x.arff")


def test_keys_of_an_older_stream_are_not_read(tmp_path: Path) -> None:
    stream = make_keyed_stream()
    save(stream, tmp_path / "x.arff")
    save(without_keys(stream), tmp_path / "x.arff")
    assert (tmp_path / "x.keys.csv").exists()
    assert load(tmp_path / "x.arff").key_names == ()
    assert load_dataset(tmp_path / "x.arff").keys is None


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".arff", ".arff.gz"])
def test_a_table_keeps_its_keys(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write(TABLE, path.with_suffix(".csv") if suffix == ".tsv" else path)
    if suffix == ".tsv":
        pd.read_csv(path.with_suffix(".csv"), dtype=str).to_csv(path, sep="\t", index=False)
    options: dict[str, Any] = {} if "arff" in suffix else {"keys": list(COLUMNS)}
    table = load_dataset(path, labels=["k", "l"], **options)
    np.testing.assert_array_equal(table.X, TABLE.X)
    assert table.keys is not None
    assert TABLE.keys is not None
    assert table.keys.dtype == TABLE.keys.dtype
    np.testing.assert_array_equal(table.keys, TABLE.keys)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arff"])
def test_rows_that_are_left_out_take_their_keys_with_them(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"k": [1, 0, 1], "a": [0.5, np.nan, 2.5], "host": ["x", "y", "z"]})
    if name == "t.csv":
        frame.to_csv(tmp_path / name, index=False)
    elif name == "t.parquet":
        frame.to_parquet(tmp_path / name)
    else:
        (tmp_path / name).write_text("@relation t\n@attribute k {0,1}\n@attribute a real\n@data\n1,.5\n0,?\n1,2.5\n")
        (tmp_path / "t.keys.csv").write_text("host\nx\ny\nz\n")
    options: dict[str, Any] = {} if name == "t.arff" else {"keys": ["host"]}
    table = load_dataset(tmp_path / name, labels=["k"], missing="drop", **options)
    assert table.keys is not None
    assert table.keys["host"].tolist() == ["x", "z"]
    if options:
        from_frame = Dataset.from_frame(frame, ["k"], missing="drop", keys=["host"])
        np.testing.assert_array_equal(table.keys, from_frame.keys)


@pytest.mark.parametrize("n_keys", [1, 4, 6])
def test_keys_beside_a_table_are_as_many_as_its_rows(tmp_path: Path, n_keys: int) -> None:
    write(TABLE, tmp_path / "t.arff")
    (tmp_path / "t.keys.csv").write_text("\n".join(["host", *map(str, range(n_keys))]) + "\n")
    with pytest.raises(FormatError, match=rf"t.keys.csv must hold the key of each row of t.arff. Got {n_keys} for 5"):
        load_dataset(tmp_path / "t.arff")
    (tmp_path / "t.keys.csv").unlink()
    assert load_dataset(tmp_path / "t.arff").keys is None


@pytest.mark.parametrize("content", [b"", b"host,host\n1,2\n", b"host,start\n1\n", b"host\n\xff\n", b'host\n"a\n'])
def test_a_spoilt_file_of_keys_is_refused(tmp_path: Path, content: bytes) -> None:
    write(TABLE, tmp_path / "t.arff")
    (tmp_path / "t.keys.csv").write_bytes(content)
    with pytest.raises(FormatError, match=r"t.keys.csv must "):
        load_dataset(tmp_path / "t.arff")


def test_a_bunch_has_no_columns_of_keys() -> None:
    bunch = {"data": np.arange(4.0).reshape(2, 2), "target": np.eye(2, dtype=np.uint8)}
    with pytest.raises(ValueError, match=r"keys must be left out"):
        as_dataset(bunch, keys=["x0"])


def test_keys_must_be_columns_of_the_table(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r"keys= or --keys must be columns, each named once. Got 'hots', .*'host'"):
        load_dataset(tmp_path / "t.csv", labels=2, keys=["hots"])
    with pytest.raises(TypeError, match=r"keys must be a list of names. Got 'host'"):
        load_dataset(tmp_path / "t.csv", labels=2, keys="host")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"keys must not name columns that ignore leaves out. Got 'host' in both"):
        load_dataset(tmp_path / "t.csv", labels=2, keys=["host"], ignore=["host"])
    with pytest.raises(ValueError, match=r"keys must be left out for a table that is read in chunks"):
        iter_dataset(tmp_path / "t.csv", labels=2, keys=["host"])
    write(TABLE, tmp_path / "t.arff")
    with pytest.raises(ValueError, match=r"keys \(--keys\) must be left out for files other than csv"):
        load_dataset(tmp_path / "t.arff", keys=["host"])


@given(st.integers(1, 5).flatmap(keys))
def test_keys_beside_a_table_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, columns: dict[str, Any]
) -> None:
    n_rows, folder = len(next(iter(columns.values()))), tmp_path_factory.mktemp("keys")
    settled = Dataset(np.zeros((n_rows, 1)), np.ones((n_rows, 1)), keys=columns).keys
    assert settled is not None
    write_keys(folder / "x.keys.csv", settled)
    again = parse_keys(_read_keys(folder / "x.keys.csv"), describe_types(settled))
    assert again.dtype == settled.dtype
    assert again.tobytes() == settled.tobytes()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", "-20", "0"], np.array([1, -20, 0])),
        (["1", "02"], np.array(["1", "02"])),
        (["1", "9223372036854775808"], np.array(["1", "9223372036854775808"])),
        (["0.5", "1e+300"], np.array([0.5, 1e300])),
        (["0.50", "1.0"], np.array(["0.50", "1.0"])),
        (["2026-01-01", "2026-01-01 10:00"], np.array(["2026-01-01", "2026-01-01T10:00"], "M8[us]")),
        (
            ["2026-01-01T00:00Z", "2026-01-01T02:00:00.5+02:00"],
            np.array(["2026-01-01", "2026-01-01T00:00:00.5"], "M8[us]"),
        ),
        (["2026-13-01"], np.array(["2026-13-01"])),
        (["", "1"], np.array(["", "1"])),
        (["nan", "1.0"], np.array(["nan", "1.0"])),
    ],
)
def test_columns_of_text_formats_are_what_all_cells_say(texts: list[str], expected: np.ndarray) -> None:
    found = infer_keys(to_objects(texts))
    assert found.astype(expected.dtype).tolist() == expected.tolist()
    assert (found.dtype.kind, expected.dtype.kind) in {("O", "U"), *((kind, kind) for kind in "ifM")}


@pytest.mark.parametrize("kind", ["U1", "int64", "float64", "datetime64[us]"])
def test_keys_are_of_the_types_on_the_card(kind: str) -> None:
    with pytest.raises(ValueError, match=r"keys 'host' must be of the type .*, as the card says"):
        parse_keys({"host": to_objects(["word"])}, {"host": kind})
    with pytest.raises(ValueError, match=r"keys must have the columns \['host'\], as the card says. Got \['hots'\]"):
        parse_keys({"hots": to_objects(["word"])}, {"host": kind})
