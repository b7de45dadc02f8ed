"""The matrix R of a strategy, averaged over seeds, and its charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mlstream.drawing.plotly_parts import Chart, rounded
from mlstream.drawing.transfer import (
    Limits,
    Transfer,
    common_limits,
    make_transfer,
    transfer_heat_chart,
    transfer_lines_chart,
)
from mlstream.reporting.groups import Group, mean_scores, same_as_first, spread
from mlstream.reporting.score_info import score_heading
from mlstream.reporting.tables import format_score


def transfer(group: Group, name: str) -> Transfer | None:
    """Average R of one metric over the seeds that visit the tasks in one order; None where no run has that matrix."""
    runs = [run for run in group.measured if run.R.get(name)]
    if not runs:
        return None
    same = same_as_first(runs, lambda run: (run.order, len(run.R[name])))
    R = measured_rows(mean_scores([run.R[name] for run in same]))
    return make_transfer(score_heading(name).title, R, runs[0].order, runs[0].task_names)


def score_limits(groups: Sequence[Group], name: str) -> Limits:
    """Find one scale for all strategies of a stream."""
    return common_limits([one for group in groups if (one := transfer(group, name)) is not None])


def transfer_charts(strategy: str, found: Mapping[str, Transfer], limits: Mapping[str, Limits]) -> list[Chart]:
    """Draw R as a heat map and as lines, with a view per metric; no chart where there is no matrix."""
    if not found:
        return []
    heat = [(one, limits[name], _heat_summary(one)) for name, one in found.items()]
    lines = [(one, limits[name], _lines_summary(one)) for name, one in found.items()]
    return [
        transfer_heat_chart(f"{strategy}: matrix R", heat),
        transfer_lines_chart(f"{strategy}: score on each task", lines),
    ]


def measured_rows(R: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Drop the last rows if nothing is in them: a capped run stopped before it came to them."""
    rows = np.flatnonzero(~np.isnan(R).all(axis=1))
    return R[: rows[-1] + 1] if rows.size else R[:1]


def _heat_summary(one: Transfer) -> str:
    means = [format_score(spread(rounded(row)).mean) for row in one.R]
    later = f", {means[-1]} after experience {len(means) - 1}" if len(means) > 1 else ""
    return f"Mean {one.title} over all tasks: {means[0]} before learning{later}."


def _lines_summary(one: Transfer) -> str:
    final = ", ".join(f"{task} {format_score(score)}" for task, score in zip(one.tasks, one.R[-1], strict=True))
    return f"{one.title} after experience {len(one.R) - 1}: {final}."
