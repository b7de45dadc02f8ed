"""Requirements of scenarios on the labels of tasks: the same, disjoint, or overlapping ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np

from mlstream.generators.schedule.partition import Partition, as_slice
from mlstream.streams.stream import Dataset, Task

LabelSpaces = Literal["any", "same", "disjoint", "overlapping"]


def fit_labels(table: Dataset, partition: Partition, spaces: LabelSpaces, scenario: str) -> Partition:
    """Give tasks the label spaces that a scenario requires, or raise ValueError if theirs do not fit.

    "same" is all labels of the table; every two "overlapping" spaces have labels in common without being equal. The
    rows stay.
    """
    if spaces == "same":
        everything = np.ones_like(partition.tasks[0].signature)
        return replace(partition, tasks=tuple(Task(task.name, everything) for task in partition.tasks))
    if spaces == "disjoint" and partition.hides_labels:
        twice = partition.signatures.sum(axis=0) > 1
        if twice.any():
            raise ValueError(
                f"{scenario}: no label must be in two lists. Got label {int(np.argmax(twice))} in more than one."
            )
    if spaces == "overlapping":
        _require_overlap(table, partition, scenario)
    return partition


def _require_overlap(table: Dataset, partition: Partition, scenario: str) -> None:
    spaces = [
        (table.Y[as_slice(rows)] == 1).any(axis=0) & labels
        for rows, labels in zip(partition.members, partition.signatures, strict=True)
    ]
    for (one, mine), (other, theirs) in combinations(enumerate(spaces), 2):
        fault = "the same labels" if (mine == theirs).all() else "no label in common"
        if (mine == theirs).all() or not (mine & theirs).any():
            raise ValueError(
                f"{scenario}: labels of tasks must overlap without being equal. Got {fault} in "
                f"{partition.tasks[one].name} and {partition.tasks[other].name}; use by='label-lists', which draws "
                f"such lists unless label_lists holds others."
            )
