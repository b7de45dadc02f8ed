"""Drift detection on the page of a report: drifts and alarms along each stream, scores, and how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from mlstream.plotting.alarms import (
    ALARM_KEYS,
    AlarmLane,
    AlarmMark,
    DriftSpan,
    Timeline,
    alarm_height,
    alarm_view,
)
from mlstream.plotting.plotly_parts import Chart
from mlstream.plotting.styles import Key
from mlstream.records.detection_record import Alarm, Detection
from mlstream.records.run_result import RunResult
from mlstream.reporting.detection_tables import DetectionGroup, delay_table, detection_table, group_detections
from mlstream.reporting.methods_text import Paragraph, describe_seeds, join_words
from mlstream.reporting.tables import Table
from mlstream.streams.card_model import StreamCard

_MAX_LABELS = 8
_ERRORS = {
    "subset": "the error of a row was 1 if any label that counts was predicted wrongly, and 0 otherwise",
    "hamming": "the error of a row was the share of the labels that count that were predicted wrongly",
}


@dataclass(frozen=True)
class Unfinished:
    """A run or detection that did not reach the end: the reason in one line, and the whole error if it is longer."""

    record: RunResult | Detection
    reason: str
    traceback: str

    @classmethod
    def of(cls, record: RunResult | Detection, error: str | None) -> Self:
        """Divide an error; the last line of a traceback names it."""
        lines = (error or "No reason was recorded.").strip().splitlines()
        return cls(record, lines[-1], "\n".join(lines) if len(lines) > 1 else "")


@dataclass(frozen=True)
class DetectionStream:
    """One stream: its drifts and all alarms, the scores, and the delays by learner."""

    anchor: str
    card: StreamCard
    facts: list[tuple[str, object]]
    chart: Chart | None
    keys: list[Key]
    scores: Table
    delays: list[tuple[str, Table]]
    notices: list[str]


@dataclass(frozen=True)
class DetectionPart:
    """All detections of a campaign."""

    title: str
    headline: str
    n_done: int
    n_failed: int
    streams: list[DetectionStream]
    failed: list[Unfinished]
    methods: list[Paragraph]


def detection_part(detections: Sequence[Detection], cards: Mapping[str, StreamCard]) -> DetectionPart | None:
    """Gather what the page shows of detections; None without detections."""
    if not detections:
        return None
    streams = group_detections(detections)
    n_detectors, names = len({one.detector for one in detections}), list(streams)
    where = names[0] if len(names) == 1 else f"{len(names)} streams"
    failed = [one for one in detections if one.status == "failed"]
    return DetectionPart(
        title=f"{n_detectors} drift detector{'s' if n_detectors > 1 else ''} on {where}",
        headline=detection_headline(streams),
        n_done=len(detections) - len(failed),
        n_failed=len(failed),
        streams=[_describe(f"detection-{place}", cards[name], streams[name]) for place, name in enumerate(streams, 1)],
        failed=[Unfinished.of(one, one.error) for one in failed],
        methods=[Paragraph("Drift detection", _methods(detections))],
    )


def detection_headline(streams: Mapping[str, Sequence[DetectionGroup]]) -> str:
    """Write which detector is best by F1, over the streams with a known drift on which it ran.

    Only detectors that have an F1 on all these streams count. Nothing is tested.
    """
    found = [
        {(group.detector, group.learner): fmean(values) for group in groups if (values := group.values("f1"))}
        for groups in streams.values()
    ]
    scores = [one for one in found if one]
    shared = set.intersection(*map(set, scores)) if scores else set()
    if not shared:
        return "No detector has an F1 on every stream: nothing is compared."
    means = sorted(((fmean(one[name] for one in scores), *name) for name in shared), key=lambda one: (-one[0], one[1:]))
    best, detector, learner = means[0]
    over = f" on average over {len(scores)} streams" if len(scores) > 1 else ""
    if best == 0:
        return f"No detector found a drift{over}."
    first = f"{detector} on the errors of {learner} has the highest F1{over}, {best:.3f}"
    if len(means) == 1:
        return f"{first}; nothing is compared."
    second, detector, learner = means[1]
    distance = "as high" if best - second < 0.0005 else f"{best - second:.3f} lower"
    return f"{first}; that of {detector} on {learner} is next, {distance}; no test of chance."


def alarm_lanes(detections: Sequence[Detection], label_names: Sequence[str] = ()) -> tuple[Timeline, list[AlarmLane]]:
    """Return what a chart draws of detections with one truth: the drifts, and a lane for each detector.

    The detections, at least one, are of one stream, learner and seed. Without `label_names`, labels are not named.
    """
    first = detections[0]
    spans = [DriftSpan(drift.start, drift.stop, drift.what) for drift in first.drifts]
    limits = {name: int(str(first.settings[name])) for name in ("max_delay", "max_early")}
    lanes = [AlarmLane(one.detector, [_mark(alarm, one, label_names) for alarm in one.alarms]) for one in detections]
    return Timeline(first.n_rows, spans, **limits), lanes


def charted(groups: Sequence[DetectionGroup]) -> Iterator[tuple[str, list[Detection]]]:
    """List what is drawn together: the detections that share learner, seed, drifts and limits, with a name."""
    done = [one for group in groups for one in group.done]
    learners, seeds = ({getattr(one, name): None for one in done} for name in ("learner", "seed"))
    for learner in learners:
        for seed in sorted(seeds):
            same = [one for one in done if (one.learner, one.seed) == (learner, seed)]
            alike = [one for one in same if (one.drifts, one.settings) == (same[0].drifts, same[0].settings)]
            if alike:
                yield learner if len(seeds) == 1 else f"{learner}, seed {seed}", alike


def _describe(anchor: str, card: StreamCard, groups: Sequence[DetectionGroup]) -> DetectionStream:
    first = groups[0].detections[0]
    sizes = sorted(drift.stop - drift.start for drift in first.drifts)
    learners = dict.fromkeys(group.learner for group in groups)
    return DetectionStream(
        anchor=anchor,
        card=card,
        facts=[
            ("Rows", f"{first.n_rows:,}"),
            ("Known drifts", f"{len(first.drifts):,}"),
            (
                "Rows that a drift takes",
                " to ".join(dict.fromkeys(f"{size:,}" for size in sizes[:: len(sizes) - 1 or 1])),
            ),
            ("In time: rows after the end of a drift", _stated(groups, "max_delay")),
            ("In time: rows before its start", _stated(groups, "max_early")),
            ("Errors", _stated(groups, "errors")),
            ("Labels", f"{len(card.label_names):,}"),
        ],
        chart=_chart(card, groups),
        keys=ALARM_KEYS,
        scores=detection_table(groups),
        delays=[(name, delay_table([one for one in groups if one.learner == name])) for name in learners]
        if first.drifts
        else [],
        notices=_notices(card, groups),
    )


def _chart(card: StreamCard, groups: Sequence[DetectionGroup]) -> Chart | None:
    views, height = [], 0
    for name, detections in charted(groups):
        timeline, lanes = alarm_lanes(detections, card.label_names)
        views.append(alarm_view(name, timeline, lanes, _summary(detections)))
        height = max(height, alarm_height(lanes))
    return Chart("Drifts and alarms", views[0].summary, tuple(views), height=height) if views else None


def _summary(detections: Sequence[Detection]) -> str:
    first = detections[0]
    found = [
        f"{one.detector} {len({alarm.drift for alarm in one.alarms} - {None})} "
        f"({sum(alarm.drift is None for alarm in one.alarms):,})"
        for one in detections
    ]
    return (
        f"On the errors of {first.learner}, seed {first.seed}: drifts found of {len(first.drifts)}, "
        f"and false alarms in brackets: {', '.join(found)}."
    )


def _mark(alarm: Alarm, one: Detection, label_names: Sequence[str]) -> AlarmMark:
    labels = alarm.labels if label_names else []
    names = [label_names[label] for label in labels[:_MAX_LABELS]]
    more = len(labels) - len(names)
    about = f"; {', '.join(names)}{f' and {more} more' if more else ''}" if names else ""
    if alarm.drift is None:
        return AlarmMark(alarm.row, False, f"row {alarm.row:,}, false alarm{about}")
    delay = alarm.row - one.drifts[alarm.drift].start
    return AlarmMark(alarm.row, True, f"row {alarm.row:,}, {delay:+,} rows from drift {alarm.drift + 1}{about}")


def _stated(groups: Sequence[DetectionGroup], name: str) -> str:
    values = dict.fromkeys(one.settings.get(name) for group in groups for one in group.detections)
    return ", ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in values)


def _notices(card: StreamCard, groups: Sequence[DetectionGroup]) -> list[str]:
    detections = [one for group in groups for one in group.detections]
    notices = []
    if others := sum(one.stream_sha256 != card.data_sha256 for one in detections):
        notices.append(
            f"{others} of {len(detections)} detections used other data than this card describes: their SHA-256 differs."
        )
    if not detections[0].drifts:
        notices.append("This stream has no known drift: every alarm is a false one.")
    elif not card.drifts:
        notices.append(
            "The known drifts are the boundaries at which other tasks come, or labels emerge. "
            "A drift within a task is known to nobody, and an alarm for it counts as false."
        )
    return notices


def _methods(detections: Sequence[Detection]) -> str:
    detectors = dict.fromkeys(_named(one.detector, one.detector_class) for one in detections)
    learners = dict.fromkeys(one.learner for one in detections)
    seeds = sorted({one.seed for one in detections})
    errors = [text for kind, text in _ERRORS.items() if any(one.settings.get("errors") == kind for one in detections)]
    return (
        f"The drift detectors {join_words(detectors)} were given the errors of {join_words(learners)}, which predicted "
        f"every row before it was learnt ({describe_seeds(seeds)}): "
        f"{' or '.join(errors)}. LabelDrift was given the errors of each label, LabelSetDrift those of rows with their "
        "labels. Detectors did not change the learners. An alarm belongs to the last drift that has begun, or begins "
        "within the rows stated, and is in time until the rows stated after its end; all others are false. Scores are "
        "those of Cerqueira et al. (2026)."
    )


def _named(name: str, detector_class: str) -> str:
    return name if detector_class == f"{name}()" else f"{name} ({detector_class})"
