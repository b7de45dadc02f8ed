"""The charts of the report: what a stream is, scores along it, accuracy against cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate

from mlstream.card_model import StreamCard
from mlstream.plotting.plotly_parts import (
    TIGHT,
    Chart,
    Json,
    View,
    axis,
    category_axis,
    distinct,
    frame,
    heat_height,
    heat_map,
    line,
    safe,
    strategy_key,
)
from mlstream.records.run_record import Curve, RunResult, Score
from mlstream.reporting.groups import Group, alike, layout, mean_scores, rounded
from mlstream.reporting.score_info import heading

Values = Callable[[Curve], list[Score]]

_MOST_NUMBERED_LABELS = 25
_MOST_NAMED_VISITS = 24
_MOST_LINES_ON_HOVER = 10


def label_chart(card: StreamCard) -> Chart:
    """Draw how often each label occurs in each task; a label outside a task's signature stays blank."""
    labels, tasks = distinct(card.label_names), distinct([task.name for task in card.tasks])
    shares: list[list[float | None]] = [
        [round(share, 4) if label in task.signature else None for label, share in enumerate(task.label_frequencies)]
        for task in card.tasks
    ]
    numbered = len(labels) <= _MOST_NUMBERED_LABELS
    heat = heat_map(
        tasks,
        labels,
        shares,
        zmin=0,
        showscale=not numbered,
        texttemplate="%{z:.0%}" if numbered else "",
        hovertemplate="%{x} in %{y}: %{z:.1%} of the rows<extra></extra>",
    )
    view = View(
        "",
        [heat],
        frame(margin=TIGHT, xaxis=category_axis(side="top"), yaxis=category_axis(autorange="reversed")),
    )
    sizes = [len(task.signature) for task in card.tasks]
    return Chart(
        "Labels of each task",
        f"Share of a task's rows that carry each label; blank: not in the task's signature. "
        f"Signatures hold {_range(sizes)} of {len(labels)} labels.",
        (view,),
        height=heat_height(tasks, labels),
        min_width=len(labels) * (38 if numbered else 12) + 80,
    )


def schedule_chart(card: StreamCard) -> Chart:
    """Draw which experience visits which task, and when."""
    tasks = distinct([task.name for task in card.tasks])
    ends = list(accumulate(experience.n_samples for experience in card.experiences))
    visits = [(place, task) for place, experience in enumerate(card.experiences) for task in experience.tasks]
    sizes = [card.experiences[place].n_samples for place, _ in visits]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [safe(tasks[task]) for _, task in visits],
        "x": sizes,
        "base": [ends[place] - size for (place, _), size in zip(visits, sizes, strict=True)],
        "text": [str(place + 1) for place, _ in visits],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "insidetextfont": {"color": "var(--paper)"},
        "textangle": 0,
        "marker": {"color": "var(--series-0)", "line": {"color": "var(--paper)", "width": 1}},
        "hovertemplate": "experience %{text}, %{y}: rows %{base:,d} to %{x:,d}<extra></extra>",
    }
    order = [safe(task) for task in tasks]
    rows = category_axis(autorange="reversed", categoryorder="array", categoryarray=order)
    view = View("", [bars], frame(xaxis=axis("Row of the stream", hoverformat=",d"), yaxis=rows, bargap=0.25))
    lengths = _range([experience.n_samples for experience in card.experiences])
    summary = f"{len(ends)} experiences of {lengths} rows; a bar says which task each one holds, and when it comes."
    return Chart("Schedule", summary, (view,), height=70 + min(30 * len(tasks), 700))


def curve_chart(groups: Sequence[Group]) -> Chart | None:
    """Draw the prequential scores of all strategies along one stream, with the boundaries of experiences.

    Parameters
    ----------
    groups : sequence of Group
        The strategies of the stream.

    Returns
    -------
    Chart or None
        A view per score, cumulative and windowed; None where no run has a curve.
    """
    reference = next((run for group in groups for run in group.measured if run.curves), None)
    if reference is None:
        return None
    views = []
    for name, curve in reference.curves.items():
        draw = partial(_curve_view, groups, reference, name)
        views.append(draw("cumulative", lambda curve: curve.cumulative))
        views.append(draw(f"last {curve.window:,} rows", lambda curve: curve.windowed))
    return Chart("Scores along the stream", _curve_summary(groups, reference), tuple(views), height=440)


def _range(numbers: Sequence[int]) -> str:
    least, greatest = min(numbers, default=0), max(numbers, default=0)
    return f"{least:,}" if least == greatest else f"{least:,} to {greatest:,}"


def _curve_view(groups: Sequence[Group], reference: RunResult, name: str, kind: str, values: Values) -> View:
    data = [
        {
            **line(strategy_key(group)),
            "mode": "lines",
            "x": runs[0].curves[name].n_rows,
            "y": rounded(mean_scores([values(run.curves[name]) for run in runs])),
            "hovertemplate": "%{y:.3f}",
        }
        for group, runs in _drawn(groups, reference, name)
    ]
    # An axis is drawn only if a trace uses it.
    data.append({"type": "scatter", "x": [], "y": [], "xaxis": "x2", "hoverinfo": "skip"})
    title = heading(name).title
    bounds = list(accumulate(reference.experience_sizes))
    boundary = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": "var(--boundary)", "width": 1}}
    view = frame(
        hovermode="x unified" if len(data) <= _MOST_LINES_ON_HOVER + 1 else "closest",
        xaxis=axis("Rows seen", range=[0, bounds[-1]], showgrid=False, hoverformat=",d"),
        xaxis2=_visits_axis(reference, bounds),
        yaxis=axis(title),
        shapes=[{**boundary, "x0": bound, "x1": bound} for bound in bounds[:-1]],
    )
    return View(f"{title}, {kind}", data, view)


def _drawn(groups: Sequence[Group], reference: RunResult, name: str) -> list[tuple[Group, list[RunResult]]]:
    """Pair strategies with the runs to average: those on the schedule of `reference`."""
    pairs = []
    for group in groups:
        runs = [run for run in group.measured if name in run.curves and layout(run) == layout(reference)]
        if runs:
            pairs.append((group, alike(runs, lambda run: run.curves[name].n_rows)))
    return pairs


def _visits_axis(run: RunResult, bounds: Sequence[int]) -> Json:
    """Name the tasks of each experience above the curves; where experiences are very many, of some."""
    every = -(-len(bounds) // _MOST_NAMED_VISITS)
    tasks = distinct(run.task_names)
    middles = [bound - size / 2 for bound, size in zip(bounds, run.experience_sizes, strict=True)]
    names = [safe("+".join(tasks[task] for task in now)) for now in run.order]
    ticks = axis(overlaying="x", matches="x", side="top", showgrid=False, ticks="", automargin=True)
    return {**ticks, "tickvals": middles[::every], "ticktext": names[::every]}


def _curve_summary(groups: Sequence[Group], reference: RunResult) -> str:
    name = next(iter(reference.curves))
    finals = []
    for group, runs in _drawn(groups, reference, name):
        final = rounded(mean_scores([run.curves[name].cumulative[-1:] for run in runs]))
        finals += [(score, group.label) for score in final if score is not None]
    finals.sort(reverse=heading(name).better != "lower")
    ranking = ", ".join(f"{strategy} {score:.3f}" for score, strategy in finals)
    return f"{heading(name).title} over all rows, best first: {ranking}."
