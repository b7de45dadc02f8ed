"""Errors of a challenge: a fixed vocabulary of codes, each with an exit status and a status of HTTP.

No message depends on truth: messages state rules, what was sent, and times.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar


class ChallengeError(ValueError):
    """An error whose kind a program can read: `code`, the exit status of a command, the status of an HTTP reply.

    The message is one line: the rule, what was got, and the way out.
    """

    code: ClassVar[str] = "refused"
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 400


class InvalidSubmission(ChallengeError):
    """A file that is no submission; it costs no query."""

    code = "invalid_submission"
    exit_status = 2
    http_status = 422


class BudgetSpent(ChallengeError):
    """A submission beyond what a team may send in one day; `reset` is when the next day begins, in UTC."""

    code = "budget_spent"
    exit_status = 3
    http_status = 429

    def __init__(self, message: str, reset: datetime) -> None:
        super().__init__(message)
        self.reset = reset


class PhaseClosed(ChallengeError):
    """A request that belongs to another phase of the challenge."""

    code = "phase_closed"
    exit_status = 4
    http_status = 409


class UnknownToken(ChallengeError):
    """A token that is no team's; also an invitation that is unknown or used."""

    code = "unknown_token"
    exit_status = 5
    http_status = 401


class UnknownSubmission(ChallengeError):
    """The number of a submission that is not the team's, or that has no score."""

    code = "unknown_submission"
    http_status = 404


class TeamRefused(ChallengeError):
    """A team that cannot be made or merged: its name, its size, or another team of that name."""

    code = "team_refused"
    http_status = 409


class ClockRanBack(ChallengeError):
    """The clock of the organiser's machine is behind what it recorded."""

    code = "clock_ran_back"
    http_status = 503


class ClockJumped(ChallengeError):
    """The clock of the organiser's machine went ahead of the time that passed, or nobody has confirmed a long gap."""

    code = "clock_jumped"
    http_status = 503


class ScoringFailed(ChallengeError):
    """The process that scores died, or met data that are not those of the challenge."""

    code = "scoring_failed"
    http_status = 503


class StateFailed(ChallengeError):
    """The state of the challenge cannot be read or written, say because the disk is full."""

    code = "state_failed"
    http_status = 503


def to_reply(error: ChallengeError) -> dict[str, str | int]:
    """Return what a client needs to raise the same error: code, message, exit status, and the time of a reset."""
    reply: dict[str, str | int] = {"error": error.code, "message": str(error), "exit_status": error.exit_status}
    return reply | {"reset": error.reset.isoformat()} if isinstance(error, BudgetSpent) else reply


def from_reply(reply: Mapping[str, object]) -> ChallengeError:
    """Return the error that `to_reply` described; of an unknown code, one with exit status 1."""
    message = " ".join(str(reply.get("message", "refused")).split())
    if reply.get("error") == BudgetSpent.code:
        return BudgetSpent(message, datetime.fromisoformat(str(reply.get("reset"))))
    kinds = {kind.code: kind for kind in ChallengeError.__subclasses__()}
    return kinds.get(str(reply.get("error")), ChallengeError)(message)
