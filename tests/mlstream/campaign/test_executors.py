"""One process or several: the same records; and a process that dies takes nothing with it."""

import os
import signal
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from mlstream import Dataset, task_stream
from mlstream.campaign import executors
from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.executors import largest_first, n_cells, record_failure, run_job
from mlstream.campaign.planning import plan_jobs
from mlstream.campaign.search import Search
from mlstream.evaluation.settings import CampaignOptions, Settings
from mlstream.generators import multiplier_stream
from mlstream.records.run_record import load_run, load_selection, save_run
from mlstream.records.run_result import RunResult
from tests.mlstream.evaluation.streams import Online, make_stream

STREAM = multiplier_stream("rand", seed=1, n_rows=60, name="small")


class Deadly(Online):
    """Kills its own process at its n-th lesson, as long as a file is there."""

    def __init__(self, flag="absent", at=10):
        super().__init__()
        self.flag = flag
        self.at = at

    def partial_fit(self, X, Y):
        self.n_ = getattr(self, "n_", 0) + 1
        if self.n_ == self.at and Path(self.flag).exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().partial_fit(X, Y)


class Slow(Online):
    """Takes its time."""

    def partial_fit(self, X, Y):
        time.sleep(0.01)
        return super().partial_fit(X, Y)


def test_jobs_on_large_streams_begin_first():
    sizes = {"a": 60, "b": 300, "c": 60, "d": 120}
    streams = [multiplier_stream("rand", seed=1, n_rows=n_rows, name=name) for name, n_rows in sizes.items()]
    jobs = [SimpleNamespace(given=stream, number=number) for number in range(2) for stream in streams]
    order = [(job.given.card.name, job.number) for job in largest_first(jobs)]
    assert order == [*(("b", n) for n in (0, 1)), *(("d", n) for n in (0, 1)), ("a", 0), ("c", 0), ("a", 1), ("c", 1)]


def test_sparse_rows_count_what_they_store():
    dense = make_stream()
    X = np.eye(40)
    Y = np.tile(np.eye(2, dtype=np.uint8), (20, 1))
    table = Dataset(sparse.csr_array(X), Y, name="t")
    stream = task_stream(table, n_tasks=1)
    n_rows = sum(len(part) for part in stream)
    assert n_cells(stream) == n_rows * (1 + 2)
    assert n_cells(dense) == sum(len(part) * (part.X.shape[1] + part.Y.shape[1]) for part in dense)


def records(results):
    """Give records without what was measured: times, of trials too."""
    times = {"wall_time_s", "cpu_time_s"}
    return [
        result.model_dump(exclude={"resources": True, "selection": {"trials": {"__all__": times}}})
        for result in results
    ]


