"""Prequential scores along a stream, averaged over the runs on one schedule."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from mlstream.drawing.curves import Experiences, ScoreCurve, curve_figure, curve_view
from mlstream.drawing.plotly_parts import Chart
from mlstream.records.run_record import Curve, RunResult, Score
from mlstream.reporting.groups import Group, layout, mean_scores, same_as_first
from mlstream.reporting.score_info import score_heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Values = Callable[[Curve], list[Score]]
Kind = Literal["windowed", "cumulative"]


def curve_chart(groups: Sequence[Group]) -> Chart | None:
    """Draw the prequential scores of all strategies along one stream, with the boundaries of experiences.

    The chart has a view per score, cumulative and windowed; it is None where no run has a curve.
    """
    reference = _reference(groups)
    if reference is None:
        return None
    experiences = _experiences(reference)
    views = []
    for name, curve in reference.curves.items():
        kinds: tuple[tuple[str, str, Values], ...] = (
            ("cumulative", "over all rows", lambda one: one.cumulative),
            (f"last {curve.window:,} rows", f"over the last {curve.window:,} rows", lambda one: one.windowed),
        )
        for kind, rows, values in kinds:
            curves = _curves(groups, reference, name, values)
            view = curve_view(score_heading(name).title, kind, curves, experiences)
            views.append(replace(view, summary=_summary(name, rows, curves)))
    return Chart("Scores along the stream", views[0].summary, tuple(views), height=440)


def draw_curves(groups: Sequence[Group], name: str) -> Figure | None:
    """Draw one score over a sliding window along a stream, for print; None where no run has its curve."""
    found = stream_curves(groups, name, "windowed")
    return None if found is None else curve_figure(*found)


class StreamCurves(NamedTuple):
    """One score of all strategies of a stream, a curve each."""

    title: str
    curves: list[ScoreCurve]
    experiences: Experiences  # Of the first run with a curve of this score.


def stream_curves(groups: Sequence[Group], name: str, kind: Kind) -> StreamCurves | None:
    """Average one score of each strategy over its runs on the schedule of the first; None where no run has a curve."""
    reference = _reference(groups, name)
    if reference is None:
        return None
    curves = _curves(groups, reference, name, lambda curve: curve.windowed if kind == "windowed" else curve.cumulative)
    rows = "sliding window" if kind == "windowed" else "all rows so far"
    return StreamCurves(f"{score_heading(name).title}, {rows}", curves, _experiences(reference))


def _reference(groups: Sequence[Group], name: str = "") -> RunResult | None:
    """Find the run whose schedule is drawn: the first with a curve of that score, or of any."""
    runs = (run for group in groups for run in group.measured)
    return next((run for run in runs if (name in run.curves if name else run.curves)), None)


def _experiences(run: RunResult) -> Experiences:
    return Experiences(run.experience_sizes, run.order, run.task_names)


def _curves(groups: Sequence[Group], reference: RunResult, name: str, values: Values) -> list[ScoreCurve]:
    curves = []
    for group in groups:
        runs = [run for run in group.measured if name in run.curves and layout(run) == layout(reference)]
        if runs:
            same = same_as_first(runs, lambda run: run.curves[name].n_rows)
            scores = mean_scores([values(run.curves[name]) for run in same])
            curves.append(ScoreCurve(group.label, group.style, runs[0].curves[name].n_rows, scores))
    return curves


def _summary(name: str, rows: str, curves: Sequence[ScoreCurve]) -> str:
    heading = score_heading(name)
    finals = [(score, curve.name) for curve in curves for score in curve.scores[-1:] if not math.isnan(score)]
    finals.sort(reverse=heading.better != "lower")
    ranking = ", ".join(f"{strategy} {score:.3f}" for score, strategy in finals)
    return f"{heading.title} {rows}, at the end, best first: {ranking}."
