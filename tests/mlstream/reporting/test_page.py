import pytest

from mlstream.analysis.groups import group_runs
from mlstream.records.selection_record import Selection, Trial
from mlstream.reporting.page import describe
from tests.mlstream.records.run_records import make_capped, make_card, make_failed, make_run


def describe_runs(*runs):
    streams = group_runs(runs)
    return describe(runs, streams, {name: make_card(name) for name in streams})


def test_the_title_counts_what_was_run():
    assert describe_runs(make_run())["title"] == "1 strategy on yeast"
    runs = make_run("NN", 0, "a"), make_run("NN_TL", 0, "a"), make_run("NN", 0, "b")
    assert describe_runs(*runs)["title"] == "2 strategies on 2 streams"


def test_the_headline_names_the_rule_that_decided_labels():
    runs = [make_run(name, settings=make_run().settings | {"decision": "prevalence"}) for name in ("NN", "NN_TL")]
    assert "decided where their probability is at least their prevalence" in describe_runs(*runs)["headline"]
    assert "decided" not in describe_runs(make_run("NN"), make_run("NN_TL"))["headline"]


def test_the_overview_is_for_several_streams():
    assert describe_runs(make_run())["overview"] is None
    assert describe_runs(make_run("NN", 0, "a"), make_run("NN", 0, "b"))["overview"] is not None


def test_what_did_not_finish_is_listed_with_its_reason():
    content = describe_runs(make_run(), make_failed("1NN", 1), make_capped("BR_HT"), make_run("NN_TL", status="failed"))
    reasons = {one.record.strategy: (one.record.status, one.reason) for one in content["unfinished"]}
    assert reasons == {
        "1NN": ("failed", "ValueError: X must be finite."),
        "BR_HT": ("capped", "Stopped at the time cap of 10800.0 s after 1,200 of 1,692 rows."),
        "NN_TL": ("failed", "No reason was recorded."),
    }
    tracebacks = {one.record.strategy: one.traceback for one in content["unfinished"]}
    assert tracebacks["1NN"].startswith("Traceback")
    assert tracebacks["BR_HT"] == ""
    assert dict(content["counts"]) == {"done": 1, "failed": 2, "capped": 1}


def test_a_configuration_is_listed_once_whatever_its_seeds():
    runs = [make_run("NN", seed, parameters={"random_state": seed, "lr": 0.1}) for seed in (0, 1)]
    other = make_run("NN", 2, parameters={"random_state": 2, "lr": 0.2})
    assert describe_runs(*runs, other)["estimators"] == [runs[0], other]


def test_recorded_settings_list_all_that_differs():
    first = make_run("NN", 0, settings={"window": 85, "one_class": "skip"}, versions={"numpy": "2.4"})
    other = make_run("NN", 1, settings={"window": 90, "one_class": "skip"}, versions={"numpy": "2.5", "river": "0.26"})
    content = describe_runs(first, other)
    recorded = dict(content["recorded"])
    assert (recorded["Seeds of learners"], recorded["window"], recorded["one_class"]) == ("0, 1", "85, 90", "skip")
    assert recorded["Energy"] == first.resources.energy_method
    assert dict(content["versions"]) == {"numpy": "2.4, 2.5", "river": "0.26"}


@pytest.mark.parametrize(
    ("runs", "facts"),
    [
        (
            [make_run("NN", seed, order_seed=seed, split_seed=seed) for seed in (0, 1)],
            {"Seeds of learners": "0, 1", "Each seed also sets": "the order of tasks and the split of rows"},
        ),
        (
            [make_run("NN", 0, order_seed=order) for order in (0, 1)],
            {"Seeds of learners": "0", "Seeds of orders of tasks": "0, 1", "Seeds of splits of rows": ""},
        ),
    ],
)
def test_seeds_are_listed_once_where_each_sets_order_and_split(runs, facts):
    recorded = dict(describe_runs(*runs)["recorded"])
    assert {name: value for name, value in recorded.items() if "eed" in name} == facts


def notices_of(*runs):
    (stream,) = describe_runs(*runs)["streams"]
    return stream.notices


def test_a_reader_is_warned_of_other_data_and_of_rivers_convention():
    assert notices_of(make_run()) == []
    (other,) = notices_of(make_run("NN", 0), make_run("NN", 1, stream_sha256="ef" * 32))
    assert other.startswith("1 of 2 runs used other data")
    (river,) = notices_of(make_run("NN", 0, settings={"one_class": "river"}))
    assert "constant predictor" in river


def test_a_reason_is_given_once_for_all_that_share_it():
    runs = [make_run(name, seed, undefined={"frug_kj": "No energy."}) for name in ("NN", "NN_TL") for seed in (0, 1)]
    (stream,) = describe_runs(*runs)["streams"]
    assert stream.undefined == [("Frug (kJ): NN, NN_TL", "No energy.")]


def test_a_stream_on_which_every_run_failed_still_has_its_place():
    (stream,) = describe_runs(make_failed("NN"), make_failed("1NN"))["streams"]
    assert (stream.curves, stream.strategies, stream.cost_charts) == (None, [], [])
    assert [row[0].text for row in stream.scores.rows] == ["NN", "1NN"]


def test_strategies_have_a_chapter_where_there_are_several_streams_only():
    assert describe_runs(make_run("NN"), make_run("NN_TL"))["strategies"] == []
    runs = make_run("NN", 0, "a"), make_run("NN", 0, "b"), make_run("NN_TL", 0, "a")
    assert [(one.name, len(one.table.rows)) for one in describe_runs(*runs)["strategies"]] == [("NN", 2)]


def test_a_search_on_one_stream_is_listed_without_a_table_of_one_row():
    trials = [Trial(parameters={"step": step}, status="done", ba_macro=0.5) for step in (0.1, 0.2)]
    (part,) = describe_runs(make_run("NN", selection=Selection(trials=trials, chosen=0)), make_run("1NN"))["strategies"]
    assert (part.name, part.table, len(part.trials.rows)) == ("NN", None, 2)


def test_a_stream_says_which_of_several_orders_its_curves_are_of():
    first, other = make_run("NN", 0), make_run("NN", 1, order=[[task] for task in (0, 1, 2, 3) * 2])
    (same,) = describe_runs(first, make_run("NN", 1))["streams"]
    (varied,) = describe_runs(first, other)["streams"]
    assert (same.orders, varied.orders) == (
        "",
        "Runs visit the tasks in 2 orders; shown are those in the order of the first.",
    )


def test_a_point_without_a_spread_has_no_bar():
    runs = [
        make_run(name, seed, scores={"acc": 0.5 + 0.1 * seed * (name == "NN")})
        for name in ("NN", "1NN")
        for seed in (0, 1)
    ]
    traces = describe_runs(*runs)["pareto"].chart.views[0].data
    assert {one["name"]: one["error_y"]["visible"] for one in traces if "error_y" in one} == {"NN": True, "1NN": False}
