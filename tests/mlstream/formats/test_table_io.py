"""Plain tables by the ending of their names."""

import gzip
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from mlstream._support.content import FormatError
from mlstream.formats.table_io import read_tables, write_table

X, Y = np.array([[0.5], [2.0]]), np.array([[1], [0]], np.uint8)
NAMES = ("a",), ("y",)


def test_the_name_says_what_is_written_and_read(tmp_path: Path) -> None:
    contents = {}
    for name in ("x.arff", "x.csv", "x.csv.gz"):
        path = tmp_path / "written"
        write_table(path, name, (X, Y), NAMES, "t")
        contents[name] = path.read_bytes()
    assert contents["x.csv"] == b"y,a\n1,0.5\n0,2.0\n"
    assert gzip.decompress(contents["x.csv.gz"]) == contents["x.csv"]
    for name in ("x.arff", "x.csv"):
        tables = list(read_tables(Path(name), BytesIO(contents[name])))
        assert tables[0].names == ("y", "a")
        assert np.vstack([table.cells for table in tables]).tolist() == [[1, 0.5], [0, 2]]


@pytest.mark.parametrize("name", ["x.arff", "x.csv", "x.parquet"])
def test_a_name_twice_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"must have different names in a table. Got 'a' twice"):
        write_table(tmp_path / name, name, (X, Y), (("a",), ("a",)), "t")


@pytest.mark.parametrize(("name", "shown"), [("a\nb", r"'a\\nb'"), ("a\0b", r"'a\\x00b'")])
def test_a_name_of_two_lines_or_with_a_zero_byte_is_no_name_in_csv(tmp_path: Path, name: str, shown: str) -> None:
    with pytest.raises(ValueError, match=rf"one line, without zero bytes, to be written as CSV. Got {shown}"):
        write_table(tmp_path / "x.csv", "x.csv", (X, Y), ((name,), ("y",)), "t")


def test_a_stream_is_no_plain_table(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"x.npz must be a table: ARFF, .* Got a stream \(NPZ\), which needs"):
        read_tables(tmp_path / "x.npz", BytesIO(b"PK"))
