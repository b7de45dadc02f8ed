"""Detections as tables: the scores of each detector, and the delay of its first alarm after each drift."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from mlstream.analysis.score_info import Better, Heading
from mlstream.records.detection_record import Detection
from mlstream.reporting.tables import UNDEFINED, Cell, Table, best_of, format_score

DETECTION_HEADINGS = {
    "detection_rate": Heading("Drifts found", "higher", "Share of drifts with an alarm in time."),
    "f1": Heading(
        "F1", "higher", "Harmonic mean of precision and recall; alarms in time are hits, each of several for one drift."
    ),
    "precision": Heading("Precision", "higher", "Share of alarms in time."),
    "recall": Heading("Recall", "higher", "Alarms in time by these and the drifts without one."),
    "mean_delay": Heading("Delay, rows", "lower", "From the start of a drift to its first alarm in time, mean."),
    "normalised_delay": Heading(
        "Delay, normalised", "lower", "The same as a share of the rows after a drift in which alarms are in time."
    ),
    "false_alarms_per_1000": Heading("False alarms per 1,000", "lower", "False alarms per 1,000 rows of the stream."),
    "alarms_per_1000": Heading("Alarms per 1,000", "neither", "Alarms of either kind per 1,000 rows of the stream."),
    "normalised_time_between": Heading(
        "Time between false alarms",
        "higher",
        "Rows of the stream per false alarm, as a multiple of the rows after a drift in which alarms are in time.",
    ),
}
_DETECTOR, _LEARNER = Heading("Detector"), Heading("Learner", meaning="The learner whose errors it was given.")
_ERRORS = Heading("Error of the learner", "neither", "Mean of the errors that a detector of whole rows is given.")


class DetectionGroup(NamedTuple):
    """All detections of one detector on one learner on one stream, one for each seed."""

    detector: str
    learner: str
    detections: tuple[Detection, ...]

    @property
    def done(self) -> list[Detection]:
        """Those that did not fail."""
        return [one for one in self.detections if one.status == "done"]

    def values(self, name: str) -> list[float]:
        """Return the values of a score, where it is defined."""
        return [value for one in self.done if (value := one.scores.get(name)) is not None]


def group_detections(detections: Iterable[Detection]) -> dict[str, list[DetectionGroup]]:
    """Put detections together by stream, and within it by learner and detector, in the order of the records."""
    groups: dict[str, dict[tuple[str, str], list[Detection]]] = {}
    for one in detections:
        groups.setdefault(one.stream, {}).setdefault((one.detector, one.learner), []).append(one)
    return {
        stream: [DetectionGroup(*names, tuple(found)) for names, found in by_name.items()]
        for stream, by_name in groups.items()
    }


def detection_table(groups: Sequence[DetectionGroup]) -> Table:
    """Build the table of the scores of one stream: a row for each detector and learner, best first by F1."""
    ordered = sorted(groups, key=lambda group: -fmean(group.values("f1") or [-1.0]))
    columns = [_score_cells(ordered, name, head.better) for name, head in DETECTION_HEADINGS.items()]
    rows = [
        (Cell(group.detector, group.detector), Cell(group.learner, group.learner), *cells, _error(group), _runs(group))
        for group, *cells in zip(ordered, *columns, strict=True)
    ]
    return Table((_DETECTOR, _LEARNER, *DETECTION_HEADINGS.values(), _ERRORS, Heading("Runs")), tuple(rows))


def delay_table(groups: Sequence[DetectionGroup]) -> Table:
    """Build the table of delays on one learner: a row for each drift, a column for each detector."""
    drifts = groups[0].detections[0].drifts
    heads = (Heading("Drift"), Heading("First row"), Heading("Complete at"), Heading("What changes"))
    rows = [
        (
            Cell(str(number + 1), number + 1.0),
            Cell(f"{drift.start:,}", float(drift.start)),
            Cell(f"{drift.stop:,}", float(drift.stop)),
            Cell(drift.what, drift.what),
            *(_delay(group, number) for group in groups),
        )
        for number, drift in enumerate(drifts)
    ]
    false = [len([alarm for one in group.done for alarm in one.alarms if alarm.drift is None]) for group in groups]
    nothing = Cell("", None)
    last = (Cell("false alarms", None), nothing, nothing, nothing, *(Cell(f"{n:,}", float(n)) for n in false))
    return Table((*heads, *(Heading(group.detector) for group in groups)), (*rows, last))


def first_delays(one: Detection, drift: int) -> int | None:
    """Return the rows from the start of a drift to its first alarm; None if it has none."""
    start = one.drifts[drift].start
    return next((alarm.row - start for alarm in one.alarms if alarm.drift == drift), None)


def _delay(group: DetectionGroup, drift: int) -> Cell:
    found = [delay for one in group.done if (delay := first_delays(one, drift)) is not None]
    if not found:
        return Cell("missed" if group.done else UNDEFINED, None)
    seeds = f" ({len(found)} of {len(group.done)})" if len(group.done) > 1 else ""
    return Cell(f"{fmean(found):+,.0f}{seeds}", fmean(found))


def _score_cells(groups: Sequence[DetectionGroup], name: str, better: Better) -> list[Cell]:
    means = [fmean(values) if (values := group.values(name)) else None for group in groups]
    best = best_of(means, better)
    return [
        Cell(_text(name, group.values(name)), mean, _why(group, name), is_best=mean is not None and mean == best)
        for group, mean in zip(groups, means, strict=True)
    ]


def _text(name: str, values: Sequence[float]) -> str:
    if not values:
        return UNDEFINED
    deviation = stdev(values) if len(values) > 1 else None
    return format_score(fmean(values), deviation, form=",.0f" if name == "mean_delay" else ".3f")


def _why(group: DetectionGroup, name: str) -> str:
    """Return why a score is not defined, or in how many runs it is, where that is not all."""
    reasons = dict.fromkeys(one.undefined[name] for one in group.done if name in one.undefined)
    if not group.done:
        return "Every run failed."
    n_known = len(group.values(name))
    return f"In {n_known} of {len(group.done)} runs. {' '.join(reasons)}" if n_known and reasons else " ".join(reasons)


def _error(group: DetectionGroup) -> Cell:
    values = [one.error_rate for one in group.done if one.error_rate is not None]
    return Cell(format_score(fmean(values)), fmean(values)) if values else Cell(UNDEFINED, None)


def _runs(group: DetectionGroup) -> Cell:
    n_failed = len(group.detections) - len(group.done)
    failed = [f"{n_failed} failed"] if n_failed else []
    return Cell(", ".join([f"{len(group.done)} done", *failed]), float(len(group.done)))
