"""The parts of figures for papers, drawn by Matplotlib, and the files that they are written to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from mlstream._support.files import atomic_path
from mlstream.plotting.styles import DASHES, PAPER_COLOURS, SYMBOLS, Key, distinct

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

_LINES = dict(zip(DASHES, ("-", "--", ":", "-.", (0, (8, 3)), (0, (8, 3, 2, 3))), strict=True))
_MARKERS = dict(zip(SYMBOLS, ("o", "s", "D", "^", "P", "X", "v", "*"), strict=True))
_ROWS_OF_LEGEND = 24
# Beyond these numbers, names would lie over each other, and numbers in cells would not fit.
_MAX_NAMES = 40
_MAX_NUMBERED = 12


def write_picture(figure: Figure, path: Path) -> None:
    """Write a figure to a file, in the format that its suffix names; a file that is there is replaced as a whole."""
    from matplotlib import rc_context

    suffix = path.suffix.removeprefix(".").lower()
    if suffix not in figure.canvas.get_supported_filetypes():
        raise ValueError(f"The name of a picture must end in .png, .svg or .pdf. Got {path.name!r}.")
    # Without a date and random names inside, the same figure gives the same file.
    with rc_context({"svg.hashsalt": "mlstream"}), atomic_path(path) as temporary:
        figure.savefig(temporary, format=suffix, dpi=150, metadata={"Date": None} if suffix == "svg" else None)


def write_png_and_svg(figure: Figure, folder: Path, name: str) -> Iterator[Path]:
    """Write a figure as PNG and as SVG, and yield each path once it is there."""
    for suffix in ("png", "svg"):
        path = folder / f"{name}.{suffix}"
        write_picture(figure, path)
        yield path


def axes_or_new(ax: Axes | None, size: tuple[float, float], *, open_sides: bool = False) -> Axes:
    """Return the axes, or new ones in a figure of pyplot, which notebooks show by themselves.

    `size` is in inches; new axes with `open_sides` have no line at the top and on the right.
    """
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=size, layout="constrained")
    if open_sides:
        new.spines[["top", "right"]].set_visible(False)
    return new


class Display:
    """Data with a picture, in scikit-learn's manner: `_draw` begins with the axes, and keeps what it draws."""

    ax_: Axes
    figure_: Figure | SubFigure

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            Options of the method of Axes that draws, which the display names; some take none.

        Returns
        -------
        Display
            This object, with `ax_`, `figure_` and the display's other attributes.
        """
        self._draw(ax, **kwargs)
        return self

    def _draw(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    def _begin(self, ax: Axes | None, size: tuple[float, float], *, open_sides: bool = False) -> Axes:
        self.ax_ = axes_or_new(ax, size, open_sides=open_sides)
        self.figure_ = self.ax_.figure
        return self.ax_


def axes_below(above: Axes, share: float) -> Axes:
    """Make axes below others, with the same x, of a share of their height. A layout makes room for both."""
    place = above.get_subplotspec()
    if place is None:  # no layout moves them
        below = above.inset_axes((0.0, -share - 0.05, 1.0, share), sharex=above)
    else:
        rows = place.subgridspec(2, 1, height_ratios=(1.0, share))
        above.set_subplotspec(rows[0])
        below = above.figure.add_subplot(rows[1], sharex=above)
    above.tick_params(labelbottom=False)
    below.spines[["top", "right"]].set_visible(False)
    return below


def new_panels(n_panels: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Make a figure of panels side by side."""
    # The object itself, not pyplot: no window, no global state.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, [figure.add_subplot(1, n_panels, panel + 1) for panel in range(n_panels)]


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Make a figure of one panel, open at the top and on the right."""
    figure, (axes,) = new_panels(1, width, height)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def line_style(key: Key) -> dict[str, Any]:
    """Return the colour and dash of a line."""
    return {"color": PAPER_COLOURS[key.colour], "linestyle": _LINES[key.dash], "linewidth": 1.5}


def marker_style(key: Key) -> dict[str, Any]:
    """Return the colour and marker of a point."""
    return {"color": PAPER_COLOURS[key.colour], "marker": _MARKERS[key.symbol], "linestyle": "None"}


def literal(name: str) -> str:
    """Keep Matplotlib from reading a name as a formula, or as one that no legend shows."""
    return f"{' ' if name.startswith('_') else ''}{name}".replace("$", r"\$")


def draw_legend(axes: Axes) -> None:
    """Draw the legend beside the axes."""
    n_entries = len(axes.get_legend_handles_labels()[0])
    columns = -(-n_entries // _ROWS_OF_LEGEND)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8, frameon=False, ncols=max(1, columns))


def draw_heat_map(
    axes: Axes,
    values: npt.NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    unit: str = "",
    **options: Any,
) -> AxesImage:
    """Draw a matrix of numbers in [0, 1], row 0 on top; undefined cells stay white. `options` are those of imshow."""
    defaults = {"cmap": "viridis_r", "vmin": 0, "vmax": 1, "aspect": "auto", "interpolation": "nearest"}
    image = axes.imshow(values, **{**defaults, **options})
    axes.figure.colorbar(image, ax=axes, label=unit)
    name_columns(axes, columns)
    name_rows(axes, rows)
    return image


def name_columns(axes: Axes, names: Sequence[str]) -> None:
    """Name the columns of a panel, unless they are too many."""
    if len(names) <= _MAX_NAMES:
        axes.set_xticks(range(len(names)), [literal(name) for name in distinct(names)], rotation=90)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of a panel, unless they are too many."""
    if len(names) <= _MAX_NAMES:
        axes.set_yticks(range(len(names)), [literal(name) for name in distinct(names)])


def inches_for(n_cells: int, *, minimum: float = 6.0) -> float:
    """Return the room that cells need, within reason."""
    return float(np.clip(0.3 * n_cells + 1.5, minimum, 14))


def inches_for_names(names: Sequence[str]) -> float:
    """Return the room that names need when written upwards."""
    return 0.09 * max(map(len, distinct(names))) if len(names) <= _MAX_NAMES else 0.0


def write_numbers(image: AxesImage, values: npt.NDArray[np.float64]) -> list[Text]:
    """Write the numbers of a heat map into its cells, unless these are too many; undefined cells stay empty."""
    if max(values.shape) > _MAX_NUMBERED:
        return []
    cells = [(int(row), int(column)) for row, column in np.argwhere(~np.isnan(values))]
    return [_write_number(image, float(values[cell]), cell) for cell in cells]


def _write_number(image: AxesImage, value: float, cell: tuple[int, int]) -> Text:
    colour = ink_on(image.to_rgba(np.array([value]))[0, :3].tolist())
    return image.axes.text(cell[1], cell[0], f"{value:.2f}", ha="center", va="center", color=colour)


def ink_on(background: Sequence[float]) -> str:
    """Return black or white, whichever has the higher contrast to a colour: at least 4.5 by WCAG 2."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in background]
    luminance = float(np.dot((0.2126, 0.7152, 0.0722), linear))
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"
