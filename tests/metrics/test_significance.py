"""Ranks and tests against SciPy, scikit-posthocs, Demšar's tables, and the published ranks."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import friedmanchisquare, rankdata

from metrics import average_ranks, critical_difference, friedman, nemenyi
from tests.loops import check_all
from tests.strategies import result_tables

# two-tailed critical values q / sqrt(2) of the Nemenyi test, Demšar 2006, table 5(a)
DEMSAR = {
    0.05: {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164},
    0.10: {2: 1.645, 3: 2.052, 4: 2.291, 5: 2.459, 6: 2.589, 7: 2.693, 8: 2.780, 9: 2.855, 10: 2.920},
}


@given(scores=result_tables())
def test_ranks_share_the_places_of_a_tie(scores: np.ndarray) -> None:
    expected = np.mean([rankdata([-s for s in row]) for row in scores], axis=0)
    np.testing.assert_allclose(average_ranks(scores), expected)
    assert average_ranks(scores).sum() == pytest.approx(scores.shape[1] * (scores.shape[1] + 1) / 2)


@given(scores=result_tables(min_methods=3, min_datasets=2))
def test_friedman_equals_scipy(scores: np.ndarray) -> None:
    ours = friedman(scores)
    if (scores == scores[:, :1]).all():
        assert np.isnan(ours).all()
    else:
        expected = friedmanchisquare(*scores.T)
        assert ours == pytest.approx((expected.statistic, expected.pvalue))


@given(scores=result_tables(min_datasets=2))
def test_nemenyi_equals_scikit_posthocs(scores: np.ndarray) -> None:
    posthocs = pytest.importorskip("scikit_posthocs")
    np.testing.assert_allclose(nemenyi(scores), posthocs.posthoc_nemenyi_friedman(scores).to_numpy(), atol=1e-9)


def test_critical_values_are_those_of_demsar() -> None:
    def check(case: tuple[float, int]) -> None:
        alpha, k = case
        expected = DEMSAR[alpha][k] * np.sqrt(k * (k + 1) / (6 * 14))
        assert critical_difference(k, 14, alpha=alpha) == pytest.approx(expected, rel=5e-4)

    check_all([(alpha, k) for alpha, row in DEMSAR.items() for k in row], check)


def test_methods_further_apart_than_the_critical_difference_are_those_nemenyi_tells_apart() -> None:
    scores = np.random.default_rng(0).random((12, 6)) + np.arange(6) / 4
    ranks = average_ranks(scores)
    apart = np.abs(ranks[:, None] - ranks) > critical_difference(6, 12)
    np.testing.assert_array_equal(apart, nemenyi(scores) < 0.05)
    assert 0 < apart.sum() < 30


def test_the_paired_test_finds_what_the_published_one_missed(shared_data: Callable[[str], Path]) -> None:
    path = shared_data("../reference/tables/supp_table01_ba_macro.csv")
    rows = [row[1:10] for row in csv.reader(path.read_text().splitlines())][1:]
    scores = np.array(rows, dtype=float).T
    assert scores.shape == (9, 17)
    p_values = nemenyi(scores)
    assert (p_values[np.triu_indices(17, 1)] < 0.05).sum() == 23


def test_bad_input_is_refused() -> None:
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: average_ranks([0.5, 0.6]), r"shape \(n_datasets, n_methods\). Got dtype float64 and shape \(2,\)"),
        (lambda: average_ranks([[]]), r"non-empty .* shape \(1, 0\)"),
        (lambda: average_ranks([["a", "b"]]), "numeric"),
        (lambda: average_ranks([[0.5, np.nan]]), "scores must hold finite numbers. Got nan in row 0"),
        (lambda: friedman([[0.5, 0.6], [0.5, 0.6]]), r"at least 2 data sets and 3 methods. Got shape \(2, 2\)"),
        (lambda: nemenyi([[0.5], [0.6]]), r"at least 2 methods. Got shape \(2, 1\)"),
        (lambda: critical_difference(1, 5), "n_methods must be at least 2"),
        (lambda: critical_difference(5, 5, alpha=0), "alpha in"),
    ]

    def check(case: tuple[Callable[[], Any], str]) -> None:
        call, message = case
        with pytest.raises(ValueError, match=message):
            call()

    check_all(wrong, check, name=lambda case: case[1])
