"""Charts and tables of a comparison show its numbers, each where it belongs."""

import json

import pytest

from mlstream.analysis.comparison import compare_all, ranking_of
from mlstream.analysis.groups import group_runs
from mlstream.analysis.score_info import score_heading
from mlstream.plotting.critical_difference import plan_diagram
from mlstream.reporting.ranks import (
    draw_pairs,
    draw_ranks,
    friedman_table,
    left_out_table,
    pair_table,
    rank_table,
)
from tests.mlstream.plotting.plotly_checks import require_valid
from tests.mlstream.records.run_records import STRATEGIES, make_run


@pytest.fixture(scope="module")
def comparisons():
    return compare_all(group_runs([make_run(name, 0, stream) for stream in "xyz" for name in STRATEGIES]))


@pytest.fixture(scope="module")
def by_ba(comparisons):
    return comparisons[0]


@pytest.mark.parametrize("draw", [draw_ranks, draw_pairs])
def test_a_chart_has_a_view_per_score_that_plotly_takes(comparisons, draw):
    chart = draw(comparisons)
    assert [view.name for view in chart.views] == [score_heading(one.metric).title for one in comparisons]
    require_valid(chart)


def test_a_diagram_hangs_each_strategy_at_its_rank_without_crossings(by_ba):
    plan = plan_diagram(ranking_of(by_ba))
    ranks = dict(zip(by_ba.strategies, by_ba.ranks.tolist(), strict=True))
    assert {branch.name: branch.rank for branch in plan.branches} == ranks
    left = [branch for branch in plan.branches if branch.side == "left"]
    right = [branch for branch in plan.branches if branch.side == "right"]
    assert max(branch.rank for branch in left) <= min(branch.rank for branch in right)
    assert [branch.level for branch in left] == sorted((branch.level for branch in left), reverse=True)
    assert [branch.level for branch in right] == sorted(branch.level for branch in right)
    assert all(plan.y_range[0] < branch.level < min(bar.y for bar in plan.bars) for branch in plan.branches)
    assert all(bar.stop - bar.start - 0.06 < by_ba.critical_difference for bar in plan.bars)


def test_probabilities_stand_in_the_row_of_the_better_one(comparisons, by_ba):
    view = draw_pairs(comparisons).views[0]
    heat = view.data[0]
    for pair in by_ba.pairs:
        first, second = (heat["y"].index(by_ba.strategies[place]) for place in (pair.first, pair.second))
        assert abs(heat["z"][first][second] - pair.first_better) < 1e-3
        assert abs(heat["z"][second][first] - pair.second_better) < 1e-3
    json.dumps(view.data, allow_nan=False)


def test_what_is_left_out_is_listed_once_for_all_scores_alike():
    runs = [make_run(name, 0, stream) for stream in "xyz" for name in ("NN", "NN_TL") if (name, stream) != ("NN", "z")]
    (left_out,) = left_out_table(compare_all(group_runs(runs))).rows
    assert [cell.text for cell in left_out] == ["z", "Stream", "not run: NN", "all"]
    complete = [run for run in runs if run.stream != "z"]
    assert left_out_table(compare_all(group_runs(complete))) is None


def test_tables_hold_ranks_tests_and_pairs(comparisons, by_ba):
    ranks = {row[0].text: row[2].value for row in rank_table(comparisons).rows}
    assert ranks == dict(zip(by_ba.strategies, by_ba.ranks.tolist(), strict=True))
    assert [row[0].text for row in rank_table(comparisons).rows if row[2].is_best] == [
        by_ba.strategies[by_ba.by_rank[0]]
    ]
    tests = friedman_table(comparisons)
    assert [row[3].value for row in tests.rows] == [one.statistic for one in comparisons]
    (left_out,) = left_out_table(comparisons).rows
    assert [cell.text for cell in left_out] == ["prior_distribution", "Strategy", "not defined: all", "FM"]
    pairs = pair_table(by_ba)
    assert len(pairs.rows) == len(by_ba.pairs)
    assert [row[3].value for row in pairs.rows] == [pair.p_value for pair in by_ba.pairs]
