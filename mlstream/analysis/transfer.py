"""The matrix R of a strategy, averaged over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.analysis.groups import Group, mean_scores, same_as_first
from mlstream.analysis.score_info import score_heading

Limits = tuple[float, float]


class Transfer(NamedTuple):
    """R of the metric `title`."""

    title: str
    # (n_experiences + 1, n_tasks), fewer rows if the run was stopped; NaN where a score is not defined.
    R: npt.NDArray[np.float64]
    order: Sequence[Sequence[int]]  # tasks of each experience
    task_names: Sequence[str]

    @property
    def visits(self) -> list[tuple[int, int]]:
        """Cells (row, column) of the tasks that were just learnt."""
        return [(step, task) for step, now in enumerate(self.order[: len(self.R) - 1], 1) for task in now]


def transfer(group: Group, name: str) -> Transfer | None:
    """Average R of one metric over the seeds that visit the tasks in one order; None where no run has that matrix."""
    runs = [run for run in group.measured if run.R.get(name)]
    if not runs:
        return None
    same = same_as_first(runs, lambda run: (run.order, len(run.R[name])))
    R = measured_rows(mean_scores([run.R[name] for run in same]))
    return Transfer(score_heading(name).title, R, runs[0].order, runs[0].task_names)


def score_limits(groups: Sequence[Group], name: str) -> Limits:
    """Find one scale for all strategies of a stream."""
    return common_limits([one for group in groups if (one := transfer(group, name)) is not None])


def common_limits(matrices: Iterable[Transfer]) -> Limits:
    """Find one scale for several matrices: their least and greatest score, rounded outwards to 0.05."""
    known = np.concatenate([np.empty(0), *(one.R[~np.isnan(one.R)] for one in matrices)])
    if not known.size:
        return 0.0, 1.0
    low, high = np.floor(known.min() * 20) / 20, np.ceil(known.max() * 20) / 20
    return float(low), float(max(high, low + 0.05))


def measured_rows(R: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Drop the last rows if nothing is in them: a capped run stopped before it came to them."""
    rows = np.flatnonzero(~np.isnan(R).all(axis=1))
    return R[: rows[-1] + 1] if rows.size else R[:1]
