"""Checks of the parameters that estimators have in common."""

import numpy as np

NUMBERS = (float, int, np.number)
PRECISIONS = ("float32", "float64")


def check_number(name: str, value: object, *, minimum: float = 0, maximum: float = np.inf) -> None:
    """Refuse a value that is not a finite number within bounds."""
    if not isinstance(value, NUMBERS) or not (minimum <= value <= maximum and value < np.inf):
        bounds = f"at least {minimum}" if maximum == np.inf else f"from {minimum} to {maximum}"
        raise ValueError(f"{name} must be a finite number {bounds}. Got {value!r} instead.")
