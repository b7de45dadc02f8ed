"""The matrix R of one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from mlstream.analysis.score_info import score_heading
from mlstream.analysis.transfer import Transfer, measured_rows
from mlstream.plotting.matplotlib_parts import axes_or_new
from mlstream.plotting.transfer import (
    LINES_SIZE,
    draw_transfer_lines,
    draw_transfer_matrix,
    matrix_size,
)
from mlstream.records.run_result import RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

Kind = Literal["matrix", "lines"]


class TransferMatrixDisplay:
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

    ax_: Axes
    figure_: Figure | SubFigure
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
        self.ax_ = axes_or_new(ax, matrix_size(one) if is_matrix else LINES_SIZE, open_sides=not is_matrix)
        self.figure_ = self.ax_.figure
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
