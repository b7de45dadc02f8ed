"""The share of each task's rows that carry each label: as SVG, for a web page, and for papers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mlstream.plotting import svg
from mlstream.plotting.matplotlib_parts import draw_heat_map, inches_for, inches_for_names, name_columns, new_panels
from mlstream.plotting.plotly_parts import Chart, View, heat_height, heat_map
from mlstream.plotting.styles import PAPER_COLOURS, distinct
from mlstream.streams.card_model import StreamCard

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_WIDEST_CELL = 28
_MAX_NAMES = 40
_MAX_NUMBERED_LABELS = 25
_LEAST_SHOWN = 0.005
# From what is rare to what is always there; rare labels have to show, so shades follow the square root.
_PALE, _DARK = (222, 235, 247), (8, 48, 107)


def label_shares(card: StreamCard) -> npt.NDArray[np.float64]:
    """Return the share of each task's rows that carry each label; NaN for labels outside the task's signature."""
    shares = np.array([task.label_frequencies for task in card.tasks])
    for row, task in zip(shares, card.tasks, strict=True):
        row[~np.isin(np.arange(len(row)), task.signature)] = np.nan
    return shares


def label_svg(card: StreamCard) -> str:
    """Draw the share of each task's rows that carry each label, as SVG: a row per task, a column per label.

    An empty cell is a label that cannot occur in the task.
    """
    n_labels = len(card.label_names)
    cell = min(_WIDEST_CELL, (svg.WIDTH - svg.LEFT - svg.RIGHT) / max(n_labels, 1))
    top = 120 if n_labels <= _MAX_NAMES else 56
    bottom = top + svg.LANE * len(card.tasks)
    shapes = [*_label_axis(card.label_names, cell, top), *_legend(bottom + 24)]
    for row, (task, shares) in enumerate(zip(card.tasks, label_shares(card).tolist(), strict=True)):
        shapes.append(svg.lane_name(task.name, top + svg.LANE * row))
        shapes += _cells(shares, cell, top + svg.LANE * row)
    return svg.document(f"Labels of the tasks of {card.name}", bottom + 56, shapes)


def label_chart(card: StreamCard) -> Chart:
    """Draw how often each label occurs in each task; a label outside a task's signature stays blank."""
    labels, tasks = distinct(card.label_names), distinct([task.name for task in card.tasks])
    numbered = len(labels) <= _MAX_NUMBERED_LABELS
    shares = label_shares(card)
    heat = heat_map(
        tasks,
        labels,
        shares,
        zmin=0,
        text=[[_percentage(share) for share in row] for row in shares.tolist()],
        showscale=not numbered,
        texttemplate="%{text}" if numbered else "",
        hovertemplate="%{x} in %{y}: %{z:.1%} of the rows<extra></extra>",
    )
    sizes = {len(task.signature) for task in card.tasks}
    range_of_sizes = f"{min(sizes)}" if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"
    return Chart(
        "Labels of each task",
        f"Share of a task's rows that carry each label; 0% on a tint: in the signature, "
        f"but on no row; blank: not in the task's signature. "
        f"Signatures hold {range_of_sizes} of {len(labels)} labels.",
        (View("", *heat),),
        height=heat_height(tasks, labels),
        min_width=len(labels) * (38 if numbered else 12) + 80,
    )


def label_figure(card: StreamCard) -> Figure:
    """Draw how often each label occurs in each task, for print."""
    tasks = [task.name for task in card.tasks]
    figure, (axes,) = new_panels(1, *label_size(tasks, card.label_names))
    draw_label_shares(axes, label_shares(card), tasks, card.label_names)
    return figure


def label_size(tasks: Sequence[str], labels: Sequence[str]) -> tuple[float, float]:
    """Return the width and height of a figure of labels, in inches."""
    return inches_for(len(labels)) + 1, inches_for(len(tasks), minimum=2.5) + inches_for_names(labels)


def draw_label_shares(
    axes: Axes, shares: npt.NDArray[np.float64], tasks: Sequence[str], labels: Sequence[str], **options: Any
) -> AxesImage:
    """Draw a row per task and a column per label; NaN stays white. `options` are those of imshow."""
    image = draw_heat_map(axes, shares, tasks, labels, unit="share of rows", **options)
    axes.set_title("How often labels occur in tasks (white: not in the signature)")
    return image


def bars_size(labels: Sequence[str]) -> tuple[float, float]:
    """Return the width and height of a figure of bars, in inches."""
    return inches_for(len(labels), minimum=4), 3 + inches_for_names(labels)


def draw_label_bars(axes: Axes, shares: npt.NDArray[np.float64], labels: Sequence[str], **options: Any) -> BarContainer:
    """Draw a bar per label. `options` are those of bar."""
    bars = axes.bar(np.arange(len(labels)), shares, **{"color": PAPER_COLOURS[0], **options})
    name_columns(axes, labels)
    axes.set(ylabel="share of rows", title="How often labels occur")
    return bars


def _percentage(share: float) -> str:
    """Write a share in whole percent; one that is rounded to 0 is not 0."""
    if math.isnan(share):
        return ""
    return "<1%" if 0 < share < _LEAST_SHOWN else f"{share:.0%}"


def _cells(shares: Sequence[float], cell: float, y: float) -> Iterator[str]:
    for label, share in enumerate(shares):
        fill = "none" if math.isnan(share) else _shade(share)
        yield (
            f'<rect x="{svg.LEFT + cell * label:.2f}" y="{y}" width="{cell:.2f}" height="{svg.LANE}" fill="{fill}" '
            f'stroke="{svg.FAINT}" stroke-width="0.5"/>'
        )


def _label_axis(names: Sequence[str], cell: float, top: float) -> Iterator[str]:
    for label, name in enumerate(names):
        x = svg.LEFT + cell * (label + 0.5)
        if len(names) <= _MAX_NAMES:
            turn = f' transform="rotate(-55 {x:.2f} {top - 6})"'
            yield svg.text(x, top - 6, name, "start", turn)
        elif label % 10 == 0:
            yield svg.text(x, top - 6, str(label + 1), "middle")


def _legend(y: float) -> Iterator[str]:
    yield svg.text(svg.LEFT, y + 12, "share of rows:")
    for place, share in enumerate((0.001, 0.01, 0.1, 0.5, 1.0)):
        x = svg.LEFT + 110 + 90 * place
        yield f'<rect x="{x}" y="{y}" width="16" height="16" fill="{_shade(share)}" stroke="{svg.FAINT}"/>'
        yield svg.text(x + 22, y + 12, f"{100 * share:g} %")


def _shade(share: float) -> str:
    weight = share**0.5
    channels = (round(pale + (dark - pale) * weight) for pale, dark in zip(_PALE, _DARK, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in channels)
