"""Records of runs in an MLflow server, one MLflow run each. Needs the extra ``mlflow``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import requests

from estimators.contract.lazy import needing
from mlstream._support.files import sha256_of
from mlstream.records.run_record import load_runs, path_of
from mlstream.records.run_result import Resources, RunResult, Score, total_cost

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

# The hash of the record of an MLflow run: records that the server has already are found by it.
HASH_TAG = "record_sha256"
_TIMEOUT_S = 10
# MLflow waits twice as long before each further try: 2, 4, 8 and 16 s.
_RETRIES, _MOST_RETRIES = "MLFLOW_HTTP_REQUEST_MAX_RETRIES", 4
_PAGE = 1000
# What MLflow stores of a text.
_MAX_PARAMETER, _MAX_TAG, _MAX_MESSAGE = 6000, 8000, 300
# An artifact goes through a server that takes it; other stores are folders or clouds that may not be ours.
_SERVED = "mlflow-artifacts:"
_UNFINISHED = "RUNNING"
_STATUS = {"done": "FINISHED", "capped": "FINISHED", "failed": "FAILED"}


class Measure(NamedTuple):
    """A number of a run as MLflow holds it: a step is a row of the stream, or an experience."""

    key: str
    value: float
    step: int = 0


class Tracked(NamedTuple):
    """Outcome of writing records to a server."""

    n_written: int
    n_kept: int  # Records that were there before.
    page: str  # Address of the experiment.


def track(
    directory: str | os.PathLike[str],
    address: str,
    *,
    experiment: str = "mlstream",
    progress: Callable[[int, int], None] | None = None,
) -> Tracked:
    """Write the records of a campaign to an MLflow server, one MLflow run each; those that the server has are kept.

    Parameters
    ----------
    directory : path
        The folder of a campaign; it is not changed.
    address : str
        Of the server, such as ``http://127.0.0.1:5000``. A name and password, or a token, are taken from MLflow's own
        environment variables.
    experiment : str
        The experiment that holds the runs; created if absent.
    progress : callable, optional
        Called with the number of records done and the number of all records.

    Returns
    -------
    Tracked
        Numbers of records, and the address of the experiment.

    Raises
    ------
    FileNotFoundError
        If the folder holds no record.
    ValueError
        If a record is not of this version, or the address is not that of a server. Nothing is written then.
    ImportError
        If the extra is not installed.
    OSError
        If the server cannot be reached, is away for half a minute, or refuses. Records written so far stay, and the
        next call writes the others.

    Notes
    -----
    Parameters and settings become parameters; names, seeds, versions and the machine become tags; scores, resources,
    curves (a step is a row) and R (a step is an experience) become metrics. The record itself is attached where the
    server takes artifacts. A record is identified by its SHA-256: if it is made again, it becomes another
    MLflow run.
    """
    records = [(path_of(record, directory), record) for record in load_runs(directory)]
    client = _connect(address)
    with _few_retries(), _errors_of_the_server(address):
        place = _find_experiment(client, experiment)
        there = _find_written(client, place)
        n_written = 0
        for number, (path, record) in enumerate(records, 1):
            code = sha256_of(path)
            if code not in there:
                _write(client, place, path, record, code)
                n_written += 1
            if progress is not None:
                progress(number, len(records))
    return Tracked(n_written, len(records) - n_written, f"{address.rstrip('/')}/#/experiments/{place}")


def to_parameters(record: RunResult) -> dict[str, str]:
    """Return the learner's parameters, and the options of the evaluation under ``settings/``."""
    settings = {"label_space": record.label_space, **record.settings}
    given = {**record.parameters, **{f"settings/{name}": value for name, value in settings.items()}}
    return {_key(name): _text(value)[:_MAX_PARAMETER] for name, value in given.items()}


def to_tags(record: RunResult) -> dict[str, str]:
    """Return the tags of a run: names, seeds, status, the energy meter, versions, the machine."""
    of_learner, of_run = ("strategy", "estimator", "tuning"), ("seed", "order_seed", "split_seed", "status", "error")
    named = ("stream", "stream_sha256", *of_learner, *of_run)
    tags: dict[str, object] = {name: getattr(record, name) for name in named}
    if record.resources is not None:
        tags |= record.resources.model_dump(include={"energy_method", "energy_is_estimate", "energy_below_resolution"})
    tags |= {f"version/{name}": value for name, value in record.versions.items()}
    tags |= {f"machine/{name}": value for name, value in record.machine.items()}
    # The end of a traceback holds the error.
    return {_key(name): _text(value)[-_MAX_TAG:] for name, value in tags.items() if value is not None}


