"""Checks of the options of generators."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral


def require_count(value: object, name: str, *, minimum: int = 1, maximum: int | None = None) -> int:
    """Return `value` as an int, or raise a ValueError if it is not a whole number in the range."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be a whole number, at least {minimum}. Got {value!r} instead.")
    if maximum is not None and int(value) > maximum:
        raise ValueError(f"{name} must be a whole number, at most {maximum}. Got {value!r} instead.")
    return int(value)


def require_seed(seed: object) -> int:
    """Return the seed as an int, or raise a ValueError."""
    return require_count(seed, "seed", minimum=0)


def require_choice(value: object, name: str, choices: Sequence[str]) -> None:
    """Raise a ValueError if the value is not one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}. Got {value!r} instead.")


def require_share(value: float, name: str) -> None:
    """Raise a ValueError if the value is not a probability."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1]. Got {value!r} instead.")
