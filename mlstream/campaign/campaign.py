"""Campaigns: strategies on streams with seeds, each run recorded as soon as it ends, and no run made twice."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Literal, NamedTuple

from estimators.contract.lazy import needing
from mlstream.campaign.executors import Ended, run_in_processes, run_serially
from mlstream.campaign.job import Job
from mlstream.campaign.planning import name_apart, plan_jobs, prepare_folder
from mlstream.campaign.progress_files import RunCpu, read_progress, remove_progress
from mlstream.evaluation.energy import require_meter
from mlstream.evaluation.run import RowProgress
from mlstream.evaluation.settings import CampaignOptions, Objective, SelectionMethod, Settings
from mlstream.publishing.named_streams import StreamLike, as_stream
from mlstream.publishing.presets import warn_of_other_data
from mlstream.records.run_result import RunResult, Runs, total_cost

_LOG = logging.getLogger("mlstream")
_POLL_INTERVAL_S = 0.5

# Others run threads, or hang when a process dies.
_BACKENDS = ("loky",)

State = Literal["kept", "running", "done", "capped", "failed"]


class CampaignProgress(NamedTuple):
    """One event of a campaign."""

    stream: str
    strategy: str
    seed: int
    state: State  # "kept": its record existed already. A run in another process has two "running" events a second.
    n_rows_done: int
    n_rows: int
    n_runs_ended: int
    n_runs: int
    order_seed: int | None = None  # Seed of the order of tasks, where it is repeated.
    split_seed: int | None = None  # Seed of the split of rows, where it is repeated.
    worker: str = ""  # Machine and process of the run; empty for this process.
    cpu: RunCpu | None = None  # Of a run that has ended now; None if its process died, and for other events.

    @property
    def run(self) -> str:
        """The run, in words."""
        repeated = (("order", self.order_seed), ("split", self.split_seed))
        others = "".join(f", {what} {number}" for what, number in repeated if number is not None)
        return f"{self.strategy} on {self.stream}, seed {self.seed}{others}"

    @property
    def ending(self) -> str:
        """The end of the run, in a line."""
        outcome = "recorded earlier" if self.state == "kept" else self.state
        return f"[{self.n_runs_ended}/{self.n_runs}] {self.run}: {outcome}"


def run_campaign(  # noqa: PLR0913 - what a campaign varies, and how it is run
    strategies: Sequence[str] | Mapping[str, object],
    streams: Sequence[StreamLike],
    seeds: Sequence[int],
    directory: str | os.PathLike[str],
    *,
    vary: bool = CampaignOptions.vary,
    orders: Sequence[int] = CampaignOptions.orders,
    splits: Sequence[int] = CampaignOptions.splits,
    n_configurations: int = CampaignOptions.n_configurations,
    selection: SelectionMethod = CampaignOptions.selection,
    objective: Objective = CampaignOptions.objective,
    query_budget: int = CampaignOptions.query_budget,
    n_jobs: int = CampaignOptions.n_jobs,
    dask: str | None = CampaignOptions.dask,
    backend: str = "loky",
    progress: Callable[[CampaignProgress], None] | None = None,
    config: str | None = None,
    **options: Any,
) -> Runs:
    """Run every strategy on every stream, as often as it is repeated, and record each run in a folder.

    A campaign that was stopped, or killed, resumes: runs with a record are kept, except failed ones, which are tried
    again. A run that fails is recorded with its traceback and stops no other.

    Parameters
    ----------
    strategies : sequence of str, or mapping of str to str, estimator or Search
        Names of `estimators.strategies`; or by names of your own such names, estimators, or a
        `mlstream.campaign.search.Search`.
    streams : sequence of Stream, str or path
        The streams; or their files, published folders, or names of streams that this project publishes. Of those that
        share a name, such as two that were made from one table, the first keeps it, and the others are called "-2",
        "-3" and so on; `name` of the generators makes better names.
    seeds : sequence of int
        Seeds of the learners.
    directory : path
        The folder of the records and of the cards of the streams; created if absent.
    vary : bool
        Let each seed also reorder the tasks and split the rows again, the same for all strategies. The run of seed 3 is
        then that of ``orders=[3]`` and ``splits=[3]``. Without it, seeds change nothing for a learner that draws
        nothing at random. A stream that cannot be repeated in one of these ways varies in the other alone, with a
        warning.
    orders : sequence of int
        Seeds of orders of the tasks; by default the order that the stream has. See
        `mlstream.generators.reordered_tasks`. All combinations of seeds, orders and splits are run.
    splits : sequence of int
        Seeds of splits of the rows; by default the split that the stream has. See `mlstream.generators.resplit_rows`.
    n_configurations : int
        Configurations of each strategy that are tried before it runs; 0 for its defaults. They are drawn from the grid
        of the strategy. Strategies that are not given by name have no such grid.
    selection : {"first-experience", "training-environment", "leave-one-environment-out", "validation-environment"}
        Rows on which a configuration is chosen: the first experience, held-out rows of training environments, each
        training environment in turn, or the validation environments. On the first experience the configuration with
        the most of the objective wins, on environments the one with the lowest normalised cross-entropy.
    objective : {"frug_kwh", "frug_kj"}
        Score by which a configuration is chosen on the first experience: BA_macro minus C / (1 + C), C the energy of
        the trial in kWh or kJ. In kWh, as in the literature, accuracy decides, and energy between equals.
    query_budget : int
        Configurations of a search that may be scored on the validation environments.
    n_jobs : int
        Number of processes; -1 for as many as cores.
    dask : str, optional
        Address of a Dask scheduler whose workers run everything: `tcp://HOST:8786`. It replaces processes on this
        machine. Workers must have one thread each, and the same versions of packages; they see no file of this machine.
    backend : {"loky"}
        The backend of joblib that runs the processes.
    progress : callable, optional
        Called with a `CampaignProgress` for every event; from another thread where runs are in other processes.
    config : str, optional
        Text to keep beside the records as ``config.toml``.
    **options
        Options of `evaluate`, the same for all runs. The time cap holds for the search of a configuration and, again,
        for the run.

    Returns
    -------
    Runs
        A list of all records, including those kept: by stream, then strategy, then repetition.

    Raises
    ------
    ValueError
        If a name or the value of an option is unknown, two streams or runs are the same, a stream cannot be repeated in
        this way, or the folder holds the record of another run under the name of one of these, or runs on one of the
        streams that were made with another `vary`. Nothing is run then.
    ModuleNotFoundError
        If CodeCarbon is to measure energy and is not installed. Nothing is run then.
    OSError
        If a record cannot be written (no permission, no space), no scheduler or worker of Dask responds, or the
        scheduler ends before the runs do. Existing records stay, and the same call goes on from them.

    Warns
    -----
    UserWarning
        If a stream has the name of one that this project publishes, and other data, or if `vary` can vary only the
        order, or only the split, of a stream.

    Notes
    -----
    Every run has one thread for linear algebra, whatever `n_jobs` is, so that times can be compared. A clone makes a
    few calls beforehand, so that compilation does not count.

    The cost of a search is in its own phase, "select", which no total includes. The configurations tried and the one
    chosen are recorded before the run: a run that is started again uses the same configuration.
    """
    if backend not in _BACKENDS:
        raise ValueError(
            f"backend must be one of {', '.join(_BACKENDS)}, or dask= an address: time and memory are measured by "
            f"process. Got {backend!r} instead."
        )
    chosen = CampaignOptions(
        seeds=tuple(seeds),
        vary=vary,
        orders=tuple(orders),
        splits=tuple(splits),
        n_configurations=n_configurations,
        selection=selection,
        objective=objective,
        query_budget=query_budget,
        n_jobs=n_jobs,
        dask=dask,
    )
    # Processes keep the working directory that they started in, and may have started for an earlier campaign.
    folder = Path(directory).absolute()
    if isinstance(streams, str):
        raise TypeError(f"streams must be a list of streams, or of their names. Got {streams!r} instead.")
    streams = name_apart([as_stream(stream) for stream in streams])
    warn_of_other_data(stream.card for stream in streams)
    settings = Settings(**options)
    jobs = plan_jobs(strategies, streams, folder, chosen, settings)
    records = {job.path: record for job in jobs if (record := job.find_record()) is not None}
    waiting = [job for job in jobs if job.path not in records]
    if waiting:
        require_meter(settings.energy)
    for job in waiting:
        job.find_selection()
    for job in jobs:
        remove_progress(job.progress_path)
    repeated = {job.stream_key: job for job in jobs}.values()
    prepare_folder(folder, [stream.card for stream in streams] + [job.stream.card for job in repeated], config)
    counts = len(jobs), folder, len(jobs) - len(waiting)
    _LOG.info("Campaign of %d runs in %s; recorded earlier, and skipped: %d", *counts)
    notifier = _Notifier(progress, n_runs=len(jobs))
    for record in records.values():
        notifier.notify_end(record, "kept")
    is_elsewhere = dask is not None or n_jobs != 1
    ended = _run_elsewhere(waiting, chosen, backend) if is_elsewhere else run_serially(waiting, notifier.row_callback)
    with notifier.watching(waiting if is_elsewhere else []):
        for job, record, cpu in ended:
            records[job.path] = record
            notifier.notify_end(record, record.status, cpu)
    return Runs(records[job.path] for job in jobs)


@needing("A Dask cluster")
def _run_elsewhere(jobs: Sequence[Job], options: CampaignOptions, backend: str) -> Ended:
    if options.dask is not None:
        # Dask is optional
        from mlstream.campaign.cluster import run_on_cluster

        return run_on_cluster(jobs, options.dask)
    return run_in_processes(jobs, options.n_jobs, backend)


def _describe_end(record: RunResult) -> str:
    """Describe for the log what a run took, why it failed, and what was chosen for it."""
    wall_time_s = total_cost(record, "wall_time_s")
    parts = [] if wall_time_s is None else [f"{wall_time_s:.2f} s in the learner's calls"]
    if record.selection is not None:
        chosen = record.selection.trials[record.selection.chosen].parameters
        parts.append(f"chosen of {len(record.selection.trials)} configurations: {dict(chosen)}")
    if record.error:
        parts.append(record.error.strip().rpartition("\n")[2])
    return "".join(f"; {part}" for part in parts)


class _Notifier:
    """Counts runs, and calls a function with every event."""

    def __init__(self, callback: Callable[[CampaignProgress], None] | None, n_runs: int) -> None:
        self._callback = callback
        self._n_runs = n_runs
        self._n_ended = 0

    def row_callback(self, job: Job) -> RowProgress | None:
        """Return the function to call with the progress of a run."""
        if self._callback is None:
            return None
        return lambda n_done, n_rows: self._notify_rows(job, n_done, n_rows, "")

    def notify_end(self, record: RunResult, state: State, cpu: RunCpu | None = None) -> None:
        """Notify that a run has ended, now or earlier."""
        self._n_ended += 1
        n_rows = sum(record.experience_sizes)
        run, others = (record.stream, record.strategy, record.seed), (record.order_seed, record.split_seed)
        counts = (n_rows, n_rows, self._n_ended, self._n_runs)
        event = CampaignProgress(*run, state, *counts, *others, cpu=cpu)
        _LOG.info("%s%s", event.ending, _describe_end(record))
        if self._callback is not None:
            self._callback(event)

    @contextmanager
    def watching(self, jobs: Sequence[Job]) -> Iterator[None]:
        """Notify of the progress of jobs in other processes until the block ends."""
        if self._callback is None or not jobs:
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
        by_path = {job.progress_path: job for job in jobs}
        while not stop.wait(_POLL_INTERVAL_S):
            for path, (worker, n_done, n_rows) in read_progress(jobs[0].progress_path.parents[1]):
                if path in by_path:
                    self._notify_rows(by_path[path], n_done, n_rows, worker)

    def _notify_rows(self, job: Job, n_done: int, n_rows: int, worker: str) -> None:
        if self._callback is None:
            return
        seed, order_seed, split_seed = job.repetition
        run, counts = (job.stream_name, job.strategy, seed), (n_done, n_rows, self._n_ended, self._n_runs)
        self._callback(CampaignProgress(*run, "running", *counts, order_seed, split_seed, worker))
