"""The drifts of a stream that are known: those on its card, or the boundaries at which its tasks change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from mlstream.records.detection_record import TrueDrift
from mlstream.streams.card_model import GeneratorCard, StreamCard
from mlstream.streams.stream import Experience, Index, Stream

# Streams of this scenario have every drift on their card, and none beside.
_LISTED = "drift"
_DELAYED = "delayed_labels"


def true_drifts(stream: Stream) -> list[TrueDrift]:
    """List the drifts that a detector is to find, in order.

    A drift begins where the one before is complete, at the earliest. Those of a synthetic stream that drifts are on its
    card. Those of any other stream are the boundaries of experiences at which other tasks (or environments) come, or
    labels emerge; where tasks give way to each other gradually, or labels are late, a drift lasts from the first row of
    the next task to the last row of the one before.
    """
    found = _listed(stream.card) if stream.card.scenario.name == _LISTED else _boundaries(stream)
    drifts: list[TrueDrift] = []
    for one in found:
        start = max(one.start, drifts[-1].stop if drifts else 0)
        drifts.append(one.model_copy(update={"start": start, "stop": max(start, one.stop)}))
    return drifts


def _listed(card: StreamCard) -> Iterator[TrueDrift]:
    for one in sorted(card.drifts, key=lambda drift: drift.start):
        change = f"{card.tasks[one.before].name} to {card.tasks[one.after].name}: {', '.join(one.what)}, {one.pattern}"
        yield TrueDrift(start=one.start, stop=one.stop, what=change)


def _boundaries(stream: Stream) -> Iterator[TrueDrift]:
    parts, emergence = stream.experiences, set(stream.card.scenario.emergence or [])
    is_gradual = stream.card.scenario.boundary == "gradual" or _is_delayed(stream.card)
    names = [task.name for task in stream.tasks]
    row = 0
    for number, (before, after) in enumerate(pairwise(parts), start=1):
        row += len(before)
        old, new = _tasks(before, is_gradual=is_gradual), _tasks(after, is_gradual=is_gradual)
        if old != new:
            start, stop = _window(before, after, old[0], new[0]) if is_gradual else (0, 0)
            what = f"{' and '.join(names[task] for task in old)} to {' and '.join(names[task] for task in new)}"
            yield TrueDrift(start=row - start, stop=row + stop, what=what)
        elif number in emergence:
            yield TrueDrift(start=row, stop=row, what="labels emerge")


def _is_delayed(card: StreamCard) -> bool:
    """Return whether labels are late: rows that show them come among those of the next tasks."""
    call = card.generator
    while call.name != _DELAYED and isinstance(base := call.parameters.get("base"), dict):
        call = GeneratorCard.model_validate(base)
    return call.name == _DELAYED


def _tasks(part: Experience, *, is_gradual: bool) -> list[int]:
    """Return the tasks of an experience; where they blend at its ends, the one with the most rows."""
    tasks, counts = np.unique(part.task_ids, return_counts=True)
    return [int(tasks[counts.argmax()])] if is_gradual else [int(task) for task in tasks]


def _window(before: Experience, after: Experience, old: int, new: int) -> tuple[int, int]:
    """Return the rows before and after a boundary in which two tasks blend, at most half an experience each."""
    late, early = before.task_ids[len(before) // 2 :], after.task_ids[: -(-len(after) // 2)]
    return _reach(late[::-1], new), _reach(early, old)


def _reach(tasks: Index, other: int) -> int:
    """Return the number of rows up to the last one that is of the other task."""
    places = np.flatnonzero(tasks == other)
    return int(places[-1]) + 1 if len(places) else 0
