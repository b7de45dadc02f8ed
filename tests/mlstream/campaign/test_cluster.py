"""Campaigns on a Dask cluster whose workers see nothing of the folder, and what happens when parts of it die."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.search import Search
from mlstream.generators import multiplier_stream
from mlstream.records.run_record import load_runs
from tests.mlstream.campaign.test_executors import Deadly, Slow, records
from tests.mlstream.evaluation.streams import Online, make_stream

STREAM = multiplier_stream("rand", seed=1, n_rows=60, name="small")
# Python imports this before anything else: the worker may open no file below a folder, nor import some packages.
GUARD = """
import os, sys
hidden, absent = os.environ["HIDDEN"], os.environ["ABSENT"]
sys.modules.update({name: None for name in absent.split()})
def refuse(event, arguments):
    if any(isinstance(one, (str, os.PathLike)) and os.fspath(one).startswith(hidden) for one in arguments):
        raise PermissionError(f"{event} {arguments}")
if hidden:
    sys.addaudithook(refuse)
"""


@pytest.fixture(scope="module", autouse=True)
def distributed():
    return pytest.importorskip("distributed", reason="needs Dask: pip install 'mlstream-toolkit[dask]'")


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


class Cluster:
    """A scheduler and its workers, each in a process of its own, in a folder of their own."""

    def __init__(self, place):
        self._place = place
        (place / "sitecustomize.py").write_text(GUARD)
        self._processes = []
        file = place / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", file)
        self.address = json.loads(self._read(file))["address"]

    def add_worker(self, hidden="", absent="", n_threads=1, path=()):
        """Start a worker that may open no file below a folder."""
        options = ("--nthreads", n_threads, "--local-directory", self._place)
        return self._start("worker", self.address, *options, hidden=hidden, absent=absent, path=path)

    def _start(self, kind, *arguments, hidden="", absent="", path=()):
        paths = [str(self._place), *map(str, path), *sys.path]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "HIDDEN": str(hidden), "ABSENT": absent}
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, arguments), "--no-dashboard"]
        with (self._place / "log.txt").open("ab") as log:
            process = subprocess.Popen(command, cwd=self._place, env=environment, stdout=log, stderr=log)
        self._processes.append(process)
        return process

    def _read(self, file):
        for _ in range(600):
            with suppress(FileNotFoundError, json.JSONDecodeError):
                json.loads(text := file.read_text())
                return text
            time.sleep(0.1)
        raise TimeoutError((self._place / "log.txt").read_text())

    def close(self):
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(30)


@contextmanager
def open_cluster(place):
    place.mkdir()
    cluster = Cluster(place)
    try:
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Start two workers that may not open what lies below the folder of this module's campaigns."""
    with open_cluster(tmp_path_factory.mktemp("cluster") / "place") as started:
        started.hidden = tmp_path_factory.mktemp("hidden")
        for _ in range(2):
            started.add_worker(hidden=started.hidden)
        yield started


def within(seconds, call):
    """Return what a call returns, and fail if it hangs."""
    returned = []
    caller = threading.Thread(target=lambda: returned.append(call()), daemon=True)
    caller.start()
    caller.join(seconds)
    assert returned, f"nothing within {seconds} s"
    return returned[0]


class Answers:
    """A client of two workers, one of which dies while it is asked what it has."""

    def wait_for_workers(self, n_workers, timeout):
        return

    def scheduler_info(self, n_workers):
        return {"workers": {"dead": {"nthreads": 1}, "alive": {"nthreads": 1}}}

    def run(self, check, learners, on_error):
        from distributed.comm import CommClosedError

        return {"dead": CommClosedError("closed"), "alive": check(learners)}


