"""The matrix of scores R and the order of tasks, checked once."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._means import nan_mean
from metrics._typing import Floats
from metrics.validation import as_numbers, require_choice

Undefined: TypeAlias = Literal["raise", "skip"]


class History(NamedTuple):
    """Scores of every task after every experience, and the visits of each task.

    `visits[s, j]` says whether experience s (from 1; row 0 is never visited) holds task j; `seen[s, j]` whether any
    experience up to s does. `first` and `last` are the experiences of a task's first and last visit, 0 for never.
    `undefined` says what NaN in a cell that is used does: it is an error, or left out of means.
    """

    R: Floats
    visits: NDArray[np.bool_]
    seen: NDArray[np.bool_]
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    undefined: Undefined

    @property
    def trained(self) -> NDArray[np.intp]:
        """Tasks that some experience holds."""
        return np.flatnonzero(self.first)

    def cells(self, rows: ArrayLike, tasks: ArrayLike) -> Floats:
        """Return scores; raise if one of them is infinite, or NaN unless that is left out."""
        rows, tasks = np.broadcast_arrays(np.asarray(rows) % len(self.R), tasks)
        values: Floats = self.R[rows, tasks]
        missing = self.missing(values)
        if missing.any():
            cell = tuple(int(index[missing][0]) for index in (rows, tasks))
            raise ValueError(f"R must be finite in every cell that is used. Got {self.R[cell]} in R{[*cell]} instead.")
        return values

    def missing(self, values: Floats) -> NDArray[np.bool_]:
        """Return which values are an error."""
        return np.isinf(values) if self.undefined == "skip" else ~np.isfinite(values)


def read_history(R: ArrayLike, order: ArrayLike | None, undefined: Undefined, *, needs_start: bool = False) -> History:
    """Check shapes and task numbers, and find the visits of each task; row 0 may be left out unless it is needed."""
    require_choice(undefined, "undefined", ("raise", "skip"))
    scores = _check_scores(R)
    present = np.arange(scores.shape[1]) if order is None else _check_order(order)
    n_experiences = len(present)
    if len(scores) == n_experiences and not needs_start:
        scores = np.vstack([np.full(scores.shape[1], np.nan), scores])
    if order is None and len(scores) not in (n_experiences, n_experiences + 1):
        raise ValueError(
            f"order must be given unless R has row 0 and one row for each of its {n_experiences} tasks. "
            f"Got {len(scores)} rows instead."
        )
    if len(scores) != n_experiences + 1:
        raise ValueError(
            f"R must have n_experiences + 1 = {n_experiences + 1} rows, row 0 measured before any learning. "
            f"Got {len(scores)} rows instead."
        )
    visits = _visits(present, scores.shape)
    experiences = np.arange(n_experiences + 1)[:, None] * visits
    return History(
        R=scores,
        visits=visits,
        seen=np.logical_or.accumulate(visits, axis=0),
        first=visits.argmax(axis=0),
        last=experiences.max(axis=0),
        undefined=undefined,
    )


def _check_scores(R: ArrayLike) -> Floats:
    scores = as_numbers(R)
    if scores.dtype.kind not in "iuf" or scores.ndim != 2 or scores.size == 0:
        raise ValueError(
            f"R must be a non-empty numeric array of shape (n_experiences + 1, n_tasks). "
            f"Got dtype {scores.dtype} and shape {scores.shape} instead."
        )
    return scores.astype(np.float64)


def _check_order(order: ArrayLike) -> NDArray[np.integer | np.bool_]:
    present = as_numbers(order)
    valid = (present.ndim == 1 and present.dtype.kind in "iu") or (present.ndim == 2 and present.dtype.kind == "b")
    if not valid or present.size == 0:
        raise ValueError(
            f"order must be the task numbers of the experiences, or a boolean array (n_experiences, n_tasks), and not "
            f"empty. Got dtype {present.dtype} and shape {present.shape} instead."
        )
    return present


def _visits(present: NDArray[np.integer | np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    n_tasks = shape[1]
    visits = np.zeros(shape, dtype=bool)
    if present.ndim == 1:
        foreign = (present < 0) | (present >= n_tasks)
        if foreign.any():
            raise ValueError(
                f"order must name tasks 0 to {n_tasks - 1}, the columns of R. Got {present[foreign][0]} instead."
            )
        visits[np.arange(1, len(visits)), present] = True
    else:
        if present.shape[1] != n_tasks:
            raise ValueError(f"order must have one column per task of R, {n_tasks}. Got {present.shape[1]} instead.")
        visits[1:] = present
    if not visits[1:].any(axis=1).all():
        empty = int(np.flatnonzero(~visits[1:].any(axis=1))[0])
        raise ValueError(
            f"order must name at least one task per experience. Got no task for experience {empty + 1} instead."
        )
    return visits


def left_behind(history: History) -> NDArray[np.intp]:
    """Return the tasks that were trained, but not in the last experience."""
    return np.flatnonzero(history.seen[-1] & ~history.visits[-1])


def mean_over_tasks(values: Floats) -> float:
    """Average the defined values; NaN over no task."""
    return float(nan_mean(values))


def check_reference_scores(reference_scores: ArrayLike | None, history: History, tasks: NDArray[np.intp]) -> Floats:
    """Return the reference scores of `tasks`; those of other tasks may be missing."""
    scores = as_numbers(reference_scores)
    n_tasks = history.R.shape[1]
    if scores.dtype.kind not in "iuf" or scores.shape != (n_tasks,):
        raise ValueError(
            f"reference_scores must be {n_tasks} numbers, one per task. "
            f"Got dtype {scores.dtype} and shape {scores.shape} instead."
        )
    used = scores[tasks].astype(np.float64)
    missing = history.missing(used)
    if missing.any():
        task = int(tasks[missing][0])
        raise ValueError(
            f"reference_scores must be finite where they are used. Got {scores[task]} for task {task} instead."
        )
    return used
