"""Labels that persist from row to row: the no-change predictor and what is measured against it."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river.dummy import NoChangeClassifier

import metrics
from metrics import _blocks
from tests.strategies import LabelCase, decisions

NAN = float("nan")


@given(case=decisions())
def test_the_no_change_predictor_itself_scores_zero(case: LabelCase) -> None:
    repeated = metrics.no_change_predictions(case.y_true, label_mask=case.mask)
    for average in ("subset", "macro"):
        score = metrics.kappa_temporal(case.y_true, repeated, label_mask=case.mask, average=average)
        assert np.isnan(score) or score == 0.0


def test_the_predictions_are_those_of_river() -> None:
    y_true = np.random.default_rng(0).integers(0, 2, (50, 3))
    for labels, predictions in zip(y_true.T, metrics.no_change_predictions(y_true).T, strict=True):
        model = NoChangeClassifier()
        for label, prediction in zip(labels.tolist(), predictions.tolist(), strict=True):
            assert (model.predict_one({}) or 0) == prediction
            model.learn_one({}, label)


def test_the_last_known_value_is_repeated() -> None:
    y_true = [[1, 0], [NAN, 1], [NAN, NAN], [0, 1]]
    assert metrics.no_change_predictions(y_true).tolist() == [[0, 0], [1, 0], [1, 1], [1, 1]]


def test_a_value_that_does_not_count_is_not_repeated() -> None:
    mask = [[True, True], [False, True], [True, False]]
    assert metrics.no_change_predictions([[0, 0], [1, 1], [0, 0]], label_mask=mask).tolist() == [[0, 0], [0, 0], [0, 1]]


@given(case=decisions(), n_cells=st.integers(1, 40))
def test_blocks_of_rows_carry_on_where_the_last_one_ended(case: LabelCase, n_cells: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        whole = [metrics.no_change_predictions(case.y_true, label_mask=case.mask), case.call(metrics.kappa_temporal)]
        whole += metrics.label_persistence(case.y_true, label_mask=case.mask)
        patch.setattr(_blocks, "_CELLS_PER_BLOCK", n_cells)
        parts = [metrics.no_change_predictions(case.y_true, label_mask=case.mask), case.call(metrics.kappa_temporal)]
        parts += metrics.label_persistence(case.y_true, label_mask=case.mask)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "call", [metrics.label_persistence, lambda Y: metrics.kappa_temporal(Y, Y[::-1], average="macro")]
)
def test_memory_does_not_grow_with_the_number_of_blocks(call: Callable[[Any], Any]) -> None:
    Y = np.random.default_rng(0).integers(0, 2, (500, 500), dtype=np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "_CELLS_PER_BLOCK", 1)
        tracemalloc.start()
        call(Y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # Sums of one block take 16 kB, all labels 250 kB.
    assert peak < 2e5


def test_sorted_rows_persist_and_shuffled_ones_do_not() -> None:
    y_true = np.repeat(np.eye(4, dtype=int), 250, axis=0)
    in_order = metrics.label_persistence(y_true)
    assert in_order.subset_accuracy == pytest.approx(1 - 4 / 1000)
    assert in_order.kappa.min() > 0.98
    shuffled = metrics.label_persistence(np.random.default_rng(0).permutation(y_true))
    assert shuffled.subset_accuracy == pytest.approx(0.25, abs=0.05)
    assert abs(shuffled.mean_kappa) < 0.1


def test_an_alternating_label_agrees_less_than_chance() -> None:
    assert metrics.label_persistence([[0], [1]] * 20).mean_kappa == pytest.approx(-1, abs=0.01)


def test_nothing_can_be_gained_on_labels_that_never_change() -> None:
    absent = np.zeros((5, 2))
    assert np.isnan(metrics.kappa_temporal(absent, absent))
    assert np.isnan(metrics.kappa_temporal(absent, absent, average=None)).all()
    persistence = metrics.label_persistence(absent)
    assert persistence.subset_accuracy == 1.0
    assert np.isnan(persistence.mean_kappa)


def test_a_score_has_three_averages() -> None:
    with pytest.raises(ValueError, match=r"average must be one of 'subset', 'macro', None. Got 'micro' instead"):
        metrics.kappa_temporal([[1]], [[1]], average="micro")


def test_predictions_must_be_known_and_fit() -> None:
    with pytest.raises(ValueError, match=r"y_pred must hold only 0 and 1. Got nan in row 0, label 0 instead"):
        metrics.kappa_temporal([[1]], [[NAN]])
    with pytest.raises(ValueError, match=r"y_pred must have the shape of y_true, \(1, 1\). Got \(1, 2\) instead"):
        metrics.kappa_temporal([[1]], [[1, 0]])
    with pytest.raises(ValueError, match="y_pred must be 2-D"):
        metrics.kappa_temporal([[1]], [1])


def test_the_last_value_is_that_of_the_row_before(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two rows a block: the third follows the second, not the first.
    monkeypatch.setattr(_blocks, "_CELLS_PER_BLOCK", 2)
    assert metrics.no_change_predictions([[0], [1], [0], [0]]).ravel().tolist() == [0, 0, 1, 0]
