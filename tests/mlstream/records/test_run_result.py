"""Runs become frames: the scores of one over tasks, and many runs, a row each."""

import math

import pytest
from pydantic import BaseModel

from mlstream import load_runs
from mlstream.records.run_result import PhaseResources, Runs, total_cost
from tests.mlstream.records.detections import make_detection
from tests.mlstream.records.run_records import make_capped, make_card, make_failed, make_run, write_campaign


def same(one, other):
    return one == other or (other is None and math.isnan(one))


def test_shells_complete_the_names_of_a_record_and_none_of_its_library():
    run = make_run()
    for record in (run, run.resources, make_detection(), make_card()):
        shown = [name for name in dir(record) if not name.startswith("_")]
        assert not {name for name in shown if hasattr(BaseModel, name)}
        assert set(type(record).model_fields) <= set(shown)
        assert "__class__" in dir(record)
        assert record.model_copy() == record
    assert {"scores", "to_frame", "tuning"} <= set(dir(run))


def test_the_frame_of_a_run_has_a_row_for_each_experience_and_task():
    run = make_run()
    frame = run.to_frame()
    assert frame.columns.tolist() == ["experience", "task", *run.R]
    rows = frame.to_dict("records")
    assert len(rows) == (len(run.order) + 1) * len(run.task_names)
    for row in rows:
        for metric, R in run.R.items():
            assert same(row[metric], R[row["experience"]][run.task_names.index(row["task"])])


def test_the_frame_of_a_run_without_scores_has_no_metric():
    assert make_failed().to_frame().columns.tolist() == ["experience", "task"]


def test_the_runs_of_a_folder_are_a_list_and_a_frame(tmp_path):
    runs = load_runs(write_campaign(tmp_path / "runs", strategies=("NN", "BR_HT")))
    assert isinstance(runs, list)
    assert runs == [*runs]
    frame = runs.to_frame()
    assert len(frame) == len(runs)
    for row, run in zip(frame.to_dict("records"), runs, strict=True):
        assert (row["stream"], row["strategy"], row["seed"], row["status"]) == (
            run.stream,
            run.strategy,
            run.seed,
            run.status,
        )
        for name, score in run.scores.items():
            assert same(row[name], score)


def test_a_run_that_lacks_scores_or_costs_has_gaps():
    frame = Runs([make_run(), make_failed(), make_capped()]).to_frame()
    assert math.isnan(frame["acc"][1])
    assert math.isnan(frame["wall_time_s"][1])
    assert frame["status"].tolist() == ["done", "failed", "capped"]


@pytest.mark.parametrize(("energy", "expected"), [(0.25, 0.75), (None, None)])
def test_costs_add_up_over_phases_but_for_the_search_of_parameters(energy, expected):
    run = make_run()
    phases = {
        "select": PhaseResources(wall_time_s=100, energy_kwh=9),
        "online": PhaseResources(wall_time_s=1.5, energy_kwh=0.5),
        "evaluate": PhaseResources(wall_time_s=2, energy_kwh=energy),
    }
    run = run.model_copy(update={"resources": run.resources.model_copy(update={"phases": phases})})
    assert total_cost(run, "wall_time_s") == 3.5
    assert total_cost(run, "wall_time_s", "select") == 100
    assert total_cost(run, "energy_kwh") == expected
