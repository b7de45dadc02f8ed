"""The record of a search: every configuration that was tried, and the one that was chosen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator

from mlstream.records.older_records import rename_in_search
from mlstream.records.schema import AnyText, Record, VersionedRecord


class Trial(Record):
    """One configuration on the first experience of a stream, or on its environments."""

    parameters: dict[str, JsonValue]
    status: Literal["done", "capped", "failed", "untried"] = Field(
        description="'untried': the time cap came first, or there was nothing to choose from."
    )
    ba_macro: float | None = Field(default=None, description="Prequential, over the rows of the trial.")
    frugality: float | None = Field(
        default=None,
        description="BA_macro minus C / (1 + C), C the energy of the trial in the unit that the objective names.",
    )
    nce: float | None = Field(
        default=None, description="Normalised cross-entropy, mean over the environments of the selection."
    )
    wall_time_s: Annotated[float, Field(ge=0)] = 0.0
    cpu_time_s: Annotated[float, Field(ge=0)] = 0.0
    energy_kwh: Annotated[float, Field(ge=0)] | None = None
    energy_below_resolution: bool = Field(default=False, description="Too short for the meter: it counts as zero.")
    error: AnyText | None = None


class Selection(Record):
    """The configurations tried, in the order drawn, and the one chosen."""

    trials: list[Trial] = Field(min_length=1)
    chosen: int = Field(ge=0, description="Index of the chosen configuration among the trials.")
    method: Literal[
        "first-experience", "training-environment", "leave-one-environment-out", "validation-environment"
    ] = Field(default="first-experience", description="Rows on which trials were scored.")
    objective: str = Field(
        default="frug_kwh",
        description="Score by which the trial was chosen: frugality, with its unit of energy; or nce, on environments.",
    )
    n_queries: int = Field(default=0, ge=0, description="Trials that were scored on the validation environments.")
    query_budget: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Most queries of the validation environments that were allowed; None without any."
    )

    @property
    def tuning(self) -> str:
        """Short description: "tuned (10)" from 10 configurations, with the method beside it on environments."""
        where = "" if self.method == "first-experience" else f", {self.method}"
        return f"tuned ({len(self.trials)}{where})"


class SelectionRecord(VersionedRecord):
    """A selection on its own, recorded before the run that uses it, so that a run started again uses it too."""

    run: dict[str, JsonValue] = Field(description="The run that it was made for.")
    selection: Selection

    @model_validator(mode="before")
    @classmethod
    def _name_objective(cls, content: object) -> object:
        return rename_in_search(content)
