import pytest

from mlstream.analysis.groups import group_runs
from mlstream.analysis.transfer import score_limits, transfer
from mlstream.plotting.transfer_matrix import matrix_names
from tests.mlstream.records.run_records import ORDER, TASKS, make_failed, make_run


def group_of(*runs):
    (group,) = group_runs(runs)["yeast"]
    return group


def test_the_matrix_is_averaged_over_seeds():
    runs = [make_run("NN", seed) for seed in (0, 1, 2)]
    one = transfer(group_of(*runs), "ba_macro")
    for s in range(9):
        for j in range(4):
            assert one.R[s, j] == pytest.approx(sum(run.R["ba_macro"][s][j] for run in runs) / 3)


def test_seeds_with_another_order_of_tasks_are_not_averaged():
    first, other = make_run("NN", 0), make_run("NN", 1, order=[[task] for task in reversed(ORDER)])
    assert transfer(group_of(first, other), "ba_macro").R.tolist() == first.R["ba_macro"]


def test_rows_are_named_and_the_task_just_learnt_is_marked():
    one = transfer(group_of(make_run()), "ba_macro")
    steps, tasks = matrix_names(one)
    assert tasks == list(TASKS)
    assert steps == ["0: before", *(f"{step}: {TASKS[task]}" for step, task in enumerate(ORDER, 1))]
    assert one.visits == [(step, task) for step, task in enumerate(ORDER, 1)]


def test_an_experience_of_two_tasks_marks_both():
    one = transfer(group_of(make_run(order=[[0, 1], *([task] for task in ORDER[1:])])), "ba_macro")
    assert matrix_names(one)[0][1] == "1: task 0+task 1"
    assert one.visits[:2] == [(1, 0), (1, 1)]


def test_rows_that_a_capped_run_never_came_to_are_left_out():
    whole = make_run("NN", 0)
    R = [row if s < 6 else [None] * 4 for s, row in enumerate(whole.R["ba_macro"])]
    one = transfer(group_of(make_run("NN", 0, status="capped", R={"ba_macro": R})), "ba_macro")
    assert one.R.shape == (6, 4)
    assert len(matrix_names(one)[0]) == 6
    assert max(step for step, _ in one.visits) == 5


def test_an_undefined_row_in_the_middle_stays():
    R = make_run("NN", 0).R["ba_macro"]
    assert transfer(group_of(make_run("NN", 0, R={"ba_macro": [[None] * 4, *R[1:]]})), "ba_macro").R.shape == (9, 4)


def test_strategies_of_a_stream_share_one_scale_that_holds_all_scores():
    groups = group_runs([make_run("NN"), make_run("NN_TL"), make_failed("mean")])["yeast"]
    low, high = score_limits(groups, "ba_macro")
    known = [score for name in ("NN", "NN_TL") for row in make_run(name).R["ba_macro"] for score in row]
    assert low <= min(known) < low + 0.05
    assert high - 0.05 < max(known) <= high


@pytest.mark.parametrize("score", [None, 0.5, 1.0])
def test_a_scale_is_never_empty(score):
    groups = group_runs([make_run("NN", R={"ba_macro": [[score] * 4] * 9})])["yeast"]
    low, high = score_limits(groups, "ba_macro")
    assert low < high


def test_a_run_without_a_matrix_has_none():
    assert transfer(group_of(make_failed("NN")), "ba_macro") is None
    assert transfer(group_of(make_run("NN")), "rmse") is None
