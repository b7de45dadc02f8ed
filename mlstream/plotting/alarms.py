"""The alarms of drift detectors along a stream, below the drifts that are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mlstream.plotting.matplotlib_parts import draw_legend, inches_for, marker_style, name_rows, new_figure
from mlstream.plotting.plotly_parts import Json, View, axis, category_axis, frame, safe
from mlstream.plotting.styles import PAPER_COLOURS, Key, distinct

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

TRUTH = "drifts"

# Blue circles and orange crosses: neither colour nor shape alone tells them apart.
DRIFT, IN_TIME, FALSE = (
    Key("Known drift", "drift", 2),
    Key("Alarm in time", "in-time", 0),
    Key("False alarm", "false", 29),
)
ALARM_KEYS = [DRIFT, IN_TIME, FALSE]

_LANE = 34


class DriftSpan(NamedTuple):
    """A drift: its first row, the row at which it is complete, and what changes."""

    start: int
    stop: int
    what: str


class AlarmMark(NamedTuple):
    """An alarm: its row, whether it is in time for a drift, and what is shown of it on hover."""

    row: int
    is_in_time: bool
    text: str


class AlarmLane(NamedTuple):
    """The alarms of one detector."""

    name: str
    alarms: Sequence[AlarmMark]


class Timeline(NamedTuple):
    """The known drifts of a stream of `n_rows` rows, and for how many rows around them alarms are in time."""

    n_rows: int
    drifts: Sequence[DriftSpan]
    max_delay: int
    max_early: int

    @property
    def windows(self) -> Iterator[tuple[int, int]]:
        """First and last rows at which alarms are in time, within the stream, drift by drift."""
        for drift in self.drifts:
            yield max(0, drift.start - self.max_early), min(self.n_rows, drift.stop + self.max_delay)


def alarm_view(name: str, timeline: Timeline, lanes: Sequence[AlarmLane], summary: str) -> View:
    """Draw the drifts above, and the alarms of each detector in a lane of its own below.

    Rows at which alarms are in time are shaded. `name` is that of the switch that shows the view; `summary` says in
    words what it shows.
    """
    names = [safe(lane) for lane in distinct([TRUTH, *(lane.name for lane in lanes)])]
    data = [_drift_bars(timeline, names[0]), _drift_marks(timeline, names[0])]
    data += [_marks(key, lanes, names[1:], is_in_time=key is IN_TIME) for key in (IN_TIME, FALSE)]
    rows = category_axis(autorange="reversed", categoryorder="array", categoryarray=names)
    layout = frame(
        xaxis=axis("Row of the stream", range=[0, timeline.n_rows], showgrid=False, hoverformat=",d"),
        yaxis=rows | {"showgrid": True},
        shapes=_shades(timeline),
        bargap=0.4,
        hovermode="closest",
    )
    return View(name, data, layout, summary)


def alarm_height(lanes: Sequence[AlarmLane]) -> int:
    """Return the height of a view in CSS pixels."""
    return 80 + _LANE * (1 + len(lanes))


def alarm_figure(title: str, timeline: Timeline, lanes: Sequence[AlarmLane]) -> Figure:
    """Draw drifts and alarms for print."""
    figure, axes = new_figure(9.0, inches_for(len(lanes) + 1, minimum=2.5))
    draw_alarms(axes, timeline, lanes)
    axes.set_title(title, fontsize=10)
    return figure


def draw_alarms(axes: Axes, timeline: Timeline, lanes: Sequence[AlarmLane], **options: Any) -> list[PathCollection]:
    """Draw the drifts in the first lane, and the alarms of each detector below. `options` are those of scatter."""
    for start, stop in timeline.windows:
        axes.axvspan(start, stop, color="0.9", linewidth=0, zorder=0)
    spans = [(drift.start, drift.stop - drift.start) for drift in timeline.drifts]
    axes.broken_barh(spans, (-0.25, 0.5), facecolor=PAPER_COLOURS[DRIFT.colour], alpha=0.4)
    points = {DRIFT: [(drift.start, 0) for drift in timeline.drifts], IN_TIME: [], FALSE: []}
    for place, lane in enumerate(lanes, 1):
        for alarm in lane.alarms:
            points[IN_TIME if alarm.is_in_time else FALSE].append((alarm.row, place))
    drawn = []
    for key, places in points.items():
        style = {**marker_style(key), "label": key.name, "s": 30, **options}
        drawn.append(axes.scatter([x for x, _ in places], [y for _, y in places], **style))
    axes.set(xlim=(0, timeline.n_rows), xlabel="Row of the stream", ylim=(len(lanes) + 0.5, -0.5))
    name_rows(axes, [TRUTH, *(lane.name for lane in lanes)])
    draw_legend(axes)
    return drawn


def _drift_bars(timeline: Timeline, lane: str) -> Json:
    """Return the bars of drifts that take a while; an abrupt one has no width."""
    return {
        "type": "bar",
        "orientation": "h",
        "legendgroup": DRIFT.group,
        "y": [lane] * len(timeline.drifts),
        "x": [drift.stop - drift.start for drift in timeline.drifts],
        "base": [drift.start for drift in timeline.drifts],
        "marker": {"color": f"var(--series-{DRIFT.colour})", "opacity": 0.5},
        "hoverinfo": "skip",
    }


def _drift_marks(timeline: Timeline, lane: str) -> Json:
    texts = [f"drift {number}, {_rows(drift)}: {drift.what}" for number, drift in enumerate(timeline.drifts, 1)]
    return _points(DRIFT, [drift.start for drift in timeline.drifts], [lane] * len(timeline.drifts), texts)


def _rows(drift: DriftSpan) -> str:
    return f"row {drift.start:,}" if drift.start == drift.stop else f"rows {drift.start:,} to {drift.stop:,}"


def _marks(key: Key, lanes: Sequence[AlarmLane], names: Sequence[str], *, is_in_time: bool) -> Json:
    marks = [
        (alarm, name)
        for lane, name in zip(lanes, names, strict=True)
        for alarm in lane.alarms
        if alarm.is_in_time == is_in_time
    ]
    return _points(key, [mark.row for mark, _ in marks], [name for _, name in marks], [mark.text for mark, _ in marks])


def _points(key: Key, rows: Sequence[int], lanes: Sequence[str], texts: Sequence[str]) -> Json:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": safe(key.name),
        "legendgroup": key.group,
        "x": list(rows),
        "y": list(lanes),
        "text": [safe(text) for text in texts],
        "marker": {"color": f"var(--series-{key.colour})", "symbol": key.symbol, "size": 9},
        "hovertemplate": "%{y}: %{text}<extra></extra>",
    }


def _shades(timeline: Timeline) -> list[Json]:
    shade = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "layer": "below", "line": {"width": 0}}
    rule = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": "var(--boundary)", "width": 1}}
    shades = [
        {**shade, "x0": start, "x1": stop, "fillcolor": "var(--line)", "opacity": 0.5}
        for start, stop in timeline.windows
    ]
    return shades + [{**rule, "x0": drift.start, "x1": drift.start, "layer": "below"} for drift in timeline.drifts]
