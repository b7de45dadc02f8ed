"""One job, run and recorded, whether it succeeds or fails."""

from __future__ import annotations

import traceback
import warnings
from dataclasses import asdict

from threadpoolctl import threadpool_limits

from mlstream.campaign.job import Job
from mlstream.campaign.progress_files import ProgressFile
from mlstream.campaign.search import select_cost
from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.evaluate import UndefinedCellsWarning, evaluate
from mlstream.evaluation.run import RowProgress
from mlstream.evaluation.warm_up import warm_up
from mlstream.records.run_record import save_run
from mlstream.records.run_result import RunResult
from mlstream.records.selection_record import Selection


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
