"""The opening sentence claims no more than the tests do."""

import inspect

import numpy as np
import pytest
from scipy import stats

import estimators.baselines
from estimators import STRATEGIES as LEARNERS
from estimators import make_strategy
from mlstream.analysis.comparison import compare
from mlstream.analysis.groups import BASELINES, group_runs
from mlstream.reporting.headline import headline
from tests.mlstream.records.run_records import make_failed, make_run


def say(*runs):
    streams = group_runs(runs)
    return headline(streams, compare(streams, "ba_macro"), "ba_macro")


def runs_of(table, seeds=(0,)):
    """Make runs whose score is that of a table: a row per stream, a column per strategy."""
    return [
        make_run(f"s{column}", seed, f"stream {row}", scores={"ba_macro": float(score)})
        for row, scores in enumerate(table)
        for column, score in enumerate(scores)
        for seed in seeds
    ]


def test_one_stream_has_a_winner_and_no_test():
    runs = [make_run(name, 0, scores={"ba_macro": score}) for name, score in (("A", 0.70), ("B", 0.75), ("C", 0.6))]
    assert say(*runs) == (
        "B has the highest BA_macro, 0.750; A is next, 0.050 lower; one stream, 1 run each: no test of chance."
    )
    repeated = runs_of([[0.5, 0.6]], seeds=(0, 1, 2))
    assert "3 runs each: no test" in say(*repeated)
    assert "1 to 3 runs each: no test" in say(*repeated[:4])


def test_one_stream_with_a_single_strategy_or_none_compares_nothing():
    assert say(make_run("A", 0, scores={"ba_macro": 0.7}), make_failed("B")).startswith("Only A finished")
    assert say(make_failed("A"), make_failed("B")) == "No strategy finished with a BA_macro."
    apart = make_run("A", 0, "x"), make_run("B", 0, "y")
    assert say(*apart).startswith("No two strategies have a BA_macro on the same two streams")


def test_what_is_beyond_chance_is_what_the_tests_find():
    rng = np.random.default_rng(0)
    clear = 0.9 - 0.1 * np.arange(3) + rng.normal(0, 0.001, (12, 3))
    assert stats.friedmanchisquare(*clear.T).pvalue < 0.05
    # Demsar 2006: ranks 1 apart, over the standard error of 3 strategies on 12 streams, times the root of 2.
    p_value = stats.studentized_range.sf(np.sqrt(2) / np.sqrt(3 * 4 / (6 * 12)), 3, np.inf)
    assert p_value < 0.05
    text = say(*runs_of(clear))
    assert text.startswith("s0 has the best mean rank by BA_macro over 12 streams (1.00; next is s1, 2.00")
    assert "on average 0.100 lower" in text
    assert text.endswith(f"this is beyond chance (Nemenyi test: p = {p_value:.2g}, level 0.05).")


def test_without_a_difference_over_all_strategies_nothing_is_beyond_chance():
    table = [[0.7, 0.6, 0.5], [0.6, 0.5, 0.7], [0.8, 0.6, 0.7]]
    p_value = stats.friedmanchisquare(*np.array(table).T).pvalue
    assert p_value > 0.05
    assert f"this may be chance (Friedman test over all strategies: p = {p_value:.2g})" in say(*runs_of(table))


def test_a_tie_has_no_winner():
    text = say(*runs_of([[0.7, 0.6, 0.1], [0.6, 0.7, 0.1]]))
    assert text == "s0 and s1 share the best mean rank by BA_macro over 2 streams."


def test_a_baseline_is_called_so():
    runs = [
        make_run("any name", 0, estimator="NearestRowClassifier(window=10)", scores={"ba_macro": 0.7}),
        make_run("B", 0, scores={"ba_macro": 0.6}),
    ]
    assert say(*runs).startswith("any name (a baseline) has the highest BA_macro")
    assert "B is next" in say(*runs)


def test_baselines_are_the_classes_of_their_module():
    classes = {
        name
        for name, one in inspect.getmembers(estimators.baselines, inspect.isclass)
        if one.__module__ == "estimators.baselines" and not name.startswith("_")
    }
    assert classes == BASELINES
    marked = {
        name for name, one in LEARNERS.items() if not one.to_install and type(make_strategy(name)).__name__ in BASELINES
    }
    assert marked == {"last_class", "no_features", "prior_distribution", "mean", "1NN"}


@pytest.mark.parametrize("status", ["capped", "failed"])
def test_what_did_not_finish_wins_nothing(status):
    runs = [make_run("A", 0, status=status, scores={"ba_macro": 0.9}), *runs_of([[0.5, 0.6]])]
    assert not say(*[run.model_copy(update={"stream": "x"}) for run in runs]).startswith("A ")
