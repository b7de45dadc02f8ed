"""Accuracy against what it costs, and the strategies that no other beats in both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from mlstream.analysis.costs import SCORE, CostPoint
from mlstream.analysis.groups import Runs, group_named
from mlstream.analysis.pareto import front_of, pareto_points
from mlstream.analysis.score_info import score_heading
from mlstream.plotting.matplotlib_parts import Display, draw_legend, literal, marker_style, new_figure
from mlstream.plotting.plotly_parts import Chart, Json, View, axis, frame, safe
from mlstream.plotting.styles import strategy_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Width and height of the figure, in inches.
COSTS_SIZE = (6.5, 4.5)
_LOG_FROM_RATIO = 2
# Names of points, in CSS pixels: areas that a chart may be drawn in, from a phone to a wide screen, capital letters,
# the radius of a point, and the gap between the middle of a point and the side of its name, which Plotly sets.
_WIDTHS = (280, 400, 560, 900)
_HEIGHT = 290
_LETTER, _LINE, _GAP, _SIDE_GAP = 8.0, 15, 5, 9
_RIGHT_MARGIN = 14
PLACES = ("bottom right", "top left", "top right", "bottom left", "top center", "bottom center")

Limits = tuple[float, float]


def cost_chart(points: Sequence[CostPoint], score: str, cost: str, *, height: int = 360) -> Chart:
    """Draw a score against a cost, of at least one strategy; the title of the cost states its unit.

    `height` is in CSS pixels.
    """
    front = front_of(points)
    limits = _cost_limits(points), _score_limits(points)
    shares = [(_share(_scaled(one.cost, points), limits[0]), _share(one.score, limits[1])) for one in points]
    places = place_names(shares, [one.name if one in front else "" for one in points])
    data = [_front_trace(front)]
    data += [_point_trace(one, score, place) for one, place in zip(points, places, strict=True)]
    unbeaten = ", ".join(f"{one.name} ({one.score:.3f} at {one.cost:.3g})" for one in front)
    kind = "log" if _is_logarithmic(points) else "linear"
    costs = axis(cost, type=kind, exponentformat="power", range=list(limits[0]))
    view = View("", data, frame(hovermode="closest", xaxis=costs, yaxis=axis(score, range=list(limits[1]))))
    title = f"{score} against {cost[0].lower()}{cost[1:]}"
    return Chart(title, f"Not beaten in both: {unbeaten}.", (view,), height=height)


def cost_figure(points: Sequence[CostPoint], score: str, cost: str) -> Figure:
    """Draw a score against a cost, for print."""
    figure, axes = new_figure(*COSTS_SIZE)
    draw_costs(axes, points, score, cost)
    return figure


def draw_costs(axes: Axes, points: Sequence[CostPoint], score: str, cost: str) -> tuple[list[Line2D], Line2D]:
    """Draw a score against a cost into axes.

    Returns a marker per strategy, and the line that joins those that no other beats in both.
    """
    drawn = [
        axes.errorbar(
            one.cost,
            one.score,
            one.deviation,
            label=literal(one.name),
            **marker_style(strategy_key(one.name, one.style)),
        )
        for one in points
    ]
    front = front_of(points)
    costs, scores = [one.cost for one in front], [one.score for one in front]
    (line,) = axes.step(costs, scores, ":", where="post", color="0.5", zorder=0)
    axes.set(xlabel=cost, ylabel=score, xscale="log" if _is_logarithmic(points) else "linear")
    draw_legend(axes)
    return [marker for marker, *_ in drawn], line


def _is_logarithmic(points: Sequence[CostPoint]) -> bool:
    """Find whether an axis of costs is to be logarithmic: it has no zero, and few ticks below a factor of two."""
    costs = [one.cost for one in points]
    return min(costs) > 0 and max(costs) >= _LOG_FROM_RATIO * min(costs)


def _point_trace(one: CostPoint, score: str, name_at: str | None) -> Json:
    key, name = strategy_key(one.name, one.style), safe(one.name)
    symbol = key.symbol + ("-open" * one.is_uncertain)
    return {
        "type": "scatter",
        "mode": "markers+text" if name_at else "markers",
        "name": name,
        "legendgroup": key.group,
        "x": [one.cost],
        "y": [one.score],
        "error_y": {"array": [one.deviation or 0], "visible": bool(one.deviation), "thickness": 1},
        "text": [name],
        "textposition": name_at or "middle center",
        "cliponaxis": False,
        "marker": {"size": 11, "symbol": symbol, "color": f"var(--series-{key.colour})"},
        "hovertemplate": f"%{{text}}<br>{safe(score)} %{{y:.3f}}<br>cost %{{x:.3g}}<extra></extra>",
    }


def _front_trace(front: Sequence[CostPoint]) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [one.cost for one in front],
        "y": [one.score for one in front],
        "line": {"color": "var(--muted)", "dash": "dot", "width": 1, "shape": "hv"},
        "hoverinfo": "skip",
    }


def _score_limits(points: Sequence[CostPoint]) -> Limits:
    """Leave room below and above for the names of points, which Plotly does not reckon with."""
    low = min(one.score - (one.deviation or 0) for one in points)
    high = max(one.score + (one.deviation or 0) for one in points)
    room = max(high - low, 0.01)
    return low - 0.15 * room, high + 0.15 * room


def _cost_limits(points: Sequence[CostPoint]) -> Limits:
    costs = [_scaled(one.cost, points) for one in points]
    low = min(costs) if _is_logarithmic(points) else 0.0
    room = max(max(costs) - low, 1e-12)
    return (low - 0.06 * room if _is_logarithmic(points) else 0.0), max(costs) + 0.06 * room


def _scaled(cost: float, points: Sequence[CostPoint]) -> float:
    return math.log10(cost) if _is_logarithmic(points) else cost


def _share(value: float, limits: Limits) -> float:
    return (value - limits[0]) / (limits[1] - limits[0])


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share any area."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def place_names(points: Sequence[tuple[float, float]], names: Sequence[str]) -> list[str | None]:
    """Choose where the name of each point stands: a text position of Plotly, or None.

    Points are in shares of the plot area, y upwards; one with an empty name is only kept clear. None means that no
    place is free at some width of the page.
    """
    taken = [[_marker(point, width) for point in points] for width in _WIDTHS]
    return [_take(point, name, taken) if name else None for point, name in zip(points, names, strict=True)]


def name_boxes(point: tuple[float, float], name: str, place: str) -> Iterator[Box]:
    """List the boxes that a name takes at each width of the page."""
    vertical, side = place.split()
    length = _LETTER * len(name)
    for width in _WIDTHS:
        x, y = point[0] * width, (1 - point[1]) * _HEIGHT
        left = {"right": x + _SIDE_GAP, "left": x - _SIDE_GAP - length, "center": x - length / 2}[side]
        top = y + _GAP if vertical == "bottom" else y - _GAP - _LINE
        yield Box(left, top, left + length, top + _LINE)


def _take(point: tuple[float, float], name: str, taken: list[list[Box]]) -> str | None:
    for place in PLACES:
        boxes = list(name_boxes(point, name, place))
        if all(_is_free(*each) for each in zip(boxes, taken, _WIDTHS, strict=True)):
            for box, others in zip(boxes, taken, strict=True):
                others.append(box)
            return place
    return None


def _is_free(box: Box, taken: Sequence[Box], width: float) -> bool:
    inside = box.left >= 0 and box.right <= width + _RIGHT_MARGIN
    return inside and not any(box.overlaps(other) for other in taken)


def _marker(point: tuple[float, float], width: float) -> Box:
    x, y = point[0] * width, (1 - point[1]) * _HEIGHT
    return Box(x - _GAP, y - _GAP, x + _GAP, y + _GAP)


Cost = Literal["energy", "time"]


class ParetoFrontDisplay(Display):
    """A score against a cost, a point per strategy; a line joins those that no other beats in both.

    Use `from_runs` to make it.

    Parameters
    ----------
    names : sequence of str
        The strategies.
    costs, scores : array-like of shape (n_strategies,)
        What each costs, at least 0, less is better; and its score, of which more is better.
    cost_name, score_name : str
        Titles of the axes; the cost with its unit.

    Attributes
    ----------
    ax_ : Axes
        The axes; that of costs is logarithmic where they differ by a factor of two and none is 0.
    figure_ : Figure
        The figure of these axes.
    points_ : list of Line2D
        A marker per strategy.
    front_ : Line2D
        The line.

    Raises
    ------
    ValueError
        If there is not one finite cost and score per name, or no name.

    Examples
    --------
    >>> from mlstream.plotting import ParetoFrontDisplay
    >>> display = ParetoFrontDisplay(["mean", "NN", "forest"], costs=[0.1, 2, 90], scores=[0.5, 0.8, 0.7]).plot()
    >>> display.front
    ['mean', 'NN']
    """

    points_: list[Line2D]
    front_: Line2D

    def __init__(
        self,
        names: Sequence[str],
        costs: npt.ArrayLike,
        scores: npt.ArrayLike,
        *,
        cost_name: str = "Energy, J",
        score_name: str = "Score",
    ) -> None:
        self.names = names
        self.costs = np.asarray(costs, dtype=np.float64)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.cost_name = cost_name
        self.score_name = score_name
        for name, values in (("costs", self.costs), ("scores", self.scores)):
            if values.shape != (len(names),) or not len(names) or not np.isfinite(values).all():
                raise ValueError(
                    f"{name} must hold a finite number for each of at least one name. "
                    f"Got shape {values.shape} and {len(names)} names."
                )
        if self.costs.min() < 0:
            raise ValueError(f"costs must be at least 0. Got {self.costs.min():g} instead.")

    @property
    def front(self) -> list[str]:
        """Names of the strategies that no other beats in both, the cheapest first."""
        return [one.name for one in front_of(self._points())]

    def _draw(self, ax: Axes | None) -> None:
        self._begin(ax, COSTS_SIZE, open_sides=True)
        self.points_, self.front_ = draw_costs(self.ax_, self._points(), self.score_name, self.cost_name)

    @classmethod
    def from_runs(cls, runs: Runs, *, score: str = SCORE, cost: Cost = "energy", ax: Axes | None = None) -> Self:
        """Draw a score of runs against what they cost.

        Parameters
        ----------
        runs : RunResult, sequence of RunResult, or mapping of str to RunResult
            The runs; a mapping gives them names of your own.
        score : str
            Name of a score of which more is better.
        cost : {"energy", "time"}
            Joules, or seconds of wall time, of learning and evaluation.
        ax : Axes, optional
            See `plot`.

        Returns
        -------
        ParetoFrontDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If less of the score is better, or no run that finished has both the score and the cost; or, on several
            streams, no two strategies have the score on the same two.

        Notes
        -----
        Seeds are averaged first. Over several streams the score is a mean and the cost a total, over the streams on
        which the strategies can be compared, see `CriticalDifferenceDisplay.from_runs`.
        """
        if cost not in ("energy", "time"):
            raise ValueError(f"cost must be 'energy' or 'time'. Got {cost!r} instead.")
        if score_heading(score).better == "lower":
            raise ValueError(f"score must be one of which more is better. Got {score!r} instead.")
        found = pareto_points(group_named(runs), cost, score)
        finished = [one for one in found.points if one.is_finished] if found is not None else []
        if found is None or not finished:
            raise ValueError(
                f"runs must have finished, with a score {score!r} and a {cost} that was measured, and on several "
                f"streams two strategies on the same two. Got {'none' if found is None else 'capped ones only'}."
            )
        display = cls(
            [one.name for one in finished],
            [one.cost for one in finished],
            [one.score for one in finished],
            cost_name=found.title,
            score_name=score_heading(score).title,
        )
        return display.plot(ax)

    def _points(self) -> list[CostPoint]:
        return [
            CostPoint(name, style, float(cost), float(score), None, is_finished=True, is_uncertain=False)
            for style, (name, cost, score) in enumerate(zip(self.names, self.costs, self.scores, strict=True))
        ]
