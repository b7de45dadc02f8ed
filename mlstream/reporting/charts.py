"""The charts of runs on the page: scores along a stream, accuracy against costs, and matrices R."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mlstream.analysis.costs import SCORE, cost_points
from mlstream.analysis.curves import Kind, ScoreCurve, reference_run, stream_curves
from mlstream.analysis.groups import Group, spread
from mlstream.analysis.pareto import pareto_points
from mlstream.analysis.score_info import score_heading
from mlstream.analysis.transfer import Limits, Transfer
from mlstream.plotting.pareto_front import cost_chart
from mlstream.plotting.plotly_parts import Chart, rounded
from mlstream.plotting.score_curves import curve_view
from mlstream.plotting.styles import Key, strategy_key
from mlstream.plotting.transfer_matrix import matrix_names, transfer_heat_chart, transfer_lines_chart
from mlstream.reporting.methods_text import describe_shares
from mlstream.reporting.tables import format_score

_PARETO_HEIGHT = 420


class ParetoPart(NamedTuple):
    """The figure, its legend, what the energy consists of, and whether some of it is below the meter's resolution."""

    chart: Chart
    keys: list[Key]
    shares: str
    is_uncertain: bool


def pareto_part(streams: Mapping[str, Sequence[Group]]) -> ParetoPart | None:
    """Draw ACC against energy; None where energy was not measured, or nothing can be compared."""
    found = pareto_points(streams)
    if found is None:
        return None
    chart = cost_chart(found.points, score_heading(SCORE).title, found.title, height=_PARETO_HEIGHT)
    runs = [run for groups in streams.values() for group in groups for run in group.measured]
    is_uncertain = any(one.is_uncertain for one in found.points)
    keys = [strategy_key(one.name, one.style) for one in found.points]
    return ParetoPart(chart, keys, describe_shares(runs), is_uncertain)


def curve_chart(groups: Sequence[Group]) -> Chart | None:
    """Draw the prequential scores of all strategies along one stream, with the boundaries of experiences.

    The chart has a view per score, cumulative and windowed; it is None where no run has a curve.
    """
    reference = reference_run(groups)
    if reference is None:
        return None
    views = []
    for name, curve in reference.curves.items():
        kinds: tuple[tuple[Kind, str, str], ...] = (
            ("cumulative", "cumulative", "over all rows"),
            ("windowed", f"last {curve.window:,} rows", f"over the last {curve.window:,} rows"),
        )
        for kind, shown, rows in kinds:
            if found := stream_curves(groups, name, kind):
                view = curve_view(score_heading(name).title, shown, found.curves, found.experiences)
                views.append(replace(view, summary=_curves_summary(name, rows, found.curves)))
    return Chart("Scores along the stream", views[0].summary, tuple(views), height=440)


def cost_charts(groups: Sequence[Group], costs: Collection[str] = ("time", "energy")) -> list[Chart]:
    """Draw ACC against wall time ("time") and energy ("energy"); a cost that no run has measured is left out."""
    title = score_heading(SCORE).title
    return [cost_chart(one.points, title, one.title) for one in cost_points(groups) if one.name in costs]


def transfer_charts(strategy: str, found: Mapping[str, Transfer], limits: Mapping[str, Limits]) -> list[Chart]:
    """Draw R as a heat map and as lines, with a view per metric; no chart where there is no matrix."""
    if not found:
        return []
    heat = [(one, limits[name], _heat_summary(one)) for name, one in found.items()]
    lines = [(one, limits[name], _lines_summary(one)) for name, one in found.items()]
    return [
        transfer_heat_chart(f"{strategy}: matrix R", heat),
        transfer_lines_chart(f"{strategy}: score on each task", lines),
    ]


def _curves_summary(name: str, rows: str, curves: Sequence[ScoreCurve]) -> str:
    heading = score_heading(name)
    finals = [(score, curve.name) for curve in curves for score in curve.scores[-1:] if not math.isnan(score)]
    finals.sort(reverse=heading.better != "lower")
    ranking = ", ".join(f"{strategy} {score:.3f}" for score, strategy in finals)
    return f"{heading.title} {rows}, at the end, best first: {ranking}."


def _heat_summary(one: Transfer) -> str:
    means = [format_score(spread(rounded(row)).mean) for row in one.R]
    later = f", {means[-1]} after experience {len(means) - 1}" if len(means) > 1 else ""
    return f"Mean {one.title} over all tasks: {means[0]} before learning{later}."


def _lines_summary(one: Transfer) -> str:
    _, tasks = matrix_names(one)
    final = ", ".join(f"{task} {format_score(score)}" for task, score in zip(tasks, one.R[-1], strict=True))
    return f"{one.title} after experience {len(one.R) - 1}: {final}."
