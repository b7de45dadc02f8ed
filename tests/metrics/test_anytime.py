"""Any-time scores are the mean of the score of every prefix of a stream."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from metrics import (
    anytime_score,
    area_under_curve,
    ba_macro_from_counts,
    counts_by_row,
    cumulative_counts,
    label_counts,
    precision_at_k_by_row,
    rmse_by_row,
    running_mean,
)
from tests import oracles, strategies
from tests.strategies import LabelCase


def of_prefixes(oracle: Any, case: LabelCase) -> float:
    """Score the first row, the first two rows, and so on, each prefix from nothing."""
    readings = [case.rows(slice(n)).call(oracle) for n in range(1, len(case.y_true) + 1)]
    return oracles.mean(readings)


@given(strategies.decisions())
def test_balanced_accuracy_at_any_time_is_the_mean_over_prefixes(case: LabelCase) -> None:
    readings = ba_macro_from_counts(cumulative_counts(case.call(counts_by_row)))
    assert anytime_score(readings) == pytest.approx(of_prefixes(oracles.ba_macro, case), nan_ok=True)


@given(strategies.scored())
def test_rmse_at_any_time_is_the_mean_over_prefixes(case: LabelCase) -> None:
    readings = running_mean(case.call(rmse_by_row))
    assert anytime_score(readings) == pytest.approx(of_prefixes(oracles.rmse, case), nan_ok=True)


@given(strategies.scored_at_k())
def test_precision_at_any_time_is_the_mean_over_prefixes(case: LabelCase) -> None:
    readings = running_mean(case.call(precision_at_k_by_row))
    assert anytime_score(readings) == pytest.approx(of_prefixes(oracles.precision_at_k, case), nan_ok=True)


@given(st.lists(st.floats(0, 1) | st.just(math.nan), min_size=1), st.integers(0, 20))
def test_a_stream_in_pieces_has_the_same_readings_to_the_last_bit(values: list[float], cut: int) -> None:
    first, second = values[:cut], values[cut:]
    defined = [value for value in first if not math.isnan(value)]
    total = 0.0
    for value in defined:
        total += value
    parts = [running_mean(first), running_mean(second, sum_before=total, n_before=len(defined))]
    np.testing.assert_array_equal(np.concatenate(parts), running_mean(values))


def test_early_rows_weigh_more() -> None:
    early, late = running_mean([1, 1, 0, 0]), running_mean([0, 0, 1, 1])
    assert early[-1] == late[-1]
    assert anytime_score(early) == pytest.approx((1 + 1 + 2 / 3 + 1 / 2) / 4)
    assert anytime_score(late) == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


def test_the_area_under_a_curve_read_after_every_row_is_close() -> None:
    readings = running_mean(np.random.default_rng(0).random(1000))
    assert area_under_curve(range(1, 1001), readings) == pytest.approx(anytime_score(readings), abs=1e-3)


def test_counts_of_rows_add_up_to_those_of_the_table() -> None:
    rng = np.random.default_rng(1)
    Y, P, mask = ((rng.random((30, 4)) < 0.5) for _ in range(3))
    whole, rows = (
        label_counts(Y, sparse.csr_array(P.astype(int)), label_mask=mask),
        counts_by_row(Y, P, label_mask=mask),
    )
    for name in ("tp", "fp", "fn", "tn"):
        np.testing.assert_array_equal(getattr(rows, name).sum(axis=0), getattr(whole, name))


def test_rows_without_a_cell_keep_their_places() -> None:
    mask = np.array([[True, True], [False, False], [True, False]])
    Y, scores = [[1, 0], [1, 1], [1, 0]], [[1.0, 0.0], [0.0, 0.0], [0.5, 0.0]]
    np.testing.assert_array_equal(rmse_by_row(Y, scores, label_mask=mask), [0.0, math.nan, 0.5])
    np.testing.assert_array_equal(running_mean([0.0, math.nan, 0.5]), [0.0, 0.0, 0.25])


def test_unknown_cells_count_nowhere() -> None:
    unknown = np.array([[1, math.nan], [math.nan, math.nan], [0, 1]])
    known, filled = ~np.isnan(unknown), np.nan_to_num(unknown)
    scores, decided = np.array([[0.25, 0.5], [1, 1], [0, 1]]), np.array([[0, 1], [1, 1], [0, 1]])
    for metric, other, more in (
        (rmse_by_row, scores, ()),
        (precision_at_k_by_row, scores, (1,)),
        (lambda *args, **kwargs: counts_by_row(*args, **kwargs).fn, decided, ()),
    ):
        np.testing.assert_array_equal(metric(unknown, other, *more), metric(filled, other, *more, label_mask=known))
    np.testing.assert_array_equal(rmse_by_row(unknown, scores), [0.75, math.nan, 0.0])


def test_nothing_to_average_is_not_defined() -> None:
    assert math.isnan(anytime_score([]))
    assert math.isnan(anytime_score([math.nan]))


def test_half_precision_is_not_kept() -> None:
    readings = np.array([0.1, 0.2], dtype=np.float16)
    assert anytime_score(readings) == (float(readings[0]) + float(readings[1])) / 2


def test_scores_of_rows_may_exceed_1() -> None:
    np.testing.assert_array_equal(rmse_by_row([[0, 0], [1, 1]], [[2, 2], [-1, -1]]), [2.0, 2.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: anytime_score([[0.5]]), r"readings must be 1-D, one number per row. Got shape \(1, 1\)"),
        (lambda: running_mean([0.5, math.inf]), "values must be finite or NaN. Got inf"),
        (lambda: counts_by_row([[2]], [[0]]), "y_true must hold only 0 and 1. Got 2 in row 0"),
        (lambda: counts_by_row([[1]], [[0, 1]]), "y_pred must have the shape of y_true"),
        (lambda: precision_at_k_by_row([[1, 0]], [[1.0, 0.0]], 3), "k must be"),
    ],
)
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
