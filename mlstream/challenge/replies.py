"""Replies of a challenge to teams and to its organiser."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from pydantic import JsonValue

Phase = Literal["registration", "development", "selection", "final", "published"]


class Reservation(NamedTuple):
    """A query that is counted, and whose file is stored."""

    submission: int
    is_repeat: bool  # Whether the team had sent the same bytes before, which costs nothing.


class Reply(NamedTuple):
    """The reply to a submission."""

    submission: int  # Its number, by which it is selected.
    query: int  # How many queries the team had used on that day, this one included.
    remaining: int  # Queries left today.
    score: float  # On validation, rounded; with a ladder, the best so far unless this is better by a step.
    # On held-out rows of the training environments, rounded; None unless the rules want it.
    in_distribution: float | None
    is_repeat: bool  # Whether the team had sent the same bytes before.
    repeats_best: bool  # Whether the score is the best so far, since this one is not better by a step.


class SubmissionStatus(NamedTuple):
    """A submission as its team sees it."""

    submission: int
    file_name: str
    time: datetime  # When it was sent.
    score: float | None  # As in `Reply`; None while it is not scored, or if it was rejected.
    in_distribution: float | None
    problem: str | None  # Why it was rejected.
    is_selected: bool  # Whether it counts at the end.


class TeamStatus(NamedTuple):
    """A team as it sees itself; queries and invalid files are those of today."""

    team: str
    phase: Phase
    queries_used: int
    remaining: int
    reset: datetime  # When the next day begins.
    invalid_used: int
    submissions: tuple[SubmissionStatus, ...]  # First to last.
    selected: tuple[int, ...]  # Numbers of the submissions that count at the end.
    timezone: str  # In which times are shown beside UTC.


class ClockState(NamedTuple):
    """The clock of the organiser's machine, beside the log."""

    now: datetime
    last: datetime  # When the last event was recorded.
    problem: str | None  # Why no event is recorded by this clock, unless it is accepted.


class BoardRow(NamedTuple):
    """A row of the public board."""

    rank: int  # From 1; of equal scores, the earlier submission is first.
    team: str
    score: float  # Best on validation, rounded.
    n_submissions: int  # How many were scored.
    time: datetime  # When the best one was sent.


class TeamEntry(NamedTuple):
    """A team as the organiser sees it, with its numbers of submissions."""

    name: str
    time: datetime  # When it was made.
    n_scored: int
    n_waiting: int  # Still to be scored.
    n_invalid: int  # Rejected.


class LogHead(NamedTuple):
    """The end of the log: whoever notes it can tell later that nothing before it was changed."""

    n_events: int
    head: str  # Hash of the last event.


class AuditReport(NamedTuple):
    """The outcome of an audit."""

    is_whole: bool  # Whether the log, the tables and the stored files agree.
    problems: tuple[str, ...]  # Why not, one line each.
    flags: tuple[str, ...]  # Submissions that look as if they were made to learn labels from scores.
    head: str  # Hash of the last event.


def describe_reply(reply: Reply) -> dict[str, JsonValue]:
    """Return a reply as it is printed in JSON; the keys in_distribution and repeats_best are there where they apply."""
    described = {name: getattr(reply, name) for name in ("submission", "query", "remaining", "score")}
    more = {"in_distribution": reply.in_distribution, "repeats_best": reply.repeats_best or None}
    return described | {name: value for name, value in more.items() if value is not None}
