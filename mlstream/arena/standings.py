"""The standing of learners: mean ranks on a board, their intervals, and the pairs that differ beyond chance."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from metrics import average_ranks, rank_intervals, wilcoxon_holm
from mlstream.analysis.score_info import score_heading
from mlstream.arena.records import Cell, LearnerRecord
from mlstream.arena.suite import OWN_RANK, Scope, Score, Suite

Floats = npt.NDArray[np.float64]

ALPHA = 0.05
_N_SHOWN = 3
# Learners whose ranks are correlated.
_LEAST_AGREEING = 3


class Ranking(NamedTuple):
    """Learners on the streams of a board that all of them have run on, by one score.

    A run that was stopped, failed, or has no such score ranks behind all others on its stream, and such runs share
    their places. `values` holds NaN for it.
    """

    board: str
    score: Score
    learners: tuple[str, ...]  # Best mean rank first.
    streams: tuple[str, ...]
    values: Floats  # (n_streams, n_learners)
    stream_ranks: Floats  # (n_streams, n_learners); 1 is best.
    ranks: Floats  # (n_learners,): means over streams.
    intervals: Floats  # (n_learners, 2): bootstrap over streams, 95 %.
    left_out: tuple[str, ...]  # Learners without a record on all these streams.
    higher: bool  # Whether the best score is the greatest.

    @property
    def means(self) -> list[float]:
        """Mean score of each learner over the streams that it finished."""
        return [float(np.nanmean(column)) if not np.isnan(column).all() else math.nan for column in self.values.T]

    def compared_with(self, learner: str) -> Floats:
        """Return the p-value of each learner and this one: Wilcoxon's signed ranks with Holm's correction."""
        return wilcoxon_holm(_filled(self.values, higher=self.higher), self.learners.index(learner))


class Place(NamedTuple):
    """One learner in a ranking."""

    board: str
    score: str
    place: int
    n_learners: int
    n_streams: int
    rank: float
    interval: tuple[float, float]
    beats: tuple[str, ...]  # Learners that it is ahead of beyond chance.
    beaten_by: tuple[str, ...]
    best_on: tuple[tuple[str, float], ...]  # Streams where its ranks are best, with them.
    worst_on: tuple[tuple[str, float], ...]

    @property
    def can_differ(self) -> bool:
        """Whether a test over so few streams can tell two of so many learners apart."""
        return least_p(self.n_streams, self.n_learners) <= ALPHA


class Cost(NamedTuple):
    """The cost of a learner's runs, on the streams of a reference that both have run on."""

    cpu_s: float
    energy_j: float
    times_reference: float
    reference: str
    n_streams: int


def rank_learners(
    records: Mapping[str, LearnerRecord],
    suite: Suite,
    board: str,
    score: Score,
    *,
    scope: Scope = "full",
    streams: Collection[str] | None = None,
) -> Ranking | None:
    """Rank learners on a board by one score; None if fewer than two can be compared.

    `streams` are those that count; by default all of the board that any learner has run on. Learners that lack a record
    on one of them are left out.
    """
    names, learners = _complete(records, suite, board, scope, streams)
    if len(learners) < 2 or not names:
        return None
    values = np.array(
        [_row(suite, name, [records[learner].cells[name] for learner in learners], score) for name in names]
    )
    defined = ~np.isnan(values).all(axis=1)
    if not defined.any():
        return None
    compared = [names[place] for place in np.flatnonzero(defined)]
    left_out = tuple(learner for learner in records if learner not in learners)
    return _make_ranking(board, score, learners, compared, values[defined], left_out)


def _complete(
    records: Mapping[str, LearnerRecord], suite: Suite, board: str, scope: Scope, streams: Collection[str] | None
) -> tuple[list[str], list[str]]:
    """Return the streams of a board that count, and the learners that have run on all of them."""
    wanted = {name for record in records.values() for name in record.cells} if streams is None else streams
    names = [entry.name for entry in suite.entries(scope, board) if entry.name in wanted]
    return names, [learner for learner, record in records.items() if record.cells.keys() >= set(names)]


def _make_ranking(
    board: str, score: Score, learners: Sequence[str], streams: Sequence[str], values: Floats, left_out: tuple[str, ...]
) -> Ranking:
    """Rank learners by values, (n_streams, n_learners), and sort them."""
    higher = _is_higher_better(score)
    filled = _filled(values, higher=higher)
    by_stream = np.array([average_ranks(row[np.newaxis], higher_is_better=higher) for row in filled])
    ranks = by_stream.mean(axis=0)
    order = np.argsort(ranks, kind="stable")
    return Ranking(
        board=board,
        score=score,
        learners=tuple(learners[place] for place in order),
        streams=tuple(streams),
        values=values[:, order],
        stream_ranks=by_stream[:, order],
        ranks=ranks[order],
        intervals=rank_intervals(filled, higher_is_better=higher)[order],
        left_out=left_out,
        higher=higher,
    )


