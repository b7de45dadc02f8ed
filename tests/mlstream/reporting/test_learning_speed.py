"""Learning speed and transition time are counted by hand on a curve of a few readings."""

from mlstream.analysis.groups import group_runs
from mlstream.records.run_result import Curve
from mlstream.reporting.learning_speed import speed_table
from tests.mlstream.records.run_records import make_failed, make_run

SHAPE = {"order": [[0], [1], [0]], "experience_sizes": [40, 40, 40], "task_names": ["a", "b"], "R": {}}


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
