"""One process, several, or a cluster: the same records; and a process that dies takes nothing with it."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from mlstream import Dataset, task_stream
from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.executors import largest_first, n_cells
from mlstream.campaign.search import Search
from mlstream.generators import multiplier_stream
from mlstream.records.run_record import load_runs
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


class DeadlyOnce(Online):
    """Kills its own process at a lesson, if it can remove a file first."""

    def __init__(self, step=0.5, random_state=None, flag="absent"):
        super().__init__(step, random_state)
        self.flag = flag

    def partial_fit(self, X, Y):
        with suppress(FileNotFoundError):
            Path(self.flag).unlink()
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
    jobs = [SimpleNamespace(stream=stream, number=number) for number in range(2) for stream in streams]
    order = [(job.stream.card.name, job.number) for job in largest_first(jobs)]
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


@pytest.fixture(scope="module")
def cluster():
    """Start a real scheduler and two workers on this machine."""
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'mlstream[dask]'")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


def within(seconds, call):
    """Give what a call returns, and fail if it hangs."""
    returned = []
    caller = threading.Thread(target=lambda: returned.append(call()), daemon=True)
    caller.start()
    caller.join(seconds)
    assert returned, f"no answer within {seconds} s"
    return returned[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_runs_compiled_learners(cluster, tmp_path):
    strategies = ["NN_TL", "BR_HT", "StreamRidge"]
    asked = {"streams": [STREAM], "seeds": [0], "energy": "none"}
    serial = run_campaign(strategies, directory=tmp_path / "serial", **asked)
    spread = within(
        300, lambda: run_campaign(strategies, directory=tmp_path / "dask", dask=cluster.scheduler_address, **asked)
    )
    assert {result.status for result in serial} == {"done"}
    assert records(spread) == records(serial)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_records_of_one_process_even_if_a_worker_is_killed(cluster, tmp_path):
    searched = Search(Online(), {"step": [0.1, 0.5, 2.0]})
    flag = tmp_path / "flag"
    strategies = {"deadly": DeadlyOnce(flag=str(flag)), "searched": searched}
    asked = {"seeds": [0, 1], "splits": [1], "energy": "none"}
    serial = run_campaign(strategies, [STREAM], directory=tmp_path / "serial", **asked)
    flag.touch()
    spread = run_campaign(strategies, [STREAM], directory=tmp_path / "dask", dask=cluster.scheduler_address, **asked)
    assert not flag.exists()
    assert {result.status for result in serial} == {"done"}
    assert records(spread) == records(serial)
    assert records(load_runs(tmp_path / "dask")) == records(load_runs(tmp_path / "serial"))


@pytest.mark.filterwarnings("ignore")
def test_workers_with_several_threads_are_refused(tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'mlstream[dask]'")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as started,
        pytest.raises(ValueError, match="must have one thread"),
    ):
        run_campaign({"a": Online()}, [STREAM], [0], tmp_path, energy="none", dask=started.scheduler_address)
