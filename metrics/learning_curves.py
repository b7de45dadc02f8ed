"""Metrics of prequential curves: time to reach a level, time to regain it after a boundary, and mean height.

A curve is a pair: `instances`, the increasing numbers of instances seen at each checkpoint, and `scores`, the readings.
Scores are such that higher is better. A reading may be NaN, where the score was not defined yet: it reaches no level.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metrics._typing import Floats
from metrics.validation import check_number, check_numbers, shown


class LearningSpeed(NamedTuple):
    """Time that runs needed to reach a target.

    Attributes
    ----------
    instances : float
        Mean number of instances over the runs that reached the target; infinite if none did.
    n_reached : int
        Number of runs that reached it.
    n_runs : int
        Number of runs.
    """

    instances: float
    n_reached: int
    n_runs: int


def learning_speed(instances: "ArrayLike", scores: "ArrayLike", target: float, *, warm_up: float = 0) -> LearningSpeed:
    """Instances of a new task needed to reach a target score, averaged over runs; lower is better.

    Parameters
    ----------
    instances : array-like of shape (n_checkpoints,)
        Instances of the task seen at each checkpoint, increasing.
    scores : array-like of shape (n_checkpoints,) or (n_runs, n_checkpoints)
        Score at each checkpoint, of one run or of several.
    target : float
        Score to reach.
    warm_up : float, default=0
        Readings at fewer instances than this are ignored: a score over a few rows can reach any level by chance.

    Returns
    -------
    LearningSpeed
        Mean instances over the runs that reached the target, and the numbers of these and of all runs. Read both: the
        mean leaves out runs that failed.

    Raises
    ------
    ValueError
        If shapes differ, instances do not increase, a score is infinite, or every checkpoint lies in the warm-up.

    References
    ----------
    Hugo Peuzet, Pascale Kuntz, Frank Meyer, Vincent Lemaire, Killian Le Mau, "Apprentissage multi-labels et
    multi-tâches en continu pour données tabulaires", EGC 2025, and its supplement.

    Examples
    --------
    >>> learning_speed([10, 20, 30], [[0.5, 0.8, 0.9], [0.5, 0.6, 0.7]], 0.8)
    LearningSpeed(instances=20.0, n_reached=1, n_runs=2)
    """
    seen, runs = _check_curve(instances, scores)
    late = seen >= check_number(warm_up, "warm_up", low=0.0)
    if not late.any():
        raise ValueError(f"warm_up must end before the last checkpoint, {seen[-1]:g}. Got {shown(warm_up)} instead.")
    runs = np.atleast_2d(runs)
    needed = np.array([_first_reaching(seen[late], run, check_number(target, "target")) for run in runs[:, late]])
    reached = np.isfinite(needed)
    mean = float(needed[reached].mean()) if reached.any() else float("inf")
    return LearningSpeed(mean, int(reached.sum()), len(runs))


def transition_time(instances: "ArrayLike", scores: "ArrayLike", boundary: float, *, warm_up: float = 0) -> float:
    """Instances after a task boundary until the score is back at the level before it; lower is better.

    Parameters
    ----------
    instances : array-like of shape (n_checkpoints,)
        Instances of the stream seen at each checkpoint, increasing.
    scores : array-like of shape (n_checkpoints,)
        Score at each checkpoint, over a sliding window: a cumulative score forgets the boundary.
    boundary : float
        Instances seen when the task changed.
    warm_up : float, default=0
        Readings at fewer instances than this after the boundary are ignored: the window still holds the old task.

    Returns
    -------
    float
        Instances from the boundary to the first reading at least as high as the last one up to the boundary; infinite
        if there is no such reading.

    Raises
    ------
    ValueError
        If shapes differ, instances do not increase, a score is infinite, or there is no reading up to the boundary or
        none after it.

    Examples
    --------
    >>> transition_time([10, 20, 30, 40], [0.8, 0.9, 0.6, 0.9], 20)
    20.0
    """
    seen, curve = _check_curve(instances, scores)
    boundary, warm_up = check_number(boundary, "boundary"), check_number(warm_up, "warm_up", low=0.0)
    before = np.flatnonzero((seen <= boundary) & ~np.isnan(curve))
    after = (seen > boundary) & (seen >= boundary + warm_up)
    if curve.ndim != 1 or not before.size or not after.any():
        raise ValueError(
            f"scores must be one curve with readings up to the boundary and after the warm-up. "
            f"Got {before.size} and {after.sum()} for boundary {boundary:g} instead."
        )
    return _first_reaching(seen[after], curve[after], curve[before[-1]]) - boundary


def area_under_curve(instances: "ArrayLike", scores: "ArrayLike") -> float:
    """Mean height of a prequential curve; higher is better.

    Parameters
    ----------
    instances : array-like of shape (n_checkpoints,)
        Instances seen at each checkpoint, increasing.
    scores : array-like of shape (n_checkpoints,)
        Score at each checkpoint; NaN readings are left out.

    Returns
    -------
    float
        In the range of the scores.

    Raises
    ------
    ValueError
        If shapes differ, instances do not increase, a score is infinite, or fewer than two readings are defined.

    Notes
    -----
    The trapezoidal area under the curve, divided by its length in instances, so that streams compare.

    Examples
    --------
    >>> area_under_curve([0, 10, 30], [0.5, 0.75, 0.75])
    0.7083333333333334
    """
    seen, curve = _check_curve(instances, scores)
    defined = ~np.isnan(curve)
    if curve.ndim != 1 or defined.sum() < 2:
        raise ValueError(f"scores must be one curve with at least two readings. Got {defined.sum()} readings instead.")
    seen, curve = seen[defined], curve[defined]
    return float(np.trapezoid(curve, seen) / (seen[-1] - seen[0]))


def _first_reaching(seen: Floats, curve: Floats, level: float) -> float:
    """Return the instances at the first reading of at least `level`, infinity if it is never reached."""
    reached = curve >= level
    return float(seen[reached.argmax()]) if reached.any() else float("inf")


def _check_curve(instances: ArrayLike, scores: ArrayLike) -> tuple[Floats, Floats]:
    tables = check_numbers(instances, "instances"), check_numbers(scores, "scores")
    seen, curve = (table.astype(np.float64) for table in tables)
    if seen.ndim != 1 or not seen.size or not np.isfinite(seen).all() or not (np.diff(seen) > 0).all():
        raise ValueError(f"instances must be 1-D, not empty and increasing. Got {shown(instances)} instead.")
    if curve.ndim not in (1, 2) or not curve.size or curve.shape[-1] != seen.size:
        raise ValueError(f"scores must have one reading per checkpoint, {seen.size}. Got shape {curve.shape} instead.")
    if np.isinf(curve).any():
        raise ValueError(f"scores must be finite or NaN. Got {curve[np.isinf(curve)][0]} instead.")
    return seen, curve
