"""The record of a detection: the alarms of one drift detector on the errors of one learner on one stream."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, JsonValue, model_validator

from mlstream.records.paths import detection_path, require_own_path
from mlstream.records.run_result import Score, as_number
from mlstream.records.schema import (
    AnyText,
    Record,
    VersionedRecord,
    list_records,
    read_record,
    require_none_failed,
    write_record,
)
from mlstream.streams.frames import make_frame

if TYPE_CHECKING:
    import pandas as pd

_IDENTITY = ("stream", "learner", "detector", "seed", "status")
_SHOWN = ("f1", "detection_rate", "false_alarms_per_1000")


class TrueDrift(Record):
    """A drift that is known. Rows are counted over all experiences, from 0."""

    start: int = Field(ge=0, description="First row that is not surely as before.")
    stop: int = Field(ge=0, description="First row that surely is as afterwards; an abrupt drift has stop = start.")
    what: str = Field(description="What changes.")


class Alarm(Record):
    """A row at which the detector signalled."""

    row: int = Field(ge=0)
    drift: int | None = Field(ge=0, description="Index of the drift that it is in time for; None for a false alarm.")
    labels: list[int] = Field(
        default_factory=list,
        description="Indices of the labels that drift, or those of the label set that does; empty where the detector "
        "watches rows as a whole.",
    )


class Detection(VersionedRecord):
    """One (stream, learner, detector, seed): where the detector signalled, and where drifts are."""

    detector: str
    detector_class: str = Field(description="The detector's own representation, parameters included.")
    detector_parameters: dict[str, JsonValue]
    learner: str
    estimator: AnyText = Field(description="The estimator's own representation, parameters included.")
    parameters: dict[str, JsonValue]
    wrapped_as: str | None = Field(None, description="Wrapper around the learner, as in the record of a run.")
    seed: int = Field(ge=0)
    stream: str
    stream_sha256: str
    n_rows: int = Field(ge=1)
    label_space: Literal["task", "seen", "all"]
    settings: dict[str, JsonValue] = Field(description="The other options of the detection; max_delay as it was used.")
    drifts: list[TrueDrift]
    status: Literal["done", "failed"]
    error: AnyText | None = None
    error_rate: Score = Field(None, description="Mean error of the learner, over the rows that have one.")
    alarms: list[Alarm] = Field(default_factory=list, description="In order, at most one for each row.")
    scores: dict[str, Score] = Field(default_factory=dict, description="The scores of `metrics.detection_scores`.")
    undefined: dict[str, str] = Field(default_factory=dict, description="Why a score is null.")
    versions: dict[str, str]
    machine: dict[str, str]

    @model_validator(mode="after")
    def _require_consistent(self) -> Self:
        """Refuse alarms and drifts that are out of order or outside the stream."""
        _require_order("alarms", [alarm.row for alarm in self.alarms], self.n_rows - 1, step=1)
        _require_order("drifts", [row for one in self.drifts for row in (one.start, one.stop)], self.n_rows, step=0)
        last = len(self.drifts) - 1
        for alarm in self.alarms:
            if alarm.drift is not None and alarm.drift > last:
                raise ValueError(f"alarms must belong to drifts from 0 to {last}. Got {alarm.drift} instead")
        return self

    def __repr__(self) -> str:
        shown = "".join(f", {name} {value:.3f}" for name in _SHOWN if (value := self.scores.get(name)) is not None)
        run = f"{self.detector!r} on {self.learner!r} on {self.stream!r}, seed {self.seed}"
        return f"Detection({run}: {self.status}, {len(self.alarms)} alarms for {len(self.drifts)} drifts{shown})"

    __str__ = __repr__


class Detections(list[Detection]):
    """A list of detections that can become a table."""

    def to_frame(self) -> pd.DataFrame:
        """Return the detections as a frame of pandas, which must be installed.

        Returns
        -------
        DataFrame
            A row for each detection: stream, learner, detector, seed and status, the numbers of drifts and alarms, and
            every score; NaN where one is not defined.
        """
        return make_frame(detection_columns(self))


def detection_columns(detections: Sequence[Detection]) -> dict[str, Sequence[object]]:
    """Return detections as columns: what they are, how many drifts and alarms they have, and all scores."""
    columns: dict[str, Sequence[object]] = {name: [getattr(one, name) for one in detections] for name in _IDENTITY}
    columns |= {f"n_{name}": [len(getattr(one, name)) for one in detections] for name in ("drifts", "alarms")}
    names = dict.fromkeys(name for one in detections for name in one.scores)
    return columns | {name: [as_number(one.scores.get(name)) for one in detections] for name in names}


def save_detection(detection: Detection, directory: str | os.PathLike[str]) -> Path:
    """Write the record of a detection, by the rules of `write_record`, into the folder of its campaign."""
    path = detection_path_of(detection, directory)
    return write_record(detection, path, lambda path: load_detection(path).status == "failed", "detection")


def load_detection(path: str | os.PathLike[str]) -> Detection:
    """Read one record; a ValueError names a file that is not of this version, or whose fields contradict each other."""
    return read_record(Path(path), Detection)


def load_detection_at(path: Path, directory: str | os.PathLike[str]) -> Detection:
    """Read one record of a campaign, which must be that of the detection that the file is named after.

    A ValueError names a file that is not a record of this version, or holds another detection.
    """
    one = load_detection(path)
    require_own_path(path, detection_path_of(one, directory), "detection")
    return one


def load_detections(directory: str | os.PathLike[str]) -> Detections:
    """Read every detection of a campaign, sorted by stream, learner, detector and seed.

    Parameters
    ----------
    directory : path
        The folder of a campaign.

    Returns
    -------
    Detections
        A list of Detection, with `Detections.to_frame`; empty if the folder holds none.

    Raises
    ------
    ValueError
        If a file there is not a record of this version, contradicts itself, or holds another detection than that of its
        name; the message names it.
    OSError
        If there is no permission to read a file or folder there.
    """
    paths = list_records(Path(directory) / "detections", 2)
    return Detections(load_detection_at(path, directory) for path in paths)


def detection_path_of(one: Detection, directory: str | os.PathLike[str]) -> Path:
    """Return the path of a record in the folder of its campaign."""
    return detection_path(directory, one.stream, one.learner, one.detector, one.seed)


def require_detected(detections: Sequence[Detection], directory: str | os.PathLike[str]) -> None:
    """Raise a RuntimeError about the detections that failed, if any, once a campaign has ended."""
    errors = {detection_path_of(one, directory): one.error for one in detections if one.status == "failed"}
    require_none_failed(errors, len(detections), "detections")


def _require_order(name: str, rows: Sequence[int], last: int, *, step: int) -> None:
    before = -step
    for row in rows:
        if not before + step <= row <= last:
            raise ValueError(f"{name} must be in order, and at rows up to {last}. Got {row} after {before} instead")
        before = row