@pytest.mark.slow
def test_a_run_that_kills_its_process_fails_and_the_others_end(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    strategies = {"deadly": Deadly(str(flag)), "slow": Slow()}
    deadly, slow = run_campaign(strategies, [make_stream()], [0], tmp_path / "runs", energy="none", n_jobs=2)
    assert (deadly.status, slow.status) == ("failed", "done")
    assert "died" in deadly.error
    assert not list((tmp_path / "runs" / "running").rglob("*.json"))
    alone = run_campaign({"slow": Slow()}, [make_stream()], [0], tmp_path / "alone", energy="none")
    assert records(alone) == records([slow])
    flag.unlink()
    again = run_campaign(strategies, [make_stream()], [0], tmp_path / "runs", energy="none")
    assert {result.status for result in again} == {"done"}


@pytest.mark.slow
def test_other_processes_tell_how_far_they_are(tmp_path):
    told = []
    run_campaign({"s": Slow()}, [STREAM], [0, 1], tmp_path, energy="none", n_jobs=2, chunk_size=5, progress=told.append)
    running = [one for one in told if one.state == "running"]
    assert len({one.worker for one in running}) == 2
    assert all(0 <= one.n_rows_done <= one.n_rows == STREAM.n_samples for one in running)
    assert [one.state for one in told].count("done") == 2


@pytest.mark.slow
def test_an_interrupt_leaves_no_progress_of_processes(tmp_path):
    def interrupt(event):
        if event.state == "done":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_campaign({"s": Slow()}, [STREAM], [0, 1, 2, 3], tmp_path, energy="none", n_jobs=2, progress=interrupt)
    assert list((tmp_path / "runs").rglob("*.json"))
    assert not [path for path in (tmp_path / "running").rglob("*") if path.is_file()]


def test_an_interrupt_of_a_run_alone_leaves_no_progress(tmp_path, monkeypatch):
    def die(jobs, *_options):
        yield from ()
        raise BrokenProcessPool

    def begin_and_stop(job, _backend):
        job.progress_path.parent.mkdir(parents=True)
        job.progress_path.write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr(executors, "_in_pool", die)
    monkeypatch.setattr(executors, "_run_alone", begin_and_stop)
    with pytest.raises(KeyboardInterrupt):
        run_campaign({"s": Slow()}, [STREAM], [0], tmp_path, energy="none", n_jobs=2)
    assert not [path for path in (tmp_path / "running").rglob("*") if path.is_file()]


class Wrong(Online):
    """Predictions with a column too few."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1:]


class Absent(Online):
    """Predictions NaN."""

    def predict_proba(self, X):
        return super().predict_proba(X) * float("nan")


class Unreadable(Online):
    """Fails with a text that no file holds."""

    def partial_fit(self, X, Y):
        raise ValueError("y\udcff")


class Ending(Online):
    """Ends its process."""

    def partial_fit(self, X, Y):
        raise SystemExit(3)


class Overtaken(Online):
    """Fails, or not, after another process has recorded the same run."""

    def __init__(self, folder="", fails=True, step=0.5, random_state=None):
        super().__init__(step, random_state)
        self.folder = folder
        self.fails = fails

    def partial_fit(self, X, Y):
        (job,) = plan_jobs({"a": self}, [make_stream()], Path(self.folder), CampaignOptions(), Settings(energy="none"))
        if not job.path.exists():
            save_run(RunResult(**job.describe() | {"status": "done", "scores": {"acc": 0.125}}), self.folder)
        if self.fails:
            raise ArithmeticError("too late")
        return super().partial_fit(X, Y)


def job_of(estimator, tmp_path):
    return plan_jobs({"a": estimator}, [make_stream()], tmp_path, CampaignOptions(), Settings(energy="none"))[0]


def test_a_job_is_recorded_under_its_own_name_and_its_mark_goes(tmp_path):
    job, seen = job_of(Online(), tmp_path), []
    record = run_job(job, lambda met, n_rows: seen.append((met, job.progress_path.exists())))
    assert load_run(job.path) == record
    assert (record.strategy, record.status) == ("a", "done")
    assert seen[-1] == (80, True)
    assert not job.progress_path.exists()


def test_wrong_answers_are_failures_that_say_what_was_wrong(tmp_path):
    for estimator, message in ((Wrong(), "Wrong"), (Absent(), "Absent"), (Unreadable(), "y\\udcff")):
        record = run_job(job_of(estimator, tmp_path))
        assert record.status == "failed"
        assert message in record.error.splitlines()[-1]
        assert "Traceback" in record.error


def test_a_learner_that_ends_its_process_is_a_failure(tmp_path):
    record = run_job(job_of(Ending(), tmp_path))
    assert record.status == "failed"
    assert record.error.splitlines()[-1] == "SystemExit: 3"


def test_what_another_process_recorded_first_counts(tmp_path):
    for fails in (True, False):
        folder = tmp_path / str(fails)
        job = job_of(Overtaken(str(folder), fails), folder)
        record = run_job(job)
        assert (record.status, record.scores) == ("done", {"acc": 0.125})
        assert load_run(job.path) == record


def test_a_configuration_that_another_process_chose_first_is_used(tmp_path, monkeypatch):
    (job,) = plan_jobs(
        {"a": Search(Online(), {"step": [0.1, 0.5]})},
        [make_stream()],
        tmp_path,
        CampaignOptions(),
        Settings(energy="none"),
    )
    mine, theirs = (job.select().model_copy(update={"chosen": chosen}) for chosen in (0, 1))
    written = job.find_selection
    (path,) = (tmp_path / "selections").rglob("*.json")
    record = load_selection(path).model_copy(update={"selection": theirs})
    path.unlink()

    def choose_late(*arguments):
        path.write_text(record.model_dump_json())
        return mine

    monkeypatch.setattr("mlstream.campaign.job.choose", choose_late)
    assert job.select() == theirs == written()


def test_a_failure_from_outside_is_recorded(tmp_path):
    job = job_of(Online(), tmp_path)
    assert record_failure(job, "why") == load_run(job.path)
    assert load_run(job.path).error == "why"
