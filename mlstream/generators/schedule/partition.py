"""Tasks and their rows: what every rule that finds tasks in a table gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mlstream.generators._randomness import Purpose, generator_for
from mlstream.streams.label_sets import count_labels, label_frequencies
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
