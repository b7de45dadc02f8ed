"""Checks of the parameters that estimators have in common."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

NUMBERS = (float, int, np.number)
PRECISIONS = ("float32", "float64")
# what kind of number a parameter is, which of them are allowed, and both in words
Rule = tuple[type, Callable[[Any], bool], str]


def check_rules(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Refuse the first value that breaks its rule; infinity breaks any."""
    for name, (kind, fits, rule) in rules.items():
        value = values[name]
        if isinstance(value, bool) or not isinstance(value, kind) or not fits(value) or value == np.inf:
            raise ValueError(f"{name} must be {rule}. Got {value!r} instead.")


def check_number(name: str, value: object, *, minimum: float = 0, maximum: float = np.inf) -> None:
    """Refuse a value that is not a finite number within bounds."""
    if not isinstance(value, NUMBERS) or not (minimum <= value <= maximum and value < np.inf):
        bounds = f"at least {minimum}" if maximum == np.inf else f"from {minimum} to {maximum}"
        raise ValueError(f"{name} must be a finite number {bounds}. Got {value!r} instead.")
