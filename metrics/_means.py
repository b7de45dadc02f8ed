"""Division and means with one convention: undefined values are NaN, and a mean leaves NaN out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from metrics._typing import Array, Floats, Score


def divide(numerator: Array, denominator: Array, *, zero_division: float = np.nan) -> Floats:
    """Divide arrays of one shape, with `zero_division` wherever the denominator is zero, and without a warning."""
    result: Floats = np.full(denominator.shape, zero_division)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def nan_mean(values: Floats) -> Score:
    """Average the defined values along the last axis; NaN where no value is defined."""
    defined = ~np.isnan(values)
    return divide(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))[()]


def mean_of_blocks(blocks: Iterable[Array]) -> float:
    """Average the defined values of arrays that come one after the other; NaN if no value is defined."""
    total, n_defined = 0.0, 0
    for values in blocks:
        defined = values[~np.isnan(values)]
        total += float(defined.sum())
        n_defined += defined.size
    return total / n_defined if n_defined else float("nan")
