"""Division and means with one convention: what is undefined is NaN, and a mean leaves NaN out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def divide(numerator: NDArray[Any], denominator: NDArray[Any], *, zero_division: float = np.nan) -> Floats:
    """Divide, with `zero_division` wherever the denominator is zero, and without a warning."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    result = np.full(shape, zero_division, dtype=np.float64)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def nan_mean(values: Floats) -> Any:
    """Average the last axis over what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    return divide(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))[()]
