"""The standing of learners: mean ranks on a board, their intervals, and the pairs that differ beyond chance."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metrics import average_ranks, rank_intervals, wilcoxon_holm
from mlstream.analysis.score_info import score_heading
from mlstream.arena.records import Cell, LearnerRecord
from mlstream.arena.suite import OWN_RANK, Scope, Score, Suite

Floats = npt.NDArray[np.float64]

ALPHA = 0.05
_N_SHOWN = 3


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
        return bool((self.n_learners - 1) / 2 ** (self.n_streams - 1) <= ALPHA)


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
    recorded = {name for record in records.values() for name in record.cells}
    wanted = recorded if streams is None else streams
    names = [entry.name for entry in suite.entries(scope, board) if entry.name in wanted]
    complete = [learner for learner, record in records.items() if names and record.cells.keys() >= set(names)]
    if len(complete) < 2:
        return None
    cells = {name: [records[learner].cells[name] for learner in complete] for name in names}
    if score.metric == OWN_RANK:
        rows, higher = [_own_ranks(suite, name, of_stream) for name, of_stream in cells.items()], False
    else:
        rows, higher = [_values(of_stream, score) for of_stream in cells.values()], _is_higher_better(score)
    values = np.array(rows)
    defined = ~np.isnan(values).all(axis=1)
    if not defined.any():
        return None
    values, names = values[defined], [names[place] for place in np.flatnonzero(defined)]
    filled = _filled(values, higher=higher)
    ranks = average_ranks(filled, higher_is_better=higher)
    order = np.argsort(ranks, kind="stable")
    by_stream = np.array([average_ranks(row[np.newaxis], higher_is_better=higher) for row in filled])
    return Ranking(
        board=board,
        score=score,
        learners=tuple(complete[place] for place in order),
        streams=tuple(names),
        values=values[:, order],
        stream_ranks=by_stream[:, order],
        ranks=ranks[order],
        intervals=rank_intervals(filled, higher_is_better=higher)[order],
        left_out=tuple(learner for learner in records if learner not in complete),
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


def compare_costs(learner: LearnerRecord, reference: LearnerRecord) -> Cost | None:
    """Sum what a learner took on the streams that it and a reference have finished; None without such streams."""
    pairs = [
        (one, other)
        for name, one in learner.cells.items()
        if (other := reference.cells.get(name)) is not None and one.status == other.status == "done"
    ]
    if not pairs:
        return None
    cpu_s, reference_s = (math.fsum(pair[side].cpu_s or 0.0 for pair in pairs) for side in (0, 1))
    energy_j = math.fsum(one.energy_j or 0.0 for one, _ in pairs)
    ratio = cpu_s / reference_s if reference_s else math.nan
    return Cost(cpu_s, energy_j, ratio, reference.learner, len(pairs))


def _own_ranks(suite: Suite, stream: str, cells: Sequence[Cell]) -> Floats:
    """Rank learners on a stream by the score that heads its board."""
    board = next(entry.board for entry in suite.streams if entry.name == stream)
    score = suite.scores(board)[0]
    values, higher = _values(cells, score), _is_higher_better(score)
    if np.isnan(values).all():
        return values
    ranks: Floats = average_ranks(_filled(values[np.newaxis], higher=higher), higher_is_better=higher)
    return ranks


def _values(cells: Sequence[Cell], score: Score) -> Floats:
    """Return the scores of learners on a stream; NaN for a run that did not end, or has no such score.

    Decisions without probabilities are what a rule would decide if they were certain: they count under every rule.
    """
    found = [
        cell.scores.get(score.name, cell.scores.get(score.metric)) if cell.status == "done" else None for cell in cells
    ]
    return np.array([math.nan if value is None else value for value in found])


def _is_higher_better(score: Score) -> bool:
    return score_heading(score.metric).better == "higher"


def _filled(values: Floats, *, higher: bool) -> Floats:
    """Replace what is missing by a score behind all others of its stream."""
    worst = np.nanmin(values, axis=1) - 1.0 if higher else np.nanmax(values, axis=1) + 1.0
    return np.where(np.isnan(values), worst[:, np.newaxis], values)
