"""The lite part of the arena: which streams of each board rank learners as the whole board does.

Of each board, short streams are candidates; the few whose mean ranks agree best with those of the whole are the lite
part. Agreement is Spearman's correlation, leave one learner out: the streams
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
N_LITE = {"tasks": 4, "classes": 3, "worlds": 5, "tables": 3, "hierarchy": 2, "environments": 3, "unknown": 4}
# Small tables; the first comes with a required package. A table of text, which is slow for some, is in one stream.
SMALL, TEXT = {None, "yeast", "scene"}, "slashdot"


class Agreement(NamedTuple):
    """How well mean ranks on few streams of a board agree with those on all."""

    board: str
    lite: float  # On the streams that are in the lite part of the suite.
    best: float  # On those that agree best.
    left_out: float  # The same, leave one learner out.
    streams: tuple[str, ...]  # Those that agree best.


def rank_tables(suite: Suite, board: str) -> tuple[tuple[str, ...], list[Floats]]:
    """Return the streams of a board, and by each heading score the ranks of the same learners on each stream."""
    found = [arena.rank_learners(arena.load_records(), suite, board, score) for score in suite.heading_scores(board)]
    ranked = [ranking for ranking in found if ranking is not None]
    names = sorted(set.intersection(*(set(ranking.learners) for ranking in ranked)))
    columns = [[ranking.learners.index(name) for name in names] for ranking in ranked]
    return ranked[0].streams, [one.stream_ranks[:, column] for one, column in zip(ranked, columns, strict=True)]


def candidates(suite: Suite, board: str, streams: Sequence[str]) -> list[int]:
    """Return the places of streams that are not long, and of small tables."""
    tables = SMALL | ({TEXT} if board == "tables" else set())
    small = {one.name for one in suite.entries("full", board) if one.table in tables and "10000" not in one.name}
    return [place for place, name in enumerate(streams) if name in small]


def choose(tables: Sequence[Floats], places: Sequence[int], n_streams: int) -> tuple[int, ...]:
    """Return the streams whose mean ranks agree best with the whole, over several tables of ranks by stream."""
    return max(combinations(places, min(n_streams, len(places))), key=lambda chosen: agree(tables, chosen))


def measure(suite: Suite, board: str) -> Agreement:
    """Choose the lite part of a board, and measure its agreement."""
    streams, tables = rank_tables(suite, board)
    places, n_streams = candidates(suite, board, streams), N_LITE[board]
    chosen = choose(tables, places, n_streams)
    lite = [streams.index(entry.name) for entry in suite.entries("lite", board)]
    n_learners = tables[0].shape[1]
    without = [
        choose([np.delete(table, left, axis=1) for table in tables], places, n_streams) for left in range(n_learners)
    ]
    unseen = []
    for table in tables:
        ranks = [table[[*others], left].mean() for left, others in enumerate(without)]
        unseen.append(_correlate(np.array(ranks), table.mean(axis=0)))
    names = tuple(streams[place] for place in chosen)
    return Agreement(board, agree(tables, lite), agree(tables, chosen), float(np.mean(unseen)), names)


def agree(tables: Sequence[Floats], chosen: Sequence[int]) -> float:
    """Return the correlation of mean ranks on some streams and on all, mean over tables of ranks by stream."""
    return float(np.mean([_correlate(table[[*chosen]].mean(axis=0), table.mean(axis=0)) for table in tables]))


def _correlate(one: Floats, other: Floats) -> float:
    return float(spearmanr(one, other).statistic)


def print_agreement(out: TextIO) -> None:
    """Print for each board how well its lite part agrees with the whole, and the streams that records ask for."""
    suite = arena.load_suite()
    print(f"{'board':13}  lite  best  leave one learner out", file=out)
    for board in N_LITE:
        found = measure(suite, board)
        values = f"{found.lite:.3f} {found.best:.3f} {found.left_out:.3f}"
        print(f"{board:13} {values}  {', '.join(found.streams)}", file=out, flush=True)
