"""A campaign runs each run once, records it at once, and goes on after anything."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.search import Search
from mlstream.evaluation.evaluate import evaluate
from mlstream.formats import save
from mlstream.generators import multiplier_stream, reordered_tasks, resplit_rows
from mlstream.records.paths import file_name, run_path
from mlstream.records.run_record import load_cards, load_runs
from tests.mlstream.evaluation.streams import Online, Targeted, make_stream

STREAM = make_stream()
TIMES = {"wall_time_s", "cpu_time_s"}
MEASURED = {"resources": True, "selection": {"trials": {"__all__": TIMES}}}


class Failing(Online):
    """Fails at its n-th lesson, as long as a file is there."""

    def __init__(self, flag="absent", at=10):
        super().__init__()
        self.flag = flag
        self.at = at

    def partial_fit(self, X, Y):
        self.n_ = getattr(self, "n_", 0) + 1
        if self.n_ == self.at and Path(self.flag).exists():
            raise ArithmeticError("no more of this")
        return super().partial_fit(X, Y)


class Counting(Online):
    """Counts the lessons of all clones."""

    lessons = 0

    def partial_fit(self, X, Y):
        Counting.lessons += 1
        return super().partial_fit(X, Y)


def run(tmp_path, strategies, seeds=(0, 1), streams=(STREAM,), **options):
    return run_campaign(strategies, streams, seeds, tmp_path / "runs", **{"energy": "none"} | options)


def without_measures(results):
    return [result.model_dump(exclude=MEASURED) for result in results]


@pytest.mark.slow
def test_every_run_is_recorded_with_the_card_of_its_stream(tmp_path):
    streams = (STREAM, make_stream(name="other", identity="always"))
    results = run(tmp_path, {"a": Online(), "b": Targeted()}, streams=streams)
    names = [(result.stream, result.strategy, result.seed) for result in results]
    assert names == [(stream, name, seed) for stream in ("tiny", "other") for name in "ab" for seed in (0, 1)]
    assert sorted(names) == [(r.stream, r.strategy, r.seed) for r in load_runs(tmp_path / "runs")]
    assert load_cards(tmp_path / "runs") == {"tiny": streams[0].card, "other": streams[1].card}
    assert {result.status for result in results} == {"done"}


def test_a_failed_run_is_recorded_with_its_error_stops_no_other_and_is_tried_again(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    strategies = {"failing": Failing(str(flag)), "online": Online()}
    failed, done = run(tmp_path, strategies, seeds=(0,))
    assert (failed.status, done.status) == ("failed", "done")
    assert "ArithmeticError: no more of this" in failed.error
    assert "in partial_fit" in failed.error
    assert (failed.scores, failed.resources) == ({}, None)
    flag.unlink()
    states = []
    again = run(tmp_path, strategies, seeds=(0,), progress=lambda told: states.append((told.strategy, told.state)))
    assert [result.status for result in again] == ["done", "done"]
    assert states[0] == ("online", "kept")
    assert states[-1] == ("failing", "done")


def test_what_is_recorded_is_not_run_again(tmp_path):
    first = run(tmp_path, {"counting": Counting()})
    lessons, stamp = Counting.lessons, run_path(tmp_path / "runs", "tiny", "counting", 0).stat().st_mtime_ns
    assert lessons > 0
    assert run(tmp_path, {"counting": Counting()}) == first
    assert Counting.lessons == lessons
    assert run_path(tmp_path / "runs", "tiny", "counting", 0).stat().st_mtime_ns == stamp
    more = run(tmp_path, {"counting": Counting()}, seeds=(0, 1, 2))
    assert more[:2] == first
    assert Counting.lessons == lessons * 3 // 2


def test_the_record_of_another_run_stops_the_campaign_before_anything_is_run(tmp_path):
    run(tmp_path, {"x": Online(step=0.1)})
    lessons = Counting.lessons
    with pytest.raises(ValueError, match="Got parameters"):
        run(tmp_path, {"new": Counting(), "x": Online(step=0.2)})
    assert Counting.lessons == lessons
    assert len(load_runs(tmp_path / "runs")) == 2


@pytest.mark.slow
def test_orders_and_splits_are_repeated_under_the_name_of_the_stream(tmp_path):
    stream = multiplier_stream("rand", seed=1, n_rows=60, name="few-rows")
    results = run(tmp_path, {"a": Online()}, seeds=(0, 1), streams=(stream,), orders=(3, 4), splits=(5,))
    names = [(r.stream, r.seed, r.order_seed, r.split_seed) for r in results]
    assert names == [(stream.card.name, seed, order, 5) for seed in (0, 1) for order in (3, 4)]
    varied = resplit_rows(reordered_tasks(stream, seed=3), seed=5)
    alone = evaluate(Online(), varied, seed=0, energy="none")
    assert results[0].stream_sha256 == varied.card.data_sha256
    assert (results[0].order, results[0].scores) == (alone.order, alone.scores)
    assert sorted(results, key=str) == sorted(load_runs(tmp_path / "runs"), key=str)
    assert (tmp_path / "runs" / "runs" / file_name(stream.card.name) / "a-seed0-order3-split5.json").exists()
    assert {stream.card.name, varied.card.name} <= load_cards(tmp_path / "runs").keys()
    told = []
    run(tmp_path, {"a": Online()}, streams=(stream,), orders=(3, 4), splits=(5,), progress=told.append)
    assert [one.state for one in told] == ["kept"] * 4
    with pytest.raises(ValueError, match="must hold one task to be moved"):
        run(tmp_path, {"a": Online()}, orders=(1,))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "..",
        "Tiny",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("x" * 300, "\N{CJK UNIFIED IDEOGRAPH-6D41}", "CON", 'a<>:"|?*/b', "tiny")
        ),
    ],
)
def test_streams_and_strategies_of_any_name_keep_records_that_are_found_again(tmp_path, name):
    strategies = {name: Online(), f"{name}/": Online(), "a b": Online(), "a_b": Online()}
    one, other = (make_stream(sizes=(5, 4, 6, 3), name=title) for title in (name, "TINY"))
    results = run(tmp_path, strategies, seeds=(0,), streams=(one, other))
    expected = [(stream, strategy) for stream in (name, "TINY") for strategy in strategies]
    assert [(result.stream, result.strategy) for result in results] == expected
    assert sorted(results, key=str) == sorted(load_runs(tmp_path / "runs"), key=str)
    assert load_cards(tmp_path / "runs").keys() == {name, "TINY"}
    told = []
    run(tmp_path, strategies, seeds=(0,), streams=(one,), progress=told.append)
    assert [report.state for report in told] == ["kept"] * 4


def test_a_start_removes_what_killed_processes_left(tmp_path):
    run(tmp_path, {"a": Online()})
    left = run_path(tmp_path / "runs", "tiny", "a", 0).with_name(".a-seed0.json.12345678.part")
    left.touch()
    os.utime(left, (0, 0))
    run(tmp_path, {"a": Online()})
    assert not left.exists()


def test_progress_tells_rows_and_runs(tmp_path):
    told = []
    run(tmp_path, {"online": Online()}, chunk_size=40, progress=told.append)
    assert [report.state for report in told].count("done") == 2
    assert (told[-1].n_runs_ended, told[-1].n_runs) == (2, 2)
    rows = [report.n_rows_done for report in told if report.seed == 1]
    assert rows == sorted(rows)
    assert rows[-1] == told[-1].n_rows == 80


@pytest.mark.slow
def test_a_full_disk_ends_the_campaign_with_one_message_and_what_is_recorded_stays(tmp_path, monkeypatch):
    whole = run(tmp_path / "whole", {"a": Online()}, seeds=range(3))
    real, records = Path.write_text, []

    def write_until_full(path, text, *args, **kwargs):
        records.extend([path] if path.name.startswith(".a-seed") else [])
        if len(records) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, text, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", write_until_full)
    with pytest.raises(OSError, match=r"No space left on device.*a-seed2.json"):
        run(tmp_path / "full", {"a": Online()}, seeds=range(3))
    monkeypatch.undo()
    left = load_runs(tmp_path / "full" / "runs")
    assert len(left) == 2
    resumed = run(tmp_path / "full", {"a": Online()}, seeds=range(3))
    assert resumed[:2] == left
    assert without_measures(resumed) == without_measures(whole)


def forbid_writing(folder, monkeypatch):
    """Take the permission to write in a folder; root, who needs none, is refused by a stand-in of the system's call."""
    folder.chmod(0o555)
    if not os.access(folder, os.W_OK):
        return
    real = os.open

    def open_elsewhere(path, flags, *args, **kwargs):
        if flags & os.O_CREAT and Path(path).parent == folder:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", open_elsewhere)


