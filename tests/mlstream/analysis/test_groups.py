import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.analysis.groups import group_runs, layout, mean_scores, same_as_first, spread
from mlstream.plotting.plotly_parts import rounded
from tests.mlstream.records.run_records import make_capped, make_failed, make_run

scores = st.none() | st.floats(-1, 1)


@given(st.lists(scores, max_size=6))
def test_spread_is_mean_and_sample_deviation_of_what_is_known(values):
    known = [value for value in values if value is not None]
    mean, deviation, n = spread(values)
    assert n == len(known)
    assert mean == (pytest.approx(statistics.fmean(known)) if known else None)
    assert deviation == (pytest.approx(statistics.stdev(known), abs=1e-12) if n > 1 else None)


@given(st.lists(st.lists(st.lists(scores, min_size=2, max_size=2), min_size=3, max_size=3), min_size=1, max_size=4))
def test_mean_scores_averages_cell_by_cell_what_is_known(matrices):
    mean = mean_scores(matrices)
    for s in range(3):
        for j in range(2):
            known = [matrix[s][j] for matrix in matrices if matrix[s][j] is not None]
            assert mean[s, j] == pytest.approx(sum(known) / len(known) if known else np.nan, nan_ok=True)


def test_strategies_keep_their_place_on_every_stream():
    runs = [make_run("NN", 0, "a"), make_run("1NN", 0, "a"), make_run("1NN", 0, "b"), make_run("NN", 1, "b")]
    grouped = group_runs(runs)
    assert list(grouped) == ["a", "b"]
    assert {group.strategy: group.style for group in grouped["a"]} == {"NN": 0, "1NN": 1}
    assert {group.strategy: group.style for group in grouped["b"]} == {"NN": 0, "1NN": 1}
    assert [run.seed for group in grouped["b"] for run in group.runs] == [0, 1]


def test_runs_that_finished_are_averaged_and_no_others():
    done, capped, failed = make_run("NN", 0), make_capped("NN", 1), make_failed("NN", 2)
    (group,) = group_runs([done, capped, failed])["yeast"]
    assert group.measured == (done,)
    assert group.status == "done"
    assert group.label == "NN"
    assert group.score("acc") == (done.scores["acc"], None, 1)


def test_capped_runs_stand_for_a_strategy_that_never_finished():
    capped = make_capped("NN", 1)
    (group,) = group_runs([capped, make_failed("NN", 2)])["yeast"]
    assert group.measured == (capped,)
    assert group.status == "capped"
    assert group.label == "NN (capped)"


def test_a_strategy_that_always_failed_has_no_scores():
    (group,) = group_runs([make_failed("NN", 2)])["yeast"]
    assert group.status == "failed"
    assert group.score("acc") == (None, None, 0)


def test_only_runs_with_the_schedule_of_the_first_are_alike():
    first, same, other = make_run("NN", 0), make_run("NN", 1), make_run("NN", 2, order=[[0], [1], [2], [3]] * 2)
    assert same_as_first([first, other, same], layout) == [first, same]


def test_json_gets_none_for_nan():
    assert rounded(np.array([0.123456, np.nan])) == [0.1235, None]
