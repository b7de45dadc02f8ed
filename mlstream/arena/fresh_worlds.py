"""Worlds that nobody has seen: another seed makes them, and ranks there tell whether those of the suite hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mlstream.arena.again import run_again
from mlstream.arena.records import LearnerRecord, load_records
from mlstream.arena.running import enter
from mlstream.arena.standings import Ranking, agree, rank_learners
from mlstream.arena.suite import Suite, load_suite
from mlstream.campaign.campaign import CampaignProgress
from mlstream.streams.stream import Stream


class FreshRanks(NamedTuple):
    """Mean ranks of a learner and of the panel in worlds of the suite, and in such worlds of a seed nobody has seen."""

    learners: tuple[str, ...]
    ranks: tuple[float, ...]
    fresh_ranks: tuple[float, ...]
    agreement: float  # Spearman's correlation of the two.
    holds: bool  # Whether the intervals of the learner's mean rank overlap.


def rank_on_fresh_worlds(
    record: LearnerRecord, learner: object, seed: int, *, progress: Callable[[CampaignProgress], None] | None = None
) -> FreshRanks:
    """Run a learner and the panel of the suite in worlds of a new seed, and compare mean ranks with those of records.

    Parameters
    ----------
    record : LearnerRecord
        The record of the learner.
    learner : str or estimator
        The learner, as `run` takes it.
    seed : int
        Seed of the worlds.
    progress : callable, optional
        Called with every event of the runs.

    Returns
    -------
    FreshRanks
        Ranks by the score that heads the board of worlds.

    Raises
    ------
    ValueError
        If the learner has no record in any world of the suite.
    """
    suite = load_suite(record.suite)
    streams = _make_worlds(record, suite, seed)
    panel = [name for name in suite.panel if name != record.learner]
    contestants = [enter(learner, record.learner), *map(enter, panel)]
    fresh = {contestant.name: run_again(contestant, streams, suite, progress) for contestant in contestants}
    known = {name: load_records(suite.version)[name] for name in panel} | {record.learner: record}
    score, names = suite.scores(suite.worlds)[0], record.cells.keys()
    before, after = (rank_learners(records, suite, suite.worlds, score, streams=names) for records in (known, fresh))
    if before is None or after is None:
        raise ValueError(f"{record.learner} must have finished a stream of {suite.worlds}. Got no such stream.")
    return _compare(record.learner, before, after)


def _make_worlds(record: LearnerRecord, suite: Suite, seed: int) -> list[Stream]:
    """Make the worlds of the suite that a learner has run in, by another seed."""
    entries = [entry for entry in suite.entries("full", suite.worlds) if entry.name in record.cells]
    if not entries:
        raise ValueError(f"{record.learner} must have run on the board {suite.worlds}. Got a record without it.")
    return [entry.load_with_seed(seed) for entry in entries]


def _compare(learner: str, before: Ranking, after: Ranking) -> FreshRanks:
    learners = tuple(name for name in before.learners if name in after.learners)
    ranks, fresh_ranks = (
        tuple(float(ranking.ranks[ranking.learners.index(name)]) for name in learners) for ranking in (before, after)
    )
    (low, high), (fresh_low, fresh_high) = (
        ranking.intervals[ranking.learners.index(learner)] for ranking in (before, after)
    )
    holds = bool(low <= fresh_high and fresh_low <= high)
    return FreshRanks(learners, ranks, fresh_ranks, agree(after, before), holds)
