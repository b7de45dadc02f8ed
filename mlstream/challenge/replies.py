"""Replies of a challenge to teams and to its organiser."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

Phase = Literal["registration", "development", "selection", "final", "published"]


class Reservation(NamedTuple):
    """A query that is counted, and whose file is stored.

    Parameters
    ----------
    submission : int
        Number of the submission.
    is_repeat : bool
        Whether the team had sent the same bytes before, which costs nothing.
    """

    submission: int
    is_repeat: bool


class Reply(NamedTuple):
    """The reply to a submission.

    Parameters
    ----------
    submission : int
        Its number, by which it is selected.
    query : int
        How many queries the team had used on that day, this one included.
    remaining : int
        Queries left today.
    score : float
        Validation score, rounded; with a ladder, the best so far unless this one is better by a step.
    in_distribution : float or None
        Score on held-out rows of the training environments, rounded, where the rules want it.
    is_repeat : bool
        Whether the team had sent the same bytes before.
    """

    submission: int
    query: int
    remaining: int
    score: float
    in_distribution: float | None
    is_repeat: bool


class SubmissionStatus(NamedTuple):
    """A submission as its team sees it.

    Parameters
    ----------
    submission : int
        Its number.
    file_name : str
        Name of the file.
    time : datetime
        When it was sent.
    score, in_distribution : float or None
        As in `Reply`; None while it is not scored, or if it was rejected.
    problem : str or None
        Why it was rejected.
    is_selected : bool
        Whether it counts at the end.
    """

    submission: int
    file_name: str
    time: datetime
    score: float | None
    in_distribution: float | None
    problem: str | None
    is_selected: bool


class TeamStatus(NamedTuple):
    """A team as it sees itself.

    Parameters
    ----------
    team : str
        Its name.
    phase : str
        The phase of the challenge.
    queries_used, remaining, invalid_used : int
        Of today.
    reset : datetime
        When the next day begins.
    submissions : tuple of SubmissionStatus
        First to last.
    selected : tuple of int
        Numbers of the submissions that count at the end.
    """

    team: str
    phase: Phase
    queries_used: int
    remaining: int
    reset: datetime
    invalid_used: int
    submissions: tuple[SubmissionStatus, ...]
    selected: tuple[int, ...]


class BoardRow(NamedTuple):
    """A row of the public board.

    Parameters
    ----------
    rank : int
        From 1; of equal scores, the earlier submission is first.
    team : str
        Name.
    score : float
        Best validation score, rounded.
    n_submissions : int
        How many were scored.
    time : datetime
        When the best one was sent.
    """

    rank: int
    team: str
    score: float
    n_submissions: int
    time: datetime


class TeamEntry(NamedTuple):
    """A team as the organiser sees it.

    Parameters
    ----------
    name : str
        Its name.
    time : datetime
        When it was made.
    n_scored, n_waiting, n_invalid : int
        Submissions that were scored, that are to be scored, and that were rejected.
    """

    name: str
    time: datetime
    n_scored: int
    n_waiting: int
    n_invalid: int


class AuditReport(NamedTuple):
    """The outcome of an audit.

    Parameters
    ----------
    is_whole : bool
        Whether the log, the tables and the stored files agree.
    problems : tuple of str
        Why not, one line each.
    flags : tuple of str
        Submissions that look as if they were made to learn labels from scores.
    head : str
        Hash of the last event.
    """

    is_whole: bool
    problems: tuple[str, ...]
    flags: tuple[str, ...]
    head: str
