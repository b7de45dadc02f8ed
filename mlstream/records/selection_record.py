"""The record of a search: every configuration that was tried on the first experience, and the one that was chosen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from mlstream.records.schema import Record, VersionedRecord


class Trial(Record):
    """One configuration on the first experience of a stream."""

    parameters: dict[str, JsonValue]
    status: Literal["done", "capped", "failed", "untried"] = Field(
        description="'untried': the time cap came first, or there was nothing to choose from."
    )
    ba_macro: float | None = Field(default=None, description="Prequential, over the rows of the trial.")
    frugality: float | None = Field(default=None, description="BA_macro minus C / (1 + C), C the energy of the trial.")
    wall_time_s: Annotated[float, Field(ge=0)] = 0.0
    cpu_time_s: Annotated[float, Field(ge=0)] = 0.0
    energy_kwh: Annotated[float, Field(ge=0)] | None = None
    energy_below_resolution: bool = Field(default=False, description="Too short for the meter: it counts as zero.")
    error: str | None = None


class Selection(Record):
    """The configurations tried, in the order drawn, and the one chosen."""

    trials: list[Trial] = Field(min_length=1)
    chosen: int = Field(ge=0, description="Index of the chosen configuration among the trials.")


class SelectionRecord(VersionedRecord):
    """A selection on its own, recorded before the run that uses it, so that a run started again uses it too."""

    run: dict[str, JsonValue] = Field(description="The run that it was made for.")
    selection: Selection
