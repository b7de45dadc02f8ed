"""Decision metrics against scikit-learn, River and torchmetrics, where these have them right."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import metrics as river_metrics
from sklearn import metrics as sklearn_metrics

import metrics
from tests.strategies import LabelCase, decisions

RATIOS = ("precision", "recall", "f1", "jaccard")


@pytest.mark.parametrize("name", RATIOS)
@given(
    case=decisions(("none",)),
    average=st.sampled_from(["samples", "micro", "macro", None]),
    zero_division=st.sampled_from([0.0, 1.0]),
)
def test_ratios_equal_scikit_learn(name: str, case: LabelCase, average: Any, zero_division: float) -> None:
    if case.y_true.shape[1] == 1:
        return  # scikit-learn reads one column as a binary target
    ours = getattr(metrics, name)(case.y_true, case.other, average=average, zero_division=zero_division)
    peer = getattr(sklearn_metrics, f"{name}_score")
    np.testing.assert_allclose(ours, peer(case.y_true, case.other, average=average, zero_division=zero_division))


@given(case=decisions(("none",)), average=st.sampled_from(["samples", "micro", "macro", None]))
def test_f_of_any_beta_equals_scikit_learn(case: LabelCase, average: Any) -> None:
    if case.y_true.shape[1] == 1:
        return  # scikit-learn reads one column as a binary target
    assert metrics.fbeta(case.y_true, case.other, 1) == metrics.f1(case.y_true, case.other)
    for beta in (0.5, 2):
        expected = sklearn_metrics.fbeta_score(case.y_true, case.other, beta=beta, average=average, zero_division=0.0)
        np.testing.assert_allclose(metrics.fbeta(case.y_true, case.other, beta, average=average), expected)


@given(case=decisions(("none",)))
def test_hamming_loss_and_subset_accuracy_equal_scikit_learn(case: LabelCase) -> None:
    assert metrics.hamming_loss(case.y_true, case.other) == pytest.approx(
        sklearn_metrics.hamming_loss(case.y_true, case.other)
    )
    assert metrics.subset_accuracy(case.y_true, case.other) == pytest.approx(
        sklearn_metrics.accuracy_score(case.y_true, case.other)
    )


@pytest.mark.parametrize(("name", "peer"), [("precision", "Precision"), ("recall", "Recall"), ("f1", "F1")])
@given(case=decisions(("none",)))
def test_micro_and_macro_equal_river(name: str, peer: str, case: LabelCase) -> None:
    for average, river_average in (("micro", "MicroAverage"), ("macro", "MacroAverage")):
        river = getattr(river_metrics.multioutput, river_average)(getattr(river_metrics, peer)())
        for truth, prediction in zip(case.y_true.tolist(), case.other.tolist(), strict=True):
            river.update(dict(enumerate(truth)), dict(enumerate(prediction)))
        assert getattr(metrics, name)(case.y_true, case.other, average=average) == pytest.approx(river.get())


# To import torch takes a second or more.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "peer"),
    [("precision", "precision"), ("recall", "recall"), ("f1", "f1_score"), ("jaccard", "jaccard_index")],
)
def test_micro_and_per_label_values_equal_torchmetrics(name: str, peer: str) -> None:
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.classification")
    rng = np.random.default_rng(1)
    y_true, y_pred = rng.integers(0, 2, (2, 50, 4))
    for average in ("micro", None):
        theirs = getattr(functional, f"multilabel_{peer}")(
            torch.tensor(y_pred), torch.tensor(y_true), num_labels=4, average=average or "none"
        )
        ours = getattr(metrics, name)(y_true, y_pred, average=average)
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", RATIOS)
def test_a_masked_label_is_not_a_number_among_labels(name: str) -> None:
    values = getattr(metrics, name)([[1, 1]], [[1, 1]], label_mask=[True, False], average=None)
    np.testing.assert_array_equal(values, [1.0, np.nan])


def test_rows_without_a_cell_are_left_out() -> None:
    mask = [[True, True], [False, False]]
    assert metrics.subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 0]], label_mask=mask) == 1.0
    assert metrics.jaccard([[1, 0], [1, 1]], [[1, 0], [0, 0]], label_mask=mask) == 1.0


@pytest.mark.parametrize("shape", [(3, 1), (300, 1), (7, 300), (520, 7), (70_000, 5), (2, 300_000)])
def test_sizes_beyond_a_block_or_a_byte_count_right(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    y_true, y_pred = rng.integers(0, 2, (2, *shape), dtype=np.uint8)
    counts = metrics.label_counts(y_true, y_pred)
    np.testing.assert_array_equal(counts.tp, (y_true * y_pred.astype(int)).sum(axis=0))
    np.testing.assert_array_equal(counts.fp, ((1 - y_true) * y_pred.astype(int)).sum(axis=0))
    both = (y_true * y_pred.astype(int)).sum(axis=1)
    either = np.maximum(y_true, y_pred).sum(axis=1, dtype=int)
    assert metrics.jaccard(y_true, y_pred) == pytest.approx(np.mean(both / np.maximum(either, 1)))


@pytest.mark.parametrize("shape", [(700, 2), (2, 700), (600, 600)])
def test_more_ones_than_a_byte_holds_count_right(shape: tuple[int, int]) -> None:
    ones = np.ones(shape, dtype=np.uint8)
    np.testing.assert_array_equal(metrics.label_counts(ones, ones).tp, shape[0])
    assert metrics.precision(ones, np.where(np.arange(shape[1]) % 2, 0, ones)) == 1.0
    assert metrics.recall(ones, np.where(np.arange(shape[1]) % 2, 0, ones)) == 0.5


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_layout_does_not_matter(order: Any) -> None:
    rng = np.random.default_rng(3)
    y_true, y_pred = rng.integers(0, 2, (2, 600, 9))
    laid_out = [np.asarray(table, order=order)[::-1] for table in (y_true, y_pred)]
    assert metrics.f1(*laid_out) == pytest.approx(metrics.f1(y_true[::-1].copy(), y_pred[::-1].copy()))
    assert metrics.ba_macro(*laid_out) == pytest.approx(metrics.ba_macro(y_true, y_pred))


def test_a_pooled_loss_gives_rows_of_wide_tasks_more_weight() -> None:
    truth, wrong = [[1, 1, 1, 1], [1, 0, 0, 0]], [[1, 1, 1, 1], [0, 0, 0, 0]]
    mask = [[True] * 4, [True, False, False, False]]
    assert metrics.hamming_loss(truth, wrong, label_mask=mask) == 0.2
    assert metrics.hamming_loss(truth, wrong, label_mask=mask, average="samples") == 0.5
    assert metrics.hamming_loss(truth, wrong) == metrics.hamming_loss(truth, wrong, average="samples") == 0.125


def test_a_loss_has_two_averages() -> None:
    with pytest.raises(ValueError, match=r"average must be one of 'micro', 'samples'. Got 'rows' instead"):
        metrics.hamming_loss([[1]], [[1]], average="rows")
