"""A plan of visits says what it is, has the published sizes, and refuses what does not fit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.generators.schedule.visit_plan import VisitPlan, part_sizes
from tests.loops import check_all


@given(st.integers(20, 400), st.lists(st.integers(1, 10), min_size=2, max_size=5))
def test_sizes_add_up_and_are_within_two_rows_of_the_shares(n_rows, weights):
    fractions = [weight / sum(weights) for weight in weights]
    sizes = part_sizes(n_rows, VisitPlan(fractions[:-1], fractions[-1]))
    assert sum(sizes) == n_rows
    assert all(abs(size - share * n_rows) < 2 for size, share in zip(sizes, fractions, strict=True))


@pytest.mark.parametrize("name", ["20NG", "Yeast", "Scene", "Slashdot", "Reuters-K500", "Mediamill", "synthetic_rand"])
def test_sizes_are_the_published_ones(shared_data, name):
    lengths = json.loads(shared_data(f"osc-mlc/Length/{name}_stream_length_task_based.json").read_text())
    for task in range(len(lengths) // 3):
        published = [lengths[f"cluster_{task}_{part}"] for part in ("exp_1", "exp_2", "eval_set")]
        assert part_sizes(sum(published), VisitPlan()) == published


def test_the_description_makes_the_same_plan_again():
    visits = VisitPlan((0.2, 0.3), 0.4, (1, 0, 0, 1), True, 5, "sigmoid", seed=3)
    again = json.loads(json.dumps(visits.describe()))
    assert VisitPlan(**again, seed=3).describe() == visits.describe()
    assert visits.boundary == "gradual"
    assert VisitPlan().boundary == "abrupt"


def test_errors_name_rule_and_value():
    def check(case):
        options, message = case
        with pytest.raises(ValueError, match=message):
            VisitPlan(**options)

    check_all(
        [
            (
                {"learning_fractions": (0.5, 0.4), "evaluation_fraction": 0.3},
                r"at most 1. Got \(0.5, 0.4\) and 0.3: 1.2",
            ),
            ({"learning_fractions": (0.5, -0.1)}, r"each of learning_fractions must be positive. Got \(0.5, -0.1\)"),
            (
                {"learning_fractions": (0.5, float("nan"))},
                r"each of learning_fractions must be positive. Got \(0.5, nan\)",
            ),
            ({"learning_fractions": ()}, r"learning_fractions must hold the share of each visit. Got an empty list"),
            ({"evaluation_fraction": 0.0}, r"evaluation_fraction must be more than 0 and less than 1. Got 0.0"),
            ({"seed": -3}, r"seed must be a whole number, at least 0. Got -3"),
            ({"window": -1}, r"window must be a whole number, at least 0. Got -1"),
            ({"shape": "cubic"}, r"shape must be one of 'linear', 'sigmoid'. Got 'cubic'"),
            ({"order": "alphabetical"}, r"order must be one of 'random', .* Got 'alphabetical'"),
        ],
        check,
    )
