"""Boundaries that are no lines: windows in which one task gives way to the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.schedule.visit_plan import Shape, VisitPlan
from mlstream.stream import Index

# The sigmoid runs from 0.7 % to 99.3 % of the next task.
_STEEPNESS = 10.0


def blend(sizes: Sequence[int], visits: VisitPlan) -> Index:
    """Mix neighbouring experiences around their boundaries.

    Parameters
    ----------
    sizes : sequence of int
        Rows of each experience.
    visits : VisitPlan
        Window, shape and seed.

    Returns
    -------
    ndarray of int64, shape (sum of sizes,)
        Permutation: which row of the experiences laid end to end comes at each place.

    Raises
    ------
    ValueError
        If the window is longer than an experience.

    Notes
    -----
    A window of w rows takes the last w // 2 rows of an experience and the first rows of the next. Each row of the next
    task falls on a place in the window with a density proportional to p(t), t from 0 to 1, and each row of the task
    before with one proportional to 1 - p(t): the share of the next task at t is p(t) on average, and every row is used
    exactly once. Linear: p(t) = t. Sigmoid: p(t) = 1 / (1 + exp(-10 (t - 1/2))). Rows of one task keep their order.
    """
    places = np.arange(sum(sizes))
    if not visits.window:
        return places
    require_window(sizes, visits.window)
    before = visits.window // 2
    for number, boundary in enumerate(np.cumsum(sizes)[:-1]):
        rng = generator_for(Purpose.BLENDING, visits.seed, number)
        old = np.sort(1 - _rise(rng.random(before), visits.shape))
        new = np.sort(_rise(rng.random(visits.window - before), visits.shape))
        start = boundary - before
        places[start : start + visits.window] = start + np.argsort(np.concatenate([old, new]), kind="stable")
    return places


def require_window(sizes: Sequence[int], window: int) -> None:
    """Refuse a window that is longer than an experience.

    Parameters
    ----------
    sizes : sequence of int
        Rows of each experience.
    window : int
        Rows of the window.

    Raises
    ------
    ValueError
        If it is longer.
    """
    if min(sizes) < window:
        shortest = int(np.argmin(sizes))
        raise ValueError(
            f"window must be at most the rows of each experience. "
            f"Got {window} for experience {shortest} with {sizes[shortest]} rows."
        )


def _rise(u: npt.NDArray[np.float64], shape: Shape) -> npt.NDArray[np.float64]:
    """Draw places with a density proportional to the share of the next task, by the inverse of its integral."""
    if shape == "linear":
        return np.sqrt(u)
    least = np.log1p(np.exp(-_STEEPNESS / 2))
    return np.asarray(0.5 + np.log(np.expm1(least + u * _STEEPNESS / 2)) / _STEEPNESS)
