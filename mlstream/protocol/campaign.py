"""Many runs: strategies on streams with seeds, each recorded as soon as it ends, and none run twice."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from mlstream.protocol.continual import evaluate
from mlstream.protocol.jobs import Job, plan_jobs
from mlstream.protocol.learners import warm_up
from mlstream.protocol.results import RunResult, save_card, save_run
from mlstream.protocol.run import RowProgress
from mlstream.stream import Stream

State = Literal["kept", "running", "done", "capped", "failed"]


class CampaignProgress(NamedTuple):
    """What is told while a campaign goes on.

    Parameters
    ----------
    stream, strategy : str
        The run that this is about.
    seed : int
        Its seed.
    state : {"kept", "running", "done", "capped", "failed"}
        "kept": its record was there already. A run in another process is told of when it ends.
    n_rows_met, n_rows : int
        How far it is.
    n_runs_ended, n_runs : int
        How far the campaign is.
    """

    stream: str
    strategy: str
    seed: int
    state: State
    n_rows_met: int
    n_rows: int
    n_runs_ended: int
    n_runs: int


def run_campaign(
    strategies: Sequence[str] | Mapping[str, Any],
    streams: Sequence[Stream],
    seeds: Sequence[int],
    directory: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    backend: str = "loky",
    progress: Callable[[CampaignProgress], None] | None = None,
    **options: Any,
) -> list[RunResult]:
    """Run every strategy on every stream with every seed, and record each run in a folder.

    A campaign that was stopped, or killed, goes on where it was: runs whose record is there are kept, but for failed
    ones, which are tried again. A run that fails is recorded with its error and stops no other.

    Parameters
    ----------
    strategies : sequence of str, or mapping of str to estimator
        Names of `estimators.strategies`, or estimators by names of your own.
    streams : sequence of Stream
        The streams; their names must differ.
    seeds : sequence of int
        The seeds of the learners.
    directory : path
        The folder of the records and of the cards of the streams; made if absent.
    n_jobs : int
        Number of processes; -1 for as many as there are cores.
    backend : str
        What runs the processes: a backend of joblib.
    progress : callable, optional
        Called with a `CampaignProgress` whenever there is something to tell.
    **options
        Options of `evaluate`, the same for all runs.

    Returns
    -------
    list of RunResult
        All records, those kept included: by stream, then strategy, then seed.

    Raises
    ------
    ValueError
        If a name or the value of an option is unknown, two runs have the same name, or the folder holds the record of
        another run under the name of one of these. Nothing is run then.

    Notes
    -----
    Every run has one thread for linear algebra, whatever `n_jobs`, so that times can be compared, and a clone makes a
    few calls beforehand, so that compilation does not count.
    """
    if backend == "threading":
        raise ValueError("backend must run processes: time and memory are measured by process. Got 'threading'.")
    jobs = plan_jobs(strategies, streams, seeds, Path(directory), options)
    kept = {job.path: record for job in jobs if (record := job.find_record()) is not None}
    for stream in streams:
        save_card(stream.card, directory)
    teller = _Teller(progress, n_runs=len(jobs))
    for record in kept.values():
        teller.tell_end(record, "kept")
    records = dict(kept)
    for job, record in _run_all([job for job in jobs if job.path not in kept], n_jobs, backend, teller):
        records[job.path] = record
        teller.tell_end(record, record.status)
    return [records[job.path] for job in jobs]


def _run_all(jobs: Sequence[Job], n_jobs: int, backend: str, teller: _Teller) -> Iterator[tuple[Job, RunResult]]:
    """Run jobs and give each with its record, in the order in which they end."""
    if n_jobs == 1:
        for job in jobs:
            yield job, _run(job, teller.rows_of(job))
        return
    threads = {"inner_max_num_threads": 1} if backend == "loky" else {}
    with parallel_config(backend=backend, n_jobs=n_jobs, **threads):
        # Large arrays reach the workers as memory maps; writable ones, which compiled code takes for plain arrays.
        ended = Parallel(return_as="generator_unordered", mmap_mode="c")(
            delayed(_run_numbered)(number, job) for number, job in enumerate(jobs)
        )
        for number, record in ended:
            yield jobs[number], record


def _run_numbered(number: int, job: Job) -> tuple[int, RunResult]:
    return number, _run(job, None)


def _run(job: Job, progress: RowProgress | None) -> RunResult:
    """Run a job and record it, whatever comes of it."""
    try:
        with threadpool_limits(limits=1):
            warm_up(job.estimator, job.stream)
            result = evaluate(job.estimator, job.stream, seed=job.seed, progress=progress, **job.options)
    except Exception:
        result = RunResult(**job.describe(), status="failed", error=traceback.format_exc())
    result = result.model_copy(update={"strategy": job.strategy})
    # A record that is there already is that of a failure: see Job.find_record.
    save_run(result, job.directory, overwrite=True)
    return result


class _Teller:
    """Counts runs, and tells whoever listens."""

    def __init__(self, listener: Callable[[CampaignProgress], None] | None, n_runs: int) -> None:
        self._listener = listener
        self._n_runs = n_runs
        self._n_ended = 0

    def rows_of(self, job: Job) -> RowProgress | None:
        """Give what hears of the rows of a run."""
        listener = self._listener
        if listener is None:
            return None
        run = job.stream.card.name, job.strategy, job.seed
        return lambda met, n_rows: listener(CampaignProgress(*run, "running", met, n_rows, self._n_ended, self._n_runs))

    def tell_end(self, record: RunResult, state: State) -> None:
        """Tell that a run has ended, now or before."""
        self._n_ended += 1
        if self._listener is None:
            return
        n_rows = sum(record.experience_sizes)
        run = record.stream, record.strategy, record.seed
        self._listener(CampaignProgress(*run, state, n_rows, n_rows, self._n_ended, self._n_runs))
