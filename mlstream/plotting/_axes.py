"""Axes for a display whose user passes none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None, size: tuple[float, float], *, open_sides: bool = False) -> Axes:
    """Return the axes, or those of a new figure of pyplot, which notebooks show by themselves.

    Parameters
    ----------
    ax : Axes or None
        The axes, if there are any.
    size : (float, float)
        Width and height of a new figure, in inches.
    open_sides : bool
        Whether new axes have no line at the top and on the right.
    """
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=size, layout="constrained")
    if open_sides:
        new.spines[["top", "right"]].set_visible(False)
    return new
