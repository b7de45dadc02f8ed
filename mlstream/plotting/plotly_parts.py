"""The parts of charts for a web page, and how names are made safe to draw.

Charts are plain Plotly dictionaries. Colours are names of CSS variables, resolved in the browser, so that one page
serves light and dark.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mlstream.plotting.styles import Key

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]

HEAT = [[level / 4, f"var(--heat-{level})"] for level in range(5)]


@dataclass(frozen=True)
class View:
    """One state of a chart: Plotly's traces and layout, and the name of the switch that shows it.

    Its summary stands in for that of the chart while it is shown; where empty, the chart's holds for all views.
    """

    name: str
    data: list[Json]
    layout: Json
    summary: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart with its text alternative."""

    title: str
    summary: str  # sentences that say what the chart shows to those who cannot see it
    views: tuple[View, ...]  # at least one; the first is shown at first
    height: int  # in CSS pixels
    min_width: int = 0  # in CSS pixels; where there is less room, the chart scrolls sideways


def line(key: Key) -> Json:
    """Return the properties of a line, under the name that a legend switches."""
    return {
        "type": "scatter",
        "name": safe(key.name),
        "legendgroup": key.group,
        "line": {"color": f"var(--series-{key.colour})", "dash": key.dash, "width": 2},
    }


def safe(name: str) -> str:
    """Make a name safe to draw: Plotly reads HTML tags in any text, and %{...} in what it shows on hover."""
    return html.escape(name, quote=False).replace("%", "&#37;")


def rounded(values: Floats, digits: int = 4) -> list[float | None]:
    """Make a list that JSON can hold: None where a value is NaN."""
    return [None if math.isnan(value) else round(value, digits) for value in values.tolist()]


def frame(**changes: Any) -> Json:
    """Return the layout that all charts share, with `changes` on top."""
    return {
        "autosize": True,
        "margin": {"l": 60, "r": 16, "t": 12, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": "var(--ink)"},
        "hoverlabel": {"bgcolor": "var(--panel)", "bordercolor": "var(--line)", "font": {"color": "var(--ink)"}},
        "showlegend": False,
        **changes,
    }


def tight_frame(**changes: Any) -> Json:
    """Return the layout of charts whose axes make their own room, or have none."""
    return frame(margin={"l": 8, "r": 8, "t": 8, "b": 8}, **changes)


def axis(title: str = "", **changes: Any) -> Json:
    """Return the axis that all charts share, with `changes` on top."""
    return {
        "title": {"text": title, "standoff": 8},
        "gridcolor": "var(--line)",
        "linecolor": "var(--line)",
        "zeroline": False,
        **changes,
    }


def category_axis(**changes: Any) -> Json:
    """Return an axis of names, with `changes` on top; it makes the room that they need, which takes a second pass."""
    return axis(type="category", automargin=True, showgrid=False, ticks="", **changes)


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Floats,
    *,
    digits: int = 4,
    shapes: Sequence[Json] = (),
    **changes: Any,
) -> tuple[list[Json], Json]:
    """Return the traces and the layout of a heat map, row 0 on top; undefined cells (NaN) stay blank.

    Names are distinct in rows and in columns. `digits` are decimals, `shapes` are drawn over the map, and `changes` are
    further properties of the trace.
    """
    trace = {
        "type": "heatmap",
        "x": [safe(column) for column in columns],
        "y": [safe(row) for row in rows],
        "z": [rounded(row, digits) for row in values],
        "colorscale": HEAT,
        "colorbar": {"thickness": 10, "outlinewidth": 0},
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "textfont": {"color": "var(--ink)"},
        **changes,
    }
    layout = tight_frame(xaxis=category_axis(side="top"), yaxis=category_axis(autorange="reversed"))
    return [trace], layout | ({"shapes": list(shapes)} if shapes else {})


def heat_height(rows: Sequence[str], columns: Sequence[str]) -> int:
    """Return the height of a heat map: names of columns stand upright above it where there is little room."""
    return 30 + 7 * max(map(len, columns), default=0) + min(28 * len(rows), 700)
