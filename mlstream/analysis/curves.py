"""Prequential scores along a stream, averaged over the runs on one schedule."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.analysis.groups import Group, layout, mean_scores, same_as_first
from mlstream.analysis.score_info import score_heading
from mlstream.records.run_result import RunResult

Kind = Literal["windowed", "cumulative"]


class ScoreCurve(NamedTuple):
    """Scores of one strategy at checkpoints: rows seen, and the score there, NaN where it is not defined."""

    name: str
    style: int  # place of the strategy in the campaign
    n_rows: Sequence[int]
    scores: npt.NDArray[np.float64]


class Experiences(NamedTuple):
    """The experiences of a stream: their sizes, the tasks that each holds, and the names of all tasks."""

    sizes: Sequence[int]
    order: Sequence[Sequence[int]]
    task_names: Sequence[str]

    @property
    def ends(self) -> list[int]:
        """Rows seen when each experience ends."""
        return list(accumulate(self.sizes))


class StreamCurves(NamedTuple):
    """One score of all strategies of a stream, a curve each."""

    title: str
    curves: list[ScoreCurve]
    experiences: Experiences  # Of the first run with a curve of this score.


def stream_curves(groups: Sequence[Group], name: str, kind: Kind) -> StreamCurves | None:
    """Average one score of each strategy over its runs on the schedule of the first; None where no run has a curve."""
    reference = reference_run(groups, name)
    if reference is None:
        return None
    curves = _curves(groups, reference, name, kind)
    rows = "sliding window" if kind == "windowed" else "all rows so far"
    experiences = Experiences(reference.experience_sizes, reference.order, reference.task_names)
    return StreamCurves(f"{score_heading(name).title}, {rows}", curves, experiences)


def reference_run(groups: Sequence[Group], name: str = "") -> RunResult | None:
    """Find the run whose schedule counts: the first with a curve of that score, or of any."""
    runs = (run for group in groups for run in group.measured)
    return next((run for run in runs if (name in run.curves if name else run.curves)), None)


def _curves(groups: Sequence[Group], reference: RunResult, name: str, kind: Kind) -> list[ScoreCurve]:
    curves = []
    for group in groups:
        runs = [run for run in group.measured if name in run.curves and layout(run) == layout(reference)]
        if runs:
            same = same_as_first(runs, lambda run: run.curves[name].n_rows)
            scores = mean_scores([getattr(run.curves[name], kind) for run in same])
            curves.append(ScoreCurve(group.label, group.style, runs[0].curves[name].n_rows, scores))
    return curves
