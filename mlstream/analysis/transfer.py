"""The matrix R of a strategy, averaged over seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mlstream.analysis.groups import Group, mean_scores, same_as_first
from mlstream.analysis.score_info import score_heading
from mlstream.plotting.transfer import Limits, Transfer, common_limits


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


def measured_rows(R: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Drop the last rows if nothing is in them: a capped run stopped before it came to them."""
    rows = np.flatnonzero(~np.isnan(R).all(axis=1))
    return R[: rows[-1] + 1] if rows.size else R[:1]
