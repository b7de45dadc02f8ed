"""Propensity scores: the best scores, equal propensities, and bad input."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import metrics
from tests.loops import check_all
from tests.strategies import LabelCase, scored_with_propensities

SCORED = {"psprecision_at_k": metrics.psprecision_at_k, "psndcg_at_k": metrics.psndcg_at_k}
Y, S = [[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.2], [0.1, 0.8, 0.7]]


@pytest.mark.parametrize("metric", SCORED.values(), ids=SCORED)
@given(case=scored_with_propensities())
def test_the_truth_over_the_propensities_is_best(metric: Callable[..., float], case: LabelCase) -> None:
    p = np.array([*case.options["propensities"].values()])
    best = metric(case.y_true, case.y_true / p, *case.extra, p, label_mask=case.mask)
    assert np.isnan(best) or best == pytest.approx(1)


@given(case=scored_with_propensities())
def test_equal_propensities_give_the_plain_precision(case: LabelCase) -> None:
    ones, options = np.ones(case.y_true.shape[1]), {"label_mask": case.mask}
    plain = metrics.precision_at_k(case.y_true, case.other, *case.extra, **options)
    scored = (case.y_true, case.other, *case.extra, ones)
    assert metrics.psprecision_at_k(*scored, normalize=False, **options) == pytest.approx(plain)
    greatest = metrics.precision_at_k_maximum(case.y_true, *case.extra, **options)
    normalized = metrics.psprecision_at_k(*scored, **options)
    assert np.isnan(normalized) if greatest == 0 else normalized == pytest.approx(plain / greatest)


def test_frequent_labels_are_observed_more_often() -> None:
    propensities = metrics.label_propensities([0, 1, 10, 1000], 1000)
    assert (np.diff(propensities) > 0).all()
    assert propensities[0] > 0


def test_sums_of_sparse_tables_are_counts() -> None:
    counts = sparse.csr_matrix(Y).sum(axis=0)
    np.testing.assert_array_equal(metrics.label_propensities(counts, 8), metrics.label_propensities([2, 1, 0], 8))


def test_propensities_of_half_precision_are_read_in_full() -> None:
    tiny = np.array([1e-5, 0.5, 0.5], np.float16)  # 1 / p overflows

    def check(metric: Callable[..., float]) -> None:
        for normalize in (False, True):
            options = {"normalize": normalize}
            assert metric(Y, S, 2, tiny, **options) == metric(Y, S, 2, tiny.astype(np.float64), **options)

    check_all(SCORED.values(), check)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: metrics.label_propensities([1, 9], 8),
            "label_counts must be from 0 to 8. Got 9 for label 1",
        ),
        (lambda: metrics.label_propensities([[1]], 8), "label_counts must be one number per label"),
        (lambda: metrics.label_propensities([1], 2), "n_samples must be an integer of at least 3. Got 2"),
        (lambda: metrics.label_propensities([1], 8, a=-1), "a must be a finite number"),
        (
            lambda: metrics.label_propensities([1, 0], 8, b=0),
            "propensities must be at least 1e-100: raise b or lower a. Got 0.0 for label 1, which has 0 rows, instead",
        ),
        (lambda: metrics.label_propensities([0], 8, a=1000), "at least 1e-100: raise b .* Got .*e-222 for label 0"),
    ],
)
def test_counts_and_constants_are_checked(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_propensities_and_k_are_checked() -> None:
    def check(metric: Callable[..., float]) -> None:
        for wrong in (0.0, 1e-310, 1.5, np.nan):
            with pytest.raises(ValueError, match=f"propensities must be from 1e-100 to 1. Got {wrong} for label 1"):
                metric(Y, S, 2, [0.5, wrong, 0.5])
        with pytest.raises(ValueError, match=r"propensities must be one number per label, 3 in all. Got shape \(2,\)"):
            metric(Y, S, 2, [0.5, 0.5])
        with pytest.raises(ValueError, match=r"k must be an integer from 1 to n_labels = 3. Got 4"):
            metric(Y, S, 4, [0.5] * 3)
        with pytest.raises(ValueError, match=r"ties must be one of 'expected', 'order'. Got 'first'"):
            metric(Y, S, 2, [0.5] * 3, ties="first")

    check_all(SCORED.values(), check)
