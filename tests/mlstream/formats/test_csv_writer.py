"""CSV that any reader takes."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.formats.csv_tables import parse_csv
from mlstream.formats.csv_writer import format_csv

FORMULAS = ("=", "+", "-", "@", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
FORMULA_NAMES = st.text(st.sampled_from([*FORMULAS, "'", "1", ".", "e", "a", " "]), max_size=5)

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=5), min_size=2)


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


def test_numbers_that_no_reader_takes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X must be finite to be written as text. Got nan"):
        list(format_csv(np.array([[np.nan]]), np.ones((1, 1), np.uint8), ("y", "a")))
