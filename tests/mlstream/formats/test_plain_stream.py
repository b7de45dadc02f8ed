"""Streams as ARFF: three files that belong together."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream._support.content import FormatError
from mlstream.data.datasets import load_dataset
from mlstream.formats.npz import load_npz, save_npz
from mlstream.formats.plain_stream import (
    format_ranges,
    format_repeats,
    load_tables,
    parse_ranges,
    parse_repeats,
    save_tables,
)
from tests.loops import check_all
from tests.mlstream.small_streams import Shape, assert_same_stream, build_stream, make_stream

HINT = r"(load_dataset reads plain tables|.* makes a stream of a table)\."
INTEGERS = st.integers(-(10**17), 10**17) | st.integers(-3, 3)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_tables(make_stream(), tmp_path / "x.arff")
    return tmp_path / "x.arff"


@pytest.mark.parametrize("name", ["x.arff", "x.arff.gz"])
def test_three_files_with_names_that_belong_together(tmp_path: Path, name: str) -> None:
    save_tables(make_stream(), tmp_path / name)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {name, name.replace("x.", "x.evaluation."), "x.card.json"}


@pytest.mark.parametrize("shape", [Shape(), Shape(sparse=True)])
def test_the_same_stream_gives_the_same_bytes(tmp_path: Path, shape: Shape) -> None:
    stream = make_stream(shape)
    save_tables(stream, tmp_path / "x.arff.gz")
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in first:
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "other").mkdir()
    save_tables(load_tables(tmp_path / "x.arff.gz"), tmp_path / "other" / "x.arff.gz")
    assert {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()} == first


def test_packed_and_plain_files_hold_the_same_text(tmp_path: Path) -> None:
    save_tables(make_stream(), tmp_path / "x.arff")
    save_tables(make_stream(), tmp_path / "y.arff.gz")
    assert gzip.decompress((tmp_path / "y.arff.gz").read_bytes()) == (tmp_path / "x.arff").read_bytes()


def test_the_card_says_what_rows_cannot(saved: Path) -> None:
    rows = json.loads(saved.with_name("x.card.json").read_text())["rows"]
    assert (rows["dtype"], rows["sparse"], len(rows["experiences"]), len(rows["evaluation_sets"])) == (
        "float64",
        False,
        4,
        2,
    )


@pytest.mark.parametrize("missing", ["x.evaluation.arff", "x.card.json"])
def test_each_file_is_needed(saved: Path, missing: str) -> None:
    saved.with_name(missing).unlink()
    with pytest.raises(FileNotFoundError, match=f"{missing} must be .*to read a stream. {HINT}"):
        load_tables(saved)


def test_a_card_without_rows_is_no_card_of_plain_files(saved: Path) -> None:
    saved.with_name("x.card.json").write_text(make_stream().card.model_dump_json(), encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=HINT):
        load_tables(saved)


@pytest.mark.parametrize("changed", ["x.arff", "x.evaluation.arff"])
def test_a_changed_file_is_an_error(saved: Path, changed: str) -> None:
    path = saved.with_name(changed)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(FormatError, match=f"{changed} must be the file that its card lists, unchanged"):
        load_tables(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda card: card["experiences"].pop(), "there must be 3 lists of rows for x.arff. Got 4"),
        (lambda card: card["rows"]["experiences"][0].update(row_ids="0..4"), "must have 6 entries. Got 5"),
        (lambda card: card["rows"]["experiences"][0].update(task_ids="9*6"), "task_ids must be between 0 and 1"),
        (lambda card: card["rows"]["experiences"][0].update(mask=9), "mask_ids must be between 0 and"),
        (lambda card: card["rows"]["masks"][0].append(3), "labels must be numbered below 3. Got 3"),
        (lambda card: card["label_names"].reverse(), "must have the columns that its card lists"),
        (lambda card: card.update(surprise=1), "must hold a StreamCard of this version: surprise must not be there"),
    ],
)
def test_a_card_that_does_not_fit_is_one_error(saved: Path, change: object, message: str) -> None:
    path = saved.with_name("x.card.json")
    card = json.loads(path.read_text())
    change(card)  # type: ignore[operator]
    path.write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_tables(saved)


@pytest.mark.parametrize("shape", [Shape(), Shape(sparse=True, feature_names=tuple("ABCDEFGHIJKLMNOPQRST"))])
def test_the_rows_are_a_plain_table_too(tmp_path: Path, shape: Shape) -> None:
    stream = make_stream(shape)
    save_tables(stream, tmp_path / "x.arff")
    table = load_dataset(tmp_path / "x.arff")
    assert (table.label_names, table.feature_names) == (shape.label_names, shape.feature_names)
    assert table.Y.tolist() == [row for part in stream for row in part.Y.tolist()]
    held_out = load_dataset(tmp_path / "x.evaluation.arff")
    assert held_out.Y.tolist() == [row for part in stream.evaluation_sets for row in part.Y.tolist()]


def test_explicit_zeros_and_unsorted_columns_come_back_in_order(tmp_path: Path) -> None:
    stream = make_stream(Shape(sparse=True))
    for part in stream:
        for row in range(len(part)):
            stored = slice(*part.X.indptr[row : row + 2])
            part.X.indices[stored], part.X.data[stored] = part.X.indices[stored][::-1], part.X.data[stored][::-1]
        part.X.data[:1] = 0
        part.X.has_sorted_indices = part.X.has_canonical_format = False
    before = [part.X.toarray().tolist() for part in stream]
    save_tables(stream, tmp_path / "x.arff")
    read = load_tables(tmp_path / "x.arff")
    assert [part.X.toarray().tolist() for part in read] == before
    assert [part.X.nnz for part in read] == [part.X.nnz for part in stream]
    assert all(part.X.has_sorted_indices for part in read)


def test_reading_and_writing_leave_the_stream_as_it_was(tmp_path: Path) -> None:
    stream = make_stream(Shape(sparse=True))
    save_tables(stream, tmp_path / "x.arff")
    assert_same_stream(stream, make_stream(Shape(sparse=True)))


def test_a_card_of_other_values_is_an_error(tmp_path: Path) -> None:
    X = np.zeros((20, 4))
    save_tables(build_stream(X, Shape(feature_values={"b": ("tcp", "udp")})), tmp_path / "x.arff")
    card = tmp_path / "x.card.json"
    text = card.read_text(encoding="utf-8")
    for values, got in (('"b":["udp","tcp"]', "tcp, udp"), ('"a":["tcp"]', "numbers")):
        document = json.loads(text) | {"feature_values": json.loads("{" + values + "}")}
        card.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(FormatError, match=rf"x.arff: column '[ab]' must declare the values .* Got {got}\."):
            load_tables(tmp_path / "x.arff")


@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_is_no_code_of_the_card_is_an_error(tmp_path: Path, *, is_sparse: bool) -> None:
    stream = build_stream(np.full((20, 4), 2.0), Shape(sparse=is_sparse))
    wrong = stream.with_card(stream.card.model_copy(update={"feature_values": {"b": ("tcp", "udp")}}))
    message = "feature 'b' must hold codes of its 2 values, .* Got 2 in row 0"
    with pytest.raises(ValueError, match=message):
        save_tables(wrong, tmp_path / "x.arff")
    save_npz(wrong, tmp_path / "x.npz")
    with pytest.raises(FormatError, match=f"x.npz: X: {message}"):
        load_npz(tmp_path / "x.npz")


@given(st.lists(INTEGERS))
def test_ranges_are_read_as_they_were(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    read = parse_ranges(format_ranges(array), len(values))
    assert (read.dtype, read.tolist()) == (np.int64, values)


@given(st.lists(st.integers(0, 3) | st.integers(0, 10**17)))
def test_repeats_are_read_as_they_were(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    read = parse_repeats(format_repeats(array), len(values))
    assert (read.dtype, read.tolist()) == (np.int64, values)


def test_long_runs_are_short() -> None:
    assert format_ranges(np.arange(10**6)) == "0..999999"
    assert format_repeats(np.full(10**6, 7)) == "7*1000000"


def test_wrong_ranges_are_errors_before_memory_is_taken() -> None:
    def check(text: str) -> None:
        with pytest.raises(ValueError, match="a list of numbers must"):
            parse_ranges(text, 2)

    check_all(["x", "1.5", "1..", "..1", "3..1", " 1", "1 ", "1  2", "1*2", "٣", "9" * 30, "0..99999999"], check)


def test_wrong_repeats_are_errors_before_memory_is_taken() -> None:
    def check(text: str) -> None:
        with pytest.raises(ValueError, match="a list of numbers must"):
            parse_repeats(text, 2)

    check_all(["x", "1", "1*", "*1", "-1*2", "1*0", "1*2 ", "1*-2", "0*999999999999", "9*" + "9" * 30], check)
