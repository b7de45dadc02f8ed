"""Jobs run one after the other, or in processes; each is recorded as soon as it ends, whatever comes of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from mlstream.protocol.continual import evaluate
from mlstream.protocol.jobs import Job
from mlstream.protocol.learners import warm_up
from mlstream.protocol.results import RunResult, save_run
from mlstream.protocol.run import RowProgress
from mlstream.protocol.selection import select_cost
from mlstream.protocol.trials import Selection

Ended = Iterator[tuple[Job, RunResult]]


def run_serially(jobs: Sequence[Job], listen: Callable[[Job], RowProgress | None]) -> Ended:
    """Run jobs in this process and give each with its record.

    Parameters
    ----------
    jobs : sequence of Job
        The jobs.
    listen : callable
        Gives what hears of the rows of a job.

    Yields
    ------
    job, record
        In the order of the jobs.
    """
    for job in jobs:
        yield job, run_job(job, listen(job))


def run_in_processes(jobs: Sequence[Job], n_jobs: int, backend: str) -> Ended:
    """Run jobs in processes of this machine and give each with its record, in the order in which they end."""
    threads = {"inner_max_num_threads": 1} if backend == "loky" else {}
    with parallel_config(backend=backend, n_jobs=n_jobs, **threads):
        # Large arrays reach the workers as memory maps; writable ones, which compiled code takes for plain arrays.
        ended = Parallel(return_as="generator_unordered", mmap_mode="c")(
            delayed(_run_numbered)(number, job) for number, job in enumerate(jobs)
        )
        for number, record in ended:
            yield jobs[number], record


def run_job(job: Job, progress: RowProgress | None = None) -> RunResult:
    """Run a job and record it: a failure with its traceback.

    Parameters
    ----------
    job : Job
        The job.
    progress : callable, optional
        Called with the number of rows met and the number of rows of the stream.

    Returns
    -------
    RunResult
        The record, which is in its file too.
    """
    selection = None
    try:
        with threadpool_limits(limits=1):
            selection = job.select()
            estimator = job.configure(selection)
            warm_up(estimator, job.stream)
            result = evaluate(estimator, job.stream, seed=job.repetition.seed, progress=progress, **job.options)
    except Exception:
        result = RunResult(**job.describe(selection), status="failed", error=traceback.format_exc())
    result = _complete(result, job, selection)
    # A record that is there already is that of a failure: see Job.find_record.
    save_run(result, job.directory, overwrite=True)
    return result


def _run_numbered(number: int, job: Job) -> tuple[int, RunResult]:
    return number, run_job(job)


def _complete(result: RunResult, job: Job, selection: Selection | None) -> RunResult:
    """Add what the evaluation does not know: names, the order and split, and how the configuration was chosen."""
    resources = result.resources
    if selection is not None and resources is not None:
        resources = resources.model_copy(update={"phases": {"select": select_cost(selection)} | resources.phases})
    return result.model_copy(update=job.labels | {"selection": selection, "resources": resources})
