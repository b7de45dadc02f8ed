"""The time by which a challenge goes: that of the organiser's machine, or of a test."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time of this machine, in UTC."""
    return datetime.now(UTC)
