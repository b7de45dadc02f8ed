"""Accuracy against what it costs, and the strategies that none beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mlstream.plotting.plotly_parts import Chart, Json, View, axis, frame, safe, strategy_key
from mlstream.reporting.costs import Amount, energy_kwh, energy_marks, wall_time_s
from mlstream.reporting.groups import Group

_SCORE = "acc"
_LOG_FROM_RATIO = 10


class _Point(NamedTuple):
    group: Group
    cost: float
    score: float
    deviation: float | None


def cost_charts(groups: Sequence[Group]) -> list[Chart]:
    """Draw ACC against wall time and against energy.

    Parameters
    ----------
    groups : sequence of Group
        The strategies of a stream.

    Returns
    -------
    list of Chart
        Up to two: one whose cost no run has measured is left out.
    """
    marks = "".join(energy_marks(group) for group in groups)
    energy = "Energy, kWh (estimate)" if "≈" in marks else "Energy, kWh"
    charts = [_cost_chart(groups, wall_time_s, "Wall time, s"), _cost_chart(groups, energy_kwh, energy)]
    return [chart for chart in charts if chart is not None]


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Find the points that no other one beats in both cost (less is better) and score (more is better).

    Parameters
    ----------
    points : sequence of (cost, score)
        Of any length.

    Returns
    -------
    list of int
        Their places, by cost.

    Examples
    --------
    >>> pareto_front([(3, 0.9), (1, 0.5), (2, 0.4)])
    [1, 0]
    """
    front: list[int] = []
    for place in sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1])):
        if not front or points[place][1] > points[front[-1]][1]:
            front.append(place)
    return front


def _cost_chart(groups: Sequence[Group], amount: Amount, title: str) -> Chart | None:
    points = [point for group in groups if (point := _point(group, amount)) is not None]
    if not points:
        return None
    # A capped run did less than the others, for less: it competes with none of them.
    finished = [one for one in points if one.group.status == "done"]
    front = [finished[place] for place in pareto_front([(one.cost, one.score) for one in finished])]
    dearest = max(one.cost for one in points)
    data = [_front_trace(front)]
    for one in points:
        side = "left" if one.cost > dearest / _LOG_FROM_RATIO else "right"
        data.append(_point_trace(one, f"bottom {side}" if one in front else None))
    unbeaten = ", ".join(f"{one.group.strategy} ({one.score:.3f} at {one.cost:.3g})" for one in front)
    layout = frame(hovermode="closest", xaxis=_cost_axis(points, title), yaxis=_score_axis(points))
    view = View("", data, layout)
    return Chart(f"ACC against {title[0].lower()}{title[1:]}", f"Not beaten in both: {unbeaten}.", (view,), height=360)


def _point(group: Group, amount: Amount) -> _Point | None:
    cost, (score, deviation, _) = group.mean(amount).mean, group.score(_SCORE)
    return None if cost is None or score is None else _Point(group, cost, score, deviation)


def _point_trace(one: _Point, name_at: str | None) -> Json:
    key = strategy_key(one.group)
    name = safe(one.group.label)
    is_open = "†" in energy_marks(one.group)
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
        "marker": {"size": 11, "symbol": key.symbol + ("-open" * is_open), "color": f"var(--series-{key.colour})"},
        "hovertemplate": "%{text}<br>ACC %{y:.3f}<br>cost %{x:.3g}<extra></extra>",
    }


def _front_trace(front: Sequence[_Point]) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [one.cost for one in front],
        "y": [one.score for one in front],
        "line": {"color": "var(--muted)", "dash": "dot", "width": 1, "shape": "hv"},
        "hoverinfo": "skip",
    }


def _score_axis(points: Sequence[_Point]) -> Json:
    """Leave room below for the names of points, which Plotly does not reckon with."""
    low = min(one.score - (one.deviation or 0) for one in points)
    high = max(one.score + (one.deviation or 0) for one in points)
    room = max(high - low, 0.01)
    return axis("ACC", range=[low - 0.15 * room, high + 0.1 * room])


def _cost_axis(points: Sequence[_Point], title: str) -> Json:
    least, greatest = min(one.cost for one in points), max(one.cost for one in points)
    # A logarithmic axis has no zero, and its ticks say little below a factor of ten.
    is_log = least > 0 and greatest >= _LOG_FROM_RATIO * least
    return axis(title, type="log" if is_log else "linear", exponentformat="power", rangemode="tozero")
