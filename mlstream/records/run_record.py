"""The record of a run: complete alone, written once, never overwritten silently."""

from __future__ import annotations

import fcntl
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from mlstream._files import write_text_atomically
from mlstream.card_model import StreamCard
from mlstream.frames import make_frame
from mlstream.records.checks import failures, require_consistent
from mlstream.records.frugality import rename_in_run
from mlstream.records.paths import Repetition, file_name, require_own_path, run_path
from mlstream.records.run_tables import run_columns, run_html, score_columns
from mlstream.records.schema import SCHEMA_VERSION, Record, VersionedRecord, read_record, refusal
from mlstream.records.selection_record import Selection, SelectionRecord

if TYPE_CHECKING:
    import pandas as pd

Seconds = Annotated[float, Field(ge=0)]
KilowattHours = Annotated[float, Field(ge=0)]
# Names of scores in records up to version 2, of which some differed by case alone, and those of today.
_RENAMED_SCORES = {
    "BWT": "bwt_stepwise",
    "BWT+": "bwt_stepwise_gains",
    "BWT-": "bwt_stepwise_losses",
    "FWT": "fwt_stepwise",
    "FWT+": "fwt_stepwise_gains",
    "FWT-": "fwt_stepwise_losses",
}
# A score that is not defined (for a label with one class only, for example) is recorded as null: JSON has no NaN.
Score = float | None


def to_score(value: float) -> Score:
    """Return a score as a record holds it: None where it is NaN."""
    return None if math.isnan(value) else float(value)


# Of all scores, those that a line shows.
_SHOWN = ("acc", "bwt", "ba_macro")


class PhaseResources(Record):
    """Costs of one phase of a run, around learner calls only."""

    wall_time_s: Seconds = 0.0
    cpu_time_s: Seconds = 0.0
    peak_memory_bytes: int | None = Field(None, ge=0, description="None where no call was long enough to measure.")
    energy_kwh: KilowattHours | None = Field(None, description="All parts together; None where it was not measured.")
    energy_cpu_kwh: KilowattHours | None = None
    energy_ram_kwh: KilowattHours | None = None
    energy_gpu_kwh: KilowattHours | None = None


class Resources(Record):
    """Costs of a run, by phase."""

    phases: dict[str, PhaseResources] = Field(
        description="'online' (predict and learn in one call), or 'predict' and 'learn' apart; and 'evaluate'."
    )
    peak_memory_bytes: int = Field(ge=0, description="Of the whole process, during the learner's calls.")
    memory_before_bytes: int = Field(0, ge=0, description="Of the whole process, before the learner's first call.")
    memory_method: str = Field("", description="How memory was measured.")
    model_size_bytes: int | None = Field(ge=0, description="At the end; None where it cannot be measured.")
    energy_method: str = Field(description="The meter, or how energy was estimated; 'none' where it was not measured.")
    energy_is_estimate: bool
    energy_idle_w: float | None = Field(
        default=None, description="Power that the meter read while nothing was done; not subtracted from anything."
    )
    energy_overhead_share: float | None = Field(
        default=None, description="CPU seconds per second that the meter itself used, of one core."
    )
    energy_below_resolution: bool = Field(description="Too short for the meter: the figure has no meaning.")


class Curve(Record):
    """A prequential score at checkpoints along the stream."""

    n_rows: list[int] = Field(description="Rows seen at each checkpoint.")
    cumulative: list[Score] = Field(description="Over all rows seen so far.")
    windowed: list[Score] = Field(description="Over the last `window` rows.")
    window: int = Field(ge=1)


class LeftOut(Record):
    """Undefined parts that a score leaves out."""

    what: Literal["cells", "labels"] = Field(
        description="Cells of R that means need; or labels that have one class in an environment."
    )
    n: int = Field(ge=1, description="How many are left out.")
    of: int = Field(ge=1, description="How many there are.")


class References(Record):
    """Balanced accuracy of clones on the evaluation set of each task; null for tasks never learnt."""

    joint: list[Score] = Field(description="Learnt all experiences, rows shuffled: an upper bound.")
    joint_at_first_visit: list[Score] = Field(description="The same, up to and including the task's first visit.")
    single: list[Score] = Field(description="Learnt the task's rows of its first visit only.")


