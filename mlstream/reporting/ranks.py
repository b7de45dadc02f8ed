"""Charts and tables of a comparison: mean ranks, and which differences the tests call significant."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mlstream.analysis.comparison import ALPHA, Comparison, Ranking, ranking_of
from mlstream.analysis.complete_blocks import LeftOut
from mlstream.analysis.score_info import Heading, score_heading
from mlstream.plotting.critical_difference import rank_chart
from mlstream.plotting.matrices import PairMatrix, pair_chart
from mlstream.plotting.plotly_parts import Chart
from mlstream.reporting.tables import PARAMETERS, STRATEGY, UNDEFINED, Cell, Table


def draw_ranks(comparisons: Sequence[Comparison]) -> Chart:
    """Draw critical-difference diagrams, a view per score."""
    rankings = [ranking_of(one) for one in comparisons]
    return rank_chart(rankings, [_rank_summary(one) for one in rankings])


def draw_pairs(comparisons: Sequence[Comparison]) -> Chart:
    """Draw for each pair the probability that one strategy is better than the other, a view per score."""
    return pair_chart([_pair_matrix(one) for one in comparisons])


def rank_table(comparisons: Sequence[Comparison]) -> Table:
    """Build the table of mean ranks: a row per strategy, best first by the first score, and a column per score."""
    tuning = {name: text for one in comparisons for name, text in zip(one.strategies, one.tuning, strict=True)}
    columns = [dict(zip(one.strategies, one.ranks.tolist(), strict=True)) for one in comparisons]
    rows = [
        (
            Cell(name, name),
            Cell(tuning[name], tuning[name]),
            *(_rank_cell(column.get(name), min(column.values())) for column in columns),
        )
        for name in sorted(tuning, key=lambda name: columns[0].get(name, math.inf))
    ]
    heads = [Heading(score_heading(one.metric).title, "lower") for one in comparisons]
    return Table((STRATEGY, PARAMETERS, *heads), tuple(rows))


def friedman_table(comparisons: Sequence[Comparison]) -> Table:
    """Build the table of Friedman tests: a row per score."""
    heads = ("Score", "Streams", "Strategies", "Friedman \N{GREEK SMALL LETTER CHI}²", "p-value", "Critical difference")
    rows = [
        (
            Cell(score_heading(one.metric).title, score_heading(one.metric).title),
            Cell(str(len(one.streams)), len(one.streams)),
            Cell(str(len(one.strategies)), len(one.strategies)),
            _number(one.statistic, "{:.2f}"),
            _number(one.p_value, "{:.2g}"),
            _number(one.critical_difference, "{:.2f}"),
        )
        for one in comparisons
    ]
    return Table(tuple(map(Heading, heads)), tuple(rows))


def left_out_table(comparisons: Sequence[Comparison]) -> Table | None:
    """Build the table of streams and strategies that are not compared; None if all are."""
    scores: dict[LeftOut, list[str]] = {}
    for one in comparisons:
        for left in one.left_out:
            scores.setdefault(left, []).append(score_heading(one.metric).title)
    heads = ("Left out", "What", "Without a score", "Scores")
    rows = []
    for left, titles in scores.items():
        named = "all" if len(titles) == len(comparisons) else ", ".join(titles)
        rows.append(tuple(Cell(text, text) for text in (left.name, left.kind, left.reason, named)))
    return Table(tuple(map(Heading, heads)), tuple(rows)) if rows else None


def pair_table(comparison: Comparison) -> Table:
    """Build the table of all pairs by one score."""
    heads = ("First", "Second", "Ranks apart", "Nemenyi p", "P(first better)", "P(equivalent)", "P(second better)")
    rows = []
    for pair in comparison.pairs:
        first, second = comparison.strategies[pair.first], comparison.strategies[pair.second]
        apart = float(abs(comparison.ranks[pair.first] - comparison.ranks[pair.second]))
        numbers = (pair.p_value, pair.first_better, pair.equivalent, pair.second_better)
        cells = [_number(apart, "{:.2f}"), *(_number(value, "{:.3f}") for value in numbers)]
        rows.append((Cell(first, first), Cell(second, second), *cells))
    return Table(tuple(map(Heading, heads)), tuple(rows))


def _rank_summary(one: Ranking) -> str:
    best = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(one.names, one.ranks, strict=True))
    return (
        f"{one.title} over {one.n_streams} streams, best first: {best}. "
        f"Bars join strategies that the Nemenyi test does not tell apart (level {ALPHA:g})."
    )


def _pair_matrix(one: Comparison) -> PairMatrix:
    places = {strategy: place for place, strategy in enumerate(one.by_rank)}
    n = len(places)
    better, details = np.full((n, n), np.nan), [[""] * n for _ in range(n)]
    for pair in one.pairs:
        for first, second, wins, losses in (
            (pair.first, pair.second, pair.first_better, pair.second_better),
            (pair.second, pair.first, pair.second_better, pair.first_better),
        ):
            row, column = places[first], places[second]
            better[row, column] = wins
            details[row][column] = (
                f"better {wins:.2f}, equivalent {pair.equivalent:.2f}, worse {losses:.2f}; p {pair.p_value:.2g}"
            )
    return PairMatrix(score_heading(one.metric).title, [one.strategies[place] for place in places], better, details)


def _rank_cell(rank: float | None, best: float) -> Cell:
    if rank is None:
        return Cell(UNDEFINED, None, note="Without a score on every stream compared.")
    return Cell(f"{rank:.2f}", rank, is_best=rank == best)


def _number(value: float, template: str) -> Cell:
    return Cell(UNDEFINED, None) if math.isnan(value) else Cell(template.format(value), value)