def place_of(learner: str, ranking: Ranking) -> Place:
    """Describe one learner in a ranking."""
    column = ranking.learners.index(learner)
    differs = ranking.compared_with(learner) <= ALPHA
    pairs = list(zip(ranking.learners, ranking.ranks, differs, strict=True))
    rank = float(ranking.ranks[column])
    order = np.argsort(ranking.stream_ranks[:, column], kind="stable")
    n_shown = min(_N_SHOWN, len(order) // 2)
    by_rank = [(ranking.streams[place], float(ranking.stream_ranks[place, column])) for place in order]
    low, high = ranking.intervals[column].tolist()
    return Place(
        board=ranking.board,
        score=ranking.score.name,
        place=1 + int(np.count_nonzero(ranking.ranks < rank)),
        n_learners=len(ranking.learners),
        n_streams=len(ranking.streams),
        rank=rank,
        interval=(low, high),
        beats=tuple(name for name, other, is_other in pairs if is_other and other > rank),
        beaten_by=tuple(name for name, other, is_other in pairs if is_other and other < rank),
        best_on=tuple(by_rank[:n_shown]),
        worst_on=tuple(by_rank[::-1][:n_shown]),
    )


def find_places(
    learner: LearnerRecord,
    others: Mapping[str, LearnerRecord],
    suite: Suite,
    *,
    scope: Scope = "full",
    boards: Sequence[str] = (),
) -> list[Place]:
    """Rank a learner among others on the streams that it has run on: on each board, by each score."""
    records = {**{name: one for name, one in others.items() if name != learner.learner}, learner.learner: learner}
    places = []
    for board in boards or suite.boards:
        for score in suite.scores(board):
            ranking = rank_learners(records, suite, board, score, scope=scope, streams=learner.cells.keys())
            if ranking is not None and learner.learner in ranking.learners:
                places.append(place_of(learner.learner, ranking))
    return places


def least_p(n_streams: int, n_learners: int) -> float:
    """Return the least p-value that `Ranking.compared_with` can give: of a learner that is ahead on every stream."""
    return float(min(1.0, (n_learners - 1) / 2 ** (n_streams - 1)))


def agree(part: Ranking, whole: Ranking) -> float:
    """Return Spearman's correlation of the mean ranks in two rankings; NaN for fewer than three learners, or ties."""
    known = dict(zip(whole.learners, whole.ranks, strict=True))
    pairs = [(rank, known[name]) for name, rank in zip(part.learners, part.ranks, strict=True) if name in known]
    if len(pairs) < _LEAST_AGREEING or not np.ptp(pairs, axis=0).all():
        return math.nan
    return float(spearmanr(pairs).statistic)


def compare_costs(learner: LearnerRecord, reference: LearnerRecord) -> Cost | None:
    """Sum what a learner took on the streams that it and a reference have finished; None without such streams."""
    shared = [name for name, cell in learner.cells.items() if cell.status == "done" == _status(reference, name)]
    if not shared:
        return None
    cpu_s, reference_s = (
        math.fsum(record.cells[name].cpu_s or 0.0 for name in shared) for record in (learner, reference)
    )
    energy_j = math.fsum(learner.cells[name].energy_j or 0.0 for name in shared)
    return Cost(cpu_s, energy_j, cpu_s / reference_s if reference_s else math.nan, reference.learner, len(shared))


def _status(record: LearnerRecord, stream: str) -> str | None:
    return record.cells[stream].status if stream in record.cells else None


def _row(suite: Suite, stream: str, cells: Sequence[Cell], score: Score) -> Floats:
    """Return the scores of learners on a stream, or their ranks by the score that heads its board."""
    if score.metric != OWN_RANK:
        return _values(cells, score)
    board = next(entry.board for entry in suite.streams if entry.name == stream)
    own = suite.scores(board)[0]
    values, higher = _values(cells, own), _is_higher_better(own)
    if np.isnan(values).all():
        return values
    return np.asarray(average_ranks(_filled(values[np.newaxis], higher=higher), higher_is_better=higher))


def _values(cells: Sequence[Cell], score: Score) -> Floats:
    """Return the scores of learners on a stream; NaN for a run that did not end, or has no such score."""
    found = [cell.score(score.name) if cell.status == "done" else None for cell in cells]
    return np.array([math.nan if value is None else value for value in found])


def _is_higher_better(score: Score) -> bool:
    return score_heading(score.metric).better == "higher"


def _filled(values: Floats, *, higher: bool) -> Floats:
    """Replace what is missing by a score behind all others of its stream."""
    worst = np.nanmin(values, axis=1) - 1.0 if higher else np.nanmax(values, axis=1) + 1.0
    return np.where(np.isnan(values), worst[:, np.newaxis], values)
