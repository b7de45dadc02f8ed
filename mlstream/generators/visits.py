"""Split every task into learning parts and an evaluation set, and visit the tasks in an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from mlstream.cards import DropCard
from mlstream.generators._checks import require_seed
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.label_sets import label_set_ids
from mlstream.stream import Dataset, EvaluationSet, Experience, Features, Index, Indicator, StreamParts, Task

# 0.1 * 30 is 3.0000000000000004: products this near to a whole number are that number.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Visits:
    """How tasks are split, and in which order they come.

    Parameters
    ----------
    learning_fractions : sequence of float
        Share of each task's rows that each of its visits gets; one number per visit.
    evaluation_fraction : float
        Share of each task's rows that is held out.
    order : sequence of int, optional
        Task of each experience; each task as often as there are learning fractions. By default a seeded permutation of
        the tasks, repeated once per learning fraction.
    stratified : bool
        Spread every label set of a task evenly over its parts.
    seed : int
        Source of everything random.

    Raises
    ------
    ValueError
        If a fraction is not positive, or they add up to more than 1.
    """

    learning_fractions: Sequence[float] = (0.35, 0.35)
    evaluation_fraction: float = 0.30
    order: Sequence[int] | None = None
    stratified: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        require_seed(self.seed)
        if not self.learning_fractions or not all(share > 0 for share in self.fractions):
            raise ValueError(f"There must be learning fractions, and all fractions positive. Got {self.fractions}.")
        if sum(self.fractions) > 1 + _ROUNDING:
            raise ValueError(f"The fractions must add up to at most 1. Got {self.fractions}: {sum(self.fractions):g}.")

    @property
    def fractions(self) -> tuple[float, ...]:
        """Learning fractions, then the evaluation fraction."""
        return (*self.learning_fractions, self.evaluation_fraction)


def lay_out(
    table: Dataset,
    members: Sequence[Index],
    visits: Visits,
    *,
    tasks: Sequence[Task] | None = None,
    shuffle: bool = True,
) -> tuple[StreamParts, tuple[DropCard, ...]]:
    """Make experiences and evaluation sets of tasks whose rows are given.

    Parameters
    ----------
    table : Dataset
        Features and labels.
    members : sequence of ndarray of int64
        Rows of each task; no row in two tasks.
    visits : Visits
        Split and order.
    tasks : sequence of Task, optional
        Names and signatures; by default "task-0", "task-1", ... with the labels that occur in their rows.
    shuffle : bool
        Split at random. Without it, each task's rows are cut in their order; stratified splits are always random.

    Returns
    -------
    parts : StreamParts
        Tasks, experiences in order, evaluation sets.
    drops : tuple of DropCard
        Rows that no part took, if the fractions add up to less than 1.

    Raises
    ------
    ValueError
        If a part would be empty, or the order does not fit the tasks.
    """
    tasks = tuple(tasks or _name_tasks(table, members))
    order = resolve_order(len(tasks), visits)
    shares = [_split(table, index, members[index], visits, shuffle) for index in range(len(tasks))]
    visited = [0] * len(tasks)
    experiences = []
    for task in order:
        experiences.append(_make_experience(table, tasks, task, shares[task][visited[task]]))
        visited[task] += 1
    held_out = tuple(
        EvaluationSet(*_take(table, rows[-1]), index, tasks[index].signature, rows[-1])
        for index, rows in enumerate(shares)
    )
    unused = sum(len(rows) for rows in members) - sum(len(part) for rows in shares for part in rows)
    drops = (DropCard(what="rows", reason="outside the fractions", count=unused),) if unused else ()
    return StreamParts(tasks, tuple(experiences), held_out), drops


def resolve_order(n_tasks: int, visits: Visits) -> list[int]:
    """Give the task of each experience.

    Parameters
    ----------
    n_tasks : int
        Number of tasks.
    visits : Visits
        Holds the order, or the seed of one.

    Returns
    -------
    list of int
        As many entries as tasks times visits.

    Raises
    ------
    ValueError
        If a given order names an unknown task, or visits one too often or too seldom.

    Examples
    --------
    >>> resolve_order(2, Visits(order=(1, 0, 0, 1)))
    [1, 0, 0, 1]
    """
    n_visits = len(visits.learning_fractions)
    if visits.order is None:
        permutation: list[int] = generator_for(Purpose.ORDER, visits.seed).permutation(n_tasks).tolist()
        return permutation * n_visits
    order = [int(task) for task in visits.order]
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


def part_sizes(n_rows: int, visits: Visits) -> list[int]:
    """Give the sizes of a task's learning parts, then of its evaluation set.

    Parameters
    ----------
    n_rows : int
        Rows of the task.
    visits : Visits
        Holds the fractions.

    Returns
    -------
    list of int
        Sizes; they add up to `n_rows` if the fractions add up to 1.

    Notes
    -----
    The evaluation set is rounded up; what is left is cut at its cumulative shares, rounded down. These are the sizes of
    the published streams.

    Examples
    --------
    >>> part_sizes(474, Visits())
    [165, 166, 143]
    """
    held_out = ceil(n_rows * visits.evaluation_fraction - _ROUNDING)
    learning = min(floor(n_rows * sum(visits.fractions) + _ROUNDING), n_rows) - held_out
    shares = np.cumsum(visits.learning_fractions) / sum(visits.learning_fractions)
    cuts = [floor(learning * share + _ROUNDING) for share in shares]
    return [*np.diff([0, *cuts]).tolist(), held_out]


def _name_tasks(table: Dataset, members: Sequence[Index]) -> list[Task]:
    return [Task(f"task-{index}", np.any(table.Y[rows], axis=0)) for index, rows in enumerate(members)]


def _split(table: Dataset, task: int, rows: Index, visits: Visits, shuffle: bool) -> list[Index]:
    sizes = part_sizes(len(rows), visits)
    if min(sizes) < 1:
        raise ValueError(
            f"Every experience and evaluation set must hold rows. "
            f"Got sizes {sizes} for task {task} with {len(rows)} rows and fractions {visits.fractions}."
        )
    rng = generator_for(Purpose.SPLIT, visits.seed, task)
    if not visits.stratified:
        return np.split(rng.permutation(rows) if shuffle else rows, np.cumsum(sizes))[: len(sizes)]
    shuffled = rng.permutation(rows)
    by_label_set = shuffled[np.argsort(label_set_ids(table.Y[shuffled]), kind="stable")]
    part = _spread(sizes, len(rows))
    return [rng.permutation(by_label_set[part == index]) for index in range(len(sizes))]


def _spread(sizes: Sequence[int], n_rows: int) -> Index:
    """Deal positions to parts so that every run of neighbours is shared out in proportion; -1 is no part."""
    unused = n_rows - sum(sizes)
    sizes = [*sizes, unused] if unused else sizes
    place = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner[np.argsort(place, kind="stable")]


def _make_experience(table: Dataset, tasks: Sequence[Task], task: int, rows: Index) -> Experience:
    return Experience(*_take(table, rows), np.full(len(rows), task), tasks[task].signature, rows)


def _take(table: Dataset, rows: Index) -> tuple[Features, Indicator]:
    """Give the rows; neighbours in order are a view, not a copy."""
    if (np.diff(rows) == 1).all():
        neighbours = slice(int(rows[0]), int(rows[-1]) + 1)
        return table.X[neighbours], table.Y[neighbours]
    return table.X[rows], table.Y[rows]
