"""Strategies compared over streams: mean ranks, tests on them, and probabilities for each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from metrics import average_ranks, bayesian_signed_rank, critical_difference, friedman, nemenyi
from mlstream.analysis.complete_blocks import LeftOut, choose_block
from mlstream.analysis.groups import Group, describe_tunings, score_names
from mlstream.analysis.score_info import score_heading

Floats = npt.NDArray[np.float64]

ALPHA = 0.05
# Differences of less than a hundredth do not matter in practice, by the authors of the test.
ROPE = 0.01
# The standard error of a probability is 0.007 at most; all pairs of 17 strategies take half a second.
_N_DRAWS = 5_000


class Pair(NamedTuple):
    """Two strategies, and the results of the tests on them."""

    first: int
    second: int
    p_value: float
    first_better: float
    equivalent: float
    second_better: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """All strategies by one score, over all streams.

    Each strategy compared has a score on each stream compared.
    """

    metric: str
    streams: tuple[str, ...]
    strategies: tuple[str, ...]
    scores: Floats  # Means over repetitions, (n_streams, n_strategies).
    ranks: Floats  # Mean ranks over streams, (n_strategies,); 1 is best.
    # Of the Friedman test; it and `p_value` are NaN for fewer than three strategies, or where all tie.
    statistic: float
    p_value: float
    critical_difference: float  # Difference of mean ranks from which the Nemenyi test calls two strategies different.
    pairs: tuple[Pair, ...]  # Nemenyi and Bayesian signed-rank tests.
    tuning: tuple[str, ...]  # How the parameters of each strategy were chosen.
    left_out: tuple[LeftOut, ...]

    @property
    def by_rank(self) -> list[int]:
        """Places of the strategies, best first."""
        return [int(place) for place in np.argsort(self.ranks, kind="stable")]

    @property
    def cliques(self) -> list[tuple[int, int]]:
        """Longest stretches of `by_rank` within the critical difference: places of first and last, both included."""
        return find_cliques(sorted(self.ranks.tolist()), self.critical_difference)


class Ranking(NamedTuple):
    """Strategies by mean rank over streams, by the score `title`."""

    title: str
    names: Sequence[str]  # best first
    ranks: Sequence[float]  # mean ranks, rising
    cliques: Sequence[tuple[int, int]]  # places of the first and the last strategy of each bar
    critical_difference: float  # of mean ranks, from which the test calls two strategies different
    n_streams: int


def compare_all(streams: Mapping[str, Sequence[Group]]) -> list[Comparison]:
    """Compare strategies by every score that has a direction, and that two strategies have on the same two streams."""
    groups = [group for members in streams.values() for group in members]
    names = [name for name in score_names(groups) if score_heading(name).better != "neither"]
    return [found for name in names if (found := compare(streams, name)) is not None]


def compare(streams: Mapping[str, Sequence[Group]], metric: str) -> Comparison | None:
    """Compare strategies by one score; None if no two strategies have a score on the same two streams.

    Repetitions (seeds, orders, splits) are averaged first: a stream counts once. Only runs that finished count. See
    `choose_block` for the streams and strategies that are compared.
    """
    block = choose_block(streams, metric)
    if block is None:
        return None
    tuning = describe_tunings(streams)
    n_streams, n_strategies = len(block.streams), len(block.strategies)
    scores = np.array(block.scores)
    higher = score_heading(metric).better == "higher"
    statistic, p_value = friedman(scores) if n_strategies > 2 else (np.nan, np.nan)
    return Comparison(
        metric=metric,
        streams=block.streams,
        strategies=block.strategies,
        scores=scores,
        ranks=average_ranks(scores, higher_is_better=higher),
        statistic=statistic,
        p_value=p_value,
        critical_difference=critical_difference(n_strategies, n_streams, alpha=ALPHA),
        pairs=tuple(_pairs(scores if higher else -scores)),
        tuning=tuple(tuning[name] for name in block.strategies),
        left_out=block.left_out,
    )


def ranking_of(comparison: Comparison) -> Ranking:
    """Sort the strategies of a comparison by rank, best first."""
    order = comparison.by_rank
    return Ranking(
        title=score_heading(comparison.metric).title,
        names=[comparison.strategies[place] for place in order],
        ranks=[float(comparison.ranks[place]) for place in order],
        cliques=comparison.cliques,
        critical_difference=comparison.critical_difference,
        n_streams=len(comparison.streams),
    )


def find_cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Find the longest stretches of sorted ranks that lie within a difference, as places of the first and the last.

    Each stretch holds at least two strategies, and none lies within another.
    """
    cliques: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank < difference)
        if last > first and (not cliques or last > cliques[-1][1]):
            cliques.append((first, last))
    return cliques


def _pairs(scores: Floats) -> list[Pair]:
    p_values = nemenyi(scores)
    # The products are small: threads would cost more than they save.
    with threadpool_limits(limits=1):
        return [
            Pair(
                first,
                second,
                float(p_values[first, second]),
                *bayesian_signed_rank(scores[:, first], scores[:, second], rope=ROPE, n_draws=_N_DRAWS),
            )
            for first, second in combinations(range(scores.shape[1]), 2)
        ]
