"""Whether the inputs of tasks come from different distributions."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.generators.schedule.partition import Partition
from mlstream.streams.stream import Dataset

Values = npt.NDArray[np.floating]

_LEVEL = 0.05
_FEW = 50
# Rows of a task that are compared, evenly spaced: more would find differences that matter to no learner.
_MAX_ROWS = 2000


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
            column = _column(X, feature)
            least = min(least, _compare(column[rows[one]], column[rows[other]]))
            if least <= level:
                break
        else:
            raise ValueError(
                f"{scenario}: features must differ in distribution between tasks. Got {partition.tasks[one].name} and "
                f"{partition.tasks[other].name} with a least p-value of {least:.2g} (Kolmogorov-Smirnov; {level:.2g} "
                f"after Holm's correction); use another rule (by) or column, or the scenario 'instance-incremental'."
            )


def _compare(one: Values, other: Values) -> float:
    """Return the p-value; the exact one, which takes longer for many rows, where the limit does not hold yet."""
    # An import of half a second, which no other scenario needs.
    from scipy.stats import ks_2samp

    method: Literal["exact", "asymp"] = "exact" if min(len(one), len(other)) < _FEW else "asymp"
    return float(ks_2samp(one, other, method=method).pvalue)


def _column(X: Values | sparse.csc_array, feature: int) -> Values:
    column = X[:, [feature]]
    return np.asarray(column.toarray() if sparse.issparse(column) else column).ravel()
