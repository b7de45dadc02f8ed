import csv
import io
import statistics

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlstream.analysis.groups import group_runs
from mlstream.reporting.strategy_tables import strategy_table
from mlstream.reporting.tables import format_score, overview_table, score_table, scores_csv
from tests.mlstream.records.run_records import make_capped, make_failed, make_run

RUNS = [
    *(make_run(strategy, seed) for strategy in ("NN", "NN_TL", "prior_distribution") for seed in (0, 1)),
    make_capped("BR_HT", 0),
    make_run("1NN", 0),
    make_failed("1NN", 1),
    make_failed("mean", 0),
]
GROUPS = group_runs(RUNS)["yeast"]


def column(table, title):
    place = [head.title for head in table.columns].index(title)
    return {row[0].text: row[place] for row in table.rows}


def test_a_score_is_the_mean_of_the_runs_that_finished():
    cells = column(score_table(GROUPS), "ACC")
    for strategy in ("NN", "NN_TL", "1NN"):
        values = [run.scores["acc"] for run in RUNS if run.strategy == strategy and run.status == "done"]
        assert abs(cells[strategy].value - statistics.fmean(values)) < 1e-12
        spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
        assert cells[strategy].text == f"{statistics.fmean(values):.3f}{spread}"


def test_the_best_of_a_column_is_marked_in_its_own_direction():
    table = score_table(GROUPS)
    finished = ("NN", "NN_TL", "prior_distribution", "1NN")
    for title, best in (("ACC", max), ("RMSE", min)):
        cells = column(table, title)
        winner = best(finished, key=lambda strategy: cells[strategy].value)
        assert [name for name, cell in cells.items() if cell.is_best] == [winner]


def test_a_capped_run_competes_with_none():
    best = make_capped("BR_HT", 0)
    best = best.model_copy(update={"scores": dict.fromkeys(best.scores, 1.0)})
    cells = column(score_table(group_runs([best, make_run("NN", 0), make_run("NN_TL", 0)])["yeast"]), "ACC")
    assert cells["BR_HT"].text == "1.000"
    assert not cells["BR_HT"].is_best
    assert sum(cell.is_best for cell in cells.values()) == 1


def names(table):
    return [row[0].text for row in table.rows]


def test_rows_stand_best_first_and_what_did_not_finish_last():
    scores = {"low": 0.5, "high": 0.9, "middle": 0.7, "lacking": None}
    runs = [make_run(name, 0, scores={"rmse": 0.2, "acc": score}) for name, score in scores.items()]
    capped = make_capped("BR_HT", 0).model_copy(update={"scores": {"rmse": 0.0, "acc": 1.0}})
    groups = group_runs([capped, *runs])["yeast"]
    best_first = ["high", "middle", "low", "BR_HT", "lacking"]
    assert names(score_table(groups, ["acc", "rmse"])) == best_first
    # RMSE is better where it is lower; equal scores keep their order.
    lower = [one.model_copy(update={"scores": {"rmse": 1 - (one.scores["acc"] or 0)}}) for one in runs]
    assert names(score_table(group_runs(lower)["yeast"], ["rmse"])) == ["high", "middle", "low", "lacking"]
    # A score without a direction sorts nothing.
    assert names(score_table(groups, ["precision_at_k_maximum", "acc"])) == [
        "high",
        "middle",
        "low",
        "BR_HT",
        "lacking",
    ]
    assert names(score_table(groups, ["precision_at_k_maximum"])) == ["BR_HT", *scores]


def test_the_overview_stands_by_mean_rank_and_gaps_last():
    by_stream = {"x": {"a": 0.9, "b": 0.8, "c": 0.1}, "y": {"a": 0.1, "b": 0.8, "c": 0.2}, "z": {"d": 1.0, "b": 0.1}}
    runs = [
        make_run(name, 0, stream, scores={"acc": score})
        for stream, scores in by_stream.items()
        for name, score in scores.items()
    ]
    # b: ranks 1, 0, 1 on three streams; a: 0, 2 and c: 2, 1 on two; d: 0 on one.
    assert names(overview_table(group_runs(runs), "acc")) == ["b", "a", "c", "d"]


def test_the_overview_marks_baselines():
    runs = [make_run("any name", 0, estimator="NearestRowClassifier(window=10)"), make_run("B", 0)]
    rows = overview_table(group_runs(runs), "acc").rows
    assert {row[0].text: row[0].note for row in rows} == {"any name": "baseline", "B": ""}


def test_rows_say_how_their_runs_ended():
    table = score_table(GROUPS)
    assert {name: cell.text for name, cell in column(table, "Runs").items()} == {
        "NN": "2 done",
        "NN_TL": "2 done",
        "prior_distribution": "2 done",
        "BR_HT": "1 capped",
        "1NN": "1 done, 1 failed",
        "mean": "1 failed",
    }
    assert {row[0].text: row[0].note for row in table.rows if row[0].note} == {"BR_HT": "capped", "mean": "failed"}


