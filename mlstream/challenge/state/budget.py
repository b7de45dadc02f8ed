"""The budget of a team: what it may send in a day of UTC, counted where it is reserved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from mlstream.challenge.clock import format_time
from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.errors import BudgetSpent
from mlstream.challenge.state.store import SUBMISSIONS, Reading, marks


class Budget(NamedTuple):
    """The use of a team's budget today."""

    used: int  # Queries, those included whose file has not been read yet.
    waiting: int  # Queries whose file has not been read yet: one that turns out invalid costs nothing.
    invalid: int  # Files that were not submissions.
    limit: int  # Queries a day.
    reset: datetime  # When the next day begins.

    @property
    def remaining(self) -> int:
        """Number of queries left today; merged teams may have used more than there are."""
        return max(0, self.limit - self.used)


def count_used(state: Reading, members: Sequence[str], now: datetime, config: ChallengeConfig) -> Budget:
    """Count what the members of a team, by the ids of the teams that are one now, have sent on the day of `now`."""
    row = state.rows(
        f"SELECT COUNT(*), COUNT(r.submission), COUNT(c.submission) FROM {SUBMISSIONS} "  # noqa: S608 - marks only
        f"WHERE s.day = ? AND s.team IN ({marks(members)})",
        day_of(now),
        *members,
    )[0]
    n_all, n_invalid, n_scored = map(int, row)
    return Budget(n_all - n_invalid, n_all - n_invalid - n_scored, n_invalid, config.queries_per_day, next_day(now))


def require_budget(budget: Budget, config: ChallengeConfig) -> None:
    """Raise BudgetSpent if all queries of the day are used, or as many files were invalid as may be.

    The message states the time of the reset.
    """
    reset = f"The next day begins at {format_time(budget.reset, config.timezone)}"
    if budget.used >= budget.limit:
        raise BudgetSpent(
            f"A team may send {budget.limit} submissions a day. Got one more. {reset}.",
            budget.reset,
        )
    # One that was not read yet may turn out not to be a submission.
    if budget.invalid + budget.waiting >= config.invalid_per_day:
        raise BudgetSpent(
            f"A team may send {config.invalid_per_day} files a day that are no submissions. Got more. {reset}.",
            budget.reset,
        )


def day_of(now: datetime) -> str:
    """Return the day of UTC that a time is in."""
    return now.astimezone(UTC).date().isoformat()


def next_day(now: datetime) -> datetime:
    """Return when the day of UTC after a time begins."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
