"""Ranking metrics against scikit-learn and torchmetrics."""

import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics as sklearn_metrics

import metrics
from tests.strategies import LabelCase, scored

PEERS = {
    "coverage": ("coverage_error", "multilabel_coverage_error"),
    "ranking_loss": ("label_ranking_loss", "multilabel_ranking_loss"),
    "lrap": ("label_ranking_average_precision_score", "multilabel_ranking_average_precision"),
}


@pytest.mark.parametrize("name", PEERS)
@given(case=scored(("none",)))
def test_equal_to_scikit_learn_ties_and_empty_rows_included(name: str, case: LabelCase) -> None:
    if case.y_true.shape[1] == 1:
        return  # scikit-learn reads one column as a binary target
    expected = getattr(sklearn_metrics, PEERS[name][0])(case.y_true, case.other)
    assert getattr(metrics, name)(case.y_true, case.other) == pytest.approx(expected)


# To import torch takes a second or more.
@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_equal_to_torchmetrics_where_scores_differ(name: str) -> None:
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.classification")
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 2, (60, 5)), rng.random((60, 5))
    y_true[:, 0] = 1
    theirs = getattr(functional, PEERS[name][1])(torch.tensor(y_score), torch.tensor(y_true), num_labels=5)
    assert getattr(metrics, name)(y_true, y_score) == pytest.approx(float(theirs), rel=1e-6)


@pytest.mark.parametrize("name", ["coverage", "ranking_loss", "lrap", "one_error", "rmse"])
def test_many_blocks_give_what_small_pieces_give(name: str) -> None:
    rng = np.random.default_rng(1)
    y_true, y_score = rng.integers(0, 2, (9_000, 60)), rng.integers(0, 50, (9_000, 60)) / 50
    pieces = [
        getattr(metrics, name)(y_true[rows], y_score[rows])
        for rows in (slice(s, s + 900) for s in range(0, 9_000, 900))
    ]
    assert getattr(metrics, name)(y_true, y_score) == pytest.approx(np.mean(pieces))


def test_rmse_takes_the_root_per_row() -> None:
    assert metrics.rmse([[1, 1], [0, 0]], [[0, 0], [0, 0]]) == 0.5  # the root of the mean over cells would be 0.707


def test_negative_zero_ties_with_zero() -> None:
    assert metrics.ranking_loss([[1, 0]], [[0.0, -0.0]]) == 1.0
    assert metrics.one_error([[1, 0]], [[-0.0, 0.0]]) == 0.5
