"""Streams as Parquet: rows that others read, groups of bounded size, and one error for whatever is wrong."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from mlstream._support.content import FormatError
from mlstream.data.datasets import load_dataset
from mlstream.formats import load, parquet_rows, save
from mlstream.formats.parquet_rows import StreamRows
from mlstream.formats.parquet_stream import restore_rows
from mlstream.formats.table_io import describe_file
from mlstream.streams.card_model import load_card
from tests.loops import check_all
from tests.mlstream.small_streams import Shape, assert_same_stream, make_stream

SHAPES = [Shape(unknown=0.3), Shape(sparse=True, unknown=0.3), Shape(by_row=True, dtype=np.float32)]


def rows_of(path: Path) -> list[dict[str, object]]:
    return parquet.read_table(path).to_pylist()


def test_columns_say_what_each_row_belongs_to(tmp_path: Path) -> None:
    stream = make_stream()
    save(stream, tmp_path / "x.train.parquet")
    assert {path.name for path in tmp_path.iterdir()} == {"x.train.parquet", "x.test.parquet", "x.card.json"}
    found = iter(rows_of(tmp_path / "x.train.parquet"))
    for number, part in enumerate(stream):
        for x, y, task, row in zip(part.X, part.Y, part.task_ids, part.row_ids, strict=True):
            expected = {"experience": number, "task": stream.tasks[task].name, "row": row}
            assert next(found) == expected | dict(zip("klm", y, strict=True)) | dict(zip("abcd", x, strict=True))
    held_out = iter(rows_of(tmp_path / "x.test.parquet"))
    for part in stream.evaluation_sets:
        for y, row in zip(part.Y, part.row_ids, strict=True):
            got = next(held_out)
            assert (got["experience"], got["task"], got["row"]) == (None, stream.tasks[part.task_id].name, row)
            assert [got[name] for name in "klm"] == y.tolist()
    assert (next(found, None), next(held_out, None)) == (None, None)


def test_rows_of_a_sparse_stream_are_lists(tmp_path: Path) -> None:
    stream = make_stream(Shape(sparse=True, unknown=0.3))
    save(stream, tmp_path / "x.train.parquet")
    found = iter(rows_of(tmp_path / "x.train.parquet"))
    for part in stream:
        for x, y in zip(part.X.toarray(), part.Y, strict=True):
            row = next(found)
            assert row["labels"] == np.flatnonzero(y == 1).tolist()
            assert row["unknown_labels"] == np.flatnonzero(np.isnan(y)).tolist()
            assert dict(zip(row["indices"], row["values"], strict=True)) == {
                index: value for index, value in enumerate(x.tolist()) if value
            }


def test_a_missing_value_is_null(tmp_path: Path) -> None:
    stream = make_stream(Shape(sizes=(3,)))
    stream.experiences[0].X[1, 2] = np.nan
    save(stream, tmp_path / "x.train.parquet")
    assert [row["c"] for row in rows_of(tmp_path / "x.train.parquet")][1] is None
    assert np.isnan(load(tmp_path / "x.train.parquet").experiences[0].X[1, 2])


def test_names_of_labels_and_features_are_left_alone(tmp_path: Path) -> None:
    stream = make_stream(Shape(feature_names=("row", "row_", "x"), label_names=("task",)))
    save(stream, tmp_path / "x.train.parquet")
    names = parquet.read_schema(tmp_path / "x.train.parquet").names
    assert names == ["experience", "task_", "row__", "task", "row", "row_", "x"]
    assert_same_stream(load(tmp_path / "x.train.parquet"), stream)


def test_labels_and_features_of_one_name_have_columns_of_two(tmp_path: Path) -> None:
    stream = make_stream(Shape(feature_names=("k", "k_", "row", "k__"), label_names=("k", "k_")))
    save(stream, tmp_path / "x.train.parquet")
    names = parquet.read_schema(tmp_path / "x.train.parquet").names
    assert names == ["experience", "task", "row_", "k", "k_", "k___", "k____", "row", "k__"]
    assert_same_stream(load(tmp_path / "x.train.parquet"), stream)


def test_groups_of_any_size_hold_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(case: tuple[int, tuple[Shape, int]]) -> None:
        number, (shape, n_bytes) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.setattr(parquet_rows, "_GROUP_BYTES", n_bytes)
        stream = make_stream(shape)
        save(stream, folder / "x.train.parquet")
        sizes = [len(part) for part in stream]
        groups = parquet.ParquetFile(folder / "x.train.parquet").metadata
        assert sum(groups.row_group(number).num_rows for number in range(groups.num_row_groups)) == sum(sizes)
        assert groups.num_row_groups > 1
        assert_same_stream(load(folder / "x.train.parquet"), stream)

    check_all(enumerate(product(SHAPES, [1, 100, 300])), check)


@pytest.mark.parametrize("shape", SHAPES)
def test_files_of_another_stream_are_told_apart(tmp_path: Path, shape: Shape) -> None:
    stream, train, test = make_stream(shape), tmp_path / "train", tmp_path / "test"
    rows = StreamRows(stream)
    rows.write(train, test)
    assert rows.are_in(train, test)
    other = np.float64 if shape.dtype == np.float32 else np.float32
    for change in ({"seed": 1}, {"sizes": (6, 0, 3)}, {"sizes": (6, 0, 3, 5, 1)}, {"dtype": other}):
        assert not StreamRows(make_stream(replace(shape, **change))).are_in(train, test)
    table = parquet.read_table(train)
    parquet.write_table(table, train, row_group_size=2)
    assert not rows.are_in(train, test)
    parquet.write_table(table.replace_schema_metadata({}), train)
    assert not rows.are_in(train, test)
    train.write_bytes(b"PAR1")
    with pytest.raises(FormatError, match="train must be a Parquet file"):
        rows.are_in(train, test)


def test_it_is_a_table_too(tmp_path: Path) -> None:
    stream = make_stream()
    save(stream, tmp_path / "x.train.parquet")
    table = load_dataset(tmp_path / "x.train.parquet")
    assert (table.label_names, table.feature_names) == (tuple("klm"), tuple("abcd"))
    np.testing.assert_array_equal(table.X, np.concatenate([part.X for part in stream]))
    save(make_stream(Shape(sparse=True)), tmp_path / "y.train.parquet")
    with pytest.raises(FormatError, match=r"y.train.parquet must be a table. Got rows of a sparse stream"):
        load_dataset(tmp_path / "y.train.parquet")


def reverse(table: pa.Table) -> pa.Table:
    return table.take(list(reversed(range(len(table)))))


def put(table: pa.Table, name: str, value: object) -> pa.Table:
    cells = table[name].to_pylist()
    return table.set_column(table.column_names.index(name), name, pa.array([value, *cells[1:]], table[name].type))


def test_rows_that_are_not_those_of_the_card_are_one_error(tmp_path: Path) -> None:
    def check(case: tuple[int, tuple[object, str]]) -> None:
        number, (change, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        stream = make_stream(Shape(sparse=True))
        save(stream, folder / "x.train.parquet")
        train, test = (parquet.read_table(folder / f"x.{half}.parquet") for half in ("train", "test"))
        card = stream.card.model_copy(update={"rows": StreamRows(stream).layout})
        assert_same_stream(restore_rows(train, test, card), stream)
        with pytest.raises(ValueError, match=message):
            restore_rows(change(train), test, card)  # type: ignore[operator]
        with pytest.raises(ValueError, match="must be the one beside the files of its rows"):
            restore_rows(train, test, stream.card)

    check_all(
        enumerate(
            [
                (reverse, "train rows must be in stream order"),
                (lambda table: table[:-1], "there must be 14 train rows, as the card says. Got 13"),
                (
                    lambda table: table.drop_columns(["labels"]),
                    "train rows must have the columns .* Got no column 'labels'",
                ),
                (lambda table: put(table, "task", "gone"), "train rows must be of the tasks on the card"),
                (lambda table: put(table, "row", None), "train rows must have a number in the column 'row'"),
                (
                    lambda table: put(table, "labels", [7]),
                    r"train rows must hold numbers from 0 to 2 in 'labels'. Got 0 to 7",
                ),
                (lambda table: put(table, "labels", None), "train rows must have a list in the column 'labels'"),
                (lambda table: put(table, "indices", [-1]), "train rows must hold as many values as indices"),
                (lambda table: put(put(table, "indices", [-1]), "values", [1.0]), "numbers from 0 to 3 in 'indices'"),
            ]
        ),
        check,
    )


def test_a_file_that_was_changed_or_is_missing_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "x.train.parquet"
    save(make_stream(), path)
    (tmp_path / "x.test.parquet").rename(tmp_path / "away")
    with pytest.raises(FileNotFoundError, match=r"x.test.parquet must be there"):
        load(path)
    (tmp_path / "x.test.parquet").write_bytes((tmp_path / "away").read_bytes()[:-1])
    with pytest.raises(FormatError, match=r"x.test.parquet must be the file that its card lists"):
        load(path)
    (tmp_path / "x.card.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"x.card.json must be beside x.train.parquet"):
        load(path)


@pytest.mark.slow
def test_values_that_the_card_does_not_promise_are_not_read(tmp_path: Path) -> None:
    """A file of some kilobytes may hold lists of millions of zeros."""
    stream = make_stream(Shape(sparse=True))
    path, test = tmp_path / "x.train.parquet", tmp_path / "x.test.parquet"
    save(stream, path)
    table = parquet.read_table(path)
    many = pa.array([np.zeros(10_000_000), *([[]] * (len(table) - 1))], table["values"].type)
    bomb = table.set_column(table.column_names.index("values"), table.schema.field("values"), many)
    parquet.write_table(bomb, path, compression="zstd")
    assert path.stat().st_size < 100_000
    assert not StreamRows(stream).are_in(path, test)
    card = tmp_path / "x.card.json"
    listed = load_card(card)
    files = [describe_file(path, path.name), listed.files[1]]
    card.write_text(listed.model_copy(update={"files": files}).model_dump_json())
    with pytest.raises(FormatError, match=r"x.train.parquet: its rows must need at most 200 times"):
        load(path)


@pytest.mark.parametrize("name", ["a", "k", "row"])
def test_columns_of_another_type_are_one_error(tmp_path: Path, name: str) -> None:
    stream = make_stream()
    save(stream, tmp_path / "x.train.parquet")
    train, test = (parquet.read_table(tmp_path / f"x.{half}.parquet") for half in ("train", "test"))
    words = pa.array(["7"] * len(train))
    changed = train.set_column(train.column_names.index(name), name, words)
    card = stream.card.model_copy(update={"rows": StreamRows(stream).layout})
    with pytest.raises(ValueError, match=f"The column '{name}' of train rows must be .*. Got string"):
        restore_rows(changed, test, card)
    with pytest.raises(ValueError, match=f"train rows must have the columns .* Got 2 columns '{name}'"):
        restore_rows(train.append_column(name, words), test, card)
