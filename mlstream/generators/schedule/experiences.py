"""Parts of a stream from tasks and a plan: the order of tasks, and windows in which one gives way to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.mapped import take_rows
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.schedule.partition import Partition, as_slice, count_rows, split_tasks
from mlstream.generators.schedule.visit_plan import Shape, VisitPlan
from mlstream.streams.card_model import DropCard
from mlstream.streams.stream import Dataset, EvaluationSet, Experience, Features, Index, Indicator, Mask, StreamParts

# The sigmoid runs from 0.7 % to 99.3 % of the next task.
_STEEPNESS = 10.0


def lay_out(
    table: Dataset, partition: Partition, visits: VisitPlan, *, shuffle: bool = True
) -> tuple[StreamParts, tuple[DropCard, ...]]:
    """Make tasks, experiences in order, and evaluation sets, and describe the rows that no part took.

    Where the partition hides labels, a learning row shows those of its task's signature only; evaluation rows always
    show all their labels. Without `shuffle`, each task's rows are cut in their order. Raises ValueError if a part would
    be empty, or the order does not fit the tasks.
    """
    shares = split_tasks(table, partition, visits, shuffle=shuffle)
    order = resolve_order(partition.profiles, visits)
    visit = [order[:place].count(task) for place, task in enumerate(order)]
    learnt = [shares[task][number] for task, number in zip(order, visit, strict=True)]
    experiences = tuple(
        Experience(*_take_shown(table, partition, part, tasks), tasks, _mask(partition, tasks), part)
        for part, tasks in _blend_rows(learnt, order, visits)
    )
    held_out = tuple(
        EvaluationSet(*_take(table, parts[-1]), task, partition.signatures[task], parts[-1])
        for task, parts in enumerate(shares)
    )
    return StreamParts(partition.tasks, experiences, held_out), _count_unused(partition, shares)


def _blend_rows(rows: list[Index], order: list[int], visits: VisitPlan) -> list[tuple[Index, Index]]:
    """Return the rows of each experience and their tasks."""
    sizes = [len(part) for part in rows]
    tasks = [np.full(size, task) for size, task in zip(sizes, order, strict=True)]
    if not visits.window:
        return list(zip(rows, tasks, strict=True))
    places, cuts = blend(sizes, visits), np.cumsum(sizes)[:-1]
    blended = (np.split(np.concatenate(parts)[places], cuts) for parts in (rows, tasks))
    return list(zip(*blended, strict=True))


def _mask(partition: Partition, tasks: Index) -> Mask:
    alone = (tasks == tasks[0]).all()
    return np.asarray(partition.signatures[tasks[0] if alone else tasks])


def _take(table: Dataset, rows: Index) -> tuple[Features, Indicator]:
    chosen = as_slice(rows)
    if isinstance(chosen, slice) or sparse.issparse(table.X):
        return table.X[chosen], table.Y[chosen]
    return take_rows(np.asarray(table.X), chosen), table.Y[chosen]


def _take_shown(table: Dataset, partition: Partition, rows: Index, tasks: Index) -> tuple[Features, Indicator]:
    X, Y = _take(table, rows)
    # A product, unlike `&`, keeps unknown labels unknown.
    return X, Y * partition.signatures[tasks] if partition.hides_labels else Y


def _count_unused(partition: Partition, shares: list[list[Index]]) -> tuple[DropCard, ...]:
    # Where no task shares rows with another, no row comes twice, and sizes suffice.
    count = count_rows if partition.shares_rows else (lambda parts: sum(map(len, parts)))
    unused = count(partition.members) - count([part for parts in shares for part in parts])
    return (DropCard(what="rows", reason="outside the fractions", count=unused),) if unused else ()


def chain_parts(first: StreamParts, second: StreamParts) -> StreamParts:
    """Let one stream follow another over the same table."""
    shift = len(first.tasks)
    return StreamParts(
        first.tasks + second.tasks,
        first.experiences + tuple(replace(part, task_ids=part.task_ids + shift) for part in second.experiences),
        first.evaluation_sets + tuple(replace(part, task_id=part.task_id + shift) for part in second.evaluation_sets),
    )


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
