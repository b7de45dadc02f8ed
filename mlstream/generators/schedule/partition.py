"""Tasks and their rows, as every rule that finds tasks gives them, and the split of the rows for evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.schedule.visit_plan import VisitPlan, part_sizes
from mlstream.streams.label_sets import count_labels, label_frequencies, label_set_ids
from mlstream.streams.label_values import filled
from mlstream.streams.stream import Dataset, Index, Mask, Task

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Partition:
    """Tasks and their rows in a table."""

    tasks: tuple[Task, ...]
    members: tuple[Index, ...]  # rows of each task
    profiles: Floats  # (n_tasks, any): what tasks are compared by, through the cosine
    hides_labels: bool = False  # a learning row shows the labels of its task's signature only

    def __len__(self) -> int:
        return len(self.tasks)

    @cached_property
    def signatures(self) -> Mask:
        """Signatures of the tasks: boolean (n_tasks, n_labels)."""
        return np.array([task.signature for task in self.tasks])

    @cached_property
    def shares_rows(self) -> bool:
        """Whether a row belongs to two tasks."""
        return count_rows(self.members) < sum(len(rows) for rows in self.members)


def make_partition(
    table: Dataset,
    members: Sequence[Index],
    *,
    names: Sequence[str] | None = None,
    signatures: Sequence[Mask] | None = None,
    profiles: Floats | None = None,
    hides_labels: bool = False,
) -> Partition:
    """Name tasks whose rows are given, and compute the profiles that they are compared by.

    By default, names are "task-0", "task-1", ..., signatures hold the labels that occur in a task, as far as labels are
    known, and profiles are the means of label vectors. Raises ValueError if a task has no rows.
    """
    names = names or [f"task-{index}" for index in range(len(members))]
    for name, rows in zip(names, members, strict=True):
        if not len(rows):
            raise ValueError(
                f"{table.name}: every task must hold rows. Got 0 in {name}; ask for fewer tasks (n_tasks), or list "
                f"other labels (label_lists)."
            )
    if signatures is None:
        signatures = [count_labels(table.Y[as_slice(rows)]) > 0 for rows in members]
    if profiles is None:
        profiles = np.array([label_frequencies(table.Y[as_slice(rows)]) for rows in members])
    tasks = tuple(Task(name, signature) for name, signature in zip(names, signatures, strict=True))
    return Partition(tasks, tuple(members), profiles, hides_labels)


def as_slice(rows: Index) -> Index | slice:
    """Return consecutive rows as a slice, which takes a view of a table instead of a copy."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if (np.diff(rows) == 1).all() else rows


def count_rows(parts: Sequence[Index]) -> int:
    """Count the distinct rows of several parts of a table, at least one.

    >>> count_rows([np.array([0, 2]), np.array([2, 5])])
    3
    """
    return int(np.count_nonzero(np.bincount(np.concatenate(parts))))


def deal_rows(members: Sequence[Index], rows: Index, seed: int) -> list[Index]:
    """Deal rows that have no task of their own, in proportion to the tasks' sizes.

    Returns the rows of each task, in ascending order.
    """
    sizes = np.array([len(part) for part in members])
    chance = sizes if sizes.any() else np.ones(len(sizes))
    dealt = generator_for(Purpose.UNLABELLED, seed).choice(len(sizes), size=len(rows), p=chance / chance.sum())
    return [np.sort(np.concatenate([part, rows[dealt == task]])) for task, part in enumerate(members)]


def split_tasks(table: Dataset, partition: Partition, visits: VisitPlan, *, shuffle: bool = True) -> list[list[Index]]:
    """Split each task's rows into its learning parts, in order, and its evaluation set, which comes last.

    A row that belongs to several tasks plays the same part in all of them, so that no row is learnt in one task and
    evaluated in another. Without `shuffle`, each task's rows are cut in their order; stratified splits, and those of
    tasks that share rows, are always random. Raises ValueError if a part would be empty.
    """
    if partition.shares_rows:
        parts = _split_shared(table, partition, visits)
    else:
        parts = [_split_alone(table, task, rows, visits, shuffle) for task, rows in enumerate(partition.members)]
    for task, (rows, split) in enumerate(zip(partition.members, parts, strict=True)):
        n_empty = sum(not len(part) for part in split)
        if n_empty:
            raise ValueError(
                f"Every experience and evaluation set must hold rows. Got {n_empty} of {len(split)} without any "
                f"for task {task} with {len(rows)} rows, where the least fraction is {min(visits.fractions):.3g}; ask "
                f"for fewer tasks of more rows, or greater fractions."
            )
    return parts


def _split_alone(table: Dataset, task: int, rows: Index, visits: VisitPlan, shuffle: bool) -> list[Index]:
    sizes = part_sizes(len(rows), visits)
    rng = generator_for(Purpose.SPLIT, visits.seed, task)
    if visits.stratified:
        return split_evenly(rows, label_set_ids(table.Y[rows]), sizes, rng)
    return np.split(rng.permutation(rows) if shuffle else rows, np.cumsum(sizes))[: len(sizes)]


def _split_shared(table: Dataset, partition: Partition, visits: VisitPlan) -> list[list[Index]]:
    rows = np.unique(np.concatenate(partition.members))
    belongs = np.column_stack([np.isin(rows, members) for members in partition.members]).astype(np.uint8)
    strata = label_set_ids(np.hstack([belongs, filled(table.Y[rows])]) if visits.stratified else belongs)
    rng = generator_for(Purpose.SPLIT, visits.seed)
    parts = split_evenly(rows, strata, part_sizes(len(rows), visits), rng)
    return [[part[np.isin(part, members)] for part in parts] for members in partition.members]


def split_evenly(rows: Index, strata: Index, sizes: Sequence[int], rng: np.random.Generator) -> list[Index]:
    """Split rows so that every part has its size, and its proportion of every stratum to within a row or so.

    The rows of each part are shuffled. Sizes add up to at most the number of rows.
    """
    shuffled = rng.permutation(len(rows))
    by_stratum = rows[shuffled[np.argsort(strata[shuffled], kind="stable")]]
    part = _spread(sizes, len(rows))
    return [rng.permutation(by_stratum[part == index]) for index in range(len(sizes))]


def _spread(sizes: Sequence[int], n_rows: int) -> Index:
    """Deal positions to parts so that every run of neighbours is shared out in proportion."""
    # Positions that no part takes are dealt like one more part.
    sizes = [*sizes, n_rows - sum(sizes)]
    place = np.concatenate([(np.arange(size) + 0.5) / max(size, 1) for size in sizes])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner[np.argsort(place, kind="stable")]
