"""The Bayesian signed-rank comparison: symmetry, limits, and the region of practical equivalence."""

from typing import Any

import numpy as np
import pytest

from metrics import bayesian_signed_rank

FIRST = np.array([0.81, 0.78, 0.92, 0.66, 0.75, 0.88, 0.7, 0.59])
SECOND = FIRST + np.array([-0.05, 0.02, -0.08, -0.03, 0.01, -0.06, -0.02, -0.04])


def test_probabilities_add_up_to_one() -> None:
    assert sum(bayesian_signed_rank(FIRST, SECOND)) == pytest.approx(1)


def test_turning_the_comparison_round_turns_the_answer_round() -> None:
    one, two = bayesian_signed_rank(FIRST, SECOND), bayesian_signed_rank(SECOND, FIRST)
    assert one == pytest.approx(two[::-1])
    assert one.first_better > 0.5 > one.second_better


def test_a_wide_region_makes_everything_equivalent() -> None:
    assert bayesian_signed_rank(FIRST, SECOND, rope=1.0) == (0, 1, 0)
    assert bayesian_signed_rank(FIRST, FIRST, rope=0.0) == (0, 1, 0)


def test_more_data_sets_make_surer() -> None:
    few = bayesian_signed_rank(FIRST[:4], SECOND[:4]).first_better
    assert bayesian_signed_rank(np.tile(FIRST, 4), np.tile(SECOND, 4)).first_better > few


def test_the_seed_decides() -> None:
    assert bayesian_signed_rank(FIRST, SECOND, seed=3) == bayesian_signed_rank(FIRST, SECOND, seed=3)
    draws = {bayesian_signed_rank(FIRST, SECOND, seed=seed, n_draws=100).first_better for seed in range(10)}
    assert len(draws) > 1
    assert np.ptp(list(draws)) < 0.3


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ([0.5], [0.5, 0.6], {}, r"one length. Got shapes \(1,\) and \(2,\)"),
        ([], [], {}, "one length"),
        ([0.5], [np.nan], {}, "first and second must be finite"),
        ([0.5], [0.6], {"rope": -0.1}, "rope must be a finite number"),
        ([0.5], [0.6], {"n_draws": 0}, "n_draws must be an integer of at least 1. Got 0"),
    ],
)
def test_bad_input_is_refused(first: Any, second: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bayesian_signed_rank(first, second, **options)


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert bayesian_signed_rank(FIRST, SECOND) == bayesian_signed_rank(FIRST, SECOND, rope=0.01, n_draws=50_000, seed=0)


def test_one_draw_has_one_winner() -> None:
    assert sorted(bayesian_signed_rank(FIRST, SECOND, n_draws=1)) == [0, 0, 1]


@pytest.mark.parametrize(
    ("first", "second"), [([None, 0.5], [0.5, 0.5]), ([0.5, 0.5], [None, 0.5]), ([2e3], [-np.inf])]
)
def test_a_missing_score_is_refused(first: Any, second: Any) -> None:
    with pytest.raises(ValueError, match=r"^first and second must be finite"):
        bayesian_signed_rank(first, second)
