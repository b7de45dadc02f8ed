"""Areas under curves: scikit-learn and torchmetrics label by label, absent labels, and transforms of scores."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

import metrics
from tests.strategies import LabelCase, scored

AREAS = {"roc_auc": "roc_auc_score", "average_precision": "average_precision_score"}
TORCH = {"roc_auc": "auroc", "average_precision": "average_precision"}


@pytest.mark.parametrize("name", AREAS)
@given(case=scored(("none",)))
def test_each_label_equals_scikit_learn_or_is_not_defined(name: str, case: LabelCase) -> None:
    values = getattr(metrics, name)(case.y_true, case.other, average=None)
    for value, true, score in zip(values, case.y_true.T, case.other.T, strict=True):
        if true.any() and not (name == "roc_auc" and true.all()):
            assert value == pytest.approx(getattr(sklearn_metrics, AREAS[name])(true, score))
        else:
            assert np.isnan(value)


@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("average", ["macro", "micro", "samples", None])
def test_means_equal_scikit_learn_where_all_labels_and_rows_have_both_classes(name: str, average: Any) -> None:
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 2, (3_000, 300)), rng.integers(0, 50, (3_000, 300)) / 50
    expected = getattr(sklearn_metrics, AREAS[name])(y_true, y_score, average=average)
    np.testing.assert_allclose(getattr(metrics, name)(y_true, y_score, average=average), expected)


# To import torch takes a second or more.
@pytest.mark.slow
@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("average", ["macro", "micro", None])
def test_values_equal_torchmetrics_where_all_labels_have_both_classes(name: str, average: Any) -> None:
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.classification")
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 2, (60, 5)), rng.integers(0, 9, (60, 5)) / 9
    theirs = getattr(functional, f"multilabel_{TORCH[name]}")(
        torch.tensor(y_score), torch.tensor(y_true), num_labels=5, average=average or "none"
    )
    ours = getattr(metrics, name)(y_true, y_score, average=average)
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-5)


@pytest.mark.parametrize("name", AREAS)
@given(case=scored(), average=st.sampled_from(["macro", "micro", "samples"]))
def test_increasing_functions_of_scores_change_nothing(name: str, case: LabelCase, average: Any) -> None:
    metric = getattr(metrics, name)
    changed = metric(case.y_true, np.exp(3 * case.other) - 7, label_mask=case.mask, average=average)
    assert changed == pytest.approx(case.call(metric, average=average), nan_ok=True)


@pytest.mark.parametrize("name", AREAS)
def test_absent_labels_and_empty_rows_are_left_out(name: str) -> None:
    metric = getattr(metrics, name)
    y_true, y_score = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0]]), np.array([[0.9, 0.1, 0.5]] * 3)
    assert metric(y_true, y_score) == metric(y_true[:, :2], y_score[:, :2])
    assert metric(y_true, y_score, average="samples") == metric(y_true[:2], y_score[:2], average="samples")
    for average in ("macro", "micro", "samples"):
        assert np.isnan(metric(0 * y_true, y_score, average=average))


def test_a_label_that_is_always_there_has_a_precision_but_no_roc_curve() -> None:
    assert metrics.average_precision([[1], [1]], [[0.1], [0.2]]) == 1
    assert np.isnan(metrics.roc_auc([[1], [1]], [[0.1], [0.2]]))


def test_the_average_must_be_known() -> None:
    with pytest.raises(ValueError, match=r"average must be one of 'macro', 'micro', 'samples', None. Got 'weighted'"):
        metrics.roc_auc([[1]], [[0.5]], average="weighted")
