"""Scores from counts: curves at once, and what cannot be had from counts."""

from itertools import product

import numpy as np
import pytest

import metrics
from tests.loops import check_all

NAMES = ("precision", "recall", "f1", "jaccard")


@pytest.fixture(scope="module")
def stacked() -> metrics.LabelCounts:
    rng = np.random.default_rng(0)
    return metrics.LabelCounts(*rng.integers(0, 3, (4, 5, 3)))


def row(counts: metrics.LabelCounts, i: int) -> metrics.LabelCounts:
    return metrics.LabelCounts(counts.tp[i], counts.fp[i], counts.fn[i], counts.tn[i])


def test_a_curve_is_the_score_of_each_checkpoint(stacked: metrics.LabelCounts) -> None:
    def check(case: tuple[str, str | None]) -> None:
        name, average = case
        score = getattr(metrics, f"{name}_from_counts")
        curve = score(stacked, average=average)
        assert curve.shape == ((5, 3) if average is None else (5,))
        for i in range(5):
            np.testing.assert_allclose(curve[i], score(row(stacked, i), average=average))

    check_all(product(NAMES, ["micro", "macro", None]), check)


def test_a_curve_of_hamming_loss_is_the_loss_of_each_checkpoint(stacked: metrics.LabelCounts) -> None:
    curve = metrics.hamming_loss_from_counts(stacked)
    np.testing.assert_allclose(curve, [metrics.hamming_loss_from_counts(row(stacked, i)) for i in range(5)])


@pytest.mark.parametrize("name", NAMES)
def test_means_over_rows_are_refused(stacked: metrics.LabelCounts, name: str) -> None:
    with pytest.raises(ValueError, match=r"average must be one of 'micro', 'macro', None. Got 'samples'"):
        getattr(metrics, f"{name}_from_counts")(stacked, average="samples")


@pytest.mark.parametrize("name", NAMES)
def test_by_default_a_label_without_ones_scores_0_in_the_mean_over_labels(name: str) -> None:
    counts = metrics.LabelCounts(tp=np.array([1, 0]), fp=np.array([0, 0]), fn=np.array([0, 0]), tn=np.array([1, 2]))
    assert getattr(metrics, f"{name}_from_counts")(counts) == 0.5
