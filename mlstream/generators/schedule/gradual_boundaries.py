"""Boundaries that are no lines: windows in which one task gives way to the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.schedule.visit_plan import Shape, VisitPlan
from mlstream.streams.stream import Index

# The sigmoid runs from 0.7 % to 99.3 % of the next task.
_STEEPNESS = 10.0


def blend(sizes: Sequence[int], visits: VisitPlan) -> Index:
    """Mix experiences around their boundaries: which row of the experiences laid end to end comes at each place.

    A window of w rows lies around each boundary: w // 2 rows before it, the others after it. At t in the window, from 0
    to 1, the share of rows from before the boundary is 1 - p(t) on average, that of rows from after it p(t). Linear:
    p(t) = t. Sigmoid: p(t) = 1 / (1 + exp(-10 (t - 1/2))). A window that is longer than an experience spans several
    boundaries, and rows of several experiences mix there: the share of an experience is p(t) of the boundary before it
    minus p(t) of the boundary after it. Every row is used exactly once, and rows of one experience keep their order.
    """
    if not visits.window:
        return np.arange(sum(sizes))
    return _blend_neighbours(sizes, visits) if visits.window <= min(sizes) else _blend_all(sizes, visits)


def _blend_neighbours(sizes: Sequence[int], visits: VisitPlan) -> Index:
    """Mix two experiences in each window: as many rows as lie on either side of the boundary."""
    places, before = np.arange(sum(sizes)), visits.window // 2
    for number, boundary in enumerate(np.cumsum(sizes)[:-1]):
        rng = generator_for(Purpose.BLENDING, visits.seed, number)
        old = np.sort(1 - _rise(rng.random(before), visits.shape))
        new = np.sort(_rise(rng.random(visits.window - before), visits.shape))
        start = boundary - before
        places[start : start + visits.window] = start + np.argsort(np.concatenate([old, new]), kind="stable")
    return places


def _blend_all(sizes: Sequence[int], visits: VisitPlan) -> Index:
    """Move every row by at most half a window, with the density by which the share rises."""
    ends = np.cumsum(sizes)
    aims = np.arange(ends[-1]) + visits.window * _shift(ends[-1], visits)
    # Sorted within each experience, so that its rows keep their order.
    aims = np.concatenate([np.sort(part) for part in np.split(aims, ends[:-1])])
    return np.argsort(aims, kind="stable")


def require_window(sizes: Sequence[int], window: int) -> None:
    """Raise ValueError if a window is longer than an experience."""
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


def _shift(n_rows: int, visits: VisitPlan) -> npt.NDArray[np.float64]:
    """Draw shifts in windows, from -1/2 to 1/2, by the inverse of the share of the next task."""
    u = generator_for(Purpose.BLENDING, visits.seed).random(n_rows)
    if visits.shape == "linear":
        return u - 0.5
    least = 1 / (1 + np.exp(_STEEPNESS / 2))
    share = least + u * (1 - 2 * least)
    return np.asarray(np.log(share / (1 - share)) / _STEEPNESS)
