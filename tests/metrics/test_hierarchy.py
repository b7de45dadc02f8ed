"""The table of the IIRC paper, and what its measure does not show."""

import math
from typing import Any

import numpy as np
import pytest

import metrics

# columns: bear, polar bear, brown bear, dog
PARENTS = {1: 0, 2: 0}


@pytest.mark.parametrize(
    ("true", "predicted", "similarity", "score"),
    [
        ([1, 1, 0, 0], [1, 1, 0, 0], 1, 1),
        ([1, 0, 0, 0], [1, 0, 0, 0], 1, 1),
        ([1, 1, 0, 0], [1, 0, 0, 0], 1 / 2, 1 / 2),  # too coarse
        ([1, 0, 0, 0], [1, 1, 0, 0], 1 / 2, 1 / 4),  # too fine
        ([1, 0, 1, 0], [1, 1, 0, 0], 1 / 3, 1 / 6),  # wrong subclass
        ([0, 0, 0, 1], [1, 1, 0, 0], 0, 0),
        ([1, 1, 0, 0], [0, 0, 0, 0], 0, 0),
    ],
)
def test_the_rows_of_the_published_table(
    true: list[int], predicted: list[int], similarity: float, score: float
) -> None:
    assert metrics.jaccard([true], [predicted]) == pytest.approx(similarity)
    assert metrics.pw_js([true], [predicted]) == pytest.approx(score)


def test_nothing_predicted_where_nothing_is_true_is_perfect() -> None:
    assert metrics.pw_js([[0, 0]], [[0, 0]]) == 1.0


def test_a_lazy_learner_beats_one_that_tries_but_not_in_refinement() -> None:
    y_true = [[1, 1, 0, 0], [1, 0, 1, 0]]
    lazy, trying = [[1, 0, 0, 0]] * 2, [[1, 0, 1, 0], [1, 0, 1, 0]]
    wrong = [[1, 0, 1, 0], [1, 1, 0, 0]]
    assert metrics.pw_js(y_true, lazy) > metrics.pw_js(y_true, wrong)
    assert metrics.refinement_recall(y_true, lazy, PARENTS) == 0.0
    assert metrics.refinement_recall(y_true, trying, PARENTS) == 0.5


def test_a_label_without_a_superclass_is_no_refinement() -> None:
    assert metrics.refinement_recall([[0, 0, 0, 1], [1, 1, 0, 0]], [[0, 0, 0, 1], [1, 0, 0, 0]], PARENTS) == 0.0
    assert math.isnan(metrics.refinement_recall([[0, 0, 0, 1]], [[0, 0, 0, 1]], PARENTS, zero_division=math.nan))


def test_predictions_respect_the_hierarchy_if_every_subclass_brings_its_superclass() -> None:
    rows = [[1, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]
    assert metrics.hierarchy_consistency(rows, PARENTS) == 0.75
    assert metrics.hierarchy_consistency(rows, {}) == 1.0


def test_a_masked_superclass_is_not_asked_for() -> None:
    assert metrics.hierarchy_consistency([[0, 1, 0, 0]], PARENTS, label_mask=[False, True, True, True]) == 1.0


def test_a_row_without_a_cell_is_left_out() -> None:
    mask = [[True] * 4, [False] * 4]
    assert metrics.hierarchy_consistency([[0, 1, 0, 0], [0, 0, 0, 0]], PARENTS, label_mask=mask) == 0.0


def test_every_link_of_a_chain_is_looked_at() -> None:
    chain = {2: 1, 1: 0}
    assert metrics.hierarchy_consistency([[1, 1, 1]], chain) == 1.0
    assert metrics.hierarchy_consistency([[0, 1, 1]], chain) == 0.0


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({1: 4}, "parents must map columns 0 to 3 to each other. Got 4"),
        ({"polar bear": 0}, "parents must map columns 0 to 3 to each other. Got 'polar bear'"),
        ({1: 1}, "parents must not go round in a circle. Got 1 -> 1"),
        ({3: 1, 1: 2, 2: 1}, "parents must not go round in a circle. Got 1 -> 2 -> 1"),
    ],
)
def test_a_hierarchy_that_is_none_is_refused(parents: dict[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.hierarchy_consistency(np.eye(4, dtype=int), parents)


@pytest.mark.parametrize(
    ("y_pred", "message"),
    [([1, 0], "^y_pred must be 2-D"), ([[1, 2]], r"^y_pred must hold only 0 and 1. Got 2 in row 0, label 1")],
)
def test_a_table_that_is_not_one_of_labels_is_named(y_pred: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.hierarchy_consistency(y_pred, {1: 0})
