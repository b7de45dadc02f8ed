"""Brier scores and calibration errors equal those of other libraries, label by label."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

import metrics
from tests.strategies import LabelCase, scored

RNG = np.random.default_rng(0)
Y, P = RNG.integers(0, 2, (500, 3)), RNG.random((500, 3))


@given(case=scored(("none",)))
def test_brier_scores_of_labels_are_those_of_scikit_learn(case: LabelCase) -> None:
    expected = [brier_score_loss(t, p, labels=[0, 1]) for t, p in zip(case.y_true.T, case.other.T, strict=True)]
    np.testing.assert_allclose(metrics.brier_score(case.y_true, case.other, average=None), expected)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_points_of_curves_are_those_of_scikit_learn(strategy: Any) -> None:
    on_edges = np.vstack([RNG.integers(0, 11, (40, 3)) / 10, P[40:]])
    curve = metrics.calibration_curve(Y, on_edges, strategy=strategy)
    for label, (true, proba) in enumerate(zip(Y.T, on_edges.T, strict=True)):
        shares, means = calibration_curve(true, proba, n_bins=10, strategy=strategy)
        filled = curve.n_cells[label] > 0
        np.testing.assert_allclose(curve.share_true[label][filled], shares)
        np.testing.assert_allclose(curve.mean_proba[label][filled], means)


# To import torch takes a second or more.
@pytest.mark.slow
@pytest.mark.parametrize("n_bins", [1, 10, 15])
def test_errors_are_those_of_torchmetrics(n_bins: int) -> None:
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.classification")
    ours = metrics.expected_calibration_error(Y, P, n_bins=n_bins, average=None)
    for value, true, proba in zip(ours, Y.T, P.T, strict=True):
        theirs = functional.binary_calibration_error(torch.tensor(proba), torch.tensor(true), n_bins=n_bins, norm="l1")
        assert value == pytest.approx(float(theirs), abs=1e-6)


def test_edges_belong_to_the_bin_below_and_one_to_the_last() -> None:
    proba = np.array([[0.0], [0.5], [0.75], [1.0]])
    assert metrics.calibration_sums(np.ones((4, 1)), proba, n_bins=2).n_cells.tolist() == [[2, 2]]
    curve = metrics.calibration_curve(np.ones((4, 1)), proba, n_bins=4, average="micro")
    np.testing.assert_array_equal(curve.share_true, [1, 1, 1, 1])
    assert curve.n_cells.tolist() == [1, 1, 1, 1]


def test_chunks_add_up_and_are_taken_away_again() -> None:
    whole, first = metrics.calibration_sums(Y, P), metrics.calibration_sums(Y[:200], P[:200])
    rest = whole - first
    for ours, theirs in zip(rest.parts, metrics.calibration_sums(Y[200:], P[200:]).parts, strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "n_bins must be an integer of at least 1"),
        ({"strategy": "equal"}, "strategy must be one of"),
        ({"average": "samples"}, "average must be one of"),
        ({"y_proba": [[1.5]]}, r"y_proba must hold probabilities in \[0, 1\]. Got 1.5 in row 0, label 0 instead"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    for metric in (metrics.expected_calibration_error, metrics.calibration_curve):
        with pytest.raises(ValueError, match=message):
            metric(**{"y_true": [[1]], "y_proba": [[0.5]]} | options)  # type: ignore[operator]
