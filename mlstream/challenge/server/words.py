"""Spans of time as people read them."""

from __future__ import annotations

from datetime import timedelta

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


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
