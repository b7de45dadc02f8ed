"""Axes for a display whose user passes none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
