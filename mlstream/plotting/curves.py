"""Scores along a stream, with the boundaries of experiences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlstream.analysis.curves import Experiences, ScoreCurve
from mlstream.plotting.matplotlib_parts import draw_legend, line_style, literal, new_figure
from mlstream.plotting.plotly_parts import Json, View, axis, frame, line, rounded, safe
from mlstream.plotting.styles import distinct, strategy_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_MAX_NAMED_VISITS = 24
_MAX_LINES_ON_HOVER = 10
# In inches.
CURVES_SIZE = 9.0, 4.5


def curve_view(title: str, kind: str, curves: Sequence[ScoreCurve], experiences: Experiences) -> View:
    """Draw one score of several strategies; `kind` says over which rows it is taken.

    The boundaries of the experiences are drawn, and their tasks named above.
    """
    data: list[Json] = [
        {
            **line(strategy_key(curve.name, curve.style)),
            "mode": "lines",
            "x": curve.n_rows,
            "y": rounded(curve.scores),
            "hovertemplate": "%{y:.3f}",
        }
        for curve in curves
    ]
    # An axis is drawn only if a trace uses it.
    data.append({"type": "scatter", "x": [], "y": [], "xaxis": "x2", "hoverinfo": "skip"})
    ends = experiences.ends
    boundary = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": "var(--boundary)", "width": 1}}
    layout = frame(
        hovermode="x unified" if len(curves) <= _MAX_LINES_ON_HOVER else "closest",
        xaxis=axis("Rows seen", range=[0, ends[-1]], showgrid=False, hoverformat=",d"),
        xaxis2=_visits_axis(experiences),
        yaxis=axis(title),
        shapes=[{**boundary, "x0": end, "x1": end} for end in ends[:-1]],
    )
    return View(f"{title}, {kind}", data, layout)


def curve_figure(title: str, curves: Sequence[ScoreCurve], experiences: Experiences) -> Figure:
    """Draw one score of several strategies, for print."""
    figure, axes = new_figure(*CURVES_SIZE)
    draw_score_curves(axes, title, curves, experiences)
    return figure


def draw_score_curves(
    axes: Axes, title: str, curves: Sequence[ScoreCurve], experiences: Experiences, **options: Any
) -> list[Line2D]:
    """Draw a line per strategy, and one where each experience ends. `options` are those of plot."""
    lines = []
    for curve in curves:
        style = {"label": literal(curve.name), **line_style(strategy_key(curve.name, curve.style)), **options}
        lines += axes.plot(curve.n_rows, curve.scores, **style)
    for end in experiences.ends[:-1]:
        axes.axvline(end, color="0.8", linewidth=0.8, zorder=0)
    axes.set(xlabel="Rows seen", ylabel=title)
    draw_legend(axes)
    return lines


def _visits_axis(experiences: Experiences) -> Json:
    """Name the tasks of each experience above the curves; where experiences are very many, of some."""
    every = -(-len(experiences.sizes) // _MAX_NAMED_VISITS)
    tasks = distinct(experiences.task_names)
    middles = [end - size / 2 for end, size in zip(experiences.ends, experiences.sizes, strict=True)]
    names = [safe("+".join(tasks[task] for task in now)) for now in experiences.order]
    ticks = axis(overlaying="x", matches="x", side="top", showgrid=False, ticks="", automargin=True)
    return {**ticks, "tickvals": middles[::every], "ticktext": names[::every]}
