"""The critical-difference diagram: mean ranks on an axis, and bars over strategies that may be equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from mlstream.analysis.comparison import Ranking, compare, find_cliques
from mlstream.analysis.groups import group_named
from mlstream.analysis.score_info import score_heading
from mlstream.plotting.matplotlib_parts import Display, literal, new_figure
from mlstream.plotting.plotly_parts import Chart, Json, View, safe, tight_frame
from mlstream.plotting.styles import PAPER_COLOURS
from mlstream.records.run_result import RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Heights above the axis of ranks, in levels; names of strategies hang one level apart.
_TICK = 0.15
_RULER = 1.2
_HIGHEST = 1.9
_OVERHANG = 0.03
_PIXELS_OF_LEVEL = 26
_INCHES_OF_LEVEL = 0.28


class Branch(NamedTuple):
    """A strategy hangs from the axis of ranks: down from its rank, then sideways to its name."""

    name: str
    rank: float
    level: float
    end: float
    side: str


class Segment(NamedTuple):
    """A horizontal line."""

    start: float
    stop: float
    y: float


class Diagram(NamedTuple):
    """The geometry of a critical-difference diagram: x in ranks, y in levels above the axis."""

    branches: list[Branch]  # the better half hangs to the left, the other to the right
    bars: list[Segment]  # one per clique
    ruler: Segment  # the critical difference, no longer than the axis
    x_range: tuple[float, float]  # leaves room for the names, as does `y_range`
    y_range: tuple[float, float]


def plan_diagram(ranking: Ranking) -> Diagram:
    """Lay out a critical-difference diagram."""
    n = len(ranking.names)
    bars = [
        Segment(ranking.ranks[first] - _OVERHANG, ranking.ranks[last] + _OVERHANG, -0.35 * (number + 1))
        for number, (first, last) in enumerate(ranking.cliques)
    ]
    top, half = -0.35 * len(bars) - 0.9, (n + 1) // 2
    branches = []
    for place, (name, rank) in enumerate(zip(ranking.names, ranking.ranks, strict=True)):
        is_left = place < half
        level = top - (place if is_left else n - 1 - place)
        end = 1 - 0.02 * n if is_left else n + 0.02 * n
        branches.append(Branch(name, rank, level, end, "left" if is_left else "right"))
    ruler = Segment(1, 1 + min(ranking.critical_difference, n - 1), _RULER)
    return Diagram(branches, bars, ruler, (1 - 0.3 * n, 1.3 * n), (top - half + 0.5, _HIGHEST))


def rank_chart(rankings: Sequence[Ranking], summaries: Sequence[str]) -> Chart:
    """Draw critical-difference diagrams, a view with its own summary per score."""
    levels = max(abs(plan_diagram(one).y_range[0]) for one in rankings)
    views = tuple(replace(_view(one), summary=text) for one, text in zip(rankings, summaries, strict=True))
    return Chart(
        "Mean ranks over streams", summaries[0], views, height=int(110 + _PIXELS_OF_LEVEL * levels), min_width=640
    )


def rank_figure(ranking: Ranking) -> Figure:
    """Draw a critical-difference diagram, for print."""
    figure, axes = new_figure(*diagram_size(ranking))
    draw_diagram(axes, ranking)
    return figure


def diagram_size(ranking: Ranking) -> tuple[float, float]:
    """Return the width and height of a critical-difference diagram, in inches."""
    return 8.0, 1.2 + _INCHES_OF_LEVEL * abs(plan_diagram(ranking).y_range[0])


def draw_diagram(axes: Axes, ranking: Ranking) -> None:
    """Draw a critical-difference diagram."""
    plan, n = plan_diagram(ranking), len(ranking.names)
    axes.plot([1, n], [0, 0], color="black", linewidth=1.2)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [0, _TICK], color="black", linewidth=1)
        axes.text(rank, _TICK, str(rank), ha="center", va="bottom", fontsize=9)
    for branch in plan.branches:
        axes.plot([branch.rank, branch.rank, branch.end], [0, branch.level, branch.level], color="black", linewidth=0.8)
        side = {"left": "right", "right": "left"}[branch.side]
        axes.text(branch.end, branch.level, f" {literal(branch.name)} ", ha=side, va="center", fontsize=9)
    for bar in plan.bars:
        axes.plot([bar.start, bar.stop], [bar.y, bar.y], color=PAPER_COLOURS[0], linewidth=4, solid_capstyle="butt")
    ruler = plan.ruler
    axes.plot([ruler.start, ruler.stop], [ruler.y, ruler.y], color=PAPER_COLOURS[0], linewidth=1.5)
    axes.text(ruler.stop, ruler.y, f" {_difference(ranking)}", va="center", fontsize=9)
    axes.set(xlim=plan.x_range, ylim=plan.y_range)
    axes.set_title(f"{literal(ranking.title)}: mean ranks over {ranking.n_streams} streams", fontsize=10)
    axes.axis("off")


def _difference(ranking: Ranking) -> str:
    return f"critical difference {ranking.critical_difference:.2f}"


def _view(ranking: Ranking) -> View:
    plan, n = plan_diagram(ranking), len(ranking.names)
    ranks, ink = range(1, n + 1), "var(--ink)"
    line = {"type": "line", "x0": 1, "x1": n, "y0": 0, "y1": 0, "line": {"color": ink, "width": 1.5}}
    ticks = [
        {"type": "line", "x0": rank, "x1": rank, "y0": 0, "y1": _TICK, "line": {"color": ink, "width": 1}}
        for rank in ranks
    ]
    names = [
        {"x": rank, "y": _TICK, "text": str(rank), "showarrow": False, "yanchor": "bottom", "font": {"size": 11}}
        for rank in ranks
    ]
    data = [_branch_trace(branch) for branch in plan.branches]
    data += [_segment_trace(bar, 5, "") for bar in plan.bars]
    data.append(_segment_trace(plan.ruler, 2, _difference(ranking)))
    hidden = {"visible": False, "fixedrange": True}
    layout = tight_frame(
        hovermode="closest",
        xaxis={**hidden, "range": list(plan.x_range)},
        yaxis={**hidden, "range": list(plan.y_range)},
        shapes=[line, *ticks],
        annotations=names,
    )
    return View(ranking.title, data, layout)


def _branch_trace(branch: Branch) -> Json:
    name = safe(branch.name)
    return {
        "type": "scatter",
        "mode": "lines+text",
        "x": [branch.rank, branch.rank, branch.end],
        "y": [0, branch.level, branch.level],
        "text": ["", "", name],
        "textposition": f"middle {branch.side}",
        "cliponaxis": False,
        "line": {"color": "var(--ink)", "width": 1},
        "hovertemplate": f"{name}: mean rank {branch.rank:.2f}<extra></extra>",
    }


def _segment_trace(segment: Segment, width: int, name: str) -> Json:
    return {
        "type": "scatter",
        "mode": "lines+text",
        "x": [segment.start, segment.stop],
        "y": [segment.y, segment.y],
        "text": ["", name],
        "textposition": "middle right",
        "cliponaxis": False,
        "line": {"color": "var(--accent)", "width": width},
        "hoverinfo": "skip",
    }


class CriticalDifferenceDisplay(Display):
    """A critical-difference diagram (Demšar 2006): bars join strategies that may be equal.

    Use `from_runs` to make it.

    Parameters
    ----------
    ranks : array-like of shape (n_strategies,)
        Mean ranks over streams; 1 is best. See `metrics.average_ranks`.
    names : sequence of str
        The strategies.
    critical_difference : float
        Difference of mean ranks from which two strategies differ. See `metrics.critical_difference`.
    n_streams : int
        Streams that ranks are means over.
    score_name : str
        Title of the score.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        The figure of these axes.

    Raises
    ------
    ValueError
        If there is not one name per rank, or fewer than two.

    Examples
    --------
    >>> from mlstream.plotting import CriticalDifferenceDisplay
    >>> ranks, names = [1.2, 2.9, 1.9], ["NN", "mean", "BR_HT"]
    >>> display = CriticalDifferenceDisplay(ranks, names, critical_difference=1.05, n_streams=10).plot()
    >>> display.cliques
    [['NN', 'BR_HT'], ['BR_HT', 'mean']]
    """

    def __init__(
        self,
        ranks: npt.ArrayLike,
        names: Sequence[str],
        *,
        critical_difference: float,
        n_streams: int,
        score_name: str = "Score",
    ) -> None:
        self.ranks = np.asarray(ranks, dtype=np.float64)
        self.names = names
        self.critical_difference = critical_difference
        self.n_streams = n_streams
        self.score_name = score_name
        if self.ranks.shape != (len(names),) or len(names) < 2:
            raise ValueError(
                f"ranks must hold a rank for each of at least two names. "
                f"Got shape {self.ranks.shape} and {len(names)} names."
            )

    @property
    def cliques(self) -> list[list[str]]:
        """Names of the strategies that each bar joins, best first."""
        ranking = self._ranking()
        return [list(ranking.names[first : last + 1]) for first, last in ranking.cliques]

    def _draw(self, ax: Axes | None) -> None:
        ranking = self._ranking()
        self._begin(ax, diagram_size(ranking))
        draw_diagram(self.ax_, ranking)

    @classmethod
    def from_runs(cls, runs: Sequence[RunResult], *, score: str = "ba_macro", ax: Axes | None = None) -> Self:
        """Rank strategies by one score on several streams, and draw.

        Parameters
        ----------
        runs : sequence of RunResult
            The runs, as `load_runs` returns them: at least two strategies on the same two streams.
        score : str
            Name of the score.
        ax : Axes, optional
            See `plot`.

        Returns
        -------
        CriticalDifferenceDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If no two strategies have the score on the same two streams, or two runs share strategy, stream and seeds.

        Notes
        -----
        The report compares by the same rules: repetitions are averaged first, only runs that finished count, and all
        strategies are ranked on the streams on which all have a score, if these are at least two and half of all.
        """
        found = compare(group_named(runs), score)
        if found is None:
            n_streams, n_strategies = len({run.stream for run in runs}), len({run.strategy for run in runs})
            raise ValueError(
                f"runs must hold two strategies with a score {score!r} on the same two streams. "
                f"Got {len(runs)} runs of {n_strategies} strategies on {n_streams} streams."
            )
        display = cls(
            found.ranks,
            found.strategies,
            critical_difference=found.critical_difference,
            n_streams=len(found.streams),
            score_name=score_heading(score).title,
        )
        return display.plot(ax)

    def _ranking(self) -> Ranking:
        best_first = np.argsort(self.ranks, kind="stable")
        ranks = self.ranks[best_first].tolist()
        return Ranking(
            title=self.score_name,
            names=[self.names[place] for place in best_first],
            ranks=ranks,
            cliques=find_cliques(ranks, self.critical_difference),
            critical_difference=self.critical_difference,
            n_streams=self.n_streams,
        )
