"""Accuracy against what it costs, and the strategies that no other beats in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlstream.analysis.costs import CostPoint
from mlstream.analysis.pareto import front_of
from mlstream.plotting.matplotlib_parts import draw_legend, literal, marker_style, new_figure
from mlstream.plotting.plotly_parts import Chart, Json, View, axis, frame, safe
from mlstream.plotting.point_labels import place_names
from mlstream.plotting.styles import strategy_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Width and height of the figure, in inches.
COSTS_SIZE = (6.5, 4.5)
_LOG_FROM_RATIO = 2

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
        "error_y": {"array": [one.deviation or 0], "visible": one.deviation is not None, "thickness": 1},
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
