"""The figures of the report as PNG and SVG, for papers and slides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlstream._files import atomic_path
from mlstream.plotting.costs import pareto_front
from mlstream.plotting.plotly_parts import DASHES, N_COLOURS, strategy_key, task_keys
from mlstream.records.paths import file_name
from mlstream.reporting.comparison import Comparison
from mlstream.reporting.costs import Amount, energy_kwh, energy_marks, wall_time_s
from mlstream.reporting.exports import spelt
from mlstream.reporting.groups import Group, mean_scores
from mlstream.reporting.ranks import plan_diagram
from mlstream.reporting.score_info import heading
from mlstream.reporting.transfer import transfer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Those of the page on white paper: see templates/report.css.
_COLOURS = ("#2148c7", "#ea6430", "#55855f", "#a2258f", "#5a3c12", "#1f97e8", "#33363b")
_LINES = dict(zip(DASHES, ("-", "--", ":", "-.", (0, (8, 3)), (0, (8, 3, 2, 3))), strict=True))
_MARKERS = ("o", "s", "D", "^", "P", "X", "v", "*")
_SCORE = "ba_macro"
_ROWS_OF_LEGEND = 24


def write_figures(
    folder: Path, streams: Mapping[str, list[Group]], comparisons: Sequence[Comparison]
) -> Iterator[Path]:
    """Draw the figures of a report, each as PNG and as SVG.

    Parameters
    ----------
    folder : Path
        Where to; made if absent, and files in it are replaced.
    streams : mapping
        Name of the stream -> its groups.
    comparisons : sequence of Comparison
        Strategies over streams.

    Yields
    ------
    Path
        Each file written.
    """
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in _figures(streams, comparisons):
        for suffix in ("png", "svg"):
            path = folder / f"{file_name(name)}.{suffix}"
            # Without a date and random names inside, the same records give the same file.
            with atomic_path(path) as temporary, rc_context({"svg.hashsalt": "mlstream"}):
                figure.savefig(temporary, format=suffix, dpi=150, metadata={"Date": None} if suffix == "svg" else None)
            yield path


def _figures(streams: Mapping[str, list[Group]], comparisons: Sequence[Comparison]) -> Iterator[tuple[str, Figure]]:
    for one in comparisons:
        yield f"critical-difference-{spelt(one.metric)}", draw_diagram(one)
    for stream, groups in streams.items():
        measured = [group for group in groups if group.measured]
        if any(_SCORE in run.curves for group in measured for run in group.measured):
            yield f"curves-{stream}", draw_curves(measured)
        for name, amount, title in (("time", wall_time_s, "Wall time, s"), ("energy", energy_kwh, "Energy, kWh")):
            if any(None not in {group.mean(amount).mean, group.score("acc").mean} for group in measured):
                yield f"acc-against-{name}-{stream}", draw_costs(measured, amount, title)
        for group in measured:
            if transfer(group, _SCORE) is not None:
                yield f"tasks-{stream}-{group.strategy}", draw_tasks(group)


def draw_curves(groups: Sequence[Group]) -> Figure:
    """Draw BA_macro over a sliding window along a stream, with the boundaries of experiences."""
    figure, axes = _figure(9, 4.5)
    for group in groups:
        runs = [run for run in group.measured if _SCORE in run.curves]
        first = runs[0] if runs else None
        alike = [run for run in runs if first and run.curves[_SCORE].n_rows == first.curves[_SCORE].n_rows]
        if first is not None:
            values = mean_scores([run.curves[_SCORE].windowed for run in alike])
            axes.plot(first.curves[_SCORE].n_rows, values, label=_literal(group.label), **_line(group))
    for bound in list(accumulate(groups[0].runs[0].experience_sizes))[:-1]:
        axes.axvline(bound, color="0.8", linewidth=0.8, zorder=0)
    axes.set(xlabel="Rows seen", ylabel=f"{heading(_SCORE).title}, sliding window")
    _legend(axes)
    return figure


def draw_tasks(group: Group) -> Figure:
    """Draw BA_macro on each task's evaluation set after each experience."""
    figure, axes = _figure(6.5, 4)
    one = transfer(group, _SCORE)
    if one is not None:
        for j, key in enumerate(task_keys(one.tasks)):
            style: dict[str, Any] = {"color": _COLOURS[key.colour], "linestyle": _LINES[key.dash]}
            axes.plot(np.arange(len(one.R)), one.R[:, j], label=_literal(key.name), **style)
            learnt = [step for step, task in one.visits if task == j]
            axes.plot(learnt, one.R[learnt, j], "o", color=_COLOURS[key.colour])
    axes.set(
        xlabel="Experiences learnt",
        ylabel=f"{heading(_SCORE).title} on the evaluation set",
        title=_literal(group.label),
    )
    _legend(axes)
    return figure


