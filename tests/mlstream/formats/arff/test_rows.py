"""Rows: the quick way and the careful way give the same numbers."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream._support.content import FormatError
from mlstream.formats.arff.rows import RowReader
from mlstream.streams.tables.table import Column, nominal
from mlstream.streams.tables.text_columns import code_values

PATH = Path("x.arff")
NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5)


def make_reader(columns: list[Column]) -> RowReader:
    return RowReader([code_values(column) for column in columns], PATH)


@given(NUMBERS)
def test_a_comment_changes_no_dense_row(numbers: list[float]) -> None:
    reader = make_reader([Column(f"c{index}") for index in range(len(numbers))])
    text = ",".join(map(repr, numbers))
    assert reader.dense(1, text) == reader.dense(1, f"{text} % comment") == numbers


@given(NUMBERS)
def test_a_comment_changes_no_sparse_row(numbers: list[float]) -> None:
    reader = make_reader([Column(f"c{index}") for index in range(len(numbers))])
    text = "{" + ",".join(f"{index} {number!r}" for index, number in enumerate(numbers)) + "}"
    assert reader.sparse(1, text) == reader.sparse(1, f"{text} % comment") == (list(range(len(numbers))), numbers)


def test_nominal_values_become_their_index() -> None:
    reader = make_reader([nominal("c", ["red", "dark blue"]), Column("a")])
    assert reader.dense(1, "red, 2") == reader.dense(1, "'red',2") == [0, 2]
    assert reader.dense(1, "'dark blue',2") == [1, 2]
    assert reader.sparse(1, '{0 "dark blue"}') == ([0], [1])


def test_a_question_mark_in_quotes_is_a_value_and_without_them_a_missing_one() -> None:
    reader = make_reader([nominal("c", ["?", "x"])])
    assert reader.dense(1, "'?'") == [0]
    assert math.isnan(*reader.dense(7, "?"))


def test_a_comma_in_quotes_parts_no_cells() -> None:
    reader = make_reader([nominal("c", ["a,b"]), Column("a")])
    assert reader.dense(1, "'a,b',2") == [0, 2]
    with pytest.raises(FormatError, match=r"must hold 2 values. Got 1"):
        reader.dense(1, "'a,b'")
