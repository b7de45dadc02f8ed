"""The matrix R of one strategy, as a heat map and as a line per task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from mlstream.analysis.score_info import score_heading
from mlstream.analysis.transfer import Limits, Transfer, common_limits, measured_rows
from mlstream.plotting.matplotlib_parts import (
    Display,
    draw_heat_map,
    draw_legend,
    inches_for,
    inches_for_names,
    line_style,
    literal,
    new_figure,
    write_numbers,
)
from mlstream.plotting.plotly_parts import Chart, View, axis, frame, heat_height, heat_map, line, rounded, safe
from mlstream.plotting.styles import PAPER_COLOURS, distinct, task_keys
from mlstream.records.run_result import RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

_MAX_NUMBERED_TASKS = 8
_MAX_NUMBERED_STEPS = 16
_MIN_HEIGHT = 220
# Stands out from the lightest and from the darkest cell.
_FRAME = PAPER_COLOURS[1]
# In inches, of a figure of lines.
LINES_SIZE = 6.5, 4.0


def matrix_names(one: Transfer) -> tuple[list[str], list[str]]:
    """Name the rows of R, each after an experience with its tasks, and the columns; names of columns are distinct."""
    tasks, learnt = distinct(one.task_names), one.order[: len(one.R) - 1]
    steps = [f"{step}: {'+'.join(tasks[task] for task in now)}" for step, now in enumerate(learnt, 1)]
    return ["0: before", *steps], tasks


def transfer_heat_chart(title: str, matrices: Sequence[tuple[Transfer, Limits, str]]) -> Chart:
    """Draw R as a heat map, a view with its own summary per metric."""
    first, _, summary = matrices[0]
    views = tuple(replace(_heat_view(one, limits), summary=text) for one, limits, text in matrices)
    return Chart(title, summary, views, _height(first), min_width=16 * len(first.task_names))


def transfer_lines_chart(title: str, matrices: Sequence[tuple[Transfer, Limits, str]]) -> Chart:
    """Draw R as a line per task, a view with its own summary per metric."""
    first, _, summary = matrices[0]
    views = tuple(replace(_lines_view(one, limits), summary=text) for one, limits, text in matrices)
    return Chart(title, summary, views, _height(first))


def transfer_figure(title: str, one: Transfer) -> Figure:
    """Draw R as a line per task, for print."""
    figure, axes = new_figure(*LINES_SIZE)
    draw_transfer_lines(axes, one)
    axes.set_title(literal(title))
    return figure


def draw_transfer_lines(axes: Axes, one: Transfer, **options: Any) -> list[Line2D]:
    """Draw R as a line per task, with a marker where the task was just learnt. `options` are those of plot."""
    lines = []
    _, tasks = matrix_names(one)
    for column, key in enumerate(task_keys(tasks)):
        style = {"label": literal(key.name), **line_style(key), **options}
        lines += axes.plot(np.arange(len(one.R)), one.R[:, column], **style)
        learnt = [step for step, task in one.visits if task == column]
        axes.plot(learnt, one.R[learnt, column], "o", color=PAPER_COLOURS[key.colour])
    axes.set(xlabel="Experiences learnt", ylabel=f"{one.title} on the evaluation set")
    draw_legend(axes)
    return lines


def draw_transfer_matrix(axes: Axes, one: Transfer, **options: Any) -> AxesImage:
    """Draw R as a heat map, with a frame where the task was just learnt. `options` are those of imshow."""
    from matplotlib.patches import Rectangle

    (low, high), (steps, tasks) = common_limits([one]), matrix_names(one)
    image = draw_heat_map(axes, one.R, steps, tasks, unit=one.title, **{"vmin": low, "vmax": high, **options})
    write_numbers(image, one.R)
    for step, task in one.visits:
        axes.add_patch(Rectangle((task - 0.5, step - 0.5), 1, 1, fill=False, edgecolor=_FRAME, linewidth=2))
    axes.set(xlabel="Evaluation set of", ylabel="After experience")
    return image


def matrix_size(one: Transfer) -> tuple[float, float]:
    """Return the width and height of the heat map of R, in inches."""
    steps, tasks = matrix_names(one)
    width = inches_for(2 * len(tasks), minimum=4.5) + inches_for_names(steps)
    return width, inches_for(len(steps), minimum=3) + inches_for_names(tasks)


def _height(one: Transfer) -> int:
    return max(heat_height(*matrix_names(one)), _MIN_HEIGHT)


def _heat_view(one: Transfer, limits: Limits) -> View:
    numbered = len(one.task_names) <= _MAX_NUMBERED_TASKS
    box = {"type": "rect", "line": {"color": "var(--ink)", "width": 2}}
    heat = heat_map(
        *matrix_names(one),
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
    learnt, (steps, tasks) = set(one.visits), matrix_names(one)
    texts = [safe(step) for step in steps]
    data = [
        {
            **line(key),
            "mode": "lines+markers",
            "x": list(range(len(one.R))),
            "y": rounded(one.R[:, j]),
            "text": texts,
            "marker": {"size": [9 if (s, j) in learnt else 0.1 for s in range(len(one.R))]},
            "hovertemplate": "after %{text}<br>on %{fullData.name}: %{y:.3f}<extra></extra>",
        }
        for j, key in enumerate(task_keys(tasks))
    ]
    margin = 0.05 * (limits[1] - limits[0])
    experiences = axis(
        "Experiences learnt",
        showgrid=False,
        range=[-0.3, len(one.R) - 0.7],
        dtick=1 if len(one.R) <= _MAX_NUMBERED_STEPS else None,
    )
    scores = axis(one.title, range=[limits[0] - margin, limits[1] + margin])
    return View(one.title, data, frame(xaxis=experiences, yaxis=scores))


Kind = Literal["matrix", "lines"]


class TransferMatrixDisplay(Display):
    """The matrix R: the score on the evaluation set of each task, after each experience.

    Use `from_result` to make it.

    Parameters
    ----------
    R : array-like of shape (n_experiences + 1, n_tasks)
        Row 0 is before any learning. NaN where a score is not defined.
    order : sequence of sequence of int
        Tasks of each experience.
    task_names : sequence of str, optional
        By default "task 0", "task 1" and so on.
    score_name : str
        Title of the score.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        The figure of these axes.
    im_ : AxesImage or None
        The heat map; None with ``kind="lines"``.
    lines_ : list of Line2D
        A line per task; empty with ``kind="matrix"``.

    Raises
    ------
    ValueError
        If the shape of R does not fit `order` and `task_names`.

    Examples
    --------
    >>> from mlstream.plotting import TransferMatrixDisplay
    >>> display = TransferMatrixDisplay([[0.5, 0.5], [0.9, 0.5], [0.7, 0.8]], order=[[0], [1]]).plot()
    >>> display.im_.get_array().shape
    (3, 2)
    """

    im_: AxesImage | None
    lines_: list[Line2D]

    def __init__(
        self,
        R: npt.ArrayLike,
        order: Sequence[Sequence[int]],
        *,
        task_names: Sequence[str] | None = None,
        score_name: str = "Score",
    ) -> None:
        self.R = np.asarray(R, dtype=np.float64)
        self.order = order
        self.task_names = task_names
        self.score_name = score_name
        _require_matrix(self.R, order, task_names)

    def plot(self, ax: Axes | None = None, *, kind: Kind = "matrix", **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        kind : {"matrix", "lines"}
            A heat map with a frame around each task just learnt, or a line per task with a marker there.
        **kwargs
            Options of ``Axes.imshow``, or of ``Axes.plot``.

        Returns
        -------
        TransferMatrixDisplay
            This object, with `ax_`, `figure_`, `im_` and `lines_`.
        """
        if kind not in ("matrix", "lines"):
            raise ValueError(f"kind must be 'matrix' or 'lines'. Got {kind!r} instead.")
        names = self.task_names or [f"task {task}" for task in range(self.R.shape[1])]
        one = Transfer(self.score_name, self.R, self.order, names)
        is_matrix = kind == "matrix"
        self._begin(ax, matrix_size(one) if is_matrix else LINES_SIZE, open_sides=not is_matrix)
        self.im_ = draw_transfer_matrix(self.ax_, one, **kwargs) if is_matrix else None
        self.lines_ = [] if is_matrix else draw_transfer_lines(self.ax_, one, **kwargs)
        return self

    @classmethod
    def from_result(
        cls, result: RunResult, *, score: str = "ba_macro", ax: Axes | None = None, kind: Kind = "matrix", **kwargs: Any
    ) -> Self:
        """Draw the matrix R of a run.

        Parameters
        ----------
        result : RunResult
            The run, as `evaluate` returns it.
        score : str
            Name of the score, a key of ``result.R``.
        ax, kind, **kwargs
            See `plot`.

        Returns
        -------
        TransferMatrixDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the run has no matrix of that score.

        Notes
        -----
        Rows that a capped run did not come to are left out.
        """
        if not result.R.get(score):
            known = ", ".join(result.R) or "none: the run failed"
            raise ValueError(f"score must be one that the run has a matrix of ({known}). Got {score!r} instead.")
        R = measured_rows(np.array(result.R[score], dtype=np.float64))
        display = cls(
            R, result.order[: len(R) - 1], task_names=result.task_names, score_name=score_heading(score).title
        )
        return display.plot(ax, kind=kind, **kwargs)


def _require_matrix(
    R: npt.NDArray[np.float64], order: Sequence[Sequence[int]], task_names: Sequence[str] | None
) -> None:
    if R.ndim != 2 or len(R) != len(order) + 1:
        raise ValueError(
            f"R must have a row for each of the {len(order)} experiences and one before them. Got shape {R.shape}."
        )
    if task_names is not None and len(task_names) != R.shape[1]:
        raise ValueError(f"task_names must name the {R.shape[1]} columns of R. Got {len(task_names)} names.")