@pytest.mark.slow
def test_a_lost_permission_ends_the_campaign_with_one_message_and_what_is_recorded_stays(tmp_path, monkeypatch):
    whole = run(tmp_path / "whole", {"a": Online()}, seeds=range(4))
    recorded = run(tmp_path / "closed", {"a": Online()})
    folder = run_path(tmp_path / "closed" / "runs", "tiny", "a", 0).parent
    forbid_writing(folder, monkeypatch)
    with pytest.raises(PermissionError, match=r"Permission denied.*a-seed2.json'$"):
        run(tmp_path / "closed", {"a": Online()}, seeds=range(4))
    monkeypatch.undo()
    folder.chmod(0o755)
    assert load_runs(tmp_path / "closed" / "runs") == recorded
    assert not list((tmp_path / "closed").rglob("*.part"))
    assert not list((tmp_path / "closed" / "runs" / "running").rglob("*.json"))
    resumed = run(tmp_path / "closed", {"a": Online()}, seeds=range(4))
    assert resumed[:2] == recorded
    assert without_measures(resumed) == without_measures(whole)


def test_a_folder_that_cannot_be_written_is_one_message(tmp_path):
    (tmp_path / "runs").touch()
    with pytest.raises(OSError, match="runs"):
        run(tmp_path, {"a": Online()})


