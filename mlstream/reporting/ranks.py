"""The charts and tables of a comparison: who ranks where, and which differences the tests call real."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from mlstream.plotting.plotly_parts import Chart, Json, View, category_axis, frame, heat_height, heat_map, safe
from mlstream.reporting.comparison import ALPHA, Comparison
from mlstream.reporting.complete_blocks import LeftOut
from mlstream.reporting.score_info import Heading, heading
from mlstream.reporting.tables import UNDEFINED, Cell, Table

_AXIS_Y = 0.0
_HEIGHT_OF_LEVEL = 26


class Branch(NamedTuple):
    """How a strategy hangs from the axis of ranks: down from its rank, then sideways to its name."""

    strategy: str
    rank: float
    level: float
    end: float
    side: str


class Diagram(NamedTuple):
    """The geometry of a critical-difference diagram: x in ranks, y in levels below the axis.

    Parameters
    ----------
    branches : list of Branch
        The better half hangs to the left, the other to the right.
    bars : list of (first rank, last rank, y)
        Strategies that a bar joins are not told apart.
    lowest : float
        The greatest level, below zero.
    """

    branches: list[Branch]
    bars: list[tuple[float, float, float]]
    lowest: float


def plan_diagram(comparison: Comparison) -> Diagram:
    """Lay out a critical-difference diagram."""
    order, n = comparison.by_rank, len(comparison.strategies)
    ranks = [float(comparison.ranks[place]) for place in order]
    bars = [
        (ranks[first], ranks[last], -0.35 * (number + 1)) for number, (first, last) in enumerate(comparison.cliques)
    ]
    top, half = -0.35 * len(bars) - 0.9, (n + 1) // 2
    branches = []
    for place, (strategy, rank) in enumerate(zip(order, ranks, strict=True)):
        is_left = place < half
        level = top - (place if is_left else n - 1 - place)
        end = 1 - 0.02 * n if is_left else n + 0.02 * n
        branches.append(Branch(comparison.strategies[strategy], rank, level, end, "left" if is_left else "right"))
    return Diagram(branches, bars, top - half + 0.5)


def rank_chart(comparisons: Sequence[Comparison]) -> Chart:
    """Draw critical-difference diagrams, a view per score."""
    views = tuple(View(heading(one.metric).title, *_draw_diagram(one)) for one in comparisons)
    levels = max(abs(plan_diagram(one).lowest) for one in comparisons)
    return Chart(
        "Mean ranks over streams",
        f"{_summary(comparisons[0])} Bars join strategies that the Nemenyi test does not tell apart (level {ALPHA:g}).",
        views,
        height=int(110 + _HEIGHT_OF_LEVEL * levels),
        min_width=640,
    )


def pair_chart(comparisons: Sequence[Comparison]) -> Chart:
    """Draw for each pair the probability that one strategy is better than the other, a view per score."""
    views = tuple(_pair_view(one) for one in comparisons)
    names = max((one.strategies for one in comparisons), key=len)
    return Chart(
        "Probability that the row is better than the column",
        "Bayesian signed-rank test: how probably the difference exceeds the region of practical equivalence, "
        "0.01 to either side. Point at a cell for all three probabilities and the p-value of the Nemenyi test.",
        views,
        height=heat_height(names, names),
        min_width=len(names) * 38 + 120,
    )


def rank_table(comparisons: Sequence[Comparison]) -> Table:
    """Build the table of mean ranks: a row per strategy, a column per score."""
    strategies = dict.fromkeys(name for one in comparisons for name in one.strategies)
    columns = [dict(zip(one.strategies, one.ranks.tolist(), strict=True)) for one in comparisons]
    rows = [
        (Cell(name, name), *(_rank_cell(column.get(name), min(column.values())) for column in columns))
        for name in strategies
    ]
    heads = [Heading(heading(one.metric).title, "lower") for one in comparisons]
    return Table((Heading("Strategy"), *heads), tuple(rows))


def friedman_table(comparisons: Sequence[Comparison]) -> Table:
    """Build the table of Friedman tests: a row per score."""
    heads = ("Score", "Streams", "Strategies", "Friedman \N{GREEK SMALL LETTER CHI}²", "p-value", "Critical difference")
    rows = [
        (
            Cell(heading(one.metric).title, heading(one.metric).title),
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
    """Build the table of streams and strategies that are not compared: why not, and by which scores.

    Returns
    -------
    Table or None
        None where everything is compared.
    """
    scores: dict[LeftOut, list[str]] = {}
    for one in comparisons:
        for left in one.left_out:
            scores.setdefault(left, []).append(heading(one.metric).title)
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


def _summary(one: Comparison) -> str:
    best = ", ".join(f"{one.strategies[place]} {one.ranks[place]:.2f}" for place in one.by_rank)
    return f"{heading(one.metric).title} over {len(one.streams)} streams, best first: {best}."


def _draw_diagram(one: Comparison) -> tuple[list[Json], Json]:
    plan, n = plan_diagram(one), len(one.strategies)
    data = [_branch_trace(branch) for branch in plan.branches]
    data += [_bar_trace([first - 0.03, last + 0.03], y, 5, "") for first, last, y in plan.bars]
    cd = min(one.critical_difference, n - 1)
    data.append(_bar_trace([1, 1 + cd], 0.9, 2, f"critical difference {one.critical_difference:.2f}"))
    room = 0.3 * n
    layout = frame(
        hovermode="closest",
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis={
            "range": [1 - room, n + room],
            "tickvals": list(range(1, n + 1)),
            "side": "top",
            "showgrid": False,
            "zeroline": False,
            "showline": False,
            "fixedrange": True,
            "visible": False,
        },
        yaxis={"range": [plan.lowest, 1.9], "visible": False, "fixedrange": True},
        shapes=[_axis_line(1, n), *(_tick(rank) for rank in range(1, n + 1))],
        annotations=[_tick_name(rank) for rank in range(1, n + 1)],
    )
    return data, layout


def _branch_trace(branch: Branch) -> Json:
    name = safe(branch.strategy)
    return {
        "type": "scatter",
        "mode": "lines+text",
        "x": [branch.rank, branch.rank, branch.end],
        "y": [_AXIS_Y, branch.level, branch.level],
        "text": ["", "", name],
        "textposition": f"middle {branch.side}",
        "cliponaxis": False,
        "line": {"color": "var(--ink)", "width": 1},
        "hovertemplate": f"{name}: mean rank {branch.rank:.2f}<extra></extra>",
    }


def _bar_trace(x: list[float], y: float, width: int, name: str) -> Json:
    return {
        "type": "scatter",
        "mode": "lines+text",
        "x": x,
        "y": [y, y],
        "text": ["", ""] if not name else ["", name],
        "textposition": "middle right",
        "cliponaxis": False,
        "line": {"color": "var(--accent)", "width": width},
        "hoverinfo": "skip",
    }


def _axis_line(first: float, last: float) -> Json:
    return {"type": "line", "x0": first, "x1": last, "y0": 0, "y1": 0, "line": {"color": "var(--ink)", "width": 1.5}}


def _tick(rank: int) -> Json:
    return {"type": "line", "x0": rank, "x1": rank, "y0": 0, "y1": 0.15, "line": {"color": "var(--ink)", "width": 1}}


def _tick_name(rank: int) -> Json:
    return {"x": rank, "y": 0.15, "text": str(rank), "showarrow": False, "yanchor": "bottom", "font": {"size": 11}}


def _pair_view(one: Comparison) -> View:
    order, places = one.by_rank, {place: number for number, place in enumerate(one.by_rank)}
    n = len(order)
    z: list[list[float | None]] = [[None] * n for _ in order]
    text = [[""] * n for _ in order]
    for pair in one.pairs:
        for row, column, better, worse in (
            (pair.first, pair.second, pair.first_better, pair.second_better),
            (pair.second, pair.first, pair.second_better, pair.first_better),
        ):
            z[places[row]][places[column]] = round(better, 3)
            text[places[row]][places[column]] = (
                f"better {better:.2f}, equivalent {pair.equivalent:.2f}, worse {worse:.2f}; p {pair.p_value:.2g}"
            )
    names = [one.strategies[place] for place in order]
    heat = heat_map(
        names,
        names,
        z,
        zmin=0,
        zmax=1,
        text=text,
        texttemplate="%{z:.2f}" if n <= 12 else "",
        showscale=n > 12,
        hovertemplate="%{y} against %{x}: %{text}<extra></extra>",
    )
    layout = frame(
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis=category_axis(side="top"),
        yaxis=category_axis(autorange="reversed"),
    )
    return View(heading(one.metric).title, [heat], layout)


def _rank_cell(rank: float | None, best: float) -> Cell:
    if rank is None:
        return Cell(UNDEFINED, None, note="Without a score on every stream compared.")
    return Cell(f"{rank:.2f}", rank, is_best=rank == best)


def _number(value: float, shown: str) -> Cell:
    return Cell(UNDEFINED, None) if math.isnan(value) else Cell(shown.format(value), value)
