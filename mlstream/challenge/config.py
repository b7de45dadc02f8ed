"""The rules of a challenge as its organiser writes them: ``challenge.toml``."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Literal, cast
from zoneinfo import ZoneInfo

from pydantic import ConfigDict, Field, Strict, ValidationError, model_validator

from mlstream._support.files import read_bounded
from mlstream._support.toml import parse_toml
from mlstream._support.validation_errors import Model, describe_error

# Far more than the names of the tasks of any stream need.
MAX_FILE_BYTES = 2**20
_MAX_NAME = 100
# A score has no more digits.
_LEAST_STEP = 1e-12

MetricName = Literal["nce", "ba_macro", "rmse", "precision_at_k", "pw_js"]
Names = tuple[Annotated[str, Strict(), Field(min_length=1)], ...]
Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
# Not a text: it would keep the time without an offset that it may hold.
Moment = Annotated[datetime, Strict()]
# A file holds lists; tuples keep the configuration unchanged.
_STRICT = ConfigDict(extra="forbid", frozen=True)


class Roles(Model):
    """The task of the stream that plays each role; a task plays one role at most."""

    model_config = _STRICT

    train: Names = Field(min_length=1, description="Tasks whose labels contestants get.")
    validation: Names = Field(min_length=1, description="Tasks that queries are scored on.")
    test: Names = Field(min_length=1, description="Tasks of the generalisation prize.")
    unseen: Names = Field(description="Tasks of the robustness prize; an empty list: no such prize.")

    @model_validator(mode="after")
    def _require_one_role_each(self) -> Roles:
        names = [*self.train, *self.validation, *self.test, *self.unseen]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"roles must name each task once. Got {twice!r} twice.")
        return self


class ChallengeConfig(Model):
    """The content of ``challenge.toml``, checked; times are in UTC."""

    model_config = _STRICT

    name: Annotated[str, Strict(), Field(min_length=1, max_length=_MAX_NAME)]
    stream: Annotated[str, Strict()] | None = Field(default=None, description="The stream, unless a command names it.")
    metric: MetricName = "nce"
    k: Annotated[Whole, Field(ge=1)] = Field(default=1, description="Of precision_at_k.")
    opens: Moment | None = Field(default=None, description="Start of development; by default, when it is created.")
    development_ends: Moment | None = Field(default=None, description="By default when the organiser closes.")
    final_ends: Moment | None = Field(default=None, description="By default when the organiser closes.")
    timezone: Annotated[str, Strict()] = Field(default="UTC", description="Of times without an offset.")
    queries_per_day: Annotated[Whole, Field(ge=1, le=10_000)] = 30
    invalid_per_day: Annotated[Whole, Field(ge=1, le=100_000)] = 300
    final_selections: Annotated[Whole, Field(ge=1, le=100)] = 1
    decimals: Annotated[Whole, Field(ge=0, le=15)] | None = Field(
        default=None, description="By default those of ladder_step, or 3 without a step."
    )
    eps_public: Annotated[Number, Field(gt=0, lt=0.5)] = 1e-3
    eps_final: Annotated[Number, Field(gt=0, lt=0.5)] = 1e-15
    min_rows: Annotated[Whole, Field(ge=1)] = 1000
    ladder_step: Annotated[Number, Field(ge=0, le=1)] | None = Field(
        default=None, description="By default two standard errors of the score on the validation rows, rounded up."
    )
    team_size: Annotated[Whole, Field(ge=1, le=1000)] = 5
    max_bytes: Annotated[Whole, Field(ge=1000, le=10_000_000_000)] = 50_000_000
    in_distribution_score: Flag = False
    publish_environment_scores: Flag = False
    remove_duplicate_rows: Flag = False
    categorical: Literal["auto", "none"] | Names = Field(
        default="auto",
        description="Features that hold categories; auto: those that the stream declares, if any, else those of 3 "
        "to 32 whole numbers.",
    )
    leave_out: Names = Field(default=(), description="Features that contestants do not get.")
    roles: Roles | None = Field(default=None, description="By default, those on the card of the stream.")

    @model_validator(mode="before")
    @classmethod
    def _place_times(cls, content: object) -> object:
        """Read times without an offset in the time zone of the file; days are whole, from first to last moment."""
        if not isinstance(content, dict):
            return content
        zone = _find_zone(content.get("timezone", "UTC"))
        times = ("opens", "development_ends", "final_ends")
        return {key: _settle(key, value, zone) if key in times else value for key, value in content.items()}

    @model_validator(mode="after")
    def _check_whole(self) -> ChallengeConfig:
        if not self.name.isprintable():
            raise ValueError(f"name must be printable. Got {self.name!r} instead.")
        step, decimals = self.ladder_step, self.decimals
        if step and step < _LEAST_STEP:
            raise ValueError(f"ladder_step must be 0, or {_LEAST_STEP:g} at least. Got {step:g}.")
        if step is not None and decimals is not None and round(step, decimals) != step:
            raise ValueError(f"decimals must be enough to write ladder_step, {step:g}. Got {decimals}.")
        times = [one for one in (self.opens, self.development_ends, self.final_ends) if one is not None]
        if sorted(set(times)) != times:
            got = ", ".join(f"{one:%Y-%m-%d %H:%M}" for one in times)
            raise ValueError(f"opens, development_ends and final_ends must follow each other. Got {got} (UTC).")
        return self


def read_config(path: str | os.PathLike[str]) -> ChallengeConfig:
    """Read the rules of a challenge from a TOML file, and check them.

    Raises FileNotFoundError without such a file, ValueError, which names the file and the key, if it is not valid.
    """
    path = Path(path)
    return parse_config(read_bounded(path, MAX_FILE_BYTES), path)


def parse_config(content: bytes, path: str | os.PathLike[str]) -> ChallengeConfig:
    """Read the rules of a challenge from the content of a file; as `read_config`."""
    table = parse_toml(content, os.fspath(path))
    try:
        return ChallengeConfig.model_validate(table)
    except ValidationError as error:
        raise ValueError(f"{os.fspath(path)}: {describe_error(error)}") from None


def _find_zone(name: object) -> ZoneInfo:
    try:
        return ZoneInfo(str(name))
    except (ValueError, KeyError, OSError):
        raise ValueError(f"timezone must be a name such as 'UTC' or 'Europe/Paris'. Got {name!r} instead.") from None


def parse_time(key: str, text: str) -> datetime:
    """Read a time in ISO 8601, in UTC unless it says otherwise, or a day; ValueError for anything else."""
    try:
        # A day alone is a time for Python.
        value = date.fromisoformat(text) if len(text) <= len("2027-01-01") else datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{key} must be a time, such as 2027-01-01T00:00:00. Got {text!r} instead.") from None
    return cast(datetime, _settle(key, value, ZoneInfo("UTC")))


def _settle(key: str, value: object, zone: ZoneInfo) -> object:
    """Return a time in UTC: of a day its start, or its end unless `key` is opens.

    Raises ValueError for a local time that is not one moment.
    """
    if not isinstance(value, date):
        return value
    try:
        if not isinstance(value, datetime):
            day = value if key == "opens" else value + timedelta(days=1)
            return datetime.combine(day, time(), zone).astimezone(UTC)
        if value.tzinfo is not None:
            return value.astimezone(UTC)
        found = sorted({value.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)})
        is_twice = found[0].astimezone(zone).replace(tzinfo=None) == value
    except OverflowError:
        raise ValueError(f"times must be in the years 1 to 9999 of UTC. Got {value} instead.") from None
    if len(found) > 1:
        moments = (f"{one.replace(tzinfo=None).isoformat()}Z ({one.astimezone(zone)} there)" for one in found)
        raise ValueError(
            f"{key} must be a time that clocks in {zone} show once. Got {value}, which they show "
            f"{'twice' if is_twice else 'never'}; write {' or '.join(moments)}."
        )
    return found[0]
