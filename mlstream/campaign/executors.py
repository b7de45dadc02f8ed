"""Jobs run and recorded, serially or in processes of this machine, with the same records."""

from __future__ import annotations

import multiprocessing.resource_tracker
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from mlstream.campaign.job import Job
from mlstream.campaign.progress_files import ProgressFile, RunCpu, read_ledger, remove_progress
from mlstream.campaign.search import select_cost
from mlstream.evaluation.cpu_ledger import CpuLedger, cpu_part
from mlstream.evaluation.evaluate import UndefinedCellsWarning, evaluate
from mlstream.evaluation.run import RowProgress
from mlstream.evaluation.warm_up import warm_up
from mlstream.records.run_record import save_run
from mlstream.records.run_result import RunResult
from mlstream.records.selection_record import Selection
from mlstream.streams.stream import Stream

Measured = tuple[RunResult, RunCpu | None]
Ended = Iterator[tuple[Job, RunResult, RunCpu | None]]

PROCESS_DIED = (
    "The process of this run died: killed by the system (out of memory, for example), or by the learner's own code."
)
try:
    from joblib.externals.loky.backend import resource_tracker as loky_tracker
except ImportError:  # not public: without it, processes may print a traceback each at Ctrl-C
    loky_tracker = None

# Where the process that started them is killed, those that wait for a job end after this time.
_IDLE_S = 20

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_serially(jobs: Sequence[Job], row_callback: Callable[[Job], RowProgress | None]) -> Ended:
    """Run jobs in this process, one after the other, and yield each with its record and CPU time.

    `row_callback` returns the function to call with the progress of a job.
    """
    for job in jobs:
        yield job, *_run_unless_recorded(job, row_callback(job))


def run_in_processes(jobs: Sequence[Job], n_jobs: int, backend: str) -> Ended:
    """Run jobs in processes of this machine, and yield each with its record and CPU time as it ends.

    Jobs on large streams begin first, so that at the end no process waits long for another. When a process dies, the
    unfinished runs are started again, each alone: a run that kills its process again is recorded as failed, without a
    CPU time, and the others go on. `n_jobs` is -1 for as many as there are cores; `backend` is one of joblib.
    """
    try:
        yield from _run_until_done(jobs, n_jobs, backend)
    finally:
        # Processes that are ended, as by Ctrl-C, leave what they have told.
        for job in jobs:
            remove_progress(job.progress_path)


def _run_until_done(jobs: Sequence[Job], n_jobs: int, backend: str) -> Ended:
    waiting = {job.path: job for job in largest_first(jobs)}
    while waiting:
        try:
            for job, record, cpu in _in_pool(list(waiting.values()), n_jobs, backend):
                del waiting[job.path]
                yield job, record, cpu
        except BrokenProcessPool:
            for job in [job for job in waiting.values() if job.progress_path.exists()] or list(waiting.values()):
                del waiting[job.path]
                yield job, *_run_alone(job, backend)


def largest_first(jobs: Sequence[Job]) -> list[Job]:
    """Sort jobs by the numbers in their streams, most first; those on one stream stay in their order."""
    return sorted(jobs, key=lambda job: n_cells(job.given), reverse=True)


def n_cells(stream: Stream) -> int:
    """Return the number of features and labels in the rows to learn; of sparse rows, those that are stored."""
    return sum(part.X.size + part.Y.size for part in stream)


def _in_pool(jobs: Sequence[Job], n_jobs: int, backend: str) -> Ended:
    # Runs one by one: several in a batch would be sent back, and followed, by the last of them.
    for number, measured in call_in_processes(_run_unless_recorded, jobs, n_jobs, backend, batch_size=1):
        yield jobs[number], *measured


def _run_alone(job: Job, backend: str) -> Measured:
    try:
        # With one process, joblib would run a single job in this one.
        _, record, cpu = next(_in_pool([job], 2, backend))
    except BrokenProcessPool:
        remove_progress(job.progress_path)
        return record_failure(job, PROCESS_DIED), None
    return record, cpu


def _run_unless_recorded(job: Job, progress: RowProgress | None = None) -> Measured:
    with CpuLedger() as ledger:
        # The job may have been recorded just before its process died, or by another process in the same folder.
        with cpu_part("records"):
            record = job.find_record()
        if record is None:
            record = run_job(job, progress)
    return record, read_ledger(ledger)


def call_in_processes(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int, backend: str, **options: Any
) -> Iterator[tuple[int, Result]]:
    """Call a function with each item, in processes with one thread each; yield place and result of each as it ends.

    `n_jobs` is -1 for as many as there are cores; `options` are those of `joblib.Parallel`.
    """
    calls = (delayed(_call_numbered)(function, number, item) for number, item in enumerate(items))
    with parallel_config(backend=backend, n_jobs=n_jobs, inner_max_num_threads=1, idle_worker_timeout=_IDLE_S):
        with _uninterrupted_starts():
            # Large arrays reach the workers as memory maps; writable ones, which compiled code takes for plain arrays.
            ended = Parallel(return_as="generator_unordered", mmap_mode="c", **options)(calls)
        yield from ended


def _call_numbered(function: Callable[[Item], Result], number: int, item: Item) -> tuple[int, Result]:
    return number, function(item)


@contextmanager
def _uninterrupted_starts() -> Iterator[None]:
    """Hold Ctrl-C back in the block, and for ever in processes that are started there.

    A terminal sends it to all processes of a command. Those that run jobs are ended by the one that started them; of
    themselves, they would print a traceback each while they begin. Windows knows nothing of the kind.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Where these start first, they let Ctrl-C through again.
    for tracker in filter(None, (multiprocessing.resource_tracker, loky_tracker)):
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_job(job: Job, progress: RowProgress | None = None) -> RunResult:
    """Run a job and record it: a failure with its traceback.

    `progress` is called with the number of rows done and the number of rows of the stream; by default they go to a
    file. If another process recorded the same run first, its record is returned.
    """
    with ProgressFile(job.progress_path, job.stream.n_samples) as file:
        selection = None
        try:
            with threadpool_limits(limits=1):
                selection = job.select()
                estimator, seed = job.configure(selection), job.repetition.seed
                warm_up(estimator, job.stream, job.settings)
                options = asdict(job.settings)
                with warnings.catch_warnings():
                    # The record counts such cells, and the report states it once per stream.
                    warnings.simplefilter("ignore", UndefinedCellsWarning)
                    result = evaluate(estimator, job.stream, seed=seed, progress=progress or file.update, **options)
        except (Exception, SystemExit):
            # A learner's own code that ends its process must not end the campaign.
            return record_failure(job, traceback.format_exc(), selection)
        return _save(result, job, selection)


def record_failure(job: Job, error: str, selection: Selection | None = None) -> RunResult:
    """Record that a job failed, and why."""
    return _save(RunResult(**job.describe(selection), status="failed", error=error), job, selection)


def _save(result: RunResult, job: Job, selection: Selection | None) -> RunResult:
    """Add the names, the order and split, and the choice of the configuration to a record, and write it."""
    with cpu_part("records"):
        resources = result.resources
        if selection is not None and resources is not None:
            resources = resources.model_copy(update={"phases": {"select": select_cost(selection)} | resources.phases})
        fields = job.labels | {"selection": selection, "resources": resources}
        return write_record(result.model_copy(update=fields), job)


def write_record(result: RunResult, job: Job) -> RunResult:
    """Write the record of a job to its file; return that which counts: another process may have made the run first."""
    try:
        save_run(result, job.directory)
    except FileExistsError:
        # Another process in the same folder was first, and its record counts.
        return job.find_record() or result
    return result
