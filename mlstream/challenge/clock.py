"""The time by which a challenge goes: that of the organiser's machine, or of a test; and times as people read them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from mlstream.challenge.errors import ClockJumped
from mlstream.challenge.replies import BoardRow

Clock: TypeAlias = Callable[[], datetime]

# How far a clock may be off: after it was set, or on another processor.
MAX_STEP = timedelta(seconds=60)
# Linux goes on counting while the machine sleeps.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def utc_now() -> datetime:
    """Return the time of this machine, in UTC."""
    return datetime.now(UTC)


def count_seconds() -> float:
    """Return the seconds since some moment, which nobody can set."""
    return time.clock_gettime(_STEADY)


class WatchedClock:
    """The clock of this machine, which raises ClockJumped while it is ahead of the seconds that went by.

    `wall` and `steady` are other clocks, for tests.
    """

    def __init__(self, wall: Clock = utc_now, steady: Callable[[], float] = count_seconds) -> None:
        self._wall, self._steady = wall, steady
        # A clock that was set back, and then right again, has not jumped: only the largest difference counts.
        self._ahead = wall().timestamp() - steady()

    def __call__(self) -> datetime:
        """Return the time."""
        now = self._wall()
        ahead = now.timestamp() - self._steady()
        if ahead - self._ahead > MAX_STEP.total_seconds():
            late = timedelta(seconds=int(ahead - self._ahead))
            raise ClockJumped(
                f"The clock must not jump ahead by more than {MAX_STEP.seconds} s. Got "
                f"{format_time(now, to='seconds')}, {late} too late. Set the clock of this machine, or, if it is right "
                "now, start this program again."
            )
        self._ahead = max(self._ahead, ahead)
        return now


def format_time(time: datetime, zone: str = "UTC", to: Literal["minutes", "seconds"] = "minutes") -> str:
    """Write a time to the minute or second, in UTC and in another time zone.

    >>> format_time(datetime(2026, 3, 1, 9, 5, tzinfo=UTC)), format_time(datetime(2026, 3, 1, tzinfo=UTC), "Asia/Tokyo")
    ('2026-03-01 09:05 UTC', '2026-03-01 00:00 UTC (2026-03-01 09:00 in Asia/Tokyo)')
    """
    utc, local = (
        time.astimezone(ZoneInfo(name)).replace(tzinfo=None).isoformat(" ", timespec=to) for name in ("UTC", zone)
    )
    return f"{utc} UTC" if zone == "UTC" else f"{utc} UTC ({local} in {zone})"


def board_times(rows: Sequence[BoardRow], zone: str) -> list[str]:
    """Return the time of each row of a board; to the second where scores are equal, since the earlier one is first."""
    counts = Counter(row.score for row in rows)
    return [format_time(row.time, zone, "seconds" if counts[row.score] > 1 else "minutes") for row in rows]


def say_span(span: timedelta) -> str:
    """Write a span of time in its largest two units.

    >>> say_span(timedelta(hours=5, minutes=1)), say_span(timedelta(seconds=20)), say_span(timedelta(days=2))
    ('5 hours and 1 minute', 'less than a minute', '2 days')
    """
    left, parts = max(int(span.total_seconds()), 0), []
    for unit, seconds in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {unit}{'s' if count > 1 else ''}")
    return " and ".join(parts[:2]) or "less than a minute"
