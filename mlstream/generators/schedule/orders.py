"""In which order tasks are visited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.schedule.visit_plan import VisitPlan


def resolve_order(profiles: npt.ArrayLike, visits: VisitPlan) -> list[int]:
    """Return the task of each experience; each task comes as often as there are visits.

    "random" is a seeded permutation of the tasks. "similarity" (gradual change) starts at a random task and goes on to
    the task, of those not visited yet, whose profile has the greatest cosine with the one before; "dissimilarity"
    (sudden change) goes on to that with the least. All three are repeated once per visit. "interleaved" shuffles all
    visits together, so that tasks come back at irregular distances; no task follows itself unless it is the only one.

    Raises ValueError if a given order names an unknown task, or visits one too often or too seldom.
    """
    table = np.asarray(profiles, dtype=np.float64)
    n_tasks, n_visits = len(table), len(visits.learning_fractions)
    order = "random" if visits.order is None else visits.order
    if not isinstance(order, str):
        return _check_order(order, n_tasks, n_visits)
    rng = generator_for(Purpose.ORDER, visits.seed)
    if order == "interleaved":
        return _interleave(n_tasks, n_visits, rng)
    if order == "random":
        path: list[int] = rng.permutation(n_tasks).tolist()
    else:
        path = _walk(table, int(rng.integers(n_tasks)), sign=1 if order == "similarity" else -1)
    return path * n_visits


def _check_order(order: Sequence[int], n_tasks: int, n_visits: int) -> list[int]:
    order = [int(task) for task in order]
    for task in order:
        if not 0 <= task < n_tasks:
            raise ValueError(f"order must name tasks from 0 to {n_tasks - 1}. Got {task} in {order}.")
    for task in range(n_tasks):
        if order.count(task) != n_visits:
            raise ValueError(
                f"order must visit each of {n_tasks} tasks {n_visits} times, once per learning fraction. "
                f"Got task {task} {order.count(task)} times in {order}."
            )
    return order


def _walk(profiles: npt.NDArray[np.float64], start: int, sign: int) -> list[int]:
    length = np.linalg.norm(profiles, axis=1, keepdims=True)
    unit = profiles / np.where(length > 0, length, 1)
    # Rounded, so that equal cosines tie and the least number wins.
    nearness = sign * (unit @ unit.T).round(12)
    path = [start]
    while len(path) < len(profiles):
        nearness[:, path[-1]] = -np.inf
        path.append(int(np.argmax(nearness[path[-1]])))
    return path


def _interleave(n_tasks: int, n_visits: int, rng: np.random.Generator) -> list[int]:
    left = np.full(n_tasks, n_visits)
    order: list[int] = []
    while left.any():
        chance = left.copy()
        if order and n_tasks > 1:
            chance[order[-1]] = 0
        # A task with more than half of what is left must come now, or it would have to follow itself later.
        pressing = 2 * chance > left.sum()
        chance = np.where(pressing, chance, 0) if pressing.any() else chance
        order.append(int(rng.choice(n_tasks, p=chance / chance.sum())))
        left[order[-1]] -= 1
    return order
