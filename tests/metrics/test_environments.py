"""Normalised cross-entropy: its fixed points, the toy example, and environments with one class."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import entropy
from sklearn.metrics import log_loss

import metrics
from tests.loops import check_all
from tests.strategies import LabelCase, probabilities

# people of domain A, then of domain B: hat, orange, responds
PEOPLE = np.array(
    [
        *([0, 1, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0]),
        *([0, 0, 1], [0, 0, 1], [0, 0, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0]),
    ]
)
DOMAIN = np.repeat(["A", "B"], 6)


@given(case=probabilities(("none",)))
def test_the_log_loss_is_that_of_scikit_learn(case: LabelCase) -> None:
    scores = []
    for t, p in zip(case.y_true.T, case.other.T, strict=True):
        rate = t.mean()
        base = entropy([rate, 1 - rate])
        clipped = np.clip(p, 1e-15, 1 - 1e-15)
        scores.append((log_loss(t, np.column_stack([1 - clipped, clipped]), labels=[0, 1]) - base) / base)
    assert metrics.nce(case.y_true, case.other) == pytest.approx(np.mean(scores), rel=1e-6)


def test_the_fixed_points() -> None:
    y = np.array([1, 0, 0, 0])
    assert metrics.nce(y, np.full(4, 0.25)) == pytest.approx(0)
    assert metrics.nce(y, y) == pytest.approx(-1)
    assert metrics.nce(y, np.full(4, 0.5)) > 0


def test_the_invariant_feature_does_as_well_everywhere_and_the_spurious_one_does_not() -> None:
    hat, orange, responds = PEOPLE.T
    by_hat = np.where(hat == 1, 0.0, 2 / 3)
    scores = metrics.nce_by_environment(responds, by_hat, DOMAIN)
    assert scores["A"] == pytest.approx(scores["B"])
    assert scores["A"] < 0
    by_colour = np.where(orange == 1, 0.5, 0.0)  # what domain A alone would teach
    spurious = metrics.nce_by_environment(responds, by_colour, DOMAIN)
    assert spurious["A"] < 0 < spurious["B"] == metrics.worst_nce(responds, by_colour, DOMAIN)


def test_eps_bounds_the_price_of_a_sure_mistake() -> None:
    expected = (-np.log(0.1) - np.log(2)) / np.log(2)
    assert metrics.nce([1, 0], [0.0, 1.0], eps=0.1) == pytest.approx(expected)


def test_one_column_is_one_label() -> None:
    assert metrics.nce([1, 0], [0.7, 0.4]) == metrics.nce([[1], [0]], [[0.7], [0.4]])


def test_bad_input_is_refused() -> None:
    wrong = [
        (
            ([1, 1], [0.5, 0.5]),
            {},
            "both classes of every label, or constant_labels must be 'skip'. Got one class only for label 0",
        ),
        (([1, 0], [0.5, np.nan]), {}, "y_prob must hold finite numbers. Got nan in row 1"),
        (([1, 2], [0.5, 0.5]), {}, "y_true must hold only 0 and 1. Got 2 in row 1"),
        (([1, 0], [0.5, 0.5]), {"eps": 0.5}, r"eps must be in \(0, 0.5\). Got 0.5"),
        (([1, 0], [0.5]), {}, r"y_prob must have the shape of y_true"),
        (([1, 0], [[0.5], [0.5]]), {}, "y_prob must be 1-D and label_mask None where y_true is 1-D"),
        (([], []), {}, "y_true must hold at least one sample"),
        (([1, 0], [0.5, 0.5]), {"eps": 0}, r"^eps must be in \(0, 0.5\). Got 0 instead"),
        (([1, 0], ["a", "b"]), {}, "^y_prob must hold numbers or booleans"),
        (([1, 0], [0.5, 1.5]), {}, r"^y_prob must hold probabilities in \[0, 1\]. Got 1.5 in row 1, label 0"),
    ]

    def check(case: tuple[Any, Any, str]) -> None:
        arguments, options, message = case
        with pytest.raises(ValueError, match=message):
            metrics.nce(*arguments, **options)

    check_all(wrong, check)


def test_an_environment_with_one_class_is_named() -> None:
    with pytest.raises(
        ValueError,
        match=r"both classes of every label in environment 'B', or constant_labels must be 'skip'. Got one class",
    ):
        metrics.worst_nce([1, 0, 1, 1], [0.5] * 4, ["A", "A", "B", "B"])


def test_an_environment_is_due_for_every_row() -> None:
    with pytest.raises(ValueError, match=r"environment must have shape \(2,\).* Got shape \(1,\)"):
        metrics.worst_nce([1, 0], [0.5, 0.5], ["A"])


def test_an_environment_in_which_nothing_counts_has_no_score_and_is_not_the_worst() -> None:
    y_true, y_prob = np.array([[1.0], [0.0], [np.nan], [np.nan]]), [[0.9], [0.1], [0.5], [0.5]]
    environment = ["A", "A", "B", "B"]
    scores = metrics.nce_by_environment(y_true, y_prob, environment)
    assert np.isnan(scores["B"])
    assert metrics.worst_nce(y_true, y_prob, environment) == scores["A"] < 0


@given(case=probabilities())
def test_a_constant_label_is_skipped_on_request(case: LabelCase) -> None:
    constant = np.zeros((len(case.y_true), 1), dtype=np.uint8)
    y_true, y_prob = np.hstack([constant, case.y_true]), np.hstack([constant + 0.5, case.other])
    mask = None
    if case.mask is not None:
        mask = np.hstack([np.ones((*case.mask.shape[:-1], 1), bool), case.mask])
    assert metrics.nce(y_true, y_prob, label_mask=mask, constant_labels="skip") == pytest.approx(case.call(metrics.nce))


def test_constant_labels_are_named_where_there_is_no_other() -> None:
    y_true, y_prob = [[0, 1, 0], [1, 1, 0]], np.full((2, 3), 0.5)
    message = r"at least one label. Got one class only for each of 2 labels, the first of which is label 1, instead"
    with pytest.raises(ValueError, match=message):
        metrics.nce(y_true, y_prob, label_mask=[False, True, True], constant_labels="skip")
    with pytest.raises(ValueError, match=r"at least one label in environment 'B'. Got one class only for each of 3"):
        metrics.worst_nce(y_true + y_true[1:], np.full((3, 3), 0.5), list("AAB"), constant_labels="skip")


def test_constant_labels_are_raised_or_skipped() -> None:
    with pytest.raises(ValueError, match=r"constant_labels must be one of 'raise', 'skip'. Got 'drop'"):
        metrics.nce([1, 0], [0.5, 0.5], constant_labels="drop")
    with pytest.raises(ValueError, match=r"^constant_labels must be one of 'raise', 'skip'. Got 'drop'"):
        metrics.nce_by_environment([1, 0], [0.5, 0.5], ["A", "A"], constant_labels="drop")


def test_a_constant_label_beside_another_is_raised_by_default() -> None:
    with pytest.raises(ValueError, match=r"^y_true must hold both classes of every label.* only for label 1 instead"):
        metrics.nce([[1, 0], [0, 0]], np.full((2, 2), 0.5))


def test_eps_bounds_the_worst_environment_too() -> None:
    expected = metrics.nce([1, 0], [0.0, 1.0], eps=0.1)
    assert metrics.worst_nce([1, 0], [0.0, 1.0], ["A", "A"], eps=0.1) == expected


def test_many_blocks_of_rows_score_as_one() -> None:
    n_blocks = 3
    y_true = np.zeros((n_blocks * 2**19, 1), dtype=np.uint8)
    y_true[: len(y_true) // n_blocks] = 1
    y_prob = np.full(y_true.shape, 1 / n_blocks)
    assert metrics.nce(y_true, y_prob) == pytest.approx(0.0, abs=1e-9)
    y_prob[-1] = 1.5
    with pytest.raises(ValueError, match=f"^y_prob must hold probabilities .* in row {len(y_true) - 1}, label 0"):
        metrics.nce(y_true, y_prob)
