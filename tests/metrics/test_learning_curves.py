"""Readings of prequential curves."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from metrics import area_under_curve, learning_speed, transition_time
from tests.loops import check_all

SEEN = [10, 20, 30, 40, 50]


def test_readings_in_the_warm_up_reach_nothing() -> None:
    lucky = [1.0, 0.5, 0.6, 0.9, 0.9]
    assert learning_speed(SEEN, lucky, 0.9) == (10, 1, 1)
    assert learning_speed(SEEN, lucky, 0.9, warm_up=20) == (40, 1, 1)


def test_runs_that_do_not_reach_the_target_are_counted_and_not_averaged() -> None:
    runs = [[0.5, 0.9, 0.9, 0.9, 0.9], [0.5, 0.5, 0.5, 0.9, 0.9], [0.5, 0.5, 0.5, 0.5, 0.5]]
    assert learning_speed(SEEN, runs, 0.8) == (30, 2, 3)
    assert learning_speed(SEEN, runs[2], 0.8) == (math.inf, 0, 1)


def test_time_to_be_back_at_the_level_before_the_boundary() -> None:
    curve = [0.7, 0.9, 0.5, 0.8, 0.9]
    assert transition_time(SEEN, curve, 20) == 30
    assert transition_time(SEEN, curve, 25) == 25
    assert transition_time(SEEN, [0.7, 0.9, 0.5, 0.6, 0.7], 20) == math.inf
    assert transition_time(SEEN, [0.7, 0.8, 0.8, 0.6, 0.8], 20, warm_up=15) == 30


def test_the_area_is_a_mean_height() -> None:
    assert area_under_curve(SEEN, [0.5] * 5) == 0.5
    assert area_under_curve([0, 10, 40], [0.0, 1.0, 1.0]) == pytest.approx((5 + 30) / 40)
    assert area_under_curve([0, 10, 20], [0.0, math.nan, 1.0]) == 0.5


def test_bad_input_is_refused() -> None:
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: learning_speed([10, 10], [0.5, 0.5], 0.9), "instances must be 1-D, not empty and increasing"),
        (lambda: learning_speed([], [], 0.9), "instances must be 1-D, not empty and increasing"),
        (lambda: learning_speed([1, 2], [0.5], 0.9), r"one reading per checkpoint, 2. Got shape \(1,\)"),
        (lambda: learning_speed([1, 2], [0.5, math.inf], 0.9), "scores must be finite or NaN. Got inf"),
        (lambda: learning_speed([1, 2], [0.5, 0.5], math.nan), "target must be a finite number"),
        (lambda: learning_speed([1, 2], [0.5, 0.5], 0.9, warm_up=3), "warm_up must end before .* 2. Got 3"),
        (lambda: transition_time([1, 2], [0.5, 0.5], 0), "up to the boundary and after .* Got 0 and 2"),
        (lambda: transition_time([1, 2], [0.5, 0.5], 2), "up to the boundary and after .* Got 2 and 0"),
        (lambda: transition_time([1, 2], [[0.5, 0.5]], 1), "scores must be one curve"),
        (lambda: area_under_curve([1, 2], [0.5, math.nan]), "at least two readings. Got 1"),
        (
            lambda: learning_speed([1, 2], [0.5, 0.5], 0.9, warm_up=-1),
            r"^warm_up must be a finite number in \[0, inf\]",
        ),
        (lambda: learning_speed([1, 2, 3], [0.5] * 3, 0.9, warm_up=4), "^warm_up must end .* checkpoint, 3. Got 4"),
        (lambda: learning_speed([1, 2], [[[0.5, 0.5]]], 0.9), r"^scores must have .* Got shape \(1, 1, 2\)"),
        (lambda: learning_speed(np.array([2, 1], np.uint8), [0.5, 0.5], 0.9), "^instances must be .* increasing"),
        (lambda: transition_time([1, 2], [0.5, 0.5], math.nan), "^boundary must be a finite number"),
        (lambda: transition_time([1, 2], [0.5, 0.5], 1, warm_up=-1), r"^warm_up must be a finite number in \[0, inf\]"),
    ]

    def check(case: tuple[Callable[[], Any], str]) -> None:
        call, message = case
        with pytest.raises(ValueError, match=message):
            call()

    check_all(wrong, check, name=lambda case: case[1])


def test_nothing_is_left_out_without_a_warm_up() -> None:
    assert learning_speed([0, 10], [0.9, 0.9], 0.8) == (0, 1, 1)
    assert transition_time([0.0, 0.5], [0.9, 0.9], 0) == 0.5


def test_readings_may_be_booleans() -> None:
    assert area_under_curve([0, 10, 20], [True, True, True]) == 1.0
