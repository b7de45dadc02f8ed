"""The correlation of true and predicted labels: scikit-learn's label by label, and long streams."""

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import matthews_corrcoef

import metrics
from tests.strategies import LabelCase, decisions


@given(case=decisions(("none",)))
def test_each_label_equals_scikit_learn_where_it_has_both_classes(case: LabelCase) -> None:
    values = metrics.mcc(case.y_true, case.other, average=None)
    for value, true, pred in zip(values, case.y_true.T, case.other.T, strict=True):
        if 0 < true.sum() < len(true):
            assert value == pytest.approx(matthews_corrcoef(true, pred))
        else:
            assert np.isnan(value)


def test_a_constant_prediction_correlates_with_nothing() -> None:
    assert metrics.mcc([[1], [0]], [[1], [1]]) == 0


def test_counts_of_a_long_stream_do_not_overflow() -> None:
    n = np.array([10**12])
    assert metrics.mcc_from_counts(metrics.LabelCounts(tp=n, fp=0 * n, fn=0 * n, tn=n)) == 1
    assert metrics.mcc_from_counts(metrics.LabelCounts(tp=n, fp=n, fn=n, tn=n)) == 0


def test_the_average_must_be_known() -> None:
    with pytest.raises(ValueError, match=r"average must be one of 'macro', 'micro', None. Got 'samples'"):
        metrics.mcc([[1]], [[1]], average="samples")
