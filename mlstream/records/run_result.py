"""The record of a run, complete alone; as columns, and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from mlstream._support import html as _html
from mlstream.records.older_records import rename_in_run
from mlstream.records.paths import Repetition
from mlstream.records.schema import SCHEMA_VERSION, AnyText, Record, VersionedRecord
from mlstream.records.selection_record import Selection
from mlstream.streams.frames import make_frame

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


def sum_known(values: Iterable[float | None]) -> float | None:
    """Return the sum of the values that were measured; None if none was."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


# Of all scores, those that a line shows.
_SHOWN = ("acc", "bwt", "ba_macro")
# Choosing hyper-parameters comes before the stream: its cost belongs to no total.
SELECTION = "select"
_IDENTITY = ("stream", "strategy", "seed", "order_seed", "split_seed", "status")


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
    estimator: AnyText = Field(description="The estimator's own representation, parameters included.")
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
    scenario: Literal["live"] | None = Field(
        None,
        description="live: rows of a source whose end nobody knew, of one task without evaluation sets. Such a record "
        "has neither R nor references, nor scores that follow from them. Others are written without this field.",
    )
    label_space: Literal["task", "seen", "all"]
    settings: dict[str, JsonValue] = Field(default_factory=dict, description="The other options of the evaluation.")
    uses_task: bool
    given_labels: Literal["none", "task", "all"] | None = Field(
        None,
        description="Label mask that the learner is given when it learns: none, that of the row's task, or one of all "
        "labels, where the scenario hides the task. None in records of version 1.",
    )
    given_environment: bool = Field(
        False,
        description="Whether the learner is given the environment of each row, the number of its task, when it learns.",
    )
    warm_up_rows: int = Field(
        0,
        ge=0,
        description="Rows at the beginning that the learner waited for, and learnt in one call; 0 where it learnt from "
        "the first row on.",
    )
    warnings: dict[AnyText, int] = Field(
        default_factory=dict, description="Warnings given while the learner and its references learnt -> how often."
    )
    predicts_with_task: bool = Field(
        False, description="Whether the learner is given the labels of the row's task when it predicts."
    )
    status: Literal["done", "capped", "failed"]
    error: AnyText | None = None
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
    def _rename_frugality(cls, content: object) -> object:
        return rename_in_run(content)

    @field_validator("scores", "undefined", mode="before")
    @classmethod
    def _rename_scores(cls, values: object) -> object:
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
        return _run_html(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the matrices R as a frame of pandas, which must be installed.

        Returns
        -------
        DataFrame
            A row for each experience and task: the number of experiences learnt by then (0: before any), the task, and
            a column for each metric; NaN where a score is not defined. A frame of many runs is that of `load_runs`.
        """
        return make_frame(_score_columns(self))

    @model_serializer(mode="wrap")
    def _leave_out(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        absent = ("scenario",) if self.scenario is None else ("R", "references")
        return {name: value for name, value in write(self).items() if name not in absent}

    @property
    def repetition(self) -> Repetition:
        """Its seeds."""
        return Repetition(self.seed, self.order_seed, self.split_seed)

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
        return make_frame(_run_columns(self))


def _score_columns(run: RunResult) -> dict[str, Sequence[object]]:
    """Return the matrices R of a run as columns, a row for each experience and task; row 0 is before any learning."""
    places = [(after, task) for after in range(len(run.order) + 1) for task in range(len(run.task_names))]
    columns: dict[str, Sequence[object]] = {
        "experience": [after for after, _ in places],
        "task": [run.task_names[task] for _, task in places],
    }
    return columns | {
        metric: [as_number(R[after][task]) if after < len(R) else math.nan for after, task in places]
        for metric, R in run.R.items()
    }


def _run_columns(runs: Sequence[RunResult]) -> dict[str, Sequence[object]]:
    """Return runs as columns: what they are, all scores that one of them has, and the cost of the stream."""
    columns: dict[str, Sequence[object]] = {name: [getattr(run, name) for run in runs] for name in _IDENTITY}
    scores = dict.fromkeys(name for run in runs for name in run.scores)
    columns |= {name: [as_number(run.scores.get(name)) for run in runs] for name in scores}
    for name in ("wall_time_s", "cpu_time_s", "energy_kwh"):
        columns[name] = [as_number(total_cost(run, name)) for run in runs]
    for name in ("peak_memory_bytes", "model_size_bytes"):
        columns[name] = [as_number(getattr(run.resources, name, None)) for run in runs]
    return columns


def _run_html(run: RunResult) -> str:
    """Write a run in short as HTML: what it is, its scores, and when the tasks came."""
    wall_time = total_cost(run, "wall_time_s")
    facts = {
        "Stream": run.stream,
        "Scenario": run.scenario,
        "Learner": run.estimator,
        "Seed": run.seed,
        "Seed of the order": run.order_seed,
        "Seed of the split": run.split_seed,
        "Status": run.status,
        "Error": (run.error or "").strip().rpartition("\n")[2],
        "Labels that count": run.label_space_rule,
        "Wall time": "" if wall_time is None else f"{wall_time:.3g} s",
    }
    scores = [
        (name, run.undefined.get(name, "not defined") if value is None else f"{value:.4g}")
        for name, value in run.scores.items()
    ]
    parts = [_html.table(("Score", "Value"), scores)] if scores else []
    schedule = _html.schedule(run.task_names, run.experience_sizes, run.order)
    return _html.summary(f"Run of {run.strategy}", facts, *parts, schedule)


def total_cost(run: RunResult, what: str, phase: str | None = None) -> float | None:
    """Return a cost of one phase, or of all but the search of parameters; None if any part of it was not measured.

    `what` is a field of `PhaseResources` that adds up over phases, such as wall_time_s.
    """
    phases = run.resources.phases if run.resources is not None else {}
    parts = [getattr(used, what) for name, used in phases.items() if (name == phase if phase else name != SELECTION)]
    return sum(parts) if parts and None not in parts else None


def as_number(value: float | None) -> float:
    """Return a value of a column: NaN for None."""
    return math.nan if value is None else value
