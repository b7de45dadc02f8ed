"""Columns in memory become the same table whatever holds their values."""

import datetime as dt
from typing import Any

import numpy as np
import pytest

from mlstream._support.content import FormatError
from mlstream.streams.tables.columns import make_reading
from mlstream.streams.tables.frame_tables import tabulate
from tests.loops import check_all


@pytest.mark.parametrize(
    "values",
    [
        [1, None, 0],
        [1.0, np.nan, 0.0],
        ["1", "", "0"],
        ["true", None, "false"],
        ["Yes", " ", "No"],
        [True, None, False],
        np.array([1, np.nan, 0], dtype=np.float32),
    ],
)
def test_numbers_and_truth_values(values: Any) -> None:
    table = tabulate(["a"], [values], "frame")
    np.testing.assert_array_equal(table.cells, [[1], [np.nan], [0]])
    assert table.columns[0].values is None


def test_pandas_values_are_read() -> None:
    pd = pytest.importorskip("pandas", reason="needs pandas: the extra tables")
    columns = [
        pd.array([1, pd.NA, 3], dtype="Int64").to_numpy(dtype=object),
        pd.Categorical(["b", None, "a"]),
        pd.array([True, pd.NA, False], dtype="boolean").to_numpy(dtype=object),
    ]
    table = tabulate(["n", "c", "t"], columns, "frame")
    np.testing.assert_array_equal(table.cells, [[1, 1, 1], [np.nan, np.nan, np.nan], [3, 0, 0]])
    assert table.columns[1].values == ("a", "b")


def test_words_for_missing_values_are_the_usual_ones_or_those_named() -> None:
    columns = [["1", "NA", "3"], ["x", "?", "null"]]
    usual = tabulate(["a", "c"], columns, "frame")
    np.testing.assert_array_equal(usual.cells, [[1, 0], [np.nan, np.nan], [3, np.nan]])
    named = tabulate(["a", "c"], columns, "frame", make_reading(missing_words=["NA"]))
    np.testing.assert_array_equal(named.cells, [[1, 2], [np.nan, 0], [3, 1]])


def test_what_is_no_number_and_no_word_is_one_error() -> None:
    def check(case: tuple[Any, str]) -> None:
        values, message = case
        with pytest.raises(FormatError, match=message):
            tabulate(["a"], [values], "frame")

    check_all(
        [
            (["0,5", "1,5"], "row 1: .* Got '0,5'; write decimal points"),
            (["2024-01-05"], "row 1: column 'a' must hold numbers or words. Got '2024-01-05', a date; dates= or"),
            (["5.1.2024 10:00"], "Got '5.1.2024 10:00', a date"),
            ([dt.date(2024, 1, 5)], "Got '2024-01-05', a date"),
            (
                np.array(["2024-01-05"], dtype="datetime64[D]"),
                "frame: column 'a' must hold numbers or words. Got dates",
            ),
            ([1.0, np.inf], "frame: column 'a' must hold finite numbers. Got infinity"),
            (
                [f"note {i}" for i in range(21)],
                "at most 100 different words, each twice on average. Got 'note 0'",
            ),
            ([f"note {i}" for i in range(101)] * 3, "must have at most 100 different words"),
            ([*map(str, range(150)), "x"], "row 151: column 'a' must be a finite number, .* Got 'x', among numbers"),
        ],
        check,
    )


def test_bounds_of_words_are_inclusive() -> None:
    assert len(tabulate(["a"], [[f"w{i}" for i in range(20)]], "frame").columns[0].values or ()) == 20
    assert len(tabulate(["a"], [[f"w{i}" for i in range(100)] * 2], "frame").columns[0].values or ()) == 100


@pytest.mark.parametrize(("names", "got"), [(["a", "a"], "'a' twice"), ([], "no column")])
def test_names_differ(names: list[str], got: str) -> None:
    with pytest.raises(FormatError, match=f"frame must have columns with different names. Got {got}"):
        tabulate(names, [[1]] * len(names), "frame")
