"""Many runs: strategies on streams with seeds, each recorded as soon as it ends, and none run twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Literal, NamedTuple

from mlstream._files import write_text_atomically
from mlstream.campaign.executors import run_in_processes, run_on_cluster, run_serially
from mlstream.campaign.job import Job
from mlstream.campaign.planning import plan_jobs
from mlstream.campaign.progress_files import read_marks, remove_mark
from mlstream.evaluation.run import RowProgress
from mlstream.evaluation.settings import CampaignOptions, Settings
from mlstream.records.paths import remove_leftovers
from mlstream.records.run_record import RunResult, save_card
from mlstream.stream import Stream

_SECONDS_BETWEEN_LOOKS = 0.5

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
        "kept": its record was there already. A run in another process is told of twice a second.
    n_rows_met, n_rows : int
        How far it is.
    n_runs_ended, n_runs : int
        How far the campaign is.
    order_seed, split_seed : int or None
        The order of tasks and the split of rows, where these are repeated.
    worker : str
        Machine and process that runs it; empty for this process.
    """

    stream: str
    strategy: str
    seed: int
    state: State
    n_rows_met: int
    n_rows: int
    n_runs_ended: int
    n_runs: int
    order_seed: int | None = None
    split_seed: int | None = None
    worker: str = ""


def run_campaign(  # noqa: PLR0913 - what a campaign varies, and how it is run
    strategies: Sequence[str] | Mapping[str, Any],
    streams: Sequence[Stream],
    seeds: Sequence[int],
    directory: str | os.PathLike[str],
    *,
    orders: Sequence[int] = CampaignOptions.orders,
    splits: Sequence[int] = CampaignOptions.splits,
    n_configurations: int = CampaignOptions.n_configurations,
    n_jobs: int = CampaignOptions.n_jobs,
    dask: str | None = CampaignOptions.dask,
    backend: str = "loky",
    progress: Callable[[CampaignProgress], None] | None = None,
    config: str | None = None,
    **options: Any,
) -> list[RunResult]:
    """Run every strategy on every stream, as often as it is repeated, and record each run in a folder.

    A campaign that was stopped, or killed, goes on where it was: runs whose record is there are kept, but for failed
    ones, which are tried again. A run that fails is recorded with its traceback and stops no other.

    Parameters
    ----------
    strategies : sequence of str, or mapping of str to str, estimator or Search
        Names of `estimators.strategies`; or by names of your own such names, estimators, or a
        `mlstream.campaign.search.Search`.
    streams : sequence of Stream
        The streams; their names must differ.
    seeds : sequence of int
        Seeds of the learners.
    directory : path
        The folder of the records and of the cards of the streams; created if absent.
    orders : sequence of int
        Seeds of orders of the tasks; by default the order that the stream has. See
        `mlstream.generators.reordered_tasks`. All combinations of seeds, orders and splits are run.
    splits : sequence of int
        Seeds of splits of the rows; by default the split that the stream has. See `mlstream.generators.resplit_rows`.
    n_configurations : int
        Configurations of each strategy that are tried on the first experience; 0 for its defaults. They are drawn from
        the grid of the strategy, and the most frugal wins. Strategies that are not given by name have no such grid.
    n_jobs : int
        Number of processes; -1 for as many as cores.
    dask : str, optional
        Address of a Dask scheduler whose workers run everything: tcp://HOST:8786. It replaces processes on this
        machine; workers must have one thread each, and see the same folder.
    backend : str
        The backend of joblib that runs the processes.
    progress : callable, optional
        Called with a `CampaignProgress` whenever there is something to tell; from another thread where runs go on in
        other processes.
    config : str, optional
        Text to keep beside the records as ``config.toml``.
    **options
        Options of `evaluate`, the same for all runs. The time cap holds for the search of a configuration and, again,
        for the run.

    Returns
    -------
    list of RunResult
        All records, those kept included: by stream, then strategy, then repetition.

    Raises
    ------
    ValueError
        If a name or the value of an option is unknown, two runs have the same name, a stream cannot be repeated so, or
        the folder holds the record of another run under the name of one of these. Nothing is run then.
    OSError
        If a record cannot be written (no permission, no room), or no scheduler answers. What is recorded stays.

    Notes
    -----
    Every run has one thread for linear algebra, whatever `n_jobs`, so that times can be compared, and a clone makes a
    few calls beforehand, so that compilation does not count.

    The cost of a search is in its own phase, "select", which no total includes. What was tried, and what was chosen, is
    recorded before the run: a run that is started again uses the same configuration.
    """
    if backend == "threading":
        raise ValueError("backend must run processes: time and memory are measured by process. Got 'threading'.")
    chosen = CampaignOptions(
        seeds=tuple(seeds),
        orders=tuple(orders),
        splits=tuple(splits),
        n_configurations=n_configurations,
        n_jobs=n_jobs,
        dask=dask,
    )
    jobs = plan_jobs(strategies, streams, Path(directory), chosen, Settings(**options))
    kept = {job.path: record for job in jobs if (record := job.find_record()) is not None}
    waiting = [job for job in jobs if job.path not in kept]
    remove_leftovers(directory)
    for job in waiting:
        job.find_selection()
        remove_mark(job.mark)
    for card in {
        card.name: card for card in [*(one.card for one in streams), *(job.stream.card for job in jobs)]
    }.values():
        save_card(card, directory)
    if config is not None:
        write_text_atomically(Path(directory) / "config.toml", config)
    teller = _Teller(progress, n_runs=len(jobs))
    for record in kept.values():
        teller.tell_end(record, "kept")
    records = dict(kept)
    if dask is not None:
        ended = run_on_cluster(waiting, dask)
    else:
        ended = run_serially(waiting, teller.rows_of) if n_jobs == 1 else run_in_processes(waiting, n_jobs, backend)
    with teller.watching(waiting if dask or n_jobs != 1 else []):
        for job, record in ended:
            records[job.path] = record
            teller.tell_end(record, record.status)
    return [records[job.path] for job in jobs]


