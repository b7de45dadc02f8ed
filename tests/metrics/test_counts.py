"""Counts add up over chunks, whatever the chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics
from tests.strategies import LabelCase, decisions


@given(case=decisions(("none", "labels")), cut=st.integers(0, 8))
def test_counts_of_chunks_add_up_and_can_be_taken_away(case: LabelCase, cut: int) -> None:
    cut = min(cut, len(case.y_true) - 1)
    whole = case.call(metrics.label_counts)
    last = case.rows(slice(cut, None)).call(metrics.label_counts)
    rest = whole - last
    if cut:
        np.testing.assert_array_equal(rest.tn, case.rows(slice(0, cut)).call(metrics.label_counts).tn)
    np.testing.assert_array_equal((rest + last).fp, whole.fp)


def test_a_window_forgets_and_a_sum_does_not() -> None:
    good, bad = metrics.label_counts([[1]], [[1]]), metrics.label_counts([[1]], [[0]])
    stacked = metrics.stack_counts([good, bad, bad])
    np.testing.assert_array_equal(metrics.windowed_counts(stacked, 2).tp[:, 0], [1, 1, 0])
    np.testing.assert_array_equal(metrics.cumulative_counts(stacked).tp[:, 0], [1, 1, 1])


def test_chunks_of_different_widths_are_refused() -> None:
    one, two = metrics.label_counts([[1]], [[1]]), metrics.label_counts([[1, 0]], [[1, 0]])
    with pytest.raises(ValueError, match=r"chunks must be .* of one shape. Got shapes \[\(1,\), \(2,\)\]"):
        metrics.stack_counts([one, two])
    with pytest.raises(ValueError, match=r"chunks must be at least one count.* Got shapes \[\]"):
        metrics.stack_counts([])


def test_a_window_of_no_chunk_is_refused() -> None:
    stacked = metrics.stack_counts([metrics.label_counts([[1]], [[1]])])
    with pytest.raises(ValueError, match=r"n_chunks must be an integer of at least 1. Got 0"):
        metrics.windowed_counts(stacked, 0)


def test_counts_cannot_be_changed() -> None:
    counts = metrics.label_counts([[1]], [[1]])
    with pytest.raises(AttributeError):
        counts.tp = np.zeros(1, int)
