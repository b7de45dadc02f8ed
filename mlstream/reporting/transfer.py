"""The matrix R of one strategy: a heat map, a line per task, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.plotting.plotly_parts import (
    TIGHT,
    Chart,
    View,
    axis,
    category_axis,
    distinct,
    frame,
    heat_height,
    heat_map,
    line,
    safe,
    task_keys,
)
from mlstream.reporting.groups import Group, alike, mean_scores, rounded, spread
from mlstream.reporting.score_info import heading
from mlstream.reporting.tables import format_score

Limits = tuple[float, float]

_MOST_NUMBERED_TASKS = 8
_MOST_NUMBERED_STEPS = 16
_LEAST_HEIGHT = 220


class Transfer(NamedTuple):
    """R averaged over the seeds that visit the tasks in one order.

    Parameters
    ----------
    R : ndarray of shape (n_experiences + 1, n_tasks)
        NaN where a score is not defined.
    steps : list of str
        What each row of R comes after: nothing, or an experience with its tasks.
    visits : list of (int, int)
        Cells (row, column) of the task that was just learnt.
    tasks : list of str
        Names of the columns.
    """

    R: npt.NDArray[np.float64]
    steps: list[str]
    visits: list[tuple[int, int]]
    tasks: list[str]


def transfer(group: Group, name: str) -> Transfer | None:
    """Average R of one metric.

    Parameters
    ----------
    group : Group
        A strategy on a stream.
    name : str
        The metric.

    Returns
    -------
    Transfer or None
        None where no run has that matrix.
    """
    runs = [run for run in group.measured if run.R.get(name)]
    if not runs:
        return None
    same = alike(runs, lambda run: (run.order, len(run.R[name])))
    R = _measured(mean_scores([run.R[name] for run in same]))
    order, tasks = runs[0].order[: len(R) - 1], distinct(runs[0].task_names)
    steps = [f"{step}: {'+'.join(tasks[task] for task in now)}" for step, now in enumerate(order, 1)]
    visits = [(step, task) for step, now in enumerate(order, 1) for task in now]
    return Transfer(R, ["0: before", *steps], visits, tasks)


def _measured(R: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Drop the last rows if nothing is in them: a capped run never came to them."""
    rows = np.flatnonzero(~np.isnan(R).all(axis=1))
    return R[: rows[-1] + 1] if rows.size else R[:1]


def score_limits(groups: Sequence[Group], name: str) -> Limits:
    """Find one scale for all strategies of a stream: least and greatest score, rounded outwards to 0.05."""
    found = [one.R for group in groups if (one := transfer(group, name)) is not None]
    known = np.concatenate([R[~np.isnan(R)] for R in found]) if found else np.empty(0)
    if not known.size:
        return 0.0, 1.0
    low, high = np.floor(known.min() * 20) / 20, np.ceil(known.max() * 20) / 20
    return float(low), float(max(high, low + 0.05))


def transfer_charts(strategy: str, found: dict[str, Transfer], limits: dict[str, Limits]) -> list[Chart]:
    """Draw R as a heat map and as lines.

    Parameters
    ----------
    strategy : str
        Its name.
    found : dict
        Metric -> matrix.
    limits : dict
        Metric -> scale.

    Returns
    -------
    list of Chart
        Two, with a view per metric; none where there is no matrix.
    """
    if not found:
        return []
    first = next(iter(found.values()))
    height = max(heat_height(first.steps, first.tasks), _LEAST_HEIGHT)
    name = next(iter(found))
    heat = tuple(_heat_view(name, one, limits[name]) for name, one in found.items())
    lines = tuple(_lines_view(name, one, limits[name]) for name, one in found.items())
    return [
        Chart(f"{strategy}: matrix R", _heat_summary(name, first), heat, height, min_width=16 * len(first.tasks)),
        Chart(f"{strategy}: score on each task", _lines_summary(name, first), lines, height),
    ]


def _heat_summary(name: str, one: Transfer) -> str:
    means = [format_score(spread(rounded(row)).mean) for row in one.R]
    later = f", {means[-1]} after experience {len(means) - 1}" if len(means) > 1 else ""
    return f"Mean {heading(name).title} over all tasks: {means[0]} before learning{later}."


def _lines_summary(name: str, one: Transfer) -> str:
    final = ", ".join(f"{task} {format_score(score)}" for task, score in zip(one.tasks, one.R[-1], strict=True))
    return f"{heading(name).title} after experience {len(one.R) - 1}: {final}."


def _heat_view(name: str, one: Transfer, limits: Limits) -> View:
    numbered = len(one.tasks) <= _MOST_NUMBERED_TASKS
    heat = heat_map(
        one.steps,
        one.tasks,
        [rounded(row) for row in one.R],
        zmin=limits[0],
        zmax=limits[1],
        showscale=not numbered,
        texttemplate="%{z:.2f}" if numbered else "",
        hovertemplate="after %{y}<br>on %{x}: %{z:.3f}<extra></extra>",
    )
    box = {"type": "rect", "line": {"color": "var(--ink)", "width": 2}}
    boxes = [{**box, "x0": j - 0.5, "x1": j + 0.5, "y0": s - 0.5, "y1": s + 0.5} for s, j in one.visits]
    columns, rows = category_axis(side="top"), category_axis(autorange="reversed")
    return View(heading(name).title, [heat], frame(margin=TIGHT, xaxis=columns, yaxis=rows, shapes=boxes))


def _lines_view(name: str, one: Transfer, limits: Limits) -> View:
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
        dtick=1 if len(one.R) <= _MOST_NUMBERED_STEPS else None,
    )
    scores = axis(heading(name).title, range=[limits[0] - margin, limits[1] + margin])
    return View(heading(name).title, data, frame(xaxis=steps, yaxis=scores))
