"""Tables of one class a row: what is no number, what is missing, and what is wrong."""

from pathlib import Path

import numpy as np
import pytest

from mlstream._support.content import FormatError
from mlstream.data.class_tables import read_class_table

ARFF = b"""@relation t
@attribute 'two words' numeric
@attribute sex {m,f}
@attribute class {sick,well}
@data
1.5,f,well
?,m,sick
"""


def read(name: str, *contents: bytes, class_first: bool):
    return read_class_table([Path(name)] * len(contents), contents, class_first=class_first)


@pytest.mark.parametrize("text", [b"b,1,x\na,?,y\r\n\nb,2.5,?\n", b"b 1  x\na ? y\n  b\t2.5 ? \n"])
def test_names_are_numbered_alphabetically_and_what_is_missing_is_less(text: bytes) -> None:
    table = read("t.data", text, class_first=True)
    np.testing.assert_array_equal(table.X, [[1, 0], [-1, 1], [2.5, -1]])
    np.testing.assert_array_equal(table.Y, [[0, 1], [1, 0], [0, 1]])
    assert (table.label_names, table.feature_names, table.name) == (("a", "b"), ("x1", "x2"), "t")


def test_arff_has_names_and_the_class_last() -> None:
    table = read("t.arff", ARFF, class_first=False)
    assert (table.feature_names, table.label_names) == (("two words", "sex"), ("sick", "well"))
    np.testing.assert_array_equal(table.X, [[1.5, 0], [-1, 1]])
    np.testing.assert_array_equal(table.Y, [[0, 1], [1, 0]])


def test_the_rows_of_one_file_follow_those_of_the_other() -> None:
    table = read("t.data", b"1,a\n", b"2,b\n3,a\n", class_first=False)
    np.testing.assert_array_equal(table.X[:, 0], [1, 2, 3])
    np.testing.assert_array_equal(table.Y[:, 0], [1, 0, 1])


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("t.data", [b"1,a\n2\n"], "t.data, line 2: a row must hold 2 values. Got 1"),
        ("t.data", [b"1,a\n", b"1,2,a\n"], "t.data must hold rows of 2 values. Got 3"),
        ("t.data", [b" \n"], "t.data must hold at least one row. Got 0"),
        ("t.arff", [ARFF.partition(b"1.5")[0]], "t.arff must hold at least one row. Got 0"),
        ("t.arff", [ARFF + b"1,x,well\n"], "t.arff: .*line 8"),
    ],
)
def test_every_defect_is_one_error(name: str, contents: list[bytes], message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read(name, *contents, class_first=False)
    assert "\n" not in str(caught.value)
