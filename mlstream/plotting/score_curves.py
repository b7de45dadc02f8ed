"""Scores along a stream, with the boundaries of experiences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from mlstream.analysis.curves import Experiences, Kind, ScoreCurve, stream_curves
from mlstream.analysis.groups import Runs, group_named
from mlstream.plotting.matplotlib_parts import Display, draw_legend, line_style, literal, new_figure
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


class ScoreCurvesDisplay(Display):
    """A score along a stream, a line per learner; every row is predicted and scored before it is learnt.

    Use `from_results` to make it. Options of `plot` are those of ``Axes.plot``, for all lines.

    Parameters
    ----------
    n_rows : sequence of array-like
        For each line, the rows seen at its checkpoints.
    scores : sequence of array-like
        For each line, the score there; NaN where it is not defined.
    names : sequence of str
        The learners.
    experience_sizes : sequence of int
        Rows of each experience; a vertical line marks where each ends.
    score_name : str
        Title of the score.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        The figure of these axes.
    lines_ : list of Line2D
        A line per learner.

    Raises
    ------
    ValueError
        If the numbers of lines or checkpoints differ.

    Examples
    --------
    >>> from mlstream.plotting import ScoreCurvesDisplay
    >>> display = ScoreCurvesDisplay([[50, 100]], [[0.5, 0.7]], names=["NN"], experience_sizes=[60, 40]).plot()
    >>> display.lines_[0].get_ydata().tolist()
    [0.5, 0.7]
    """

    lines_: list[Line2D]

    def __init__(
        self,
        n_rows: Sequence[npt.ArrayLike],
        scores: Sequence[npt.ArrayLike],
        *,
        names: Sequence[str],
        experience_sizes: Sequence[int],
        score_name: str = "Score",
    ) -> None:
        self.n_rows = [np.asarray(one, dtype=np.int64) for one in n_rows]
        self.scores = [np.asarray(one, dtype=np.float64) for one in scores]
        self.names = names
        self.experience_sizes = experience_sizes
        self.score_name = score_name
        lengths = [len(one) for one in self.n_rows], [len(one) for one in self.scores]
        if lengths[0] != lengths[1] or len(names) != len(lengths[0]):
            raise ValueError(
                f"n_rows, scores and names must have an entry per line, with as many rows as scores. "
                f"Got {lengths[0]} rows, {lengths[1]} scores and {len(names)} names."
            )

    def _draw(self, ax: Axes | None, **kwargs: Any) -> None:
        self._begin(ax, CURVES_SIZE, open_sides=True)
        curves = [
            ScoreCurve(name, place, rows.tolist(), scores)
            for place, (name, rows, scores) in enumerate(zip(self.names, self.n_rows, self.scores, strict=True))
        ]
        experiences = Experiences(self.experience_sizes, (), ())
        self.lines_ = draw_score_curves(self.ax_, self.score_name, curves, experiences, **kwargs)

    @classmethod
    def from_results(
        cls,
        results: Runs,
        *,
        score: str = "ba_macro",
        kind: Kind = "windowed",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw one score of several runs on one stream.

        Parameters
        ----------
        results : RunResult, sequence of RunResult, or mapping of str to RunResult
            One run; runs, as `load_runs` returns them, seeds of one strategy averaged; or results of `evaluate` by
            names of your own.
        score : str
            Name of the score, a key of ``curves`` of the runs.
        kind : {"windowed", "cumulative"}
            Over the last rows, or over all rows so far.
        ax, **kwargs
            See `plot`.

        Returns
        -------
        ScoreCurvesDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the runs are on several streams, none has a curve of that score, or two are of one strategy and seed.

        Notes
        -----
        A line averages the runs that visit the tasks in the order of the first run; runs that failed have no line.
        """
        if kind not in ("windowed", "cumulative"):
            raise ValueError(f"kind must be 'windowed' or 'cumulative'. Got {kind!r} instead.")
        streams = group_named(results)
        if len(streams) != 1:
            raise ValueError(f"results must be runs on one stream. Got {len(streams)} streams: {', '.join(streams)}.")
        (groups,) = streams.values()
        found = stream_curves(groups, score, kind)
        if found is None:
            runs = [run for group in groups for run in group.runs]
            known = ", ".join(dict.fromkeys(name for run in runs for name in run.curves)) or "none"
            raise ValueError(f"score must be one that a run has a curve of ({known}). Got {score!r} instead.")
        display = cls(
            [curve.n_rows for curve in found.curves],
            [curve.scores for curve in found.curves],
            names=[curve.name for curve in found.curves],
            experience_sizes=found.experiences.sizes,
            score_name=found.title,
        )
        return display.plot(ax, **kwargs)
