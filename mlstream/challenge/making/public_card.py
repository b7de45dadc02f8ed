"""The card that contestants get: what they need to know, and nothing that a hidden row could be recognised by."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from mlstream._support.validation_errors import Model
from mlstream.challenge.making.hiding import FeatureHiding

CARD = "card.public.json"


class _Public(Model):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PublicFeature(_Public):
    """One column of the bundle."""

    name: str
    categories: int | None = Field(description="Number of categories, coded 0, 1, ... without an order; else null.")


class PublicEnvironment(_Public):
    """One training environment."""

    number: int = Field(ge=1, description="Value in the column `environment` of the training rows.")
    rows: int = Field(ge=1)


class PublicCard(_Public):
    """The description of a challenge in its bundle.

    It is no card of a stream: it holds neither a generator, its parameters nor a seed, no hash, size or frequency of
    hidden environments, no drift and no picture, so that nothing can be made again from it.
    """

    kind: Literal["mlstream challenge"] = "mlstream challenge"
    version: Literal[1] = 1
    name: str
    metric: str
    lower_is_better: bool
    opens: datetime | None
    development_ends: datetime | None
    final_ends: datetime | None
    timezone: str = Field(default="UTC", description="In which RULES.md states times beside UTC.")
    queries_per_day: int
    final_selections: int
    decimals: int = Field(default=3, description="Of the scores that are told during development.")
    ladder_step: float = Field(
        default=0.0, description="By how much a score must be better than all before it to be told; or 0."
    )
    robustness_prize: bool = Field(description="Whether environments of the role 'unseen' are among the hidden rows.")
    features: list[PublicFeature]
    label_names: list[str]
    scored_labels: list[str] = Field(description="The columns of a submission, in any order.")
    environments: list[PublicEnvironment]
    n_hidden_rows: int
    licence: str
    citation: str
    truth_is_public: bool = Field(description="Whether the labels can be looked up, since the table is published.")


def describe_features(hiding: FeatureHiding) -> list[PublicFeature]:
    """Describe the columns of the bundle in their order."""
    pairs = zip(hiding.names, hiding.n_categories, strict=True)
    return [PublicFeature(name=name, categories=categories) for name, categories in pairs]
