"""The rankings at the end, as pure functions of final scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import AwareDatetime, ConfigDict

from mlstream._support.validation_errors import Model
from mlstream.challenge.config import MetricName
from mlstream.challenge.scoring.metric import ChallengeMetric

_LEVELS = (2.5, 97.5)


class Candidate(NamedTuple):
    """A final score of a selected submission."""

    team: str
    submission: int  # Earlier ones have lower numbers.
    score: float  # Unrounded.
    # The score on rows drawn with replacement, the same rows for all; None where undefined.
    resamples: Sequence[float | None]


class RankedTeam(Model):
    """A row of a ranking."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: int
    team: str
    score: float
    submission: int
    low: float | None
    """Lower end of the bootstrap interval of 95 %."""
    high: float | None
    tied_with_rank: int
    """Best rank whose score is not above this one's by more than noise; the rank itself where no better one is tied."""


class FinalRanking(Model):
    """Both rankings, as they are published."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    metric: MetricName
    lower_is_better: bool
    closed: AwareDatetime
    generalisation: tuple[RankedTeam, ...]
    robustness: tuple[RankedTeam, ...]
    environments: dict[str, dict[str, float]] | None
    """Name of the team -> public name of the environment -> score of the first selected submission, if published."""
    head: str = ""
    """Hash of the event that recorded the rankings: the head of the chain when the challenge was closed."""


def rank_teams(candidates: Iterable[Candidate], metric: ChallengeMetric) -> tuple[RankedTeam, ...]:
    """Rank teams by their best score, and of equal scores by the earlier submission; best first.

    Two teams are tied within noise if the bootstrap interval of 95 % of the difference of their scores holds 0.
    """

    def key(one: Candidate) -> tuple[float, int]:
        return (math.inf if math.isnan(one.score) else metric.sort_key(one.score)), one.submission

    best: dict[str, Candidate] = {}
    for one in candidates:
        best[one.team] = min(best.get(one.team, one), one, key=key)
    ordered = sorted(best.values(), key=key)
    resamples = [np.array([np.nan if value is None else value for value in one.resamples]) for one in ordered]
    return tuple(_row(place, ordered, resamples) for place in range(len(ordered)))


def _row(place: int, ordered: Sequence[Candidate], resamples: Sequence[npt.NDArray[np.float64]]) -> RankedTeam:
    one = ordered[place]
    tied = next((above for above in range(place) if _are_tied(resamples[above], resamples[place])), place)
    low, high = _interval(resamples[place]) or (None, None)
    return RankedTeam(
        rank=place + 1,
        team=one.team,
        score=one.score,
        submission=one.submission,
        low=low,
        high=high,
        tied_with_rank=tied + 1,
    )


def _are_tied(above: npt.NDArray[np.float64], below: npt.NDArray[np.float64]) -> bool:
    interval = _interval(above - below)
    return interval is not None and interval[0] <= 0 <= interval[1]


def _interval(values: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.percentile(known, _LEVELS)
    return float(low), float(high)
