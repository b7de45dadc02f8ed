from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from mlstream.analysis.groups import group_runs
from mlstream.analysis.pareto import pareto_front
from mlstream.plotting.pareto_front import name_boxes, place_names
from mlstream.reporting.charts import cost_charts
from tests.mlstream.plotting.plotly_checks import require_valid
from tests.mlstream.records.run_records import STRATEGIES, make_capped, make_failed, make_run

points = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=9)


@given(points)
def test_front_holds_what_no_point_beats(drawn):
    front = [drawn[place] for place in pareto_front(drawn)]
    unbeaten = {
        (cost, score)
        for cost, score in drawn
        if not any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in drawn)
    }
    assert set(front) == unbeaten
    assert front == sorted(front)
    assert len(front) == len(unbeaten)


def points_of(chart):
    return {trace["name"]: (trace["x"][0], trace["y"][0]) for trace in chart.views[0].data if "name" in trace}


def test_points_are_means_over_seeds():
    runs = [make_run(strategy, seed) for strategy in STRATEGIES for seed in (0, 1)]
    time, energy = cost_charts(group_runs(runs)["yeast"])
    for strategy, (_, _, _, seconds, kwh) in STRATEGIES.items():
        acc = sum(run.scores["acc"] for run in runs if run.strategy == strategy) / 2
        x, y = points_of(time)[strategy]
        assert abs(x - seconds * 4 / 3) < 1e-12
        assert abs(y - acc) < 1e-12
        assert abs(points_of(energy)[strategy][0] - kwh * 4 / 3 * 3.6e6) < 1e-11
    for chart in (time, energy):
        require_valid(chart)


def test_energy_below_the_meters_resolution_has_open_markers_and_estimates_are_said():
    groups = group_runs([make_run("NN", 0), make_run("last_class", 0)])["yeast"]
    symbols = {
        trace.get("name"): trace.get("marker", {}).get("symbol") for trace in cost_charts(groups)[1].views[0].data
    }
    assert not symbols["NN"].endswith("-open")
    assert symbols["last_class"].endswith("-open")
    assert "estimate" in cost_charts(groups)[1].title


def test_a_capped_strategy_is_drawn_but_beats_none():
    cheap = make_capped("BR_HT", 0)
    cheap = cheap.model_copy(update={"scores": cheap.scores | {"acc": 1.0}})
    (time, _) = cost_charts(group_runs([cheap, make_run("NN", 0)])["yeast"])
    assert "BR_HT (capped)" in points_of(time)
    assert "BR_HT" not in time.summary
    assert "NN" in time.summary


def test_axes_are_logarithmic_only_if_costs_differ_much_and_none_is_zero():
    def kind(*strategies):
        return (
            cost_charts(group_runs([make_run(name, 0) for name in strategies])["yeast"])[0]
            .views[0]
            .layout["xaxis"]["type"]
        )

    assert kind("NN", "BR_HT") == "log"
    assert kind("NN", "NN_TL") == "linear"


def test_what_was_not_measured_is_not_drawn():
    assert cost_charts(group_runs([make_failed("NN")])["yeast"]) == []
    assert cost_charts(group_runs([make_run("NN", resources=None)])["yeast"]) == []


shares = st.lists(st.tuples(st.floats(0.05, 0.95), st.floats(0.05, 0.95)), min_size=2, max_size=12)


@given(shares)
def test_no_name_of_a_point_covers_another_at_any_width(drawn):
    names = [f"strategy_{place:02}" for place in range(len(drawn))]
    placed = [(drawn[at], names[at], place) for at, place in enumerate(place_names(drawn, names)) if place]
    for first, second in combinations(placed, 2):
        for one, other in zip(name_boxes(*first), name_boxes(*second), strict=True):
            apart = one.right <= other.left or other.right <= one.left or one.bottom <= other.top
            assert apart or other.bottom <= one.top


def test_points_with_room_around_them_are_all_named():
    assert None not in place_names([(0.1, 0.2), (0.5, 0.5), (0.9, 0.8)], ["NN", "NN_TL", "BR_HT"])
