"""A record whose fields contradict each other is refused with the names of file and field, and stops a campaign."""

import json
import os
import re

import pytest

from mlstream.records import schema
from mlstream.records.run_record import load_run, load_runs
from mlstream.reporting.report import report
from tests.loops import check_all
from tests.mlstream.campaign.test_job import plan, record
from tests.mlstream.records.run_records import ORDER, SIZES, TASKS, make_run, save_run, write_campaign

N_ROWS = sum(SIZES)
TRIAL = {"parameters": {}, "status": "done"}


def write_changed(directory, *path, value):
    """Change one field of a record that is right, as an editor would."""
    file = save_run(make_run(), directory)
    content = json.loads(file.read_text())
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    file.write_text(json.dumps(content))
    return file


def test_a_record_that_contradicts_itself_is_refused(tmp_path):
    def check(case):
        number, (path, value, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        file = write_changed(folder, *path, value=value)
        with pytest.raises(ValueError, match=re.escape(f"{file} must hold a RunResult of this version")) as refusal:
            load_runs(folder)
        assert message in str(refusal.value)
        assert len(str(refusal.value).splitlines()) == 1

    check_all(
        enumerate(
            [
                (("task_names",), [], "task_names must name a task. Got []"),
                (("order",), [], "order must hold an experience. Got []"),
                (("order", 3), [4], "order must hold tasks from 0 to 3. Got 4"),
                (("order", 3), [-1], "order must hold tasks from 0 to 3. Got -1"),
                (
                    ("experience_sizes",),
                    [9],
                    "experience_sizes must have a value for each experience, 8 in all. Got 1 values",
                ),
                (("experience_sizes", 0), 0, "experience_sizes must be positive. Got 0"),
                (("experience_sizes", 0), 10**400, "experience_sizes must be a finite number of at most 1e+15"),
                (
                    ("R", "ba_macro"),
                    [[0.5] * 4],
                    "R.ba_macro must have 9 rows of 4 scores: experiences + 1, and tasks. Got 1",
                ),
                (("R", "ba_macro", 2), [0.5] * 5, "R.ba_macro must have 9 rows of 4 scores"),
                (("R", "ba_macro"), [], "R.ba_macro must have 9 rows of 4 scores"),
                (("R", "ba_macro", 2, 1), float("nan"), "R.ba_macro must be a finite number of at most 1e+15. Got nan"),
                (("scores", "acc"), float("-inf"), "scores.acc must be a finite number of at most 1e+15. Got -inf"),
                (("scores", "acc"), 1e308, "scores.acc must be a finite number"),
                (("resources", "phases", "online", "wall_time_s"), -1, "resources.phases.online.wall_time_s"),
                (
                    ("resources", "phases", "online", "energy_kwh"),
                    float("inf"),
                    "resources.phases.online.energy_kwh must be a",
                ),
                (("parameters",), {"a": [float("nan")]}, "parameters.a must be a finite number"),
                (
                    ("curves", "ba_macro", "windowed"),
                    [0.5],
                    "curves.ba_macro.windowed must have a value for each checkpoint",
                ),
                (
                    ("curves", "ba_macro", "n_rows", 5),
                    1,
                    f"curves.ba_macro.n_rows must increase from 1 to at most {N_ROWS}",
                ),
                (
                    ("curves", "ba_macro", "n_rows", -1),
                    N_ROWS + 1,
                    "curves.ba_macro.n_rows must increase from 1 to at most",
                ),
                (
                    ("references",),
                    {"joint": [], "joint_at_first_visit": [], "single": []},
                    "references.joint must have a value",
                ),
                (("selection",), {"trials": [TRIAL], "chosen": 1}, "selection.chosen must be at most 0. Got 1"),
            ]
        ),
        check,
    )


def test_parameters_and_settings_may_be_of_any_size(tmp_path):
    assert load_run(write_changed(tmp_path, "parameters", value={"a": 1e300})).parameters == {"a": 1e300}


def test_the_report_names_the_file_and_what_to_do(tmp_path):
    file = write_campaign(tmp_path, strategies=("NN",)) / "runs" / "yeast" / "NN-seed1.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"order": [[len(TASKS)]] * len(ORDER)}))
    with pytest.raises(ValueError, match=r"NN-seed1.json must hold .*remove the file, and it is .*: order must"):
        report(tmp_path)


@pytest.mark.parametrize("change", [{"seed": 1}, {"stream": "s"}, {"strategy": "s"}, {"order_seed": 0}])
def test_a_campaign_refuses_a_record_that_a_report_refuses(tmp_path, change):
    (job,) = plan(tmp_path)
    path = save_run(record(job), tmp_path)
    path.write_text(record(job, **change).model_dump_json())
    for read in (job.find_record, lambda: load_runs(tmp_path)):
        with pytest.raises(ValueError, match=r"seed0.json must hold the run of its name: remove the file"):
            read()


@pytest.mark.parametrize("n_bytes", [0, 1, 100, -1])
def test_a_truncated_record_is_refused_by_campaigns_and_reports(tmp_path, n_bytes):
    (job,) = plan(tmp_path)
    path = save_run(record(job), tmp_path)
    path.write_bytes(path.read_bytes()[:n_bytes])
    for read in (job.find_record, lambda: load_runs(tmp_path)):
        with pytest.raises(ValueError, match=r"online-seed0.json must hold a RunResult .*remove the file, and"):
            read()


def test_what_is_no_plain_file_is_refused(tmp_path):
    (job,) = plan(tmp_path)
    job.path.parent.mkdir(parents=True)
    kinds = {"named pipe": os.mkfifo, "folder": os.mkdir, "device": lambda path: path.symlink_to("/dev/zero")}
    for kind, make in kinds.items():
        make(job.path)
        with pytest.raises(ValueError, match=f"online-seed0.json must be a plain file. Got a {kind}"):
            job.find_record()
        job.path.rmdir() if job.path.is_dir() else job.path.unlink()


def test_a_file_that_is_larger_than_any_record_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "_MAX_BYTES", 2**16)
    file = save_run(make_run(), tmp_path)
    os.truncate(file, 2**30)
    with pytest.raises(ValueError, match=r"NN-seed0.json must have at most 65,536 bytes. Got more"):
        load_run(file)
