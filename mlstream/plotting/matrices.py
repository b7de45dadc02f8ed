"""Matrices between things of one kind: strategies in pairs, labels that go together, distances between tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.plotting.matplotlib_parts import draw_heat_map, inches_for, inches_for_names, new_panels, write_numbers
from mlstream.plotting.plotly_parts import Chart, View, heat_height, heat_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

_MAX_NUMBERED = 12


class PairMatrix(NamedTuple):
    """Probabilities that the row is better than the column, by the score `title`."""

    title: str
    names: list[str]  # rows and columns, best first
    better: Floats  # (n_names, n_names), NaN on the diagonal
    details: list[list[str]]  # text of each cell, shown on hover


def pair_chart(matrices: Sequence[PairMatrix]) -> Chart:
    """Draw for each pair the probability that one strategy is better than the other, a view per score."""
    names = max((one.names for one in matrices), key=len)
    return Chart(
        "Probability that the row is better than the column",
        "Bayesian signed-rank test: how probably the difference exceeds the region of practical equivalence, "
        "0.01 to either side. Point at a cell for all three probabilities and the p-value of the Nemenyi test.",
        tuple(_pair_view(one) for one in matrices),
        height=heat_height(names, names),
        min_width=len(names) * 38 + 120,
    )


def co_occurrence_figure(names: Sequence[str], counts: Floats) -> Figure:
    """Draw how often labels go together.

    `counts`, (n_labels, n_labels), are rows that carry both labels; the diagonal counts each label.
    """
    occurring = np.diag(counts)[:, np.newaxis]
    shares = np.divide(counts, occurring, out=np.full(counts.shape, np.nan), where=occurring > 0)
    side = inches_for(len(names), minimum=4) + inches_for_names(names)
    figure, (axes,) = new_panels(1, side + 1, side)
    draw_heat_map(axes, shares, names, names, unit="share of rows")
    axes.set_title("Rows with the label on the left that\nalso carry the label below")
    return figure


def task_distances_figure(names: Sequence[str], matrices: Mapping[str, Floats]) -> Figure:
    """Draw distances between tasks, and the overlap of their signatures, side by side.

    `matrices` maps titles to numbers in [0, 1], (n_tasks, n_tasks).
    """
    side = inches_for(len(names), minimum=2.6) + inches_for_names(names)
    figure, panels = new_panels(len(matrices), len(matrices) * (side + 1), side + 0.6)
    for axes, (title, matrix) in zip(panels, matrices.items(), strict=True):
        write_numbers(draw_heat_map(axes, matrix, names, names), matrix)
        axes.set_title(title)
    figure.suptitle("Distances between tasks, and overlap of their signatures")
    return figure


def _pair_view(one: PairMatrix) -> View:
    numbered = len(one.names) <= _MAX_NUMBERED
    heat = heat_map(
        one.names,
        one.names,
        one.better,
        digits=3,
        zmin=0,
        zmax=1,
        text=one.details,
        texttemplate="%{z:.2f}" if numbered else "",
        showscale=not numbered,
        hovertemplate="%{y} against %{x}: %{text}<extra></extra>",
    )
    return View(one.title, *heat)
