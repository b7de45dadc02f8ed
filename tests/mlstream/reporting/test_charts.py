from itertools import accumulate

import numpy as np
import pytest

from mlstream.analysis.groups import group_runs
from mlstream.analysis.transfer import score_limits, transfer
from mlstream.reporting.charts import curve_chart, transfer_charts
from tests.mlstream.plotting.plotly_checks import require_valid
from tests.mlstream.records.run_records import (
    ORDER,
    SIZES,
    STRATEGIES,
    TASKS,
    make_capped,
    make_failed,
    make_run,
)

RUNS = [make_run(strategy, seed) for strategy in STRATEGIES for seed in (0, 1)]


def lines(view):
    return {trace["name"]: trace for trace in view.data if trace.get("name")}


@pytest.mark.parametrize(("view", "kind"), [(0, "cumulative"), (1, "windowed")])
def test_curves_are_means_over_seeds(view, kind):
    drawn = lines(curve_chart(group_runs(RUNS)["yeast"]).views[view])
    assert list(drawn) == list(STRATEGIES)
    for strategy, trace in drawn.items():
        values = [getattr(run.curves["ba_macro"], kind) for run in RUNS if run.strategy == strategy]
        for place, y in enumerate(trace["y"]):
            if values[0][place] is None:
                assert y is None
            else:
                assert y == pytest.approx(np.mean([value[place] for value in values]), abs=1e-4)


def test_boundaries_stand_where_experiences_end_and_tasks_are_named_between():
    layout = curve_chart(group_runs(RUNS)["yeast"]).views[0].layout
    ends = list(accumulate(SIZES))
    assert [shape["x0"] for shape in layout["shapes"]] == ends[:-1]
    assert layout["xaxis2"]["ticktext"] == [TASKS[task] for task in ORDER]
    for tick, start, end in zip(layout["xaxis2"]["tickvals"], [0, *ends], ends, strict=False):
        assert start < tick < end


def test_every_recorded_score_has_two_views():
    curve = make_run().curves["ba_macro"]
    run = make_run("NN", 0, curves={"ba_macro": curve, "rmse": curve})
    views = curve_chart(group_runs([run])["yeast"]).views
    assert [view.name for view in views] == [
        "BA_macro, cumulative",
        "BA_macro, last 100 rows",
        "RMSE, cumulative",
        "RMSE, last 100 rows",
    ]


def test_runs_on_another_schedule_are_not_averaged():
    first, other = make_run("NN", 0), make_run("NN", 1, order=[[task] for task in reversed(ORDER)])
    (alone,) = lines(curve_chart(group_runs([first, other])["yeast"]).views[0]).values()
    expected = [None if y is None else round(y, 4) for y in first.curves["ba_macro"].cumulative]
    assert alone["y"] == expected


def test_a_capped_run_ends_where_it_was_stopped():
    drawn = lines(curve_chart(group_runs([make_run("NN"), make_capped("BR_HT")])["yeast"]).views[0])
    assert drawn["BR_HT (capped)"]["x"][-1] < drawn["NN"]["x"][-1] == sum(SIZES)


def test_the_summary_ranks_the_strategies():
    finals = {run.strategy: run.curves["ba_macro"].cumulative[-1] for run in RUNS if run.seed == 0}
    summary = curve_chart(group_runs([run for run in RUNS if run.seed == 0])["yeast"]).summary
    places = [summary.index(f" {name} {finals[name]:.3f}") for name in sorted(finals, key=finals.get, reverse=True)]
    assert places == sorted(places)


def test_without_curves_there_is_no_chart():
    assert curve_chart(group_runs([make_failed("NN")])["yeast"]) is None


def test_a_hundred_experiences_keep_their_names_readable():
    order, sizes = [[0], [1]] * 50, [10] * 100
    curve = make_run().curves["ba_macro"]
    run = make_run("NN", 0, order=order, experience_sizes=sizes, curves={"ba_macro": curve})
    layout = curve_chart(group_runs([run])["yeast"]).views[0].layout
    assert len(layout["shapes"]) == 99
    assert len(layout["xaxis2"]["ticktext"]) <= 24


def test_charts_hold_nothing_that_plotly_does_not_know():
    require_valid(curve_chart(group_runs(RUNS)["yeast"]))


def test_every_view_has_a_summary_of_its_own_score():
    run = make_run("NN")
    curve = run.curves["ba_macro"]
    chart = curve_chart(group_runs([run.model_copy(update={"curves": {"ba_macro": curve, "rmse": curve}})])["yeast"])
    assert [view.summary.split(", at the end")[0] for view in chart.views] == [
        "BA_macro over all rows",
        "BA_macro over the last 100 rows",
        "RMSE over all rows",
        "RMSE over the last 100 rows",
    ]
    assert chart.summary == chart.views[0].summary
    assert chart.views[1].summary.endswith(f" NN {curve.windowed[-1]:.3f}.")


def group_of(*runs):
    (group,) = group_runs(runs)["yeast"]
    return group


def test_an_undefined_row_of_a_matrix_is_blank():
    R = make_run("NN", 0).R["ba_macro"]
    R = [[None] * 4, *R[1:]]
    group = group_of(make_run("NN", 0, R={"ba_macro": R}))
    one = transfer(group, "ba_macro")
    heat, _ = transfer_charts("NN", {"ba_macro": one}, {"ba_macro": score_limits([group], "ba_macro")})
    assert heat.views[0].data[0]["z"][0] == [None] * 4
    assert "n/a before learning" in heat.summary


def test_charts_show_the_matrix_and_box_the_task_just_learnt():
    group = group_of(make_run())
    one = transfer(group, "ba_macro")
    heat, lines = transfer_charts("NN", {"ba_macro": one}, {"ba_macro": score_limits([group], "ba_macro")})
    for chart in (heat, lines):
        require_valid(chart)
    view = heat.views[0]
    assert view.data[0]["z"] == np.round(one.R, 4).tolist()
    centres = [((box["y0"] + box["y1"]) / 2, (box["x0"] + box["x1"]) / 2) for box in view.layout["shapes"]]
    assert centres == one.visits
    for j, trace in enumerate(lines.views[0].data):
        assert trace["y"] == np.round(one.R[:, j], 4).tolist()
        learnt = [s for s, size in enumerate(trace["marker"]["size"]) if size > 1]
        assert learnt == [s for s, task in one.visits if task == j]


def test_many_tasks_get_a_colour_bar_instead_of_numbers():
    names = [f"task {j}" for j in range(20)]
    run = make_run(
        "NN",
        task_names=names,
        order=[[j] for j in range(20)],
        experience_sizes=[10] * 20,
        R={"ba_macro": [[0.5] * 20] * 21},
    )
    group = group_of(run)
    heat, _ = transfer_charts("NN", {"ba_macro": transfer(group, "ba_macro")}, {"ba_macro": (0.5, 0.55)})
    assert heat.views[0].data[0]["showscale"]
    assert not heat.views[0].data[0]["texttemplate"]


def test_without_a_matrix_there_is_no_chart_of_it():
    assert transfer_charts("NN", {}, {}) == []


def test_the_caption_of_a_view_is_that_of_its_score():
    one = transfer(group_of(make_run("NN")), "ba_macro")
    found = {"ba_macro": one, "rmse": one._replace(title="RMSE")}
    for chart in transfer_charts("NN", found, dict.fromkeys(found, (0.0, 1.0))):
        assert ["BA_macro" in view.summary for view in chart.views] == [True, False]
        assert ["RMSE" in view.summary for view in chart.views] == [False, True]
