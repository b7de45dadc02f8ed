"""Mean ranks of learners on a board, their tests, and the energy condition."""

from collections.abc import Sequence
from fnmatch import fnmatch
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import wilcoxon

from benchmarks.learner_ranks.records import Record
from metrics import average_ranks, critical_difference, friedman, nemenyi

Floats = npt.NDArray[np.float64]

# The winner must take no more of the processor's time than this learner, on every stream.
ENERGY_BOUND = "NN_TLH_mini_memories"


class Column(NamedTuple):
    """A score that is ranked, under a decision rule."""

    title: str
    metric: str
    rule: str = "prevalence"
    higher: bool = True


BA, ACC = Column("BA", "ba_macro"), Column("ACC", "acc_mean")
RMSE, PRECISION = Column("RMSE", "rmse", higher=False), Column("P@k", "precision_at_k")
AT_ONCE = (BA, ACC, RMSE, PRECISION)
CPU = Column("CPU s", "cpu_s", higher=False)
RECOVERY = Column("BA after drift", "ba_recovery")
OWN = (Column("BA, own rule", "ba_macro", "own"), Column("ACC, own rule", "acc_mean", "own"))
SETS = tuple(
    Column(f"{title}, {rule}", metric, rule)
    for title, metric in (("Subset acc.", "subset_accuracy"), ("Micro-F1", "f1_micro"), ("Macro-F1", "f1_macro"))
    for rule in ("half", "prevalence", "own")
)
WHOLE = (*SETS, BA, RMSE, PRECISION, CPU)


class Board(NamedTuple):
    """A board of a table: its sources by a pattern, and what is ranked."""

    board: str
    pattern: str
    columns: tuple[Column, ...]


BOARDS = {
    "streams": Board("streams", "*", (*AT_ONCE, *OWN, CPU)),
    "worlds": Board("worlds", "*", (*AT_ONCE, RECOVERY, *OWN, CPU)),
    "field-file": Board("field", "*-file", WHOLE),
    "field-shuffled": Board("field", "*-shuffled", WHOLE),
}


class Ranked(NamedTuple):
    """One column of a board: scores (n_sources, n_learners), mean ranks, and tests against the best learner.

    Parameters
    ----------
    column : Column
        The score.
    scores, ranks : ndarray
        Scores, and the mean rank of each learner.
    friedman_p : float
        Of the test that any learner differs.
    holm_p, nemenyi_p : ndarray of shape (n_learners,)
        Of each learner and the best: Wilcoxon's signed ranks with Holm's correction, and Nemenyi's test.
    """

    column: Column
    scores: Floats
    ranks: Floats
    friedman_p: float
    holm_p: Floats
    nemenyi_p: Floats

    @property
    def best(self) -> int:
        """The learner of the best mean rank."""
        return int(np.argmin(self.ranks))

    @property
    def critical_difference(self) -> float:
        """Nemenyi's, at .05."""
        return critical_difference(self.scores.shape[1], self.scores.shape[0])


class Table(NamedTuple):
    """A board: its learners, its sources, and its columns."""

    learners: list[str]
    sources: list[str]
    columns: list[Ranked]

    def ranks_of(self, titles: Sequence[str]) -> Floats:
        """Return the mean ranks of some columns, (n_columns, n_learners)."""
        return np.array([one.ranks for one in self.columns if one.column.title in titles])


def make_table(records: Sequence[Record], board: Board, learners: Sequence[str]) -> Table | None:
    """Rank learners on the sources of a board that all of them have run on; None if there are not two."""
    found = {
        (record.source, record.learner): record
        for record in records
        if record.board == board.board and fnmatch(record.source, board.pattern) and record.learner in learners
    }
    known = list(dict.fromkeys(source for source, _ in found))
    sources = [source for source in known if all((source, learner) in found for learner in learners)]
    if len(sources) < 2 or len(learners) < 3:
        return None
    columns = []
    for column in board.columns:
        rows = [[_read(found[source, learner], column) for learner in learners] for source in sources]
        defined = np.array([row for row in rows if None not in row], dtype=np.float64)
        if len(defined) > 1:
            columns.append(rank(column, defined))
    return Table(list(learners), sources, columns)


def _read(record: Record, column: Column) -> float | None:
    return record.cpu_s if column.metric == "cpu_s" else record.scores[column.rule].get(column.metric)


def rank(column: Column, scores: Floats) -> Ranked:
    """Rank learners by their scores (n_sources, n_learners)."""
    ranks = average_ranks(scores, higher_is_better=column.higher)
    best = int(np.argmin(ranks))
    p = np.array([_wilcoxon_p(scores[:, best], other) for other in scores.T])
    others = np.flatnonzero(np.arange(len(p)) != best)
    p[others] = holm(p[others])
    return Ranked(column, scores, ranks, friedman(scores).p_value, p, nemenyi(scores)[best])


def _wilcoxon_p(one: Floats, other: Floats) -> float:
    return 1.0 if np.array_equal(one, other) else float(wilcoxon(one, other).pvalue)


def holm(p: Floats) -> Floats:
    """Correct p-values for their number by Holm's step-down procedure."""
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)).clip(max=1.0)
    corrected = np.empty_like(stepped)
    corrected[order] = stepped
    return corrected


def at_once(tables: Sequence[Table]) -> Table:
    """Return the board of the four scores of the goal, over the sources of several boards."""
    columns = []
    for column in AT_ONCE:
        parts = [one.scores for table in tables for one in table.columns if one.column == column]
        columns.append(rank(column, np.vstack(parts)))
    return Table(tables[0].learners, [source for table in tables for source in table.sources], columns)


def energy_ratios(records: Sequence[Record], learner: str) -> dict[str, float]:
    """Return the processor's time of a learner over that of the bound, by source."""
    times = {(record.source, record.learner): record.cpu_s for record in records}
    return {
        source: time / times[source, ENERGY_BOUND]
        for (source, name), time in times.items()
        if name == learner and (source, ENERGY_BOUND) in times
    }
