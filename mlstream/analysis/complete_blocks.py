"""The streams and strategies that can be compared: the tests need a table of scores without a gap."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from itertools import combinations
from typing import NamedTuple

from mlstream.analysis.groups import Group


class LeftOut(NamedTuple):
    """A stream or a strategy that is not compared, and the reason."""

    kind: str  # "Stream" or "Strategy".
    name: str
    reason: str


class Block(NamedTuple):
    """Scores of strategies on streams, without a gap."""

    streams: tuple[str, ...]
    strategies: tuple[str, ...]
    scores: list[list[float]]  # A row per stream, a column per strategy: means over repetitions.
    left_out: tuple[LeftOut, ...]  # Streams first, then strategies.


def choose_block(streams: Mapping[str, Sequence[Group]], metric: str) -> Block | None:
    """Choose all strategies on the streams that they share or, where these are too few, the table with the most scores.

    The streams on which all strategies have a score are enough where they are at least two and at least half of the
    streams; strategies and streams without any score do not count. Otherwise each pair of streams proposes the
    strategies that both have, on all streams that have these strategies. The table with the most scores is chosen; ties
    go to the table with more strategies, then to the one proposed first. None if no two strategies have a score on the
    same two streams.
    """
    everyone = dict.fromkeys(group.strategy for groups in streams.values() for group in groups)
    found = {stream: _scores(groups, metric) for stream, groups in streams.items()}
    chosen = _choose_names([row.keys() for row in found.values() if row])
    if not chosen:
        return None
    names = tuple(name for name in everyone if name in chosen)
    rows = {stream: [row[name] for name in names] for stream, row in found.items() if row.keys() >= chosen}
    gaps = {
        stream: {name: _cause(groups, name) for name in everyone if name not in found[stream]}
        for stream, groups in streams.items()
    }
    left_out = [
        LeftOut("Stream", stream, _join_causes(gaps[stream], everyone)) for stream in streams if stream not in rows
    ]
    for name in (name for name in everyone if name not in chosen):
        causes = {stream: gaps[stream][name] for stream in rows if name in gaps[stream]}
        left_out.append(LeftOut("Strategy", name, _join_causes(causes, streams)))
    return Block(tuple(rows), names, list(rows.values()), tuple(left_out))


def _choose_names(rows: Sequence[Set[str]]) -> Set[str]:
    """Choose all names if enough rows have all, else those of the largest table; none if no two rows share two."""

    def n_rows(names: Set[str]) -> int:
        return sum(names <= row for row in rows)

    shared = [names for one, other in combinations(rows, 2) if len(names := one & other) >= 2]
    everyone: Set[str] = set().union(*rows)
    if everyone in shared and 2 * n_rows(everyone) >= len(rows):
        return everyone
    return max(shared, key=lambda names: (len(names) * n_rows(names), len(names)), default=set())


def _scores(groups: Sequence[Group], metric: str) -> dict[str, float]:
    means = {group.strategy: group.score(metric).mean for group in groups if group.status == "done"}
    return {name: mean for name, mean in means.items() if mean is not None}


def _cause(groups: Sequence[Group], strategy: str) -> str:
    status = next((group.status for group in groups if group.strategy == strategy), "not run")
    return "not defined" if status == "done" else status


def _join_causes(causes: Mapping[str, str], everything: Collection[str]) -> str:
    """Join names by the cause why they lack a score: "capped: a, b; not run: c"."""
    by_cause: dict[str, list[str]] = {}
    for name, cause in causes.items():
        by_cause.setdefault(cause, []).append(name)
    return "; ".join(
        f"{cause}: {'all' if len(names) == len(everything) else ', '.join(names)}" for cause, names in by_cause.items()
    )
