"""What can be chosen about an evaluation, checked once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Literal

from pydantic import JsonValue

LabelSpace = Literal["task", "seen", "all"]
OneClass = Literal["skip", "recall", "river"]
EnergyMethod = Literal["codecarbon", "cpu", "none"]

_CHOICES = {
    "label_space": ("task", "seen", "all"),
    "one_class": ("skip", "recall", "river"),
    "energy": ("codecarbon", "cpu", "none"),
    "energy_unit": ("J", "kJ", "MJ", "Wh", "kWh", "MWh"),
}
# random_state of scikit-learn is an unsigned number of 32 bits.
_GREATEST_SEED = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The choices of an evaluation; `evaluate` says what they mean.

    Raises
    ------
    ValueError
        If a choice is none of its values.
    """

    label_space: LabelSpace = "task"
    references: bool = False
    one_class: OneClass = "skip"
    energy: EnergyMethod = "codecarbon"
    energy_unit: str = "kWh"
    cpu_power_w: float = 15.0
    time_cap_s: float | None = 10_800.0
    n_checkpoints: int = 100
    window: int | None = None
    chunk_size: int = 256

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            _require_choice(getattr(self, name), name, choices)
        for name in ("n_checkpoints", "chunk_size"):
            require_count(getattr(self, name), name)
        if self.window is not None:
            require_count(self.window, "window")
        _require_positive(self.cpu_power_w, "cpu_power_w")
        if self.time_cap_s is not None:
            _require_positive(self.time_cap_s, "time_cap_s")

    def as_json(self) -> dict[str, JsonValue]:
        """Give the choices that a record repeats.

        The label space has a field of its own there, nothing depends on the size of chunks, and the stated power only
        counts where it is used.
        """
        unsaid = {"label_space", "chunk_size"} | ({"cpu_power_w"} if self.energy != "cpu" else set())
        return {name: value for name, value in asdict(self).items() if name not in unsaid}


def require_seed(seed: object) -> int:
    """Return the seed, or say what it must be."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) <= _GREATEST_SEED:
        raise ValueError(f"seed must be a whole number from 0 to 2**32 - 1. Got {seed!r} instead.")
    return int(seed)


def require_count(value: object, name: str) -> None:
    """Refuse what is no whole number, at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise ValueError(f"{name} must be a whole number, at least 1. Got {value!r} instead.")


def _require_choice(value: object, name: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}. Got {value!r} instead.")


def _require_positive(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a positive number, or None. Got {value!r} instead.")
