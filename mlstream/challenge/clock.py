"""The time by which a challenge goes: that of the organiser's machine, or of a test; and times as people read them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias
from zoneinfo import ZoneInfo

Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time of this machine, in UTC."""
    return datetime.now(UTC)


def format_time(time: datetime, zone: str = "UTC") -> str:
    """Write a time to the minute, in UTC and in another time zone.

    >>> format_time(datetime(2026, 3, 1, 9, 5, tzinfo=UTC)), format_time(datetime(2026, 3, 1, tzinfo=UTC), "Asia/Tokyo")
    ('2026-03-01 09:05 UTC', '2026-03-01 00:00 UTC (2026-03-01 09:00 in Asia/Tokyo)')
    """
    local = "" if zone == "UTC" else f" ({time.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} in {zone})"
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC{local}"