def test_what_is_not_defined_says_why():
    run = make_run("NN", 0)
    run = run.model_copy(update={"scores": run.scores | {"frug_kwh": None}, "undefined": {"frug_kwh": "No energy."}})
    groups = group_runs([run, make_run("NN_TL", 0), make_failed("mean", 0)])["yeast"]
    cells = column(score_table(groups), "Frug (kWh)")
    assert (cells["NN"].text, cells["NN"].value, cells["NN"].note) == ("n/a", None, "No energy.")
    assert (cells["mean"].value, cells["mean"].note) == (None, "Every run failed.")
    assert cells["NN_TL"].note == ""


def test_headings_show_what_a_score_depends_on():
    run = make_run("NN", 0, settings={"k": 2})
    titles = [head.title for head in score_table(group_runs([run])["yeast"]).columns]
    assert {"Frug (kWh)", "Frug (kJ)", "Precision@2"} <= {*titles}


def test_the_overview_has_a_column_per_stream_and_gaps_where_nothing_ran():
    streams = group_runs([make_run("NN", 0, "a"), make_run("NN", 0, "b"), make_run("1NN", 0, "b")])
    table = overview_table(streams, "ba_macro")
    assert [head.title for head in table.columns] == ["Strategy", "Parameters", "a", "b"]
    assert column(table, "a")["1NN"].value is None
    assert column(table, "b")["1NN"].value == make_run("1NN", 0, "b").scores["ba_macro"]


def test_csv_reads_back_whatever_the_names_hold():
    name = 'a,"b"\n<script>'
    runs = [make_run(name, seed) for seed in (0, 1)] + [make_failed("mean", 0)]
    rows = list(csv.DictReader(io.StringIO(scores_csv(group_runs(runs)))))
    acc, nothing = (row for row in rows if row["score"] == "acc")
    assert (acc["strategy"], nothing["strategy"]) == (name, "mean")
    assert (nothing["mean"], nothing["standard_deviation"], nothing["seeds"]) == ("", "", "0")
    values = [run.scores["acc"] for run in runs[:2]]
    assert float(acc["mean"]) == statistics.fmean(values)
    assert abs(float(acc["standard_deviation"]) - statistics.stdev(values)) < 1e-12
    assert (acc["stream"], acc["seeds"], acc["better"]) == ("yeast", "2", "higher")


def test_negative_scores_have_a_minus_sign_and_zero_has_none():
    assert format_score(-0.0321) == "\N{MINUS SIGN}0.032"
    assert format_score(-0.0001) == "0.000"
    assert format_score(float("nan")) == "n/a"


@given(st.floats(-2, 2), st.floats(0, 2) | st.none(), st.integers(0, 4))
@example(0.5, 0.0005, 3)
@example(0.5, 0.0004999, 3)
@example(-0.0001, 5e-324, 3)
def test_a_spread_is_shown_where_it_is_above_zero_and_never_as_zero(mean, deviation, digits):
    shown, has_spread, spread = format_score(mean, deviation, form=f".{digits}f", minus="-").partition(" ± ")
    assert float(shown) == round(mean, digits)
    assert bool(has_spread) == bool(deviation)
    if deviation and round(deviation, digits):
        assert float(spread) == round(deviation, digits)
    elif deviation:
        assert (spread[0], float(spread[1:])) == ("<", 10**-digits)


def test_one_value_over_seeds_has_no_spread_and_is_called_deterministic():
    alike = [
        make_run("NN", seed, scores={"acc": 0.1 + 0.2, "frug_kwh": 0.1 * seed, "frug_kj": -seed}) for seed in (0, 1, 2)
    ]
    other = [make_run("NN_TL", seed, scores={"acc": 0.7 + 1e-5 * seed, "frug_kj": 0.1}) for seed in (0, 1, 2)]
    single = [make_run("1NN", 0, scores={"acc": 0.5})]
    table = score_table(group_runs([*alike, *other, *single])["yeast"])
    assert {name: cell.text for name, cell in column(table, "ACC").items()} == {
        "NN": "0.300",
        "NN_TL": "0.700 ± <0.001",
        "1NN": "0.500",
    }
    assert {name: cell.text for name, cell in column(table, "Runs").items()} == {
        "NN": "3 done, deterministic",
        "NN_TL": "3 done",
        "1NN": "1 done",
    }
    assert table.note.startswith("Runs of NN have the same scores where only their seed differs: this learner draws")


@pytest.mark.parametrize("strategy", ["NN", "1NN"])
def test_tables_over_streams_say_why_runs_are_the_same(strategy):
    runs = [make_run(name, seed, scores={"acc": 0.5}) for name in ("NN", "1NN") for seed in (0, 1)]
    streams = group_runs([*runs, make_run("NN", 0, "other"), make_run("1NN", 0, "other")])
    assert overview_table(streams, "acc").note.startswith("Runs of NN and 1NN have the same scores where")
    assert strategy_table(streams, strategy).note.startswith(f"Runs of {strategy} have the same scores where")


def test_other_orders_of_tasks_are_other_data_and_call_nothing_deterministic():
    runs = [make_run("NN", 0, scores={"acc": 0.5}, order_seed=seed) for seed in (0, 1)]
    table = score_table(group_runs(runs)["yeast"])
    assert column(table, "Runs")["NN"].text == "2 done"
    assert (column(table, "ACC")["NN"].text, table.note) == ("0.500", "")