def draw_costs(groups: Sequence[Group], amount: Amount, title: str) -> Figure:
    """Draw ACC against a cost, and the front of those that none beats in both."""
    figure, axes = _figure(6.5, 4.5)
    points = [(group, group.mean(amount).mean, group.score("acc")) for group in groups]
    known = [(group, cost, acc) for group, cost, acc in points if cost is not None and acc.mean is not None]
    for group, cost, acc in known:
        key = strategy_key(group)
        marker: dict[str, Any] = {
            "marker": _MARKERS[key.style % len(_MARKERS)],
            "color": _COLOURS[key.colour],
            "linestyle": "none",
        }
        axes.errorbar(cost, acc.mean or 0.0, acc.deviation, label=_literal(group.label), **marker)
    done = [(cost, acc.mean or 0.0) for group, cost, acc in known if group.status == "done"]
    front = [done[place] for place in pareto_front(done)]
    axes.step([cost for cost, _ in front], [acc for _, acc in front], ":", where="post", color="0.5", zorder=0)
    if known and min(cost for _, cost, _ in known) > 0:
        axes.set_xscale("log")
    marks = "".join(energy_marks(group) for group in groups) if "kWh" in title else ""
    axes.set(xlabel=f"{title} (estimate)" if "≈" in marks else title, ylabel="ACC")
    _legend(axes)
    return figure


def draw_diagram(comparison: Comparison) -> Figure:
    """Draw a critical-difference diagram."""
    plan, n = plan_diagram(comparison), len(comparison.strategies)
    figure, axes = _figure(8, 1.2 + 0.28 * abs(plan.lowest))
    axes.plot([1, n], [0, 0], color="black", linewidth=1.2)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [0, 0.15], color="black", linewidth=1)
        axes.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize=9)
    for branch in plan.branches:
        axes.plot([branch.rank, branch.rank, branch.end], [0, branch.level, branch.level], color="black", linewidth=0.8)
        side = {"left": "right", "right": "left"}[branch.side]
        axes.text(branch.end, branch.level, f" {_literal(branch.strategy)} ", ha=side, va="center", fontsize=9)
    for first, last, y in plan.bars:
        axes.plot([first - 0.03, last + 0.03], [y, y], color=_COLOURS[0], linewidth=4, solid_capstyle="butt")
    cd = min(comparison.critical_difference, n - 1)
    axes.plot([1, 1 + cd], [1.3, 1.3], color=_COLOURS[0], linewidth=1.5)
    axes.text(1 + cd, 1.3, f" critical difference {comparison.critical_difference:.2f}", va="center", fontsize=9)
    axes.set(xlim=(1 - 0.3 * n, n + 0.3 * n), ylim=(plan.lowest, 2.0))
    metric = _literal(heading(comparison.metric).title)
    axes.set_title(f"{metric}: mean ranks over {len(comparison.streams)} streams", fontsize=10)
    axes.axis("off")
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _line(group: Group) -> dict[str, Any]:
    key = strategy_key(group)
    return {"color": _COLOURS[key.style % N_COLOURS], "linestyle": _LINES[key.dash], "linewidth": 1.5}


def _literal(name: str) -> str:
    """Keep Matplotlib from reading a name as a formula, or as one that no legend shows."""
    return f"{' ' if name.startswith('_') else ''}{name}".replace("$", r"\$")


def _legend(axes: Axes) -> None:
    n_entries = len(axes.get_legend_handles_labels()[0])
    columns = -(-n_entries // _ROWS_OF_LEGEND)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8, frameon=False, ncols=max(1, columns))
