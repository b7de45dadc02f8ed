"""Checks of values and parameters of drift detectors."""

import math
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from estimators._typing import Array

ValueRange = Literal["numbers", "shares", "errors"]
_RULES: dict[ValueRange, str] = {"numbers": "finite", "shares": "from 0 to 1", "errors": "0 (right) or 1 (wrong)"}


def check_values(values: npt.ArrayLike, n_dims: int, allowed: ValueRange, *, unknown: bool = False) -> Array:
    """Return values as float64 if all are allowed, or NaN where they may be unknown."""
    if np.iscomplexobj(values):
        raise ValueError("values must be real numbers. Got complex numbers instead.")
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != n_dims:
        shape = "(n_values,)" if n_dims == 1 else "(n_rows, n_labels)"
        raise ValueError(f"values must have shape {shape}. Got {array.shape} instead.")
    wrong = ~_is_allowed(array, allowed)
    if unknown:
        wrong &= ~np.isnan(array)
    if wrong.any():
        raise ValueError(f"values must be {_RULES[allowed]}. Got {array[wrong][0]:g} instead.")
    return array


def check_value(value: Any, allowed: ValueRange) -> float:
    """Return a value as a float if it is allowed."""
    if np.iscomplexobj(value):
        raise ValueError(f"value must be a real number. Got {value!r} instead.")
    number = float(value)
    if allowed == "errors":
        fits = number in (0.0, 1.0)
    else:
        fits = 0.0 <= number <= 1.0 if allowed == "shares" else math.isfinite(number)
    if not fits:
        raise ValueError(f"value must be {_RULES[allowed]}. Got {number:g} instead.")
    return number


def _is_allowed(array: Array, allowed: ValueRange) -> npt.NDArray[np.bool_]:
    if allowed == "errors":
        return np.asarray((array == 0.0) | (array == 1.0))
    if allowed == "shares":
        return np.asarray((array >= 0.0) & (array <= 1.0))
    return np.isfinite(array)


def whole(name: str, value: object, minimum: int) -> float:
    """Return a whole number of at least the minimum."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be a whole number, at least {minimum}. Got {value!r} instead.")
    return float(value)


def between(name: str, value: object, low: float, high: float) -> float:
    """Return a number strictly between two others."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low < float(value) < high:
        bounds = f"above {low:g}" if high == np.inf else f"above {low:g} and below {high:g}"
        raise ValueError(f"{name} must be a finite number {bounds}. Got {value!r} instead.")
    return float(value)


def at_least(name: str, value: object, minimum: float) -> float:
    """Return a finite number of at least the minimum."""
    if isinstance(value, bool) or not isinstance(value, Real) or not minimum <= float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number, at least {minimum:g}. Got {value!r} instead.")
    return float(value)
