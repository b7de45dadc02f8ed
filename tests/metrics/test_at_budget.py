"""Budgets of alarms: periods of rows, of days, and of all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics
from tests.strategies import LabelCase, scored_in_periods

BOTH = (metrics.precision_at_budget, metrics.recall_at_budget)


@given(case=scored_in_periods(), n_rows=st.integers(1, 9))
def test_a_number_of_rows_cuts_them_into_periods(case: LabelCase, n_rows: int) -> None:
    for metric in BOTH:
        arguments = case.y_true, case.other, case.extra[0]
        days = np.datetime64("2024-01-01") - np.arange(len(case.y_true)) // n_rows
        in_days = metric(*arguments, period=days, label_mask=case.mask)
        assert metric(*arguments, period=n_rows, label_mask=case.mask) == pytest.approx(in_days)
        whole = metric(*arguments, period=len(days), label_mask=case.mask)
        assert metric(*arguments, label_mask=case.mask) == whole


@given(case=scored_in_periods(("none",)))
def test_a_budget_for_each_row_is_that_of_the_k_best_labels(case: LabelCase) -> None:
    k = min(case.extra[0], case.y_true.shape[1])
    expected = metrics.precision_at_k(case.y_true, case.other, k)
    assert metrics.precision_at_budget(case.y_true, case.other, k, period=1) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be an integer of at least 1"),
        ({"budget": 2.0}, "budget must be an integer"),
        ({"period": 0}, "period must be an integer of at least 1"),
        ({"period": [1]}, r"period must hold a value for each of the 2 rows. Got shape \(1,\)"),
        ({"period": np.array(["NaT", "2024-01-01"], "M8[D]")}, "period must be known in every row"),
        ({"period": ["a", None]}, "period must be known in every row"),
        ({"ties": "last"}, "ties must be one of"),
        ({"y_score": [[1.0]]}, "y_score must have the shape of y_true"),
    ],
)
def test_wrong_budgets_and_periods_are_refused(options: dict[str, object], message: str) -> None:
    arguments = {"y_true": [[1], [0]], "y_score": [[0.5], [0.5]], "budget": 1} | options
    for metric in BOTH:
        with pytest.raises(ValueError, match=message):
            metric(**arguments)  # type: ignore[arg-type]
