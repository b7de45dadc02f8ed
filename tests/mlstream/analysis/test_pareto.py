"""The main figure of a report: accuracy against energy, and who is not beaten in both."""

import pytest

from mlstream.analysis.groups import group_runs
from mlstream.analysis.pareto import pareto_points
from mlstream.records.run_result import PhaseResources
from mlstream.reporting.charts import pareto_part
from mlstream.reporting.page import describe
from tests.mlstream.plotting.plotly_checks import require_valid
from tests.mlstream.records.run_records import make_capped, make_card, make_failed, make_run


def run_with(strategy, acc, joules, stream="yeast", seed=0):
    """A run of an accuracy and energy of our own; of a search, whose energy does not count, nothing."""
    run = make_run(strategy, seed, stream)
    phases = {
        "select": PhaseResources(energy_kwh=1.0),
        "online": PhaseResources(wall_time_s=2.0, energy_kwh=None if joules is None else joules / 3.6e6),
    }
    resources = run.resources.model_copy(update={"phases": phases, "energy_below_resolution": False})
    return run.model_copy(update={"scores": run.scores | {"acc": acc}, "resources": resources})


def values(found):
    return {one.name: (pytest.approx(one.cost), pytest.approx(one.score)) for one in found.points}


def test_on_one_stream_a_point_is_a_mean_over_seeds():
    runs = [run_with("NN", 0.6, 2.0), run_with("NN", 0.8, 4.0, seed=1), run_with("1NN", 0.9, 50.0)]
    found = pareto_points(group_runs(runs))
    assert values(found) == {"NN": (3.0, 0.7), "1NN": (50.0, 0.9)}
    assert found.title == "Energy, J (estimate)"


def test_on_several_streams_accuracy_is_a_mean_and_energy_a_total():
    runs = [
        *(run_with("NN", acc, joules, stream) for stream, acc, joules in (("a", 0.6, 2.0), ("b", 0.8, 30.0))),
        *(run_with("1NN", acc, joules, stream) for stream, acc, joules in (("a", 0.5, 1.0), ("b", 0.5, 1.0))),
        *(run_with("mean", acc, joules, stream) for stream, acc, joules in (("a", 0.5, 1.0), ("b", 0.5, None))),
        run_with("NN", 0.1, 1000.0, "c"),
        make_failed("1NN", 0, "c"),
        make_failed("mean", 0, "c"),
    ]
    found = pareto_points(group_runs(runs))
    assert values(found) == {"NN": (32.0, 0.7), "1NN": (2.0, 0.5)}
    assert found.title == "Energy of 2 streams, J (estimate)"
    assert values(pareto_points(group_runs(runs), "time"))["NN"] == (4.0, 0.7)


def test_the_figure_joins_who_is_not_beaten_and_lists_all():
    runs = [run_with("NN", 0.6, 2.0), run_with("1NN", 0.9, 50.0), run_with("BR_HT", 0.8, 500.0), make_capped("LC_HT")]
    part = pareto_part(group_runs(runs))
    require_valid(part.chart)
    assert part.chart.summary == "Not beaten in both: NN (0.600 at 2), 1NN (0.900 at 50)."
    front = part.chart.views[0].data[0]
    assert (front["x"], front["y"]) == (pytest.approx([2.0, 50.0]), [0.6, 0.9])
    assert part.chart.views[0].layout["xaxis"]["type"] == "log"
    assert [key.name for key in part.keys] == ["NN", "1NN", "BR_HT", "LC_HT (capped)"]


@pytest.mark.parametrize(
    "runs",
    [
        [run_with("NN", 0.5, None)],
        [make_failed("NN")],
        [run_with("NN", 0.5, 1.0, "a"), run_with("1NN", 0.5, 1.0, "b")],
        [run_with(name, 0.5, None, stream) for name in ("NN", "1NN") for stream in "ab"],
    ],
    ids=["not measured", "failed", "nothing shared", "not measured on several"],
)
def test_without_energy_or_comparison_there_is_no_figure(runs):
    assert pareto_part(group_runs(runs)) is None


def test_a_page_of_one_stream_draws_energy_once():
    def charts(*streams):
        runs = [run_with(name, 0.5, 1.0, stream) for name in ("NN", "1NN") for stream in streams]
        page = describe(runs, group_runs(runs), {stream: make_card(stream) for stream in streams})
        return page["pareto"].chart.title, [chart.title for chart in page["streams"][0].cost_charts]

    assert charts("a") == ("ACC against energy, J (estimate)", ["ACC against wall time, s"])
    assert charts("a", "b")[0] == "ACC against energy of 2 streams, J (estimate)"
    assert charts("a", "b")[1] == ["ACC against wall time, s", "ACC against energy, J (estimate)"]
