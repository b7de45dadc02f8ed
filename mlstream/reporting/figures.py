"""The figures of the report as PNG and SVG, for papers and slides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mlstream.analysis.comparison import Comparison, ranking_of
from mlstream.analysis.costs import cost_points
from mlstream.analysis.curves import stream_curves
from mlstream.analysis.groups import Group
from mlstream.analysis.pareto import pareto_points
from mlstream.analysis.score_info import score_heading
from mlstream.analysis.transfer import transfer
from mlstream.plotting.alarms import alarm_figure
from mlstream.plotting.critical_difference import rank_figure
from mlstream.plotting.matplotlib_parts import write_png_and_svg
from mlstream.plotting.pareto_front import cost_figure
from mlstream.plotting.score_curves import curve_figure
from mlstream.plotting.transfer_matrix import transfer_figure
from mlstream.records.detection_record import Detection
from mlstream.records.paths import file_name
from mlstream.reporting.detection import alarm_lanes, charted
from mlstream.reporting.detection_tables import group_detections

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCORE = "ba_macro"


def write_figures(
    folder: Path,
    streams: Mapping[str, list[Group]],
    comparisons: Sequence[Comparison],
    detections: Sequence[Detection] = (),
) -> Iterator[Path]:
    """Draw the figures of a report, each as PNG and as SVG, and yield each file written.

    The folder is made if absent, and files in it are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in chain(_figures(streams, comparisons), _alarms(detections)):
        yield from write_png_and_svg(figure, folder, file_name(name))


def _figures(streams: Mapping[str, list[Group]], comparisons: Sequence[Comparison]) -> Iterator[tuple[str, Figure]]:
    for one in comparisons:
        yield f"critical-difference-{one.metric}", rank_figure(ranking_of(one))
    front = pareto_points(streams) if streams else None
    if front is not None:
        yield "pareto-front", cost_figure(front.points, score_heading("acc").title, front.title)
    for stream, groups in streams.items():
        measured = [group for group in groups if group.measured]
        curves = stream_curves(measured, _SCORE, "windowed")
        if curves is not None:
            yield f"curves-{stream}", curve_figure(*curves)
        for cost in cost_points(measured):
            title = score_heading("acc").title
            yield f"acc-against-{cost.name}-{stream}", cost_figure(cost.points, title, cost.title)
        for group in measured:
            matrix = transfer(group, _SCORE)
            if matrix is not None:
                yield f"tasks-{stream}-{group.strategy}", transfer_figure(group.label, matrix)


def _alarms(detections: Sequence[Detection]) -> Iterator[tuple[str, Figure]]:
    for stream, groups in group_detections(detections).items():
        for name, alike in charted(groups):
            yield f"alarms-{stream}-{name}", alarm_figure(f"{stream}: errors of {name}", *alarm_lanes(alike))