class RunResult(VersionedRecord):
    """One (stream, strategy, repetition), from first prediction to last evaluation.

    ``R[metric][s][j]`` is the score on the evaluation set of task j after experience s; row 0 is before any learning.
    """

    strategy: str
    estimator: str = Field(description="The estimator's own representation, parameters included.")
    parameters: dict[str, JsonValue]
    wrapped_as: str | None = Field(
        None,
        description="Wrapper that the evaluation put around the learner to learn labels, such as "
        "'BinaryRelevance(GaussianNB)', of which `estimator` and `parameters` are then; None without.",
    )
    seed: int = Field(ge=0)
    order_seed: int | None = Field(None, ge=0, description="Of the order of tasks; None: as the stream has them.")
    split_seed: int | None = Field(None, ge=0, description="Of the split of rows; None: as the stream has it.")
    stream: str
    stream_sha256: str
    task_names: list[str]
    order: list[list[int]] = Field(description="Tasks present in each experience.")
    experience_sizes: list[int]
    label_space: Literal["task", "seen", "all"]
    settings: dict[str, JsonValue] = Field(default_factory=dict, description="The other options of the evaluation.")
    uses_task: bool
    given_labels: Literal["none", "task", "all"] | None = Field(
        None,
        description="Label mask that the learner is given when it learns: none, that of the row's task, or one of all "
        "labels, where the scenario hides the task. None in records of version 1.",
    )
    warm_up_rows: int = Field(
        0,
        ge=0,
        description="Rows at the beginning that the learner waited for, and learnt in one call; 0 where it learnt from "
        "the first row on.",
    )
    warnings: dict[str, int] = Field(
        default_factory=dict, description="Warnings given while the learner and its references learnt -> how often."
    )
    predicts_with_task: bool = Field(
        False, description="Whether the learner is given the labels of the row's task when it predicts."
    )
    status: Literal["done", "capped", "failed"]
    error: str | None = None
    scores: dict[str, Score] = Field(default_factory=dict, description="One number per metric.")
    undefined: dict[str, str] = Field(default_factory=dict, description="Why a score is null.")
    left_out: dict[str, LeftOut] = Field(
        default_factory=dict, description="Metric of R, or score -> what is undefined, and left out of means."
    )
    curves: dict[str, Curve] = Field(default_factory=dict)
    R: dict[str, list[list[Score]]] = Field(default_factory=dict)
    references: References | None = None
    selection: Selection | None = Field(None, description="How the parameters were chosen; None without a search.")
    resources: Resources | None = None
    versions: dict[str, str]
    machine: dict[str, str]

    @model_validator(mode="before")
    @classmethod
    def _rename_frugality(cls, content: Any) -> Any:
        return rename_in_run(content)

    @field_validator("scores", "undefined", mode="before")
    @classmethod
    def _rename_scores(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {_RENAMED_SCORES.get(name, name): value for name, value in values.items()}

    def __repr__(self) -> str:
        seeds = {"seed": self.seed, "order": self.order_seed, "split": self.split_seed}
        repetition = ", ".join(f"{what} {seed}" for what, seed in seeds.items() if seed is not None)
        shown = "".join(f", {name} {value:.3f}" for name in _SHOWN if (value := self.scores.get(name)) is not None)
        return f"RunResult({self.strategy!r} on {self.stream!r}, {repetition}: {self.status}{shown})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return run_html(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the matrices R as a frame of pandas, which must be installed.

        Returns
        -------
        DataFrame
            A row for each experience and task: the number of experiences learnt by then (0: before any), the task, and
            a column for each metric; NaN where a score is not defined. A frame of many runs is that of `load_runs`.
        """
        return make_frame(score_columns(self))

    @property
    def label_space_rule(self) -> str:
        """The label space; where it is that of an older schema and means something else, its version is stated too."""
        changed = self.schema_version < SCHEMA_VERSION and self.label_space != "task"
        return f"{self.label_space} (records of version {self.schema_version})" if changed else self.label_space

    @property
    def tuning(self) -> str:
        """How the parameters were chosen: "tuned (N)" from N configurations, or "defaults" where nothing was searched.

        A strategy without parameters to search has defaults, whatever the campaign asks for.
        """
        if self.selection is None or not any(trial.parameters for trial in self.selection.trials):
            return "defaults"
        return self.selection.tuning


class Runs(list[RunResult]):
    """A list of runs that can become a table."""

    def to_frame(self) -> pd.DataFrame:
        """Return the runs as a frame of pandas, which must be installed.

        Returns
        -------
        DataFrame
            A row for each run: stream, strategy, seeds and status, every score, and the cost of the stream; NaN where
            something is not defined or was not measured.
        """
        return make_frame(run_columns(self))


def save_run(result: RunResult, directory: str | os.PathLike[str]) -> Path:
    """Write the record of a run, complete or not at all; only the record of a failure is ever replaced.

    The folder is made if absent; several processes may write records there. Raises FileExistsError if a record is there
    whose status is "done" or "capped", ValueError if the file is not a record of this version.
    """
    path = path_of(result, directory)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = result.model_dump_json(indent=1)
    try:
        write_text_atomically(path, text, replace=False)
    except FileExistsError:
        _replace_failure(path, text)
    return path


def _replace_failure(path: Path, text: str) -> None:
    """Replace the record of a failure, unless another process has replaced it by anything else."""
    while True:
        with path.open("r+b") as file:
            _lock(file)
            # The file that was opened may have been replaced before it was locked.
            if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                continue
            if load_run(path).status != "failed":
                raise FileExistsError(f"{path} must not exist yet: it holds the record of an earlier run.")
            write_text_atomically(path, text)
            return


def _lock(file: IO[bytes]) -> None:
    # Where a file system has no locks, what is left is that two processes rarely replace a failure at the same moment.
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)


def load_run(path: str | os.PathLike[str]) -> RunResult:
    """Read one record; a ValueError names a file that is not of this version, or whose fields contradict each other."""
    run = read_record(Path(path), RunResult)
    try:
        require_consistent(run)
    except ValueError as error:
        raise refusal(path, RunResult, str(error)) from None
    return run


def load_run_at(path: Path, directory: str | os.PathLike[str]) -> RunResult:
    """Read one record of a campaign, which must be that of the run that the file is named after.

    A ValueError names a file that is not a record of this version, or holds another run.
    """
    run = load_run(path)
    require_own_path(path, path_of(run, directory), "run")
    return run


def load_runs(directory: str | os.PathLike[str]) -> Runs:
    """Read every record of a campaign, sorted by stream, strategy and seed.

    Parameters
    ----------
    directory : path
        The folder of a campaign.

    Returns
    -------
    Runs
        A list of at least one RunResult, with `Runs.to_frame`.

    Raises
    ------
    FileNotFoundError
        If the folder holds no record.
    ValueError
        If a file there is not a record of this version, contradicts itself, or holds another run than that of its name;
        the message names it.
    OSError
        If there is no permission to read a file or folder there.
    """
    paths = _list_records(Path(directory) / "runs")
    if not paths:
        folder = Path(directory)
        got = "none" if folder.is_dir() else "a file" if folder.exists() else "no such folder"
        raise FileNotFoundError(
            f"{directory} must hold records of runs (runs/STREAM/STRATEGY-seedN.json), as `mlstream run` writes them. "
            f"Got {got}{_way_to_runs(folder)}"
        )
    return Runs(load_run_at(path, directory) for path in paths)


def _way_to_runs(folder: Path) -> str:
    """Return the end of an error: the campaign meant, which lies in a folder with others, or around this one."""
    below = sorted(folder.iterdir()) if folder.is_dir() else []
    meant = next(filter(has_runs, [*below, folder.parent, folder.parent.parent]), None)
    return "." if meant is None else f"; did you mean {meant}?"


def has_runs(place: str | os.PathLike[str]) -> bool:
    """Return whether the folder of a campaign holds the record of a run."""
    # Others' folders may be closed to us.
    with suppress(OSError):
        return bool(_list_records(Path(place) / "runs"))
    return False


def path_of(run: RunResult, directory: str | os.PathLike[str]) -> Path:
    """Return the path of a record in the folder of its campaign."""
    return run_path(directory, run.stream, run.strategy, Repetition(run.seed, run.order_seed, run.split_seed))


def require_success(results: Sequence[RunResult], directory: str | os.PathLike[str]) -> None:
    """Raise a RuntimeError if a run failed, once a campaign has ended.

    It states how many failed, why the first one did, and the file that keeps its traceback.
    """
    failed = [result for result in results if result.status == "failed"]
    if failed:
        raise failures(failed[0].error, len(failed), len(results), path_of(failed[0], directory), "runs")


def load_selection(path: str | os.PathLike[str]) -> SelectionRecord:
    """Read the selection of a run; a ValueError names a file that is not a record of this version."""
    return read_record(Path(path), SelectionRecord)


def save_card(card: StreamCard, directory: str | os.PathLike[str]) -> Path:
    """Write the card of a campaign's stream beside its runs, so that a report needs nothing else.

    The path is ``directory/streams/<stream>.card.json``; the folder is made if absent.
    """
    path = Path(directory) / "streams" / f"{file_name(card.name)}.card.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_atomically(path, card.model_dump_json(indent=1))
    return path


def load_cards(directory: str | os.PathLike[str]) -> dict[str, StreamCard]:
    """Read the cards of a campaign's streams, by the name of the stream."""
    cards = [read_record(path, StreamCard) for path in sorted(Path(directory).glob("streams/*.card.json"))]
    return {card.name: card for card in cards}


def _list_records(runs: Path) -> list[Path]:
    """List files, sorted; `Path.glob` would skip folders without permission to read."""
    folders = sorted(path for path in runs.iterdir() if path.is_dir()) if runs.is_dir() else []
    return [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix == ".json"]
