"""The manifest of a challenge: what its organiser knows about environments, labels and hidden rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, ConfigDict, Field, ValidationError, model_validator

from mlstream._support.files import read_bounded, write_text_atomically
from mlstream._support.validation_errors import Model, describe_error
from mlstream.challenge.config import MetricName

Role = Literal["train", "validation", "test", "unseen", "in-distribution"]

_MAX_BYTES = 64 * 2**20
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class EnvironmentEntry(Model):
    """One environment."""

    model_config = _STRICT

    name: str = Field(description="The task of the stream; private.")
    public_name: str = Field(description="The name that is published with the final scores.")
    role: Role
    n_rows: Annotated[int, Field(ge=1)]
    file: Annotated[str, Field(pattern=r"^truth/[0-9]{2,6}\.npz$")] | None = Field(
        description="The truth, in the organiser's folder; null for rows whose labels are public."
    )

    @model_validator(mode="after")
    def _require_file(self) -> EnvironmentEntry:
        if (self.file is None) != (self.role == "train"):
            raise ValueError(f"file must be there for hidden environments, and only there. Got {self.file!r}.")
        return self


class Feedback(Model):
    """The part of a score that a team is told."""

    model_config = _STRICT

    decimals: Annotated[int, Field(ge=0, le=15)]
    step: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        description="By how much a score must be better than all before it to be reported, as a multiple of it; or 0."
    )
    start: float | None = Field(default=None, description="What the first score must be better than.")
    start_in_distribution: float | None = Field(default=None, description="As start, on held-out training rows.")


class Manifest(Model):
    """Facts about a challenge that never change."""

    model_config = _STRICT

    version: Literal[1] = 1
    name: str
    created: AwareDatetime
    metric: MetricName
    environments: list[EnvironmentEntry] = Field(min_length=1)
    label_names: list[str] = Field(min_length=1, description="All labels of the training data, in order.")
    scored_labels: list[Annotated[int, Field(ge=0)]] = Field(min_length=1, description="Places in label_names.")
    n_hidden: Annotated[int, Field(ge=1)] = Field(description="Rows of a submission.")
    n_features: Annotated[int, Field(ge=1)]
    holdout_sha256: Sha256 = Field(description="Of the row ids of all hidden rows, ascending, as little-endian uint64.")
    stream_sha256: str
    bundle_sha256: Sha256 = Field(description="Of the file SHA256SUMS of the bundle.")
    truth_is_public: bool
    n_identical_rows: Annotated[int, Field(ge=0)]
    telling_features: list[str] = Field(default=[], description="Features that tell hidden environments apart.")
    dropped_rows: Annotated[int, Field(ge=0)]
    in_distribution_score: bool
    feedback: Feedback | None = Field(default=None, description="Null before the noise of the rows decided on it.")

    @property
    def scored_names(self) -> list[str]:
        """Names of the labels that a submission holds, in order."""
        return [self.label_names[place] for place in self.scored_labels]

    def of_role(self, role: Role) -> list[EnvironmentEntry]:
        """Return the environments of one role, in order."""
        return [one for one in self.environments if one.role == role]


def read_manifest(path: Path) -> Manifest:
    """Read a manifest from a JSON file, and check it.

    Raises FileNotFoundError without such a file, ValueError, which names the file and the field, if it is not a
    manifest.
    """
    try:
        return Manifest.model_validate_json(read_bounded(path, _MAX_BYTES))
    except ValidationError as error:
        raise ValueError(f"{path}: {describe_error(error)}") from None


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a manifest as JSON; the file is complete or absent."""
    write_text_atomically(path, manifest.model_dump_json(indent=1) + "\n")
