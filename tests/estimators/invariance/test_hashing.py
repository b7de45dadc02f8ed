"""Tables that `hash_categories` refuses, in one line each."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from estimators import hash_categories

NAT = pd.to_datetime(["2020-01-01", None])
INCOMPLETE = [
    [["a", None]],
    [["a", None]] * 200,
    [["a", np.nan]],
    [["a", pd.NA]] * 200,
    [["a", pd.NaT]],
    [[1, np.nan]],
    np.ma.array([[1, 2]], mask=[[0, 1]]),
    pd.DataFrame({"a": ["x", None]}),
    pd.DataFrame({"a": ["x", None]}, dtype="string"),
    pd.DataFrame({"a": ["x", None]}, dtype="category"),
    pd.DataFrame({"a": [1, None]}, dtype="Int64"),
    pd.DataFrame({"a": NAT}),
    pl.DataFrame({"a": ["x", None]}),
    pl.DataFrame({"a": [1, None], "b": ["u", "v"]}),
    pl.DataFrame({"a": NAT.to_numpy()}),
]


@pytest.mark.parametrize("table", INCOMPLETE, ids=range(len(INCOMPLETE)))
def test_missing_values_are_no_categories(table):
    with pytest.raises(
        ValueError, match=r"^X must hold a category in every cell\. Got \S+ instead; fill missing values"
    ):
        hash_categories(table)


@pytest.mark.parametrize("n_features", [0, -5, 2.5, None])
def test_hashed_columns_are_a_positive_number(n_features):
    with pytest.raises(ValueError, match=r"n_features must be an integer of at least 1\. Got"):
        hash_categories([["a"]], n_features=n_features)


@pytest.mark.parametrize("table", [["a", "b"], [[1j]], [[["a"]]]])
def test_what_is_no_table_of_categories_is_refused_in_one_line(table):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        hash_categories(table)
