"""The matrix R of one strategy, as a heat map and as a line per task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.drawing.matplotlib_parts import draw_legend, line_style, literal, new_figure
from mlstream.drawing.plotly_parts import Chart, View, axis, frame, heat_height, heat_map, line, rounded, safe
from mlstream.drawing.styles import PAPER_COLOURS, task_keys

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Limits = tuple[float, float]

_MAX_NUMBERED_TASKS = 8
_MAX_NUMBERED_STEPS = 16
_MIN_HEIGHT = 220


class Transfer(NamedTuple):
    """R of one metric.

    Parameters
    ----------
    title : str
        Title of the metric.
    R : ndarray of shape (n_experiences + 1, n_tasks)
        NaN where a score is not defined.
    steps : list of str
        For each row of R, the experience that it comes after, with its tasks.
    visits : list of (int, int)
        Cells (row, column) of the task that was just learnt.
    tasks : list of str
        Names of the columns, all distinct.
    """

    title: str
    R: npt.NDArray[np.float64]
    steps: list[str]
    visits: list[tuple[int, int]]
    tasks: list[str]


def common_limits(matrices: Iterable[Transfer]) -> Limits:
    """Find one scale for several matrices: their least and greatest score, rounded outwards to 0.05."""
    known = np.concatenate([np.empty(0), *(one.R[~np.isnan(one.R)] for one in matrices)])
    if not known.size:
        return 0.0, 1.0
    low, high = np.floor(known.min() * 20) / 20, np.ceil(known.max() * 20) / 20
    return float(low), float(max(high, low + 0.05))


def transfer_heat_chart(title: str, matrices: Sequence[tuple[Transfer, Limits, str]]) -> Chart:
    """Draw R as a heat map, a view with its own summary per metric."""
    first, _, summary = matrices[0]
    views = tuple(replace(_heat_view(one, limits), summary=text) for one, limits, text in matrices)
    return Chart(title, summary, views, _height(first), min_width=16 * len(first.tasks))


def transfer_lines_chart(title: str, matrices: Sequence[tuple[Transfer, Limits, str]]) -> Chart:
    """Draw R as a line per task, a view with its own summary per metric."""
    first, _, summary = matrices[0]
    views = tuple(replace(_lines_view(one, limits), summary=text) for one, limits, text in matrices)
    return Chart(title, summary, views, _height(first))


def transfer_figure(title: str, one: Transfer) -> Figure:
    """Draw R as a line per task, for print."""
    figure, axes = new_figure(6.5, 4)
    for column, key in enumerate(task_keys(one.tasks)):
        axes.plot(np.arange(len(one.R)), one.R[:, column], label=literal(key.name), **line_style(key))
        learnt = [step for step, task in one.visits if task == column]
        axes.plot(learnt, one.R[learnt, column], "o", color=PAPER_COLOURS[key.colour])
    axes.set(xlabel="Experiences learnt", ylabel=f"{one.title} on the evaluation set", title=literal(title))
    draw_legend(axes)
    return figure


def _height(one: Transfer) -> int:
    return max(heat_height(one.steps, one.tasks), _MIN_HEIGHT)


def _heat_view(one: Transfer, limits: Limits) -> View:
    numbered = len(one.tasks) <= _MAX_NUMBERED_TASKS
    box = {"type": "rect", "line": {"color": "var(--ink)", "width": 2}}
    heat = heat_map(
        one.steps,
        one.tasks,
        one.R,
        shapes=[{**box, "x0": j - 0.5, "x1": j + 0.5, "y0": s - 0.5, "y1": s + 0.5} for s, j in one.visits],
        zmin=limits[0],
        zmax=limits[1],
        showscale=not numbered,
        texttemplate="%{z:.2f}" if numbered else "",
        hovertemplate="after %{y}<br>on %{x}: %{z:.3f}<extra></extra>",
    )
    return View(one.title, *heat)


def _lines_view(one: Transfer, limits: Limits) -> View:
    learnt = set(one.visits)
    data = [
        {
            **line(key),
            "mode": "lines+markers",
            "x": list(range(len(one.R))),
            "y": rounded(one.R[:, j]),
            "text": [safe(step) for step in one.steps],
            "marker": {"size": [9 if (s, j) in learnt else 0.1 for s in range(len(one.R))]},
            "hovertemplate": "after %{text}<br>on %{fullData.name}: %{y:.3f}<extra></extra>",
        }
        for j, key in enumerate(task_keys(one.tasks))
    ]
    margin = 0.05 * (limits[1] - limits[0])
    steps = axis(
        "Experiences learnt",
        showgrid=False,
        range=[-0.3, len(one.R) - 0.7],
        dtick=1 if len(one.R) <= _MAX_NUMBERED_STEPS else None,
    )
    scores = axis(one.title, range=[limits[0] - margin, limits[1] + margin])
    return View(one.title, data, frame(xaxis=steps, yaxis=scores))
