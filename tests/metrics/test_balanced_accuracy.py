"""Balanced accuracy against scikit-learn and River, and the three readings of a label with one class."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from river import metrics as river_metrics
from sklearn.metrics import balanced_accuracy_score

from metrics import ba_macro, ba_macro_from_counts, label_counts, stack_counts
from tests.strategies import LabelCase, decisions


@given(case=decisions(("none",)))
def test_two_class_labels_score_as_in_scikit_learn(case: LabelCase) -> None:
    scores = [
        balanced_accuracy_score(t, p) for t, p in zip(case.y_true.T, case.other.T, strict=True) if 0 < t.sum() < len(t)
    ]
    expected = np.mean(scores) if scores else math.nan
    assert ba_macro(case.y_true, case.other) == pytest.approx(expected, nan_ok=True)


@given(case=decisions(("none",)))
def test_recall_of_the_class_that_is_there_is_what_scikit_learn_and_river_give_today(case: LabelCase) -> None:
    peers = []
    for t, p in zip(case.y_true.T, case.other.T, strict=True):
        river = river_metrics.BalancedAccuracy()
        for truth, prediction in zip(t.tolist(), p.tolist(), strict=True):
            river.update(truth, prediction)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn warns of classes that are only predicted
            assert river.get() == pytest.approx(balanced_accuracy_score(t, p))
        peers.append(river.get())
    assert ba_macro(case.y_true, case.other, one_class="recall") == pytest.approx(np.mean(peers))


@pytest.mark.parametrize(
    ("y_pred", "skip", "recall", "river"),
    [
        # the second label is never there: predicting it once costs recall 1/3, and half of that under "river"
        ([[1, 0], [0, 0], [1, 0]], 1.0, 1.0, 1.0),
        ([[1, 1], [0, 0], [1, 0]], 1.0, (1 + 2 / 3) / 2, (1 + 1 / 3) / 2),
        ([[1, 1], [0, 1], [1, 1]], 1.0, 0.5, 0.5),
    ],
)
def test_a_label_with_one_class(y_pred: list[list[int]], skip: float, recall: float, river: float) -> None:
    y_true = [[1, 0], [0, 0], [1, 0]]
    assert ba_macro(y_true, y_pred) == pytest.approx(skip)
    assert ba_macro(y_true, y_pred, one_class="recall") == pytest.approx(recall)
    assert ba_macro(y_true, y_pred, one_class="river") == pytest.approx(river)


def test_a_constant_predictor_looks_good_under_river_where_labels_do_not_vary() -> None:
    y_true = [[1, 0, 0, 0], [0, 0, 0, 0]]
    constant = np.zeros((2, 4), int)
    assert ba_macro(y_true, constant) == 0.5
    assert ba_macro(y_true, constant, one_class="river") == pytest.approx((0.5 + 3) / 4)


def test_no_label_with_two_classes_is_not_a_number() -> None:
    assert math.isnan(ba_macro([[1, 0]], [[1, 0]]))


@pytest.mark.parametrize("one_class", ["skip", "recall", "river"])
def test_a_curve_is_the_score_of_each_checkpoint(one_class: str) -> None:
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(0, 2, (2, 40, 3))
    chunks = [label_counts(y_true[i : i + 10], y_pred[i : i + 10]) for i in range(0, 40, 10)]
    curve = ba_macro_from_counts(stack_counts(chunks), one_class=one_class)
    expected = [ba_macro(y_true[i : i + 10], y_pred[i : i + 10], one_class=one_class) for i in range(0, 40, 10)]
    np.testing.assert_allclose(curve, expected)
