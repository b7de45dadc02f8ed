"""CSV files of numbers."""

from pathlib import Path

import numpy as np
import pytest

from mlstream.formats.content import FormatError
from mlstream.formats.csv_tables import parse_csv

PATH = Path("x.csv")


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
        ("a,b\n1,x\n", "x.csv, line 2: column 'b' must be a finite number. Got 'x'"),
        ("a,b\n1,\n", "x.csv, line 2: column 'b' must be a finite number. Got ''"),
        ("a,b\n1,nan\n", "x.csv, line 2: column 'b' must be a finite number. Got 'nan'"),
    ],
)
def test_every_defect_is_one_error_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_csv(text.encode(), PATH)
