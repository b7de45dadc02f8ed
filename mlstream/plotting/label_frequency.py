"""The frequency of each label, in a table or in each task of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from mlstream.data.in_memory import TableLike, as_dataset
from mlstream.plotting.labels import bars_size, draw_label_bars, draw_label_shares, label_shares, label_size
from mlstream.plotting.matplotlib_parts import Display
from mlstream.streams.label_sets import label_frequencies
from mlstream.streams.stream import Stream
from mlstream.streams.tables.labels import LabelRule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.image import AxesImage


class LabelFrequencyDisplay(Display):
    """How often each label occurs: bars for a table, a heat map for the tasks of a stream.

    Use `from_dataset` or `from_stream` to make it. Options of `plot` are those of ``Axes.bar``, or of ``Axes.imshow``.

    Parameters
    ----------
    frequencies : array-like of shape (n_labels,) or (n_tasks, n_labels)
        Shares of rows. NaN for a label that is not in the signature of a task.
    label_names, task_names : sequence of str, optional
        By default "label 0", "task 0" and so on.

    Attributes
    ----------
    ax_ : Axes
        The axes.
    figure_ : Figure
        The figure of these axes.
    bars_ : BarContainer or None
        A bar per label; None for a heat map.
    im_ : AxesImage or None
        The heat map, a row per task; None for bars.

    Raises
    ------
    ValueError
        If the shape of `frequencies` does not fit the names.

    Examples
    --------
    >>> from mlstream.plotting import LabelFrequencyDisplay
    >>> display = LabelFrequencyDisplay([0.5, 0.25], label_names=["rain", "wind"]).plot()
    >>> [float(bar.get_height()) for bar in display.bars_]
    [0.5, 0.25]
    """

    bars_: BarContainer | None
    im_: AxesImage | None

    def __init__(
        self,
        frequencies: npt.ArrayLike,
        *,
        label_names: Sequence[str] | None = None,
        task_names: Sequence[str] | None = None,
    ) -> None:
        self.frequencies = np.asarray(frequencies, dtype=np.float64)
        self.label_names = label_names
        self.task_names = task_names
        if self.frequencies.ndim not in (1, 2):
            raise ValueError(f"frequencies must have one or two dimensions. Got {self.frequencies.ndim} instead.")
        _require_names(label_names, self.frequencies.shape[-1], "label_names")
        if self.frequencies.ndim == 2:
            _require_names(task_names, len(self.frequencies), "task_names")

    def _draw(self, ax: Axes | None, **kwargs: Any) -> None:
        labels = self.label_names or [f"label {label}" for label in range(self.frequencies.shape[-1])]
        self.bars_, self.im_ = None, None
        if self.frequencies.ndim == 1:
            self._begin(ax, bars_size(labels), open_sides=True)
            self.bars_ = draw_label_bars(self.ax_, self.frequencies, labels, **kwargs)
        else:
            tasks = self.task_names or [f"task {task}" for task in range(len(self.frequencies))]
            self._begin(ax, label_size(tasks, labels))
            self.im_ = draw_label_shares(self.ax_, self.frequencies, tasks, labels, **kwargs)

    @classmethod
    def from_dataset(
        cls, dataset: TableLike, labels: LabelRule = None, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the share of the rows of a table that carry each label, among rows where it is known.

        Parameters
        ----------
        dataset : Dataset, str, path, data frame, Bunch or tuple
            The table, or what `mlstream.data.as_dataset` makes one of.
        labels : int, sequence of str or path, optional
            The label columns of a file or of a frame.
        ax, **kwargs
            See `plot`.

        Returns
        -------
        LabelFrequencyDisplay
            The display, drawn.
        """
        table = as_dataset(dataset, labels)
        return cls(label_frequencies(table.Y), label_names=table.label_names).plot(ax, **kwargs)

    @classmethod
    def from_stream(cls, stream: Stream, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the share of the rows of each task that carry each label, learning and evaluation rows together.

        Parameters
        ----------
        stream : Stream
            The stream.
        ax, **kwargs
            See `plot`.

        Returns
        -------
        LabelFrequencyDisplay
            The display, drawn.
        """
        names = [task.name for task in stream.tasks]
        display = cls(label_shares(stream.card), label_names=stream.card.label_names, task_names=names)
        return display.plot(ax, **kwargs)


def _require_names(names: Sequence[str] | None, width: int, what: str) -> None:
    if names is not None and len(names) != width:
        raise ValueError(f"{what} must have a name for each of the {width}. Got {len(names)} names.")
