"""The time at which each task is visited: as SVG, for a web page, and for papers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from mlstream.plotting import svg
from mlstream.plotting.matplotlib_parts import Display, inches_for, name_rows, new_panels
from mlstream.plotting.plotly_parts import Chart, View, axis, category_axis, frame, safe
from mlstream.plotting.styles import PAPER_COLOURS, distinct
from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

_BAR = "#2f6db0"
_DRIFT = "#b3261e"


class Visit(NamedTuple):
    """An experience, which begins at row `start`, that holds rows of a task, both by index."""

    experience: int
    task: int
    start: int
    size: int


def visits_of(card: StreamCard) -> list[Visit]:
    """List the visits of all tasks, in stream order."""
    sizes = [experience.n_samples for experience in card.experiences]
    starts = accumulate(sizes, initial=0)
    return [
        Visit(place, task, start, experience.n_samples)
        for place, (experience, start) in enumerate(zip(card.experiences, starts, strict=False))
        for task in experience.tasks
    ]


def schedule_svg(card: StreamCard) -> str:
    """Draw when each task is visited, and where it drifts, as SVG.

    A lane per task holds a bar per experience with rows of it, in stream order; a line marks where a known drift
    begins.
    """
    top, n_tasks = 40, len(card.tasks)
    n_rows = max(sum(experience.n_samples for experience in card.experiences), 1)
    bottom, right = top + svg.LANE * n_tasks, svg.WIDTH - svg.RIGHT
    scale = (right - svg.LEFT) / n_rows
    lanes = [top + svg.LANE * row for row in range(n_tasks + 1)]
    shapes = [svg.lane_name(task.name, lane) for task, lane in zip(card.tasks, lanes, strict=False)]
    shapes += [svg.rule(svg.LEFT, lane, right, lane) for lane in lanes]
    shapes += [_bar(visit, scale, lanes[visit.task]) for visit in visits_of(card)]
    for drift in card.drifts:
        x = svg.LEFT + drift.start * scale
        shapes.append(svg.rule(x, top - 6, x, bottom + 6, _DRIFT))
    shapes += [svg.text(svg.LEFT, bottom + 20, "row 1"), svg.text(right, bottom + 20, f"row {n_rows:,}", "end")]
    return svg.document(f"Schedule of {card.name}", bottom + 36, shapes)


def schedule_chart(card: StreamCard) -> Chart:
    """Draw which experience visits which task, and when."""
    tasks = [safe(task) for task in distinct([task.name for task in card.tasks])]
    visits = visits_of(card)
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [tasks[visit.task] for visit in visits],
        "x": [visit.size for visit in visits],
        "base": [visit.start for visit in visits],
        "text": [str(visit.experience + 1) for visit in visits],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "insidetextfont": {"color": "var(--paper)"},
        "textangle": 0,
        "marker": {"color": "var(--series-0)", "line": {"color": "var(--paper)", "width": 1}},
        "hovertemplate": "experience %{text}, %{y}: rows %{base:,d} to %{x:,d}<extra></extra>",
    }
    rows = category_axis(autorange="reversed", categoryorder="array", categoryarray=tasks)
    layout = frame(xaxis=axis("Row of the stream", hoverformat=",d"), yaxis=rows, bargap=0.25)
    sizes = [experience.n_samples for experience in card.experiences]
    lengths = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
    summary = f"{len(sizes)} experiences of {lengths} rows; each bar is an experience, in the row of the task it holds."
    return Chart("Schedule", summary, (View("", [bars], layout),), height=70 + min(30 * len(tasks), 700))


def schedule_figure(card: StreamCard, shares: Sequence[Sequence[float]] | npt.NDArray[np.float64]) -> Figure:
    """Draw when tasks come, for print.

    The height of a bar is the share of the rows of an experience that are of a task: (n_experiences, n_tasks).
    """
    names = [task.name for task in card.tasks]
    figure, (axes,) = new_panels(1, *schedule_size(names))
    draw_schedule(axes, np.asarray(shares), [experience.n_samples for experience in card.experiences], names)
    return figure


def schedule_size(names: Sequence[str]) -> tuple[float, float]:
    """Return the width and height of a schedule, in inches."""
    return 9.0, inches_for(len(names), minimum=2.5)


def task_shares(stream: Stream) -> npt.NDArray[np.float64]:
    """Return the share of the rows of each experience that are of each task: (n_experiences, n_tasks)."""
    rows = np.array([np.bincount(part.task_ids, minlength=stream.n_tasks) for part in stream])
    return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1))


def draw_schedule(
    axes: Axes, shares: npt.NDArray[np.float64], sizes: Sequence[int], names: Sequence[str], **options: Any
) -> list[PolyCollection]:
    """Draw a bar for each task in each experience, as high as its share of the rows: (n_experiences, n_tasks).

    `sizes` are numbers of rows of the experiences; options are those of ``Axes.broken_barh``.
    """
    starts = [*accumulate(sizes, initial=0)]
    style = {"facecolor": PAPER_COLOURS[0], **options}
    bars = []
    for place, task in np.argwhere(shares > 0):
        height = 0.8 * float(shares[place, task])
        bars.append(axes.broken_barh([(starts[place], sizes[place])], (task - height / 2, height), **style))
    for start in starts:
        axes.axvline(start, color="#bbbbbb", linewidth=0.5, zorder=0)
    axes.set(xlim=(0, max(starts[-1], 1)), xlabel="learning rows", title="When tasks come (height: share of the rows)")
    axes.set_ylim(len(names) - 0.5, -0.5)
    name_rows(axes, names)
    return bars


def _bar(visit: Visit, scale: float, top: float) -> str:
    # A white edge keeps bars that touch apart.
    return (
        f'<rect x="{svg.LEFT + visit.start * scale:.2f}" y="{top + 4}" '
        f'width="{visit.size * scale:.2f}" height="{svg.LANE - 8}" fill="{_BAR}" stroke="white"/>'
    )


class ScheduleDisplay(Display):
    """The schedule of a stream: a lane per task, and a bar for each experience that holds rows of it.

    Use `from_stream` to make it. Options of `plot` are those of ``Axes.broken_barh``, for all bars.

    Parameters
    ----------
    shares : array-like of shape (n_experiences, n_tasks)
        Share of the rows of each experience that are of each task: the heights of the bars.
    experience_sizes : sequence of int
        Rows of each experience.
    task_names : sequence of str, optional
        By default "task 0", "task 1" and so on.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        The figure of these axes.
    bars_ : list of PolyCollection
        A bar for each task in each experience, in stream order.

    Raises
    ------
    ValueError
        If the shape of `shares` does not fit `experience_sizes` and `task_names`.

    Examples
    --------
    >>> from mlstream.plotting import ScheduleDisplay
    >>> display = ScheduleDisplay([[1, 0], [0, 1], [0.5, 0.5]], [100, 100, 80]).plot()
    >>> len(display.bars_)
    4
    """

    bars_: list[PolyCollection]

    def __init__(
        self, shares: npt.ArrayLike, experience_sizes: Sequence[int], *, task_names: Sequence[str] | None = None
    ) -> None:
        self.shares = np.asarray(shares, dtype=np.float64)
        self.experience_sizes = experience_sizes
        self.task_names = task_names
        n_tasks = len(task_names) if task_names is not None else self.shares.shape[-1]
        if self.shares.shape != (len(experience_sizes), n_tasks):
            raise ValueError(
                f"shares must have a row per experience and a column per task, ({len(experience_sizes)}, {n_tasks}). "
                f"Got shape {self.shares.shape} instead."
            )

    def _draw(self, ax: Axes | None, **kwargs: Any) -> None:
        names = self.task_names or [f"task {task}" for task in range(self.shares.shape[1])]
        self._begin(ax, schedule_size(names))
        self.bars_ = draw_schedule(self.ax_, self.shares, self.experience_sizes, names, **kwargs)

    @classmethod
    def from_stream(cls, stream: Stream, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the schedule of a stream.

        Parameters
        ----------
        stream : Stream
            The stream.
        ax, **kwargs
            See `plot`.

        Returns
        -------
        ScheduleDisplay
            The display, drawn.
        """
        names = [task.name for task in stream.tasks]
        display = cls(task_shares(stream), [len(experience) for experience in stream], task_names=names)
        return display.plot(ax, **kwargs)
