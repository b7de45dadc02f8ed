"""Scores that depend on the order of rows have a table of their own; learning speed is counted by hand on a curve."""

from mlstream.analysis.groups import group_runs
from mlstream.analysis.score_info import SCORE_HEADINGS, score_heading
from mlstream.records.run_result import Curve
from mlstream.reporting.along_stream import ALONG_STREAM, along_table, final_table, repeating_note, speed_table
from tests.mlstream.records.run_records import make_failed, make_run

SHAPE = {"order": [[0], [1], [0]], "experience_sizes": [40, 40, 40], "task_names": ["a", "b"], "R": {}}


def make_groups(**gains):
    """Group a run per strategy, each with the gain given over a subset accuracy of 0.875."""
    runs = [make_run(strategy) for strategy in gains]
    added = [
        dict.fromkeys(ALONG_STREAM, 0.5)
        | {"kappa_temporal": gain, "no_change_subset_accuracy": 0.875}
        | {f"{ALONG_STREAM[-1]}[half]": 0.25, "acc[half]": 0.5}
        for gain in gains.values()
    ]
    changed = [run.model_copy(update={"scores": run.scores | scores}) for run, scores in zip(runs, added, strict=True)]
    return group_runs([*changed, make_failed("mean", 0)])["yeast"]


def titles(table):
    return [column.title for column in table.columns]


def test_each_score_is_in_one_of_the_two_tables():
    groups = make_groups(NN=0.1, NN_TL=0.2)
    along, final = titles(along_table(groups)), titles(final_table(groups))
    assert along[2:-1] == [score_heading(name).title for name in [*ALONG_STREAM, f"{ALONG_STREAM[-1]}[half]"]]
    assert set(along) & set(final) == {"Strategy", "Parameters", "Runs"}
    assert "ACC" in final
    assert "Repeating" not in final


def test_records_of_earlier_versions_have_no_such_table():
    groups = group_runs([make_run("NN")])["yeast"]
    assert along_table(groups) is None
    assert repeating_note(groups) == ""
    assert titles(final_table(groups))[2:5] == ["BA_macro", "Precision@k", "RMSE"]


def test_a_sentence_names_the_strategies_that_repeating_beats():
    beaten = repeating_note(make_groups(NN=-0.1, NN_TL=0.2, BR_HT=-0.001))
    assert beaten == (
        "A learner that repeats the last labels has subset accuracy 0.875 on this stream, "
        "more than 2 of 3 strategies: NN, BR_HT."
    )
    better = repeating_note(make_groups(NN=0.1, NN_TL=None, last_class=0.0))
    assert better == "A learner that repeats the last labels has subset accuracy 0.875 on this stream."


def test_variants_of_a_score_have_its_direction_and_its_meaning():
    for name in ("rmse_anytime", "hamming_loss_held_out"):
        plain = SCORE_HEADINGS[name.removesuffix("_anytime").removesuffix("_held_out")]
        found = score_heading(name)
        assert (found.better, found.meaning.startswith(plain.meaning)) == (plain.better, True)
    assert (score_heading("ba_macro_anytime").title, score_heading("lrap_held_out").title) == (
        "BA_macro, any time",
        "LRAP, held out",
    )
    assert score_heading("price_anytime").better == "neither"


def run_with(windowed, seed=0, window=20, **changes):
    curve = Curve(n_rows=list(range(10, 130, 10)), cumulative=windowed, windowed=windowed, window=window)
    return make_run("NN", seed, curves={"ba_macro": curve}, **SHAPE | changes)


def row_of(*runs):
    table = speed_table(group_runs(list(runs))["yeast"])
    return dict(zip([head.title for head in table.columns], table.rows[0], strict=True))


#        10    20   30   40    50   60   70   80    90   100  110  120
FIRST = [None, 0.5, 0.6, 0.75, 0.9, 0.4, 0.5, 0.7, 0.9, 0.6, 0.8, 0.8]


def test_rows_are_counted_from_the_start_of_each_new_task_without_mixed_windows():
    row = row_of(run_with(FIRST))
    # Task a reaches 0.6 after 30 rows; task b, whose reading after 10 rows mixes both, after 40.
    assert row["Rows to 0.6"].text == "35 (2 of 2)"
    assert row["Rows to 0.7"].text == "40 (2 of 2)"
    assert row["Rows to 0.8"].text == "not reached (0 of 2)"
    assert row["Rows to 0.8"].value is None


def test_a_level_is_regained_within_the_experience_or_not():
    # Before the first boundary 0.75, not regained; before the second 0.7, regained after 30 rows.
    assert row_of(run_with(FIRST))["Transition rows"].text == "30 (1 of 2)"


def test_repetitions_are_pooled_and_short_experiences_cannot_be_read():
    other = [value and value + 0.1 for value in FIRST]
    assert row_of(run_with(FIRST), run_with(other, seed=1))["Rows to 0.7"].text == "38 (4 of 4)"
    assert row_of(run_with(FIRST, window=50))["Rows to 0.6"].text == "n/a"


def test_without_curves_there_is_no_table():
    assert speed_table(group_runs([make_failed("NN", 0)])["yeast"]) is None
