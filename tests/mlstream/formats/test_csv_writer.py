"""CSV that any reader takes."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.formats.csv_writer import format_csv

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=5), min_size=2)


@given(NAMES, st.floats(allow_nan=False, allow_infinity=False))
def test_python_reads_names_and_numbers_as_they_were(names: list[str], number: float) -> None:
    X, Y = np.full((1, len(names) - 1), number), np.ones((1, 1), np.uint8)
    head, row = csv.reader("".join(format_csv(X, Y, names)).split("\n")[:-1])
    assert head == names
    assert [float(cell).hex() for cell in row] == [float(1).hex(), *[number.hex()] * (len(names) - 1)]


def test_numbers_that_no_reader_takes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X must be finite to be written as text. Got nan"):
        list(format_csv(np.array([[np.nan]]), np.ones((1, 1), np.uint8), ("y", "a")))