def to_measures(record: RunResult) -> list[Measure]:
    """Return every number of a run that is defined: scores, resources, curves, R."""
    return [Measure(_key(key), value, step) for key, value, step in _numbers(record) if value is not None]


def _numbers(record: RunResult) -> Iterator[tuple[str, Score, int]]:
    for name, score in record.scores.items():
        yield name, score, 0
    for name, curve in record.curves.items():
        yield from _along(f"curve/{name}", curve.n_rows, curve.cumulative)
        yield from _along(f"curve/{name}-windowed", curve.n_rows, curve.windowed)
    for name, R in record.R.items():
        for task, scores in enumerate(zip(*R, strict=True)):
            yield from _along(f"R/{name}/task-{task}", range(len(R)), scores)
    if record.resources is not None:
        yield from _amounts(record.resources)


def _along(key: str, steps: Sequence[int], values: Sequence[Score]) -> Iterator[tuple[str, Score, int]]:
    return ((key, value, step) for step, value in zip(steps, values, strict=True))


def _amounts(used: Resources) -> Iterator[tuple[str, Score, int]]:
    for name in ("peak_memory_bytes", "model_size_bytes"):
        yield f"resources/{name}", getattr(used, name), 0
    for phase, one in used.phases.items():
        for name, amount in one.model_dump().items():
            yield f"resources/{phase}/{name}", amount, 0


@needing("An MLflow server")
def _connect(address: str) -> MlflowClient:
    """Return a client, once the server responds: MLflow's own would try for minutes."""
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"address must be that of an MLflow server, http://HOST:PORT. Got {address!r} instead.")
    from mlflow import MlflowClient

    try:
        requests.get(address, timeout=_TIMEOUT_S)
    except requests.RequestException as error:
        raise OSError(
            f"An MLflow server must answer at {address} (`mlflow server` starts one). Got {type(error).__name__}."
        ) from None
    return MlflowClient(tracking_uri=address)


def _find_experiment(client: MlflowClient, name: str) -> str:
    found = client.get_experiment_by_name(name)
    if found is None:
        return str(client.create_experiment(name))
    if found.lifecycle_stage != "active":
        raise ValueError(f"The experiment must not be a deleted one: restore it, or use another name. Got {name!r}.")
    return str(found.experiment_id)


def _find_written(client: MlflowClient, place: str) -> set[str]:
    """Find the records that the server has, by their hash; half-written runs are deleted."""
    runs = [run for run in _list_runs(client, place) if HASH_TAG in run.data.tags]
    for run in runs:
        if run.info.status == _UNFINISHED:
            client.delete_run(run.info.run_id)
    return {run.data.tags[HASH_TAG] for run in runs if run.info.status != _UNFINISHED}


def _list_runs(client: MlflowClient, place: str) -> Iterator[Run]:
    token = None
    while True:
        page = client.search_runs([place], max_results=_PAGE, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _write(client: MlflowClient, place: str, path: Path, record: RunResult, code: str) -> None:
    from mlflow.entities import Metric, Param

    # A record holds its duration, its file the time of its end.
    ended = path.stat().st_mtime_ns // 1_000_000
    started = ended - round(1000 * (total_cost(record, "wall_time_s") or 0.0))
    name = f"{record.strategy} on {record.stream}, {record.repetition.name}"
    run = client.create_run(place, started, tags=to_tags(record) | {HASH_TAG: code}, run_name=name)
    client.log_batch(
        run.info.run_id,
        metrics=[Metric(one.key, one.value, ended, one.step) for one in to_measures(record)],
        params=[Param(key, value) for key, value in to_parameters(record).items()],
    )
    if run.info.artifact_uri.startswith(_SERVED):
        client.log_artifact(run.info.run_id, path)
    # Before this call, the run counts as half-written.
    client.set_terminated(run.info.run_id, _STATUS[record.status], ended)


@contextmanager
def _errors_of_the_server(address: str) -> Iterator[None]:
    from mlflow.exceptions import MlflowException

    try:
        yield
    except (MlflowException, requests.RequestException) as error:
        message = " ".join(str(error).split())[:_MAX_MESSAGE]
        raise OSError(
            f"The MLflow server at {address} must take the records. Got {message}. Start it, then the same command "
            "again: records that it has are kept."
        ) from error


@contextmanager
def _few_retries() -> Iterator[None]:
    """Let MLflow give a server up after half a minute instead of five, unless the user has set how often it tries."""
    with ExitStack() as undo:
        if _RETRIES not in os.environ:
            os.environ[_RETRIES] = str(_MOST_RETRIES)
            undo.callback(os.environ.pop, _RETRIES, None)
        yield


def _key(name: str) -> str:
    """Return a name with only the characters that MLflow accepts."""
    return re.sub(r"[^A-Za-z0-9_./: -]+", "_", name).strip("_")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
