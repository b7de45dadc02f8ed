"""Coverage and size of prediction sets, beyond the laws of all metrics."""

import numpy as np
import pytest

from metrics import set_coverage, set_size


def test_unknown_cells_are_left_out():
    Y, sets = np.array([[1, np.nan], [0, 1], [np.nan, np.nan]]), np.array([[0, 1], [0, -1], [-2, 7]])
    assert set_coverage(Y, sets) == pytest.approx(2 / 3)
    np.testing.assert_array_equal(set_coverage(Y, sets, average=None), [0.5, 1])
    assert set_coverage(Y, sets, average="subset") == 0.5


def test_a_label_without_a_cell_is_nan():
    np.testing.assert_array_equal(set_coverage([[1, np.nan]], [[-1, 0]], average=None), [1, np.nan])
    np.testing.assert_array_equal(set_size([[-1, 0]], average=None, label_mask=[True, False]), [2, np.nan])
    assert set_size([[-1, 0]], average="macro", label_mask=[True, False]) == 2


def test_coverage_of_labels_that_are_there():
    Y, sets = np.array([[1, 0], [1, 0], [0, 1]]), np.array([[0, 1], [1, 1], [1, -1]])
    assert set_coverage(Y, sets, label_mask=Y == 1) == pytest.approx(2 / 3)


@pytest.mark.parametrize("value", [2, 0.5, -3, np.nan, np.inf])
@pytest.mark.parametrize("metric", [lambda sets: set_coverage([[0, 1]], sets), set_size])
def test_what_is_not_a_set_is_refused(metric, value):
    with pytest.raises(ValueError, match=r"sets must hold 1, 0, -1 for \{0, 1\} and -2 .* in row 0, label 1"):
        metric([[0, value]])


def test_a_truth_that_is_no_label_is_refused():
    with pytest.raises(ValueError, match=r"y_true must hold only 0 and 1\. Got -1 in row 1, label 0 instead"):
        set_coverage([[0, 1], [-1, 1]], [[0, 1], [0, 1]])


def test_other_bad_input_is_refused():
    with pytest.raises(ValueError, match="sets must have the shape of y_true"):
        set_coverage([[0, 1]], [[0]])
    with pytest.raises(ValueError, match="average must be one of"):
        set_coverage([[0, 1]], [[0, 1]], average="samples")
    with pytest.raises(ValueError, match="average must be one of"):
        set_size([[0, 1]], average="subset")
