"""Lengths of time as people write them."""

from __future__ import annotations

import re

_MICROSECONDS = {"ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_DURATION = re.compile(rf"([0-9]{{1,9}}) ?({'|'.join(_MICROSECONDS)})")


def parse_duration(text: object, name: str, *, minimum: int = 1) -> int:
    """Read a length of time in microseconds: a whole number, at least `minimum`, and a unit: ms, s, min, h or d.

    `name` is the parameter that the ValueError names.
    """
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if found is None or int(found[1]) < minimum:
        raise ValueError(
            f"{name} must be a whole number, at least {minimum}, and a unit ({', '.join(_MICROSECONDS)}), such as "
            f"'10min'. Got {text!r} instead."
        )
    return int(found[1]) * _MICROSECONDS[found[2]]
