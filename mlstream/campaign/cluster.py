"""Jobs run on a Dask cluster, whose workers see no file of the campaign: streams are sent, and records come back."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

from distributed import Client, KilledWorker, as_completed, get_worker
from distributed.comm import CommClosedError
from distributed.protocol.pickle import dumps, loads

from mlstream.campaign.executors import (
    PROCESS_DIED,
    Ended,
    Measured,
    largest_first,
    record_failure,
    run_job,
    write_record,
)
from mlstream.campaign.job import Job
from mlstream.campaign.progress_files import (
    UPDATE_INTERVAL_S,
    Progress,
    read_ledger,
    remove_progress,
    worker_name,
    write_progress,
)
from mlstream.evaluation.cpu_ledger import CpuLedger
from mlstream.evaluation.provenance import installed_versions
from mlstream.evaluation.run import RowProgress
from mlstream.records.run_result import RunResult
from mlstream.records.selection_record import Selection
from mlstream.streams.stream import Stream

_TOPIC = "mlstream-progress"
_WAIT_S = 60
# As often as Dask itself tries a task whose worker dies.
_MOST_LOSSES = 4
_NO_SCHEDULER = (
    "The Dask scheduler at {address} must stay up until all runs have ended. It stopped responding with {n_left} of "
    "them to do. Start it and its workers, then the same command again: runs with a record are kept."
)


class _Check(NamedTuple):
    """Inventory of a worker: versions of packages, and errors of learners that it cannot load, by strategy."""

    versions: Mapping[str, str]
    errors: Mapping[str, str]


def run_on_cluster(jobs: Sequence[Job], address: str) -> Ended:
    """Run jobs on the Dask cluster of a scheduler, such as ``tcp://127.0.0.1:8786``, and yield each as it ends.

    Streams are sent once, to all workers; each record comes back when its run ends, and is written here. A stream that
    was lost with the last worker that held it is sent again. Jobs of a worker that dies go to another one; a job that
    kills several workers is recorded as failed.

    Raises ImportError without Dask; OSError if no scheduler or no worker responds, or the scheduler ends before the
    jobs do; ValueError if a worker runs several jobs at a time, so that their times could not be separated, has other
    packages than this process, or cannot load a learner.
    """
    if not jobs:
        return
    waiting, losses = {job.path: job for job in largest_first(jobs)}, Counter[Path]()
    with _quiet_logs(), _connect(address) as client:
        _require_workers(client, address, jobs)
        while waiting:
            lost = []
            with _showing_progress(client, waiting):
                for job, outcome in _run_once(client, list(waiting.values())):
                    if outcome is None:
                        lost.append(job)
                        continue
                    del waiting[job.path]
                    remove_progress(job.progress_path)
                    yield job, *outcome
                begun = [job for job in lost if job.progress_path.exists()]
            if lost and client.status != "running":
                raise ConnectionError(_NO_SCHEDULER.format(address=address, n_left=len(waiting)))
            for job in begun or lost:
                losses[job.path] += 1
                if losses[job.path] == _MOST_LOSSES:
                    del waiting[job.path]
                    yield job, record_failure(job, PROCESS_DIED), None


def _run_once(client: Client, jobs: Sequence[Job]) -> Iterator[tuple[Job, Measured | None]]:
    """Submit jobs, and yield each with its record; None if it was lost with the last worker that held its stream."""
    distinct = {job.stream_key: job for job in jobs}
    streams = {key: client.scatter(job.stream, broadcast=True, hash=False) for key, job in distinct.items()}
    futures = {}
    for job in jobs:
        parcel = replace(job, given=cast(Any, None), repeat=None)
        task = client.submit(_run_here, parcel, streams[job.stream_key], job.find_selection(), pure=False)
        futures[task] = job
    for future in as_completed(futures):
        job = futures[future]
        try:
            record, cpu = future.result()
            yield job, (_keep(record, job), cpu)
        except KilledWorker:
            yield job, (record_failure(job, PROCESS_DIED), None)
        except CancelledError:
            yield job, None


def _keep(record: RunResult, job: Job) -> RunResult:
    """Write a record that came back, and the choice of its configuration."""
    if record.selection is not None:
        job.keep(record.selection)
    return write_record(record, job)


def _run_here(parcel: Job, stream: Stream, selection: Selection | None) -> Measured:
    """Run a job in this worker, in a folder of its own that is gone afterwards."""
    with CpuLedger() as ledger, TemporaryDirectory(prefix="mlstream-") as folder:
        job = replace(parcel, given=stream, directory=Path(folder))
        if selection is not None:
            job.keep(selection)
        record = run_job(job, _progress_sender(str(parcel.progress_path), stream.n_samples))
    return record, read_ledger(ledger)


def _progress_sender(run: str, n_rows: int) -> RowProgress:
    """Return a function that sends the progress of a run to the client, twice a second at most, beginning now."""
    worker, sent = get_worker(), time.monotonic()
    worker.log_event(_TOPIC, [run, worker_name(), 0, n_rows])

    def send(n_rows_done: int, _n_rows: int) -> None:
        nonlocal sent
        if time.monotonic() - sent > UPDATE_INTERVAL_S:
            sent = time.monotonic()
            worker.log_event(_TOPIC, [run, worker_name(), n_rows_done, n_rows])

    return send


@contextmanager
def _showing_progress(client: Client, waiting: Mapping[Path, Job]) -> Iterator[None]:
    """Write the progress that workers send to the files from which it is shown, as other processes do themselves."""
    paths = {str(job.progress_path): job for job in waiting.values()}

    def receive(event: tuple[float, tuple[str, str, int, int]]) -> None:
        run, worker, n_rows_done, n_rows = event[1]
        # Events of other campaigns on the cluster come too, and some come late.
        if run in paths and paths[run].path in waiting:
            write_progress(paths[run].progress_path, Progress(worker, n_rows_done, n_rows))

    client.subscribe_topic(_TOPIC, receive)
    try:
        yield
    finally:
        client.unsubscribe_topic(_TOPIC)
        for path in paths:
            remove_progress(Path(path))


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Keep Dask's log from printing tracebacks of what ends in an error of one line."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _connect(address: str) -> Iterator[Client]:
    try:
        client = Client(address)
    except OSError as error:
        raise OSError(
            f"A Dask scheduler must respond at {address}: start it with `dask scheduler`. Got: {error}."
        ) from None
    with client:
        yield client


def _require_workers(client: Client, address: str, jobs: Sequence[Job]) -> None:
    """Raise an error if there is no worker, or if one could not make the records that this process would."""
    try:
        client.wait_for_workers(1, timeout=_WAIT_S)
    except TimeoutError:
        raise TimeoutError(
            f"A Dask worker must be connected to {address}. None came within {_WAIT_S} s; start one: "
            f"dask worker {address} --nthreads 1."
        ) from None
    threads = {name: worker["nthreads"] for name, worker in client.scheduler_info(n_workers=-1)["workers"].items()}
    several = [name for name, number in threads.items() if number != 1]
    if several:
        raise ValueError(
            f"Every Dask worker must have one thread (dask worker --nthreads 1): time is measured by process. "
            f"Got {threads[several[0]]} at {several[0]}."
        )
    learners = {job.strategy: job.learner for job in jobs}
    pickled = dict(zip(learners, map(dumps, learners.values()), strict=True))
    for name, check in client.run(_check_worker, pickled, on_error="return").items():
        # One that has gone meanwhile gets no job.
        lacking = "" if isinstance(check, CommClosedError) else _describe_lack(check)
        if lacking:
            raise ValueError(f"Dask worker {name} must have what this process has. Got {lacking}. Install it there.")


def _check_worker(learners: Mapping[str, bytes]) -> _Check:
    """Return what the worker has in which this is called."""
    return _Check(installed_versions(), {name: error for name, one in learners.items() if (error := _try(loads, one))})


def _try(loads: Callable[[bytes], object], pickled: bytes) -> str:
    try:
        loads(pickled)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _describe_lack(check: _Check | BaseException) -> str:
    """Return what a worker lacks or has in another version, in words; empty if it has everything."""
    if isinstance(check, BaseException):
        # What cannot be loaded there comes back as the words of its error.
        return str(check) if type(check) is Exception else f"{type(check).__name__}: {check}"
    own, theirs = installed_versions(), check.versions
    others = [
        f"{package} {theirs[package]} instead of {version}" if package in theirs else f"no {package}"
        for package, version in own.items()
        if not _same(package, theirs.get(package, ""), version)
    ]
    return ", ".join([*others, *(f"the learner of {name} fails there: {text}" for name, text in check.errors.items())])


def _same(package: str, version: str, other: str) -> bool:
    """Return whether two versions give the same records: of Python, the last number does not count."""
    if package == "python":
        return version.rpartition(".")[0] == other.rpartition(".")[0]
    return version == other