class _Teller:
    """Counts runs, and tells whoever listens."""

    def __init__(self, listener: Callable[[CampaignProgress], None] | None, n_runs: int) -> None:
        self._listener = listener
        self._n_runs = n_runs
        self._n_ended = 0

    def rows_of(self, job: Job) -> RowProgress | None:
        """Give what hears of the rows of a run."""
        if self._listener is None:
            return None
        return lambda met, n_rows: self._tell_rows(job, met, n_rows, "")

    def tell_end(self, record: RunResult, state: State) -> None:
        """Tell that a run has ended, now or before."""
        self._n_ended += 1
        if self._listener is None:
            return
        n_rows = sum(record.experience_sizes)
        run, others = (record.stream, record.strategy, record.seed), (record.order_seed, record.split_seed)
        self._listener(CampaignProgress(*run, state, n_rows, n_rows, self._n_ended, self._n_runs, *others))

    @contextmanager
    def watching(self, jobs: Sequence[Job]) -> Iterator[None]:
        """Tell, as long as the block goes on, how far jobs in other processes are."""
        if self._listener is None or not jobs:
            yield
            return
        stop = Event()
        watcher = Thread(target=self._watch, args=(jobs, stop), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()

    def _watch(self, jobs: Sequence[Job], stop: Event) -> None:
        by_mark = {job.mark: job for job in jobs}
        while not stop.wait(_SECONDS_BETWEEN_LOOKS):
            for path, (worker, met, n_rows) in read_marks(jobs[0].mark.parents[1]):
                if path in by_mark:
                    self._tell_rows(by_mark[path], met, n_rows, worker)

    def _tell_rows(self, job: Job, met: int, n_rows: int, worker: str) -> None:
        if self._listener is None:
            return
        seed, order_seed, split_seed = job.repetition
        run, counts = (job.stream_name, job.strategy, seed), (met, n_rows, self._n_ended, self._n_runs)
        self._listener(CampaignProgress(*run, "running", *counts, order_seed, split_seed, worker))
