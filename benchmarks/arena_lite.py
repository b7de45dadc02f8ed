"""The lite part of the arena: which streams of each board rank learners as the whole board does.

Of each board, the streams that everyone can make, without a download, are candidates; the few whose mean ranks agree
best with those of the whole are the lite part. Agreement is Spearman's correlation, leave one learner out: the streams
are chosen without a learner, which then gets its mean rank on them, and on the whole board.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, TextIO

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from mlstream import arena
from mlstream.arena.suite import Suite

Floats = npt.NDArray[np.float64]

# Streams of each board in the lite part, at most; more slow it down, and add little.
N_LITE = {"tasks": 3, "classes": 3, "worlds": 5, "tables": 2, "hierarchy": 2, "environments": 3, "unknown": 4}
# The one table that comes with a required package.
EMBEDDED = "yeast"


class Agreement(NamedTuple):
    """How well the lite part of a board agrees with the whole."""

    board: str
    streams: tuple[str, ...]
    correlation: float  # Of the mean ranks of all learners.
    left_out: float  # The same, leave one learner out.


def rank_tables(suite: Suite, board: str) -> tuple[tuple[str, ...], list[Floats]]:
    """Return the streams of a board, and by each heading score the ranks of the same learners on each stream."""
    found = [arena.rank_learners(arena.load_records(), suite, board, score) for score in suite.heading_scores(board)]
    ranked = [ranking for ranking in found if ranking is not None]
    names = sorted(set.intersection(*(set(ranking.learners) for ranking in ranked)))
    columns = [[ranking.learners.index(name) for name in names] for ranking in ranked]
    return ranked[0].streams, [one.stream_ranks[:, column] for one, column in zip(ranked, columns, strict=True)]


def candidates(suite: Suite, board: str, streams: Sequence[str]) -> list[int]:
    """Return the places of streams that need no download, and are not long."""
    makeable = {
        entry.name
        for entry in suite.entries("full", board)
        if entry.table in (None, EMBEDDED) and "10000" not in entry.name
    }
    return [place for place, name in enumerate(streams) if name in makeable]


def choose(tables: Sequence[Floats], places: Sequence[int], n_streams: int) -> tuple[int, ...]:
    """Return the streams whose mean ranks agree best with the whole, over several tables of ranks by stream."""
    whole = [table.mean(axis=0) for table in tables]

    def agreement(chosen: tuple[int, ...]) -> float:
        pairs = zip(tables, whole, strict=True)
        return float(np.mean([_correlate(table[[*chosen]].mean(axis=0), one) for table, one in pairs]))

    return max(combinations(places, min(n_streams, len(places))), key=agreement)


def measure(suite: Suite, board: str) -> Agreement:
    """Choose the lite part of a board, and measure its agreement."""
    streams, tables = rank_tables(suite, board)
    places, n_streams = candidates(suite, board, streams), N_LITE[board]
    chosen = choose(tables, places, n_streams)
    known = [_correlate(table[[*chosen]].mean(axis=0), table.mean(axis=0)) for table in tables]
    n_learners = tables[0].shape[1]
    without = [
        choose([np.delete(table, left, axis=1) for table in tables], places, n_streams) for left in range(n_learners)
    ]
    unseen = []
    for table in tables:
        lite = [table[[*one], left].mean() for left, one in enumerate(without)]
        unseen.append(_correlate(np.array(lite), table.mean(axis=0)))
    return Agreement(board, tuple(streams[place] for place in chosen), float(np.mean(known)), float(np.mean(unseen)))


def _correlate(one: Floats, other: Floats) -> float:
    return float(spearmanr(one, other).statistic)


def print_agreement(out: TextIO) -> None:
    """Print the lite part that the records ask for, and how well it agrees."""
    suite = arena.load_suite()
    for board in N_LITE:
        found = measure(suite, board)
        print(
            f"{board:13} {found.correlation:.3f} {found.left_out:.3f}  {', '.join(found.streams)}", file=out, flush=True
        )
