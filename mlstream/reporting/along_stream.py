"""Tables of what happens along a stream: scores that depend on the order of the rows, learning speed, recovery."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from metrics import learning_speed, transition_time
from mlstream.analysis.groups import Group, score_names, spread
from mlstream.analysis.score_info import Heading
from mlstream.records.run_result import Curve, RunResult
from mlstream.reporting.tables import (
    PARAMETERS,
    STRATEGY,
    UNDEFINED,
    Cell,
    Table,
    format_score,
    name_cells,
    score_table,
)

ALONG_STREAM = (
    "ba_macro_anytime",
    "rmse_anytime",
    "precision_at_k_anytime",
    "kappa_temporal",
    "kappa_temporal_macro",
)
_REPEATING = "no_change_subset_accuracy"
_SCORE = "ba_macro"
_TARGETS = (0.6, 0.7, 0.8)

Floats = npt.NDArray[np.float64]
# Rows that were needed in each place where it could be read; infinite where the level was not reached.
Needed = list[float]


def final_table(groups: Sequence[Group]) -> Table:
    """Build the table of the scores of one stream that are not in `along_table`."""
    return score_table(
        groups, [name for name in score_names(groups) if _plain(name) not in (*ALONG_STREAM, _REPEATING)]
    )


def along_table(groups: Sequence[Group]) -> Table | None:
    """Build the table of the scores along one stream; None where no run has them, as runs of earlier versions."""
    names = [name for plain in ALONG_STREAM for name in score_names(groups) if _plain(name) == plain]
    return score_table(groups, names) if names else None


def _plain(name: str) -> str:
    """Return the name of a score without a rule of decisions."""
    return name.partition("[")[0]


def repeating_note(groups: Sequence[Group]) -> str:
    """Return a sentence about a learner that repeats the last labels, and the strategies that it beats.

    The sentence is empty where no run has its score.
    """
    score = spread(run.scores.get(_REPEATING) for group in groups for run in group.measured).mean
    if score is None:
        return ""
    gains = {group.strategy: group.score("kappa_temporal").mean for group in groups}
    beaten = [name for name, gain in gains.items() if gain is not None and gain < 0]
    note = f"A learner that repeats the last labels has subset accuracy {format_score(score)} on this stream"
    if not beaten:
        return f"{note}."
    n_compared = sum(gain is not None for gain in gains.values())
    return f"{note}, more than {len(beaten)} of {n_compared} strategies: {', '.join(beaten)}."


def speed_table(groups: Sequence[Group]) -> Table | None:
    """Build the table of learning speed and transition time on one stream; None where no run has a curve.

    Learning speed is the mean number of rows of a new task until windowed BA_macro reaches each target, transition time
    the mean number of rows after a boundary until it is back at the level before. Readings whose window still holds
    rows from before the boundary are left out, and so are experiences shorter than a window. A level counts as not
    reached unless it is reached before the experience ends.
    """
    measured = [group for group in groups if any(_SCORE in run.curves for run in group.measured)]
    if not measured:
        return None
    reads: list[Callable[[RunResult], Needed]] = [*(partial(_rows_to, target) for target in _TARGETS), _rows_back]
    heads = [Heading(f"Rows to {target:g}", "lower") for target in _TARGETS]
    rows = [
        (*name_cells(group), *(_cell([needed for run in group.measured for needed in read(run)]) for read in reads))
        for group in measured
    ]
    return Table((STRATEGY, PARAMETERS, *heads, Heading("Transition rows", "lower")), tuple(rows))


def _rows_to(target: float, run: RunResult) -> Needed:
    curve, known = run.curves.get(_SCORE), set[int]()
    if curve is None:
        return []
    needed = []
    for (start, stop), tasks in zip(_experiences(run), run.order, strict=True):
        is_new = not known.issuperset(tasks)
        known.update(tasks)
        seen, scores = _cut(curve, start, stop)
        if is_new and seen.size and seen[-1] - start >= curve.window:
            needed.append(learning_speed(seen - start, scores, target, warm_up=curve.window).instances)
    return needed


def _rows_back(run: RunResult) -> Needed:
    curve = run.curves.get(_SCORE)
    if curve is None:
        return []
    needed = []
    for start, stop in list(_experiences(run))[1:]:
        seen, scores = _cut(curve, 0, stop)
        has_level = (~np.isnan(scores[seen <= start])).any()
        if has_level and seen[-1] - start >= curve.window:
            needed.append(transition_time(seen, scores, start, warm_up=curve.window))
    return needed


def _experiences(run: RunResult) -> Iterator[tuple[int, int]]:
    return pairwise(np.cumsum([0, *run.experience_sizes]).tolist())


def _cut(curve: Curve, start: int, stop: int) -> tuple[Floats, Floats]:
    """Return the readings after `start` and up to `stop`."""
    seen, scores = np.asarray(curve.n_rows, dtype=np.float64), np.asarray(curve.windowed, dtype=np.float64)
    inside = (seen > start) & (seen <= stop)
    return seen[inside], scores[inside]


def _cell(needed: Needed) -> Cell:
    reached = [rows for rows in needed if math.isfinite(rows)]
    if not needed:
        return Cell(UNDEFINED, None, note="No experience is longer than the window of the curve.")
    places = f"{len(reached)} of {len(needed)}"
    if not reached:
        return Cell(f"not reached ({places})", None)
    mean = float(np.mean(reached))
    return Cell(f"{mean:,.0f} ({places})", mean)
