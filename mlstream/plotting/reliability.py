"""Reliability diagrams: how often labels come, over how probable they were said to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy.typing as npt

from metrics import CalibrationCurve, calibration_curve
from mlstream.plotting.matplotlib_parts import Display, axes_below, draw_legend, line_style, literal
from mlstream.plotting.styles import strategy_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_SIZE = (5.5, 5.5)  # inches
# share of the height that numbers of cells take, below the diagram
_BELOW = 0.22


class ReliabilityDisplay(Display):
    """Shares of true cells over mean probabilities, a line each, above the numbers of cells.

    Calibrated probabilities lie on the diagonal. Use `from_predictions` to make it.
    Options of `plot` are those of ``Axes.plot``, for all lines.

    Parameters
    ----------
    curves : mapping of str to CalibrationCurve
        For each learner, or label, its points, of shape (n_bins,).

    Attributes
    ----------
    ax_ : Axes
        The axes of the diagram.
    below_ : Axes
        The axes of the numbers of cells, on a logarithmic scale.
    figure_ : Figure
        The figure of these axes.
    lines_ : list of Line2D
        A line per curve.

    Examples
    --------
    >>> from metrics import calibration_curve
    >>> from mlstream.plotting import ReliabilityDisplay
    >>> curve = calibration_curve([[1], [0], [0]], [[0.75], [0.25], [0.25]], n_bins=2, average="micro")
    >>> display = ReliabilityDisplay({"NN": curve}).plot()
    >>> display.lines_[0].get_ydata().tolist()
    [0.0, 1.0]
    """

    below_: Axes
    lines_: list[Line2D]

    def __init__(self, curves: Mapping[str, CalibrationCurve]) -> None:
        self.curves = curves

    def _draw(self, ax: Axes | None, **kwargs: Any) -> None:
        self._begin(ax, _SIZE, open_sides=True)
        self.below_ = axes_below(self.ax_, _BELOW)
        self.ax_.axline((0.0, 0.0), slope=1.0, color="0.6", linewidth=1, zorder=0)
        self.lines_ = []
        for place, (name, curve) in enumerate(self.curves.items()):
            filled = curve.n_cells > 0
            style = {**line_style(strategy_key(name, place)), **kwargs}
            points = curve.mean_proba[filled], curve.share_true[filled]
            self.lines_ += self.ax_.plot(*points, **{"label": literal(name), "marker": "o", "markersize": 4, **style})
            self.below_.plot(points[0], curve.n_cells[filled], **{**style, "marker": "o", "markersize": 3})
        self.ax_.set(ylabel="Share of true cells", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        self.below_.set(xlabel="Mean probability", ylabel="Cells", yscale="log")
        draw_legend(self.ax_)

    @classmethod
    def from_predictions(
        cls,
        y_true: npt.ArrayLike,
        y_proba: Mapping[str, npt.ArrayLike],
        *,
        n_bins: int = 10,
        strategy: Literal["uniform", "quantile"] = "uniform",
        label_mask: npt.ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the `metrics.calibration_curve` of all cells of several learners.

        Parameters
        ----------
        y_true : array-like of shape (n_samples, n_labels)
            True labels, 0 or 1; NaN where unknown.
        y_proba : mapping of str to array-like of shape (n_samples, n_labels)
            For each learner, its probabilities. For a label alone, pass its column as a table of one.
        n_bins : int, default=10
            Number of bins; empty ones have no point.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether bins have equal widths, or about equal numbers of cells.
        label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
            Cells that count: one label, if it keeps one.
        ax, **kwargs
            See `plot`.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If `y_proba` is not a mapping.
        ValueError
            As `metrics.calibration_curve` does.
        """
        if not isinstance(y_proba, Mapping):
            raise TypeError(
                f"y_proba must be a mapping of names to probabilities. Got {type(y_proba).__name__} instead."
            )
        options: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy, "label_mask": label_mask}
        curves = {name: calibration_curve(y_true, proba, average="micro", **options) for name, proba in y_proba.items()}
        return cls(curves).plot(ax, **kwargs)
