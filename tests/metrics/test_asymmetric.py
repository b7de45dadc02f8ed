"""PRAGMA: the five constraints of its plane, its invariances, and the rules for missing classes."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import pragma, pragma_plane
from tests.strategies import class_targets

SHARE = st.floats(0, 0.999)
RATE = st.floats(0, 1)


def plane(r: float, p: float, x: float, y: float) -> float:
    alpha, beta = pragma_plane(x, y)
    return 1 + alpha * r + beta * p


@given(x=SHARE, y=SHARE)
def test_the_plane_meets_the_three_points(x: float, y: float) -> None:
    assert plane(0, 0, x, y) == 1
    assert plane(1, 1, x, y) == pytest.approx(0)
    assert plane(1, x, x, y) == pytest.approx(plane(y, 1, x, y))


@given(x=SHARE, y=SHARE, r=RATE, p=RATE, more=RATE)
def test_the_plane_falls_when_recall_or_precision_rises(x: float, y: float, r: float, p: float, more: float) -> None:
    assert plane(max(r, more), p, x, y) <= plane(r, p, x, y)
    assert plane(r, max(p, more), x, y) <= plane(r, p, x, y)
    assert min(pragma_plane(x, y)) < 0
    assert max(pragma_plane(x, y)) < 0


def test_a_low_accepted_precision_prefers_recall() -> None:
    assert pragma_plane(0.10, 0.90) == pytest.approx((-0.9, -0.1))
    assert pragma_plane(0.3, 0.3) == pytest.approx((-0.5, -0.5))


@given(targets=class_targets(), factor=st.floats(0.01, 100))
def test_only_ratios_of_importance_matter(targets: tuple[Any, Any, dict[str, Any]], factor: float) -> None:
    y_true, y_pred, options = targets
    theta = options.pop("importance")
    scaled = {c: v * factor for c, v in theta.items()} if isinstance(theta, dict) else theta * factor
    expected = pragma(y_true, y_pred, importance=theta, **options)
    assert pragma(y_true, y_pred, importance=scaled, **options) == pytest.approx(expected)


@given(targets=class_targets(), names=st.permutations("abcd"))
def test_names_of_classes_do_not_matter(targets: tuple[Any, Any, dict[str, Any]], names: list[str]) -> None:
    y_true, y_pred, options = targets
    new = dict(zip("abcd", names, strict=True))
    renamed = {
        key: {new[c]: v for c, v in value.items()} if isinstance(value, dict) else value
        for key, value in options.items()
    }
    expected = pragma(y_true, y_pred, **options)
    assert pragma([new[c] for c in y_true], [new[c] for c in y_pred], **renamed) == pytest.approx(expected)


@given(importance=st.floats(0.1, 10), x=SHARE, y=SHARE, n=st.integers(1, 5))
def test_rounding_does_not_leave_the_range(importance: float, x: float, y: float, n: int) -> None:
    options = {"importance": importance, "compromise": (x, y)}
    assert pragma(range(n), range(n), **options) == 0.0
    assert pragma(range(n), [n] * n, **options) <= 1.0


def test_a_class_that_is_never_predicted_has_no_precision() -> None:
    assert pragma([0, 0, 1], [0, 0, 0], compromise={0: (0.5, 0.5), 1: (0.5, 0.5)}) == pytest.approx((1 / 6 + 1) / 2)


def test_a_class_that_never_occurs_is_left_out() -> None:
    assert pragma([0, 0], [0, 1]) == pytest.approx(1 - (0.5 * 0.5 + 0.5 * 1))


def test_numbers_and_names_of_classes_both_do() -> None:
    expected = pragma(["x", "x", "y"], ["x", "y", "y"], importance={"x": 3, "y": 1})
    assert pragma([7, 7, -1], [7, -1, -1], importance={7: 3, -1: 1}) == pytest.approx(expected)


def test_another_surface_takes_the_place_of_the_plane() -> None:
    assert pragma([0, 0, 1], [0, 1, 1], local=lambda r, p: 1 - min(r, p)) == pytest.approx(0.5)


def test_no_class_that_takes_part_is_not_a_number() -> None:
    assert math.isnan(pragma([0, 1], [0, 1], labels=[5]))
    assert math.isnan(pragma([[0, 0]], [[1, 0]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compromise": {0: (0.5, 0.5), 1: (1.0, 0.5)}}, r"x must be in \[0, 1\). Got 1.0 for class 1"),
        ({"compromise": (0.5, -0.1)}, r"y must be in \[0, 1\). Got -0.1 instead"),
        ({"compromise": 0.5}, r"compromise must be a pair \(x, y\). Got 0.5"),
        ({"importance": {0: 1.0, 1: 0.0}}, "importance must be a finite number greater than 0. Got 0.0 for class 1"),
        ({"importance": {0: 1.0}}, "importance must have a value for every class. Got no value for class 1"),
        ({"local": lambda r, p: math.nan}, r"local\(r, p\) must be a finite number"),
        ({"label_mask": [True, True]}, "label_mask must be None for a 1-D target"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pragma([0, 1], [0, 1], **options)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([0, 1], [0], r"same shape and not be empty. Got \(2,\) and \(1,\)"),
        ([], [], r"same shape and not be empty. Got \(0,\) and \(0,\)"),
        ([0, 1], ["0", "1"], "classes of one kind. Got dtypes int64 and <U1"),
    ],
)
def test_targets_that_do_not_match_are_refused(y_true: Any, y_pred: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pragma(y_true, y_pred)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pragma_plane(1, 0.5), r"^x must be in \[0, 1\). Got 1 instead"),
        (lambda: pragma_plane(0.5, -1), r"^y must be in \[0, 1\). Got -1 instead"),
        (
            lambda: pragma([0, 1], [0, 1], compromise={0: (0.5, 0.5)}),
            "^compromise must have a value .* class 1 instead",
        ),
        (
            lambda: pragma([0, 1], [0, 1], compromise={0: (0.5, 2)}),
            r"^y must be in \[0, 1\). Got 2 for class 0 instead",
        ),
        (lambda: pragma([0, 1], [0, 1], importance=math.inf), "^importance must be a finite number .* Got inf instead"),
        (lambda: pragma([0.0, math.nan], [0.0, 1.0]), "^y_true must hold finite numbers"),
        (lambda: pragma([0.0, 1.0], [0.0, math.nan]), "^y_pred must hold finite numbers"),
    ],
)
def test_what_is_out_of_range_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_the_worst_loss_is_exactly_1() -> None:
    assert pragma([1, 1], [0, 0], compromise=(0.06, 0.87)) == 1.0  # the two slopes add up to 1 + 2e-16
