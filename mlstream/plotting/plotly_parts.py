"""What all charts of the report share: their parts, their colours, and how names are made safe to draw.

Charts are plain Plotly dictionaries. Colours are names of CSS variables, resolved in the browser, so that one page
serves light and dark.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from mlstream.reporting.groups import Group

Json = dict[str, Any]

N_COLOURS = 7
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star")
TIGHT = {"l": 8, "r": 8, "t": 8, "b": 8}
HEAT = [[level / 4, f"var(--heat-{level})"] for level in range(5)]


@dataclass(frozen=True)
class View:
    """One state of a chart: Plotly's traces and layout, and the name of the switch that shows it."""

    name: str
    data: list[Json]
    layout: Json


@dataclass(frozen=True)
class Chart:
    """A chart with its text alternative.

    Parameters
    ----------
    title : str
        What it is, in a few words.
    summary : str
        What it shows, in sentences, for those who do not see it.
    views : tuple of View
        At least one; the first is shown at first.
    height, min_width : int
        In CSS pixels; where there is less room than `min_width`, the chart scrolls sideways.
    """

    title: str
    summary: str
    views: tuple[View, ...]
    height: int
    min_width: int = 0


@dataclass(frozen=True)
class Key:
    """An entry of a legend: it switches all traces whose ``legendgroup`` is `group`."""

    name: str
    group: str
    style: int

    @property
    def colour(self) -> int:
        """Number of its colour."""
        return self.style % N_COLOURS

    @property
    def dash(self) -> str:
        """Dash of its line."""
        return DASHES[self.style % len(DASHES)]

    @property
    def symbol(self) -> str:
        """Symbol of its points."""
        return SYMBOLS[self.style % len(SYMBOLS)]


def strategy_key(group: Group) -> Key:
    """Make the legend entry of a strategy; the first 42 lines and the first 56 points all look different."""
    return Key(group.label, f"strategy-{group.style}", group.style)


def task_keys(names: Iterable[str]) -> list[Key]:
    """Make the legend of tasks."""
    return [Key(name, f"task-{place}", place) for place, name in enumerate(names)]


def line(key: Key) -> Json:
    """Give the traits of a line, under the name that a legend switches."""
    return {
        "type": "scatter",
        "name": safe(key.name),
        "legendgroup": key.group,
        "line": {"color": f"var(--series-{key.colour})", "dash": key.dash, "width": 2},
    }


def safe(name: str) -> str:
    """Make a name safe to draw: Plotly reads HTML tags in any text, and %{...} in what it shows on hover.

    Examples
    --------
    >>> safe("<b>100 %{x}</b>")
    '&lt;b&gt;100 &#37;{x}&lt;/b&gt;'
    """
    return html.escape(name, quote=False).replace("%", "&#37;")


def distinct(names: Sequence[str], length: int = 24) -> list[str]:
    """Shorten names and keep them apart: an axis draws equal names at one place.

    Examples
    --------
    >>> distinct(["task", "task", "a very long name"], length=10)
    ['task', 'task (2)', 'a ver…name']
    """
    labels: list[str] = []
    for name in names:
        # What sets long names apart is as often at their end as at their start.
        tail = len(name) - length // 2 + 1
        short = name if len(name) <= length else f"{name[: length - length // 2]}…{name[tail:]}"
        numbered = (f"{short} ({number})" for number in count(2))
        labels.append(next(label for label in chain([short], numbered) if label not in labels))
    return labels


def heat_height(rows: Sequence[str], columns: Sequence[str]) -> int:
    """Give the height of a heat map: names of columns stand upright above it where there is little room."""
    return 30 + 7 * max(map(len, columns), default=0) + min(28 * len(rows), 700)


def frame(**changes: Any) -> Json:
    """Give the layout that all charts share, with `changes` on top."""
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


def axis(title: str = "", **changes: Any) -> Json:
    """Give the axis that all charts share, with `changes` on top."""
    return {
        "title": {"text": title, "standoff": 8},
        "gridcolor": "var(--line)",
        "linecolor": "var(--line)",
        "zeroline": False,
        **changes,
    }


def category_axis(**changes: Any) -> Json:
    """Give an axis of names, with `changes` on top; it makes the room that they need, which takes a second pass."""
    return axis(type="category", automargin=True, showgrid=False, ticks="", **changes)


def heat_map(rows: Sequence[str], columns: Sequence[str], z: list[list[float | None]], **changes: Any) -> Json:
    """Give a heat map; undefined cells stay blank."""
    return {
        "type": "heatmap",
        "x": [safe(column) for column in columns],
        "y": [safe(row) for row in rows],
        "z": z,
        "colorscale": HEAT,
        "colorbar": {"thickness": 10, "outlinewidth": 0},
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        **changes,
    }