def test_a_worker_may_go_while_it_is_asked_what_it_has(tmp_path):
    from mlstream.campaign.cluster import _require_workers as require_workers

    require_workers(Answers(), "tcp://localhost:1", [])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_workers_of_these_tests_may_not_open_the_folder(cluster, distributed):
    with distributed.Client(cluster.address) as client:
        client.wait_for_workers(2)
        with pytest.raises(PermissionError):
            client.run((cluster.hidden / "file").touch)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_runs_compiled_learners_without_the_folder(cluster, tmp_path):
    strategies = ["NN_TL", "BR_HT", "StreamRidge"]
    asked = {"streams": [STREAM], "seeds": [0], "energy": "none"}
    serial = run_campaign(strategies, directory=tmp_path, **asked)
    spread = within(
        300, lambda: run_campaign(strategies, directory=cluster.hidden / "dask", dask=cluster.address, **asked)
    )
    assert {result.status for result in serial} == {"done"}
    assert records(spread) == records(serial)
    assert records(load_runs(cluster.hidden / "dask")) == records(load_runs(tmp_path))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_workers_that_die_change_no_record(cluster, tmp_path):
    searched = Search(Online(), {"step": [0.1, 0.5, 2.0]})
    flag = tmp_path / "flag"
    strategies = {"deadly": DeadlyOnce(flag=str(flag)), "searched": searched}
    asked = {"seeds": [0, 1], "splits": [1], "energy": "none"}
    serial = run_campaign(strategies, [STREAM], directory=tmp_path / "serial", **asked)
    flag.touch()
    folder = cluster.hidden / "dies"
    spread = run_campaign(strategies, [STREAM], directory=folder, dask=cluster.address, **asked)
    assert not flag.exists()
    assert {result.status for result in serial} == {"done"}
    assert records(spread) == records(serial)
    assert records(load_runs(folder)) == records(load_runs(tmp_path / "serial"))
    # What a search chose is kept as by one process.
    choices = [sorted(path.name for path in place.rglob("*selection*")) for place in (folder, tmp_path / "serial")]
    assert choices[0] == choices[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_stream_that_dies_with_the_only_worker_is_sent_again(tmp_path):
    flag, deadly = tmp_path / "flag", tmp_path / "deadly"
    flag.touch()
    deadly.touch()
    strategies = {"once": DeadlyOnce(flag=str(flag)), "deadly": Deadly(str(deadly)), "slow": Slow()}
    with open_cluster(tmp_path / "place") as started:
        started.add_worker()
        once, failed, slow = within(
            120,
            lambda: run_campaign(
                strategies, [make_stream()], [0], tmp_path / "runs", energy="none", dask=started.address
            ),
        )
    assert (once.status, failed.status, slow.status) == ("done", "failed", "done")
    assert "died" in failed.error


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_progress_comes_from_workers(cluster):
    seen = []
    asked = {"energy": "none", "chunk_size": 5, "dask": cluster.address, "progress": seen.append}
    run_campaign({"s": Slow()}, [STREAM], [0, 1], cluster.hidden / "progress", **asked)
    running = [one for one in seen if one.state == "running"]
    assert running
    assert all(one.worker and 0 <= one.n_rows_done <= one.n_rows == STREAM.n_samples for one in running)
    assert [one.state for one in seen].count("done") == 2
    assert not list((cluster.hidden / "progress" / "running").rglob("*.json"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_dies_loses_no_record(tmp_path):
    strategies = {"fast": Online(), "slow": Slow()}
    asked = {"streams": [STREAM], "seeds": [0, 1, 2], "directory": tmp_path / "runs", "energy": "none"}
    with open_cluster(tmp_path / "place") as started:
        started.add_worker()

        def kill_scheduler(event):
            if event.state == "done":
                started.scheduler.kill()

        with pytest.raises(OSError, match=r"must stay up .* It stopped responding with [1-5] of them to do\. Start it"):
            run_campaign(strategies, dask=started.address, progress=kill_scheduler, **asked)
    kept = records(load_runs(tmp_path / "runs"))
    assert kept
    assert not list((tmp_path / "runs" / "running").rglob("*.json"))
    serial = run_campaign(strategies, [STREAM], [0, 1, 2], tmp_path / "serial", energy="none")
    assert all(record in records(serial) for record in kept)
    assert records(run_campaign(strategies, **asked)) == records(serial)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_threads": 2}, "Every Dask worker must have one thread"),
        (
            {"absent": "mlstream"},
            r"must have what this process has\. Got ModuleNotFoundError.*mlstream.* Install it there",
        ),
        ({"absent": "tests.mlstream.evaluation.streams"}, "the learner of a fails there: ModuleNotFoundError"),
    ],
    ids=["threads", "no mlstream", "no learner"],
)
@pytest.mark.filterwarnings("ignore")
def test_workers_that_lack_something_are_refused_before_any_run(options, message, tmp_path):
    with open_cluster(tmp_path / "place") as started:
        started.add_worker(**options)
        with pytest.raises(ValueError, match=message):
            run_campaign({"a": Online()}, [STREAM], [0], tmp_path / "runs", energy="none", dask=started.address)
    assert not list((tmp_path / "runs").rglob("*seed*"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_workers_with_another_version_are_refused(tmp_path):
    other = tmp_path / "other" / "numpy-1.0.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    with open_cluster(tmp_path / "place") as started:
        started.add_worker(path=[other.parent])
        with pytest.raises(ValueError, match=r"Got numpy 1\.0 instead of \d"):
            run_campaign({"a": Online()}, [STREAM], [0], tmp_path / "runs", energy="none", dask=started.address)


def test_an_address_without_scheduler_is_one_line(tmp_path, monkeypatch):
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(OSError, match=r"A Dask scheduler must respond at tcp://127\.0\.0\.1:1: start it"),
    ):
        run_campaign({"a": Online()}, [STREAM], [0], tmp_path, energy="none", dask="tcp://127.0.0.1:1")
