"""CSV files of numbers are read with every defect named, and written so that any reader takes them."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream._support.content import FormatError
from mlstream.formats.csv_tables import format_csv, parse_csv

PATH = Path("x.csv")
FORMULAS = ("=", "+", "-", "@", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
FORMULA_NAMES = st.text(st.sampled_from([*FORMULAS, "'", "1", ".", "e", "a", " "]), max_size=5)

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0"), max_size=5), min_size=2)


@given(NAMES, st.floats(allow_nan=False, allow_infinity=False))
def test_python_reads_names_and_numbers_as_they_were(names: list[str], number: float) -> None:
    X, Y = np.full((1, len(names) - 1), number), np.ones((1, 1), np.uint8)
    head, row = csv.reader("".join(format_csv(X, Y, names)).split("\n")[:-1])
    guarded = (f"'{name}" if name.lstrip("'").startswith(FORMULAS) else name for name in names)
    assert head == [plain if NUMBER.fullmatch(plain) else cell for plain, cell in zip(names, guarded, strict=True)]
    assert [float(cell).hex() for cell in row] == [float(1).hex(), *[number.hex()] * (len(names) - 1)]


@given(st.lists(FORMULA_NAMES, min_size=2, unique=True))
def test_no_name_is_a_formula_and_all_are_read_back(names: list[str]) -> None:
    text = "".join(format_csv(np.zeros((1, len(names) - 1)), np.ones((1, 1), np.uint8), names))
    assert parse_csv(text.encode(), Path("x.csv")).names == tuple(names)
    head = next(csv.reader([text.partition("\n")[0]]))
    assert not [name for name in head if name.startswith(FORMULAS) and not NUMBER.fullmatch(name)]


def test_a_name_like_excels_line_of_a_separator_is_read_back() -> None:
    text = "".join(format_csv(np.zeros((1, 1)), np.ones((1, 1), np.uint8), ["sep=", ""]))
    assert parse_csv(text.encode(), PATH).names == ("sep=", "")


def test_numbers_that_no_reader_takes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X must be finite to be written as text. Got nan"):
        list(format_csv(np.array([[np.nan]]), np.ones((1, 1), np.uint8), ("y", "a")))


def test_names_then_numbers() -> None:
    table = parse_csv(b'a,"b, c"\r\n1,2.5\r\n\r\n"-3",4e2\r\n', PATH)
    assert table.names == ("a", "b, c")
    np.testing.assert_array_equal(table.cells, [[1, 2.5], [-3, 400]])
    assert table.lines.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.csv, line 1: a CSV file must start with the names of its columns"),
        (
            "b,a,a\n1,2,3\n",
            "line 1: a CSV file must start with the names of its columns, all different. Got 'a' twice.",
        ),
        ("a,b\n1,2\n1\n", "x.csv, line 3: a row must hold 2 values. Got 1"),
        ("a,b\n1,2,3\n", "x.csv, line 2: a row must hold 2 values. Got 3"),
        ("a,b\n1,x\n", "x.csv, line 2: column 'b' must be a finite number, or empty where it is unknown. Got 'x'"),
        ("a,b\n1,nan\n", "x.csv, line 2: column 'b' must be a finite number, or empty where it is unknown. Got 'nan'"),
    ],
)
def test_every_defect_is_one_error_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_csv(text.encode(), PATH)
