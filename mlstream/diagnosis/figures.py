"""Pictures of a diagnosis: what tasks share, which labels go together, how far tasks are apart, when they come."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mlstream.diagnosis.diagnosis import Diagnosis
from mlstream.plotting.matplotlib_parts import write_picture
from mlstream.stream import Stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Beyond these numbers, names would lie over each other, and figures in cells would not fit.
_MOST_NAMES = 40
_MOST_FIGURES = 12


def draw_pictures(stream: Stream, diagnosis: Diagnosis, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Draw a stream, each picture as PNG and as SVG.

    Parameters
    ----------
    stream : Stream
        The stream.
    diagnosis : Diagnosis
        What `diagnose` says about it.
    folder : path
        Where to write; it is made if it is absent, and pictures in it are replaced.

    Returns
    -------
    tuple of Path
        Files ``signatures``, ``co_occurrence``, ``task_distances`` and ``schedule``, with both suffixes.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    figures = {
        "signatures": _signatures(stream),
        "co_occurrence": _co_occurrence(stream, diagnosis),
        "task_distances": _task_distances(stream, diagnosis),
        "schedule": _schedule(stream),
    }
    written = []
    for name, figure in figures.items():
        for suffix in ("png", "svg"):
            path = Path(folder) / f"{name}.{suffix}"
            write_picture(figure, path)
            written.append(path)
    return tuple(written)


def _signatures(stream: Stream) -> Figure:
    card = stream.card
    shares = np.array([task.label_frequencies for task in card.tasks])
    outside = ~np.array([task.signature for task in stream.tasks]) & (shares == 0)
    room = _room(card.label_names)
    figure, (axes,) = _figure(1, _length(stream.n_labels) + 1, _length(stream.n_tasks, least=2.5) + room)
    _heat_map(axes, np.where(outside, np.nan, shares), "share of rows", greatest=1)
    _name(axes, "x", card.label_names)
    _name(axes, "y", [task.name for task in stream.tasks])
    axes.set_title("How often labels occur in tasks (white: not in the signature)")
    return figure


def _co_occurrence(stream: Stream, diagnosis: Diagnosis) -> Figure:
    counts = diagnosis.overall.co_occurrence.toarray().astype(float)
    occurring = np.diag(counts)[:, np.newaxis]
    shares = np.divide(counts, occurring, out=np.full(counts.shape, np.nan), where=occurring > 0)
    side = _length(stream.n_labels, least=4) + _room(stream.card.label_names)
    figure, (axes,) = _figure(1, side + 1, side)
    _heat_map(axes, shares, "share of rows", greatest=1)
    for axis in ("x", "y"):
        _name(axes, axis, stream.card.label_names)
    axes.set_title("Rows with the label on the left that\nalso carry the label below")
    return figure


def _task_distances(stream: Stream, diagnosis: Diagnosis) -> Figure:
    titles = ("in P(X)", "in P(Y)", "in P(Y|X)", "shared labels (Jaccard)")
    matrices = (*diagnosis.distances, diagnosis.signature_overlap)
    side = _length(stream.n_tasks, least=2.6) + _room([task.name for task in stream.tasks])
    figure, panels = _figure(4, 4 * (side + 1), side + 0.6)
    for axes, title, matrix in zip(panels, titles, matrices, strict=True):
        _heat_map(axes, matrix, "", greatest=1)
        for axis in ("x", "y"):
            _name(axes, axis, [task.name for task in stream.tasks])
        axes.set_title(title)
        if stream.n_tasks <= _MOST_FIGURES:
            _write_figures(axes, matrix)
    figure.suptitle("Distances between tasks, and overlap of their signatures")
    return figure


def _schedule(stream: Stream) -> Figure:
    counts = np.array([np.bincount(part.task_ids, minlength=stream.n_tasks) for part in stream])
    starts = np.concatenate([[0], counts.sum(axis=1).cumsum()])
    figure, (axes,) = _figure(1, 9, _length(stream.n_tasks, least=2.5))
    for task in range(stream.n_tasks):
        visits = np.flatnonzero(counts[:, task])
        share = counts[visits, task] / counts[visits].sum(axis=1)
        spans = [(starts[visit], starts[visit + 1] - starts[visit]) for visit in visits]
        for span, height in zip(spans, 0.8 * share, strict=True):
            axes.broken_barh([span], (task - height / 2, height), facecolor="#2a5c8a")
    for start in starts:
        axes.axvline(start, color="#bbbbbb", linewidth=0.5, zorder=0)
    axes.set(xlim=(0, max(1, starts[-1])), xlabel="learning rows", title="When tasks come (height: share of the rows)")
    axes.set_ylim(stream.n_tasks - 0.5, -0.5)
    _name(axes, "y", [task.name for task in stream.tasks])
    return figure


def _figure(n_panels: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    # The object itself, not pyplot: no window, no global state.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, [figure.add_subplot(1, n_panels, panel + 1) for panel in range(n_panels)]


def _length(n_cells: int, *, least: float = 6.0) -> float:
    """Give cells room in inches, within reason."""
    return float(np.clip(0.3 * n_cells + 1.5, least, 14))


def _room(names: Sequence[str]) -> float:
    """Give names that are written upwards room in inches."""
    return 0.09 * max(len(_short(name)) for name in names) if len(names) <= _MOST_NAMES else 0.0


def _heat_map(axes: Axes, values: npt.NDArray[np.float64], what: str, *, greatest: float) -> None:
    image = axes.imshow(values, cmap="viridis_r", vmin=0, vmax=greatest, aspect="auto", interpolation="nearest")
    axes.figure.colorbar(image, ax=axes, label=what)


def _write_figures(axes: Axes, values: npt.NDArray[np.float64]) -> None:
    for row, column in np.ndindex(values.shape):
        text = f"{values[row, column]:.2f}"
        # Dark cells need light figures.
        axes.text(column, row, text, ha="center", va="center", color="white" if values[row, column] > 0.5 else "black")


def _name(axes: Axes, axis: str, names: Sequence[str]) -> None:
    if len(names) > _MOST_NAMES:
        return
    # A dollar sign would start a formula.
    shown = [_short(name).replace("$", r"\$") for name in names]
    if axis == "x":
        axes.set_xticks(range(len(names)), shown, rotation=90)
    else:
        axes.set_yticks(range(len(names)), shown)


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
