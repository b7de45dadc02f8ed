"""Requirements of scenarios on tasks: the same, disjoint or overlapping labels, and inputs that differ."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.generators.schedule.partition import Partition, as_slice
from mlstream.streams.stream import Dataset, Task

LabelSpaces = Literal["any", "same", "disjoint", "overlapping"]
Values = npt.NDArray[np.floating]

_LEVEL = 0.05
_FEW = 50
# Rows of a task that are compared, evenly spaced: more would find differences that matter to no learner.
_MAX_ROWS = 2000


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


def require_domain_shift(table: Dataset, partition: Partition, scenario: str) -> None:
    """Raise ValueError if two tasks have inputs of the same distribution, as far as a test can see.

    Every feature of every two tasks is compared by the two-sample test of Kolmogorov and Smirnov, on 2,000 rows of each
    task at most. Inputs differ if the least p-value of the two tasks is significant at the level 0.05 after Holm's
    correction for all these tests, the first step of which divides the level by their number.
    """
    X = table.X.tocsc() if sparse.issparse(table.X) else table.X
    members = partition.members
    rows = [own[np.linspace(0, len(own) - 1, min(len(own), _MAX_ROWS)).astype(np.int64)] for own in members]
    level = _LEVEL / max(1, comb(len(rows), 2) * X.shape[1])
    for one, other in combinations(range(len(rows)), 2):
        # Where means differ most, a difference is found first.
        features = np.argsort(-np.abs(partition.profiles[one] - partition.profiles[other]), kind="stable")
        least = 1.0
        for feature in features.tolist():
            column = X[:, [feature]]
            column = np.asarray(column.toarray() if sparse.issparse(column) else column).ravel()
            least = min(least, _compare(column[rows[one]], column[rows[other]]))
            if least <= level:
                break
        else:
            raise ValueError(
                f"{scenario}: features must differ in distribution between tasks. Got {partition.tasks[one].name} and "
                f"{partition.tasks[other].name} with a least p-value of {least:.2g} (Kolmogorov-Smirnov; {level:.2g} "
                f"after Holm's correction); use another rule (by) or column, or the scenario 'online', which takes the "
                f"same rules whatever the features."
            )


def _compare(one: Values, other: Values) -> float:
    """Return the p-value; the exact one, which takes longer for many rows, where the limit does not hold yet."""
    # An import of half a second, which no other scenario needs.
    from scipy.stats import ks_2samp

    method: Literal["exact", "asymp"] = "exact" if min(len(one), len(other)) < _FEW else "asymp"
    return float(ks_2samp(one, other, method=method).pvalue)
