"""Division and means with one convention: what is undefined is NaN, and a mean leaves NaN out."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from metrics._typing import Array, Floats


def divide(numerator: Array, denominator: Array, *, zero_division: float = np.nan) -> Floats:
    """Divide, with `zero_division` wherever the denominator is zero, and without a warning."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    result = np.full(shape, zero_division, dtype=np.float64)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def nan_mean(values: Floats) -> Any:
    """Average the last axis over what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    return divide(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))[()]


def mean_of_blocks(blocks: Iterable[Array]) -> float:
    """Average what is defined in arrays that come one after the other; NaN where nothing is."""
    total, n_defined = 0.0, 0
    for values in blocks:
        defined = values[~np.isnan(values)]
        total += float(defined.sum(dtype=np.float64))
        n_defined += defined.size
    return total / n_defined if n_defined else float("nan")