@pytest.mark.slow
def test_processes_give_the_records_of_a_single_one(tmp_path):
    strategies = {"a": Online(), "b": Targeted(), "c": Failing(__file__)}
    serial = run(tmp_path / "serial", strategies)
    states = []
    parallel = run(tmp_path / "parallel", strategies, n_jobs=2, progress=lambda told: states.append(told.state))
    for one, two in zip(without_measures(serial), without_measures(parallel), strict=True):
        one["error"], two["error"] = (record["error"] and record["error"].splitlines()[-1] for record in (one, two))
        assert one == two
    assert sorted(state for state in states if state != "running") == ["done"] * 4 + ["failed"] * 2


def test_processes_that_started_in_another_folder_write_to_the_one_of_the_caller(tmp_path, monkeypatch):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        run_campaign({name: Online()}, [STREAM], [0], "results", energy="none", n_jobs=2)
        assert [one.strategy for one in load_runs(tmp_path / name / "results")] == [name]


def test_no_processes_are_refused_before_anything_is_made(tmp_path):
    with pytest.raises(ValueError, match="n_jobs must be a number of processes"):
        run(tmp_path, {"a": Online()}, n_jobs=0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("backend", ["threading", "sequential", "multiprocessing", "nonsense"])
def test_other_backends_than_those_that_work_are_refused(backend, tmp_path):
    with pytest.raises(
        ValueError, match=rf"backend must be one of loky, or dask= an address.* Got '{backend}' instead"
    ):
        run(tmp_path, {"a": Online()}, backend=backend)


KILLED = """
import os, signal, sys
from pathlib import Path
from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.search import Search
from tests.mlstream.evaluation.streams import Online, make_stream

folder, n_records = Path(sys.argv[1]), int(sys.argv[2])

class Killed(Online):
    def partial_fit(self, X, Y):
        if len(list(folder.glob("runs/*/*.json"))) >= n_records:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().partial_fit(X, Y)

strategies = {"slow": Killed(), "searched": Search(Killed(), {"step": [0.1, 0.5, 2.0]})}
run_campaign(strategies, [make_stream()], range(2), folder, energy="none")
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_records", [1, 3])
def test_a_campaign_that_was_killed_ends_with_the_records_of_one_that_was_not(tmp_path, n_records):
    killed = tmp_path / "killed" / "runs"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED, str(killed), str(n_records)]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    left = load_runs(killed)
    assert len(left) == n_records
    # The class of the killed process was called Killed; its parameters, and so its records, are those of Online.
    strategies = {"slow": Online(), "searched": Search(Online(), {"step": [0.1, 0.5, 2.0]})}
    resumed = run(tmp_path / "killed", strategies)
    whole = run(tmp_path / "whole", strategies)
    assert all(one in resumed for one in left)
    for one, two in zip(without_measures(resumed), without_measures(whole), strict=True):
        assert {k: v for k, v in one.items() if k != "estimator"} == {k: v for k, v in two.items() if k != "estimator"}
    assert np.isfinite([result.scores["acc"] for result in resumed]).all()


@pytest.mark.slow
def test_two_commands_on_one_folder_end_with_the_records_of_one(tmp_path):
    save(make_stream(), tmp_path / "tiny.npz")
    names = ["last_class", "mean", "prior_distribution", "1NN"]
    lines = [f"strategies = {names}", "seeds = [0, 1, 2]", 'streams = ["tiny.npz"]', 'energy = "none"']
    file = tmp_path / "campaign.toml"
    file.write_text("\n".join(lines).replace("'", '"'))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def start(folder):
        command = [sys.executable, "-m", "mlstream", "run", str(file), "--output", str(tmp_path / folder)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    for process in [start("both"), start("both"), start("alone")]:
        # The first command in a new checkout says that it compiles.
        errors = [line for line in process.communicate()[1].splitlines() if not line.startswith("Compiling kernels")]
        assert errors == []
        assert process.returncode == 0
    both, alone = (load_runs(tmp_path / name) for name in ("both", "alone"))
    assert without_measures(both) == without_measures(alone)
    assert len(both) == 12
    assert not list((tmp_path / "both").rglob("*.part"))
    assert not list((tmp_path / "both" / "running").rglob("*.json"))


def test_a_campaign_that_cannot_measure_energy_ends_before_its_first_run(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "codecarbon", None)
    with pytest.raises(ModuleNotFoundError, match="energy='codecarbon' needs the module codecarbon: pip install"):
        run_campaign({"a": Online()}, [STREAM], [0], tmp_path)
    assert not list(tmp_path.iterdir())
