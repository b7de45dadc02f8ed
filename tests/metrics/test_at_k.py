"""The k best labels: ties, scikit-learn's NDCG, and the published variant that is another metric."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

import metrics
from tests.strategies import LabelCase, scored_at_k


@given(case=scored_at_k(("none",)))
def test_ndcg_equals_scikit_learn_ties_included(case: LabelCase) -> None:
    if case.y_true.shape[1] == 1:
        return  # scikit-learn refuses one column
    expected = ndcg_score(case.y_true, case.other, k=case.extra[0])
    assert metrics.ndcg_at_k(case.y_true, case.other, *case.extra) == pytest.approx(expected)


@pytest.mark.parametrize("n_labels", [4, 200])
@pytest.mark.parametrize("k", [1, 3, 4])
def test_equal_scores_for_all_labels_score_as_the_share_of_relevant_ones(n_labels: int, k: int) -> None:
    y_true, y_score = (np.arange(n_labels) < n_labels // 4).astype(int)[None], np.full((1, n_labels), 0.5)
    assert metrics.precision_at_k(y_true, y_score, k) == 0.25
    assert metrics.one_error(y_true, y_score) == 0.75
    assert metrics.recall_at_k(y_true, y_score, k) == pytest.approx(k / n_labels)


@pytest.mark.parametrize(("n_labels", "k"), [(4, 1), (4, 2), (200, 3), (200, 40)])
def test_in_order_the_first_of_tied_labels_are_the_best(n_labels: int, k: int) -> None:
    y_true, y_score = (np.arange(n_labels) < 2).astype(int)[None], np.full((1, n_labels), 0.5)
    assert metrics.recall_at_k(y_true, y_score, k, ties="order") == min(k, 2) / 2
    assert metrics.recall_at_k(y_true[:, ::-1], y_score, k, ties="order") == 0
    assert metrics.one_error(y_true, y_score, ties="order") == 0


@given(n_relevant=st.integers(1, 40), k=st.integers(1, 40))
def test_rounding_does_not_lift_a_perfect_ranking_above_one(n_relevant: int, k: int) -> None:
    y_true = (np.arange(40) < n_relevant).astype(int)[None]
    score = metrics.ndcg_at_k(y_true, 1.0 / np.arange(1, 41)[None], k)
    assert 1 - 1e-12 < score <= 1


@given(case=scored_at_k())
def test_the_greatest_precision_is_that_of_the_truth_and_no_scores_exceed_it(case: LabelCase) -> None:
    greatest = metrics.precision_at_k_maximum(case.y_true, *case.extra, label_mask=case.mask)
    truth = case.y_true.astype(float)
    assert metrics.precision_at_k(case.y_true, truth, *case.extra, label_mask=case.mask) == pytest.approx(greatest)
    assert case.call(metrics.precision_at_k) <= greatest + 1e-12


def test_the_greatest_precision_checks_k() -> None:
    with pytest.raises(ValueError, match=r"k must be an integer from 1 to n_labels = 2. Got 3"):
        metrics.precision_at_k_maximum([[1, 0]], 3)
    with pytest.raises(ValueError, match=r"k must be at most .* Got k = 2 and a row with 1 instead"):
        metrics.precision_at_k_maximum([[1, 0]], 2, label_mask=[True, False])


def test_confident_absences_count_only_in_the_published_variant() -> None:
    y_true, y_prob = [[1, 0, 0]], [[0.4, 0.1, 0.0]]
    assert metrics.precision_at_k(y_true, y_prob, 2) == 0.5
    assert metrics.confident_accuracy_at_k(y_true, y_prob, 2) == 1.0


def test_one_half_is_a_presence() -> None:
    assert metrics.confident_accuracy_at_k([[1]], [[0.5]], 1) == 1.0
    assert metrics.confident_accuracy_at_k([[0]], [[0.5]], 1) == 0.0


@pytest.mark.parametrize("n_labels", [40, 200])
@pytest.mark.parametrize("k", [1, 3, 20, 33, 40])
@pytest.mark.parametrize("n_scores", [9, 2**40])
def test_large_tables_equal_a_loop_over_the_groups_of_tied_labels(n_labels: int, k: int, n_scores: int) -> None:
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 2, (300, n_labels)), rng.integers(0, n_scores, (300, n_labels)) / n_scores
    hits = np.empty(y_true.shape)
    for row, (truth, score) in enumerate(zip(y_true, y_score, strict=True)):
        groups = [truth[score == value] for value in np.unique(score)[::-1]]
        hits[row] = np.concatenate([np.full(len(group), group.mean()) for group in groups])
    hits, discounts = hits[:, :k], 1 / np.log2(np.arange(2, k + 2))
    ideal = -np.sort(-y_true, axis=1)[:, :k] @ discounts
    assert metrics.precision_at_k(y_true, y_score, k) == pytest.approx(hits.mean())
    assert metrics.ndcg_at_k(y_true, y_score, k) == pytest.approx((hits @ discounts / ideal).mean())
    ranked = np.take_along_axis(y_true, np.argsort(-y_score, axis=1, kind="stable")[:, :k], axis=1)
    assert metrics.precision_at_k(y_true, y_score, k, ties="order") == pytest.approx(ranked.mean())


@pytest.mark.parametrize("metric", [metrics.precision_at_k, metrics.recall_at_k, metrics.ndcg_at_k])
def test_k_beyond_the_labels_that_count_is_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match=r"k must be at most .* Got k = 2 and a row with 1 instead"):
        metric([[1, 0]], [[0.1, 0.2]], 2, label_mask=[True, False])


def test_by_default_a_row_without_ones_has_recall_0() -> None:
    assert metrics.recall_at_k([[0, 0]], [[0.1, 0.2]], 1) == 0.0
    assert metrics.refinement_recall([[0, 0]], [[0, 0]], {1: 0}) == 0.0


def test_confidence_is_not_rounded_to_single_precision() -> None:
    nearly_absent = np.array([[1e-9, 1.0]], dtype=np.float32)
    assert metrics.confident_accuracy_at_k([[1, 1]], nearly_absent, 1) == 1.0
