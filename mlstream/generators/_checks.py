"""The gate of the generators: what every one of them asks of its options."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral


def require_count(value: object, name: str, *, least: int = 1, most: int | None = None) -> int:
    """Return `value` as a whole number that is at least `least`, or say what it must be."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number, at least {least}. Got {value!r} instead.")
    if most is not None and int(value) > most:
        raise ValueError(f"{name} must be a whole number, at most {most}. Got {value!r} instead.")
    return int(value)


def require_seed(seed: object) -> int:
    """Return the seed, or say what it must be."""
    return require_count(seed, "seed", least=0)


def require_choice(value: object, name: str, choices: Sequence[str]) -> None:
    """Refuse what is none of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}. Got {value!r} instead.")


def require_share(value: float, name: str) -> None:
    """Refuse what is no probability."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1]. Got {value!r} instead.")
