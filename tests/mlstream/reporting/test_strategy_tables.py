"""A strategy's own part holds its scores, costs and trials on every stream, and nobody else's."""

import csv
import statistics

from mlstream.analysis.comparison import compare_all
from mlstream.analysis.groups import group_runs
from mlstream.records.selection_record import Selection, Trial
from mlstream.reporting.along_stream import speed_table
from mlstream.reporting.ranks import rank_table
from mlstream.reporting.strategy_tables import cost_table, strategy_table, trial_table
from mlstream.reporting.tables import overview_table, score_table, scores_csv
from tests.mlstream.records.run_records import make_failed, make_run

TRIALS = [
    Trial(parameters={"b": 2, "a": None}, status="done", ba_macro=0.6, frugality=0.6, wall_time_s=0.5),
    Trial(parameters={"a": 1}, status="failed", error="oh"),
]
SEARCHED = Selection(trials=TRIALS, chosen=0)
RUNS = [make_run(name, seed, stream) for stream in ("x", "y") for name in ("NN", "1NN") for seed in (0, 1)]


def test_there_is_a_row_per_stream_with_means_over_repetitions():
    table = strategy_table(group_runs([*RUNS, make_failed("NN", 0, "z")]), "NN")
    assert [row[0].text for row in table.rows] == ["x", "y", "z"]
    mine = [run for run in RUNS if (run.strategy, run.stream) == ("NN", "y")]
    row = dict(zip([head.title for head in table.columns], table.rows[1], strict=True))
    assert row["ACC"].value == statistics.fmean(run.scores["acc"] for run in mine)
    spent = [sum(phase.wall_time_s for phase in run.resources.phases.values()) for run in mine]
    assert row["Wall s"].value == statistics.fmean(spent)
    assert table.rows[2][0].note == "failed"
    assert {cell.text for cell in table.rows[2][2:]} == {"n/a"}


def test_every_table_of_strategies_says_whether_parameters_were_searched():
    alone = Selection(trials=TRIALS[:1], chosen=0)
    runs = [make_run("NN", 0, stream, selection=SEARCHED) for stream in ("x", "y")]
    runs += [make_run("1NN", 0, "x", selection=alone), make_run("1NN", 0, "y", selection=SEARCHED)]
    streams = group_runs(runs)
    of_stream = [score_table(streams["x"]), cost_table(streams["x"]), speed_table(streams["x"])]
    for table in of_stream:
        assert {row[0].text: row[1].text for row in table.rows} == {"NN": "tuned (2)", "1NN": "defaults"}
    for table in (overview_table(streams, "acc"), rank_table(compare_all(streams))):
        assert {row[0].text: row[1].text for row in table.rows} == {"NN": "tuned (2)", "1NN": "defaults, tuned (2)"}
    assert [row[1].text for row in strategy_table(streams, "1NN").rows] == ["defaults", "tuned (2)"]
    lines = csv.DictReader(scores_csv(streams).splitlines())
    assert {(row["stream"], row["strategy"], row["parameters"]) for row in lines} == {
        ("x", "NN", "tuned (2)"),
        ("y", "NN", "tuned (2)"),
        ("x", "1NN", "defaults"),
        ("y", "1NN", "tuned (2)"),
    }


def test_trials_are_listed_and_the_chosen_one_is_marked():
    runs = [*RUNS, make_run("NN", 3, "x", selection=SEARCHED, split_seed=7)]
    table = trial_table(group_runs(runs), "NN")
    shown = [[cell.text for cell in row] for row in table.rows]
    assert shown[0] == ["x", "seed 3, split 7", "a = None, b = 2", "done", "0.600", "0.5", "chosen"]
    assert shown[1][2:5] == ["a = 1", "failed", "n/a"]
    assert trial_table(group_runs(RUNS), "NN") is None
    alone = make_run("NN", 3, "x", selection=Selection(trials=TRIALS[:1], chosen=0))
    assert trial_table(group_runs([alone]), "NN") is None
