"""Coverage of prediction sets along a stream, above what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from metrics import set_coverage
from metrics.validation import check_number, require_integer
from mlstream.plotting.matplotlib_parts import Display, axes_below, draw_legend, line_style, literal
from mlstream.plotting.styles import strategy_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_SIZE = (7.0, 5.0)  # inches
# share of the height that open labels take, below coverage
_BELOW = 0.4


class PredictionSetsDisplay(Display):
    """Coverage of prediction sets along a stream, a line each, above the mean number of open labels.

    The dashed line is the coverage that was promised. Use `from_predictions` to make it.
    Options of `plot` are those of ``Axes.plot``, for all lines.

    Parameters
    ----------
    n_rows : array-like of shape (n_windows,)
        Rows of the stream at the end of each window.
    coverages, n_open : mapping of str to array-like of shape (n_windows,)
        For each learner, the share of sets of a window that hold the truth, and the mean number of open labels of its
        rows; NaN where it is not defined.
    alpha : float
        Share of sets that may miss the truth.

    Attributes
    ----------
    ax_ : Axes
        The axes of coverage.
    below_ : Axes
        The axes of open labels.
    figure_ : Figure
        The figure of these axes.
    lines_ : list of Line2D
        A line of coverage per learner.

    Raises
    ------
    ValueError
        If names or numbers of windows differ, or `alpha` is not one share.

    Examples
    --------
    >>> from mlstream.plotting import PredictionSetsDisplay
    >>> display = PredictionSetsDisplay([500, 1000], {"ridge": [0.88, 0.91]}, {"ridge": [2.5, 2.1]}, alpha=0.1).plot()
    >>> display.lines_[0].get_ydata().tolist()
    [0.88, 0.91]
    """

    below_: Axes
    lines_: list[Line2D]

    def __init__(
        self,
        n_rows: npt.ArrayLike,
        coverages: Mapping[str, npt.ArrayLike],
        n_open: Mapping[str, npt.ArrayLike],
        *,
        alpha: float,
    ) -> None:
        self.n_rows = np.asarray(n_rows)
        self.coverages = {name: np.asarray(values, dtype=np.float64) for name, values in coverages.items()}
        self.n_open = {name: np.asarray(values, dtype=np.float64) for name, values in n_open.items()}
        self.alpha = check_number(alpha, "alpha", low=0.0, high=1.0)
        shapes = {values.shape for values in (*self.coverages.values(), *self.n_open.values())}
        if self.coverages.keys() != self.n_open.keys() or shapes != {self.n_rows.shape}:
            raise ValueError(
                f"coverages and n_open must have the same names, with a value for each of {len(self.n_rows)} windows. "
                f"Got {list(self.coverages)} and {list(self.n_open)}, of shapes {sorted(shapes)}."
            )

    def _draw(self, ax: Axes | None, **kwargs: Any) -> None:
        self._begin(ax, _SIZE, open_sides=True)
        self.below_ = axes_below(self.ax_, _BELOW)
        self.ax_.axhline(1.0 - self.alpha, color="0.4", linewidth=1, linestyle="--", zorder=0)
        self.lines_ = []
        for place, (name, coverage) in enumerate(self.coverages.items()):
            style = {**line_style(strategy_key(name, place)), **kwargs}
            self.lines_ += self.ax_.plot(self.n_rows, coverage, **{"label": literal(name), **style})
            self.below_.plot(self.n_rows, self.n_open[name], **style)
        self.ax_.set(ylabel="Coverage")
        self.below_.set(xlabel="Row of the stream", ylabel="Open labels", ylim=(0, None))
        draw_legend(self.ax_)

    @classmethod
    def from_predictions(
        cls,
        y_true: npt.ArrayLike,
        sets: Mapping[str, npt.ArrayLike],
        *,
        alpha: float,
        window: int | None = None,
        average: Literal["micro", "macro", "subset"] = "micro",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the `metrics.set_coverage` of several learners, of one window of rows after the other.

        Parameters
        ----------
        y_true : array-like of shape (n_samples, n_labels)
            True labels in the order of the stream, 0 or 1; NaN where unknown.
        sets : mapping of str to array-like of shape (n_samples, n_labels)
            For each learner, its sets: 1 for {1}, 0 for {0}, -1 for {0, 1}, -2 for the empty set.
        alpha : float
            Share of sets that may miss the truth.
        window : int, optional
            Rows of a window; by default a thirtieth of all rows. Those left at the end are one, too.
        average : {"micro", "macro", "subset"}, default="micro"
            As in `metrics.set_coverage`: "subset" for sets of whole rows.
        ax, **kwargs
            See `plot`.

        Returns
        -------
        PredictionSetsDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If `sets` is not a mapping.
        ValueError
            As `metrics.set_coverage` does; or if `window` is less than 1.
        """
        if not isinstance(sets, Mapping):
            raise TypeError(f"sets must be a mapping of names to sets. Got {type(sets).__name__} instead.")
        Y = np.asarray(y_true, dtype=np.float64)
        tables = {name: np.asarray(table) for name, table in sets.items()}
        for table in tables.values():
            set_coverage(Y, table, average=average)
        size = -(-len(Y) // 30) if window is None else require_integer(window, "window", 1)
        windows = [slice(start, start + size) for start in range(0, len(Y), size)]
        coverages = {name: _coverages(Y, table, windows, average) for name, table in tables.items()}
        n_open = {name: [(table[rows] == -1).sum(axis=1).mean() for rows in windows] for name, table in tables.items()}
        ends = [min(rows.stop, len(Y)) for rows in windows]
        return cls(ends, coverages, n_open, alpha=alpha).plot(ax, **kwargs)


def _coverages(
    Y: npt.NDArray[np.float64],
    sets: npt.NDArray[Any],
    windows: Sequence[slice],
    average: Literal["micro", "macro", "subset"],
) -> list[float]:
    """Return the coverage of each window; NaN where no label is known."""
    return [
        np.nan if np.isnan(Y[rows]).all() else float(set_coverage(Y[rows], sets[rows], average=average))
        for rows in windows
    ]
