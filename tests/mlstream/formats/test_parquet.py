"""Parquet files of numbers."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from mlstream._support.content import FormatError
from mlstream.data.datasets import load_dataset


def write(path: Path, **columns: object) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def test_numbers_of_any_type_are_read(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.parquet",
        a=pa.array([1, 2], pa.int16()),
        b=pa.array([0.5, 0.25], pa.float32()),
        y=pa.array([True, False]),
    )
    table = load_dataset(path, labels=["y"])
    assert (table.feature_names, table.X.tolist(), table.Y.tolist()) == (("a", "b"), [[1, 0.5], [2, 0.25]], [[1], [0]])
    assert len(table.sha256) == 64


def test_many_rows_come_in_order(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", a=np.arange(10_000) / 2, y=np.arange(10_000) % 2)
    table = load_dataset(path, labels=-1)
    np.testing.assert_array_equal(table.X[:, 0], np.arange(10_000) / 2)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["x"]}, ", row 1: column 'a' must be a finite number, .* Got 'x'; categories= or --categories"),
        ({"a": [1.0, np.inf]}, ": column 'a' must hold finite numbers. Got infinity"),
    ],
)
def test_other_columns_are_one_error(tmp_path: Path, columns: dict[str, object], message: str) -> None:
    n_rows = len(columns["a"])  # type: ignore[arg-type]
    with pytest.raises(FormatError, match=f"x.parquet{message}"):
        load_dataset(write(tmp_path / "x.parquet", **columns, y=[0] * n_rows), labels=-1)


def test_a_cut_file_is_one_error(tmp_path: Path) -> None:
    content = write(tmp_path / "x.parquet", a=[1], y=[0]).read_bytes()
    for cut in (b"", content[:10], content[:-5], BytesIO(content).read()[5:]):
        (tmp_path / "x.parquet").write_bytes(cut)
        with pytest.raises(FormatError, match=r"x.parquet must be a Parquet file. Got: "):
            load_dataset(tmp_path / "x.parquet", labels=-1)


def test_a_type_whose_names_break_lines_is_one_line(tmp_path: Path) -> None:
    kind = pa.struct([("a\nb", pa.int64()), *((f"field {place}", pa.int64()) for place in range(99))])
    parquet.write_table(pa.table({"a": pa.array([None], kind), "y": [1]}), tmp_path / "x.parquet")
    with pytest.raises(
        FormatError, match=r"column 'a' must hold numbers, booleans or words\. Got struct<a b: "
    ) as error:
        load_dataset(tmp_path / "x.parquet", labels=1)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < len(str(tmp_path)) + 200


def test_a_column_with_the_name_of_one_that_is_left_out_is_one_error(tmp_path: Path) -> None:
    schema = pa.schema(
        [pa.field("a", pa.int64(), metadata={b"mlstream": b"row"}), ("a", pa.int64()), ("y", pa.int64())]
    )
    parquet.write_table(pa.Table.from_arrays([pa.array([1])] * 3, schema=schema), tmp_path / "x.parquet")
    with pytest.raises(FormatError, match=r"must have columns with different names\."):
        load_dataset(tmp_path / "x.parquet", labels=1)
