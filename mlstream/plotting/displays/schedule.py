"""The time at which each task of a stream is visited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from mlstream.plotting.matplotlib_parts import axes_or_new
from mlstream.plotting.schedules import draw_schedule, schedule_size, task_shares
from mlstream.streams.stream import Stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure, SubFigure


class ScheduleDisplay:
    """The schedule of a stream: a lane per task, and a bar for each experience that holds rows of it.

    Use `from_stream` to make it.

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

    ax_: Axes
    figure_: Figure | SubFigure
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

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            Options of ``Axes.broken_barh``, for all bars.

        Returns
        -------
        ScheduleDisplay
            This object, with `ax_`, `figure_` and `bars_`.
        """
        names = self.task_names or [f"task {task}" for task in range(self.shares.shape[1])]
        self.ax_ = axes_or_new(ax, schedule_size(names))
        self.figure_ = self.ax_.figure
        self.bars_ = draw_schedule(self.ax_, self.shares, self.experience_sizes, names, **kwargs)
        return self

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
