"""The log of a challenge: events, each of which holds the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeAlias

# What a column of a table holds.
SqlValue: TypeAlias = str | int | float | None

# In place of the hash before the first event.
GENESIS = "0" * 64
# The kind of an event by which the organiser accepts another time of the clock.
CLOCKS = "clocks"


class Event(NamedTuple):
    """One event."""

    id: int  # From 1.
    time: str  # In UTC.
    kind: str  # The table that it added a row to.
    content: str  # The row, as JSON.
    previous: str  # Hash of the event before.
    hash: str


def next_event(last: Event | None, time: str, kind: str, row: Mapping[str, SqlValue]) -> Event:
    """Return the event that follows another, the first one if that is None."""
    number, previous = (1, GENESIS) if last is None else (last.id + 1, last.hash)
    content = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return Event(number, time, kind, content, previous, _hash(number, time, kind, content, previous))


def check_chain(events: Iterable[Event]) -> Iterator[str]:
    """Check the hashes of all events, first to last, and yield a line for each that is wrong."""
    number, previous = 0, GENESIS
    for event in events:
        number += 1
        if event.id != number:
            yield f"event {number} is missing"
            number = event.id
        if event.previous != previous:
            yield f"event {event.id} does not follow the event before it"
        if event.hash != _hash(*event[:-1]):
            yield f"event {event.id} has changed since it was recorded"
        previous = event.hash


def check_times(events: Iterable[Event]) -> Iterator[str]:
    """Yield a line for each event that is of a time before the last one; unless the organiser accepted a clock."""
    for last, event in pairwise(events):
        if event.time < last.time and event.kind != CLOCKS:
            yield f"event {event.id} is of {event.time}, which is before the event that it follows, of {last.time}"


def list_clocks(events: Iterable[Event]) -> Iterator[str]:
    """Yield a line for each time that the organiser accepted a clock."""
    for last, event in pairwise(events):
        if event.kind == CLOCKS:
            # Cut to seconds as text: a log that somebody wrote into may hold anything.
            now, before = (f"{known.time[:19].replace('T', ' ')} UTC" for known in (event, last))
            yield f"event {event.id}: the organiser accepted a clock that showed {now}, after an event of {before}"


def _hash(number: int, time: str, kind: str, content: str, previous: str) -> str:
    text = json.dumps([previous, number, time, kind, content], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
