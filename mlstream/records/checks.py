"""Consistency of the fields of a record: a file that fits the schema may still not be the record of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mlstream.records.run_result import Curve, RunResult

# Sums of numbers up to this one stay finite, and it is beyond anything that a run measures or counts.
_MAX_NUMBER = 10**15
# These are copied from the user: they may be of any size.
_GIVEN = {"parameters", "settings"}


def require_consistent(run: RunResult) -> None:
    """Raise a ValueError if the fields of a record that fits the schema contradict each other.

    That is: a task, experience or trial is unknown, lists that belong together have different lengths, or a number is
    not finite or beyond 10 ** 15.
    """
    for name, value in _numbers(run.model_dump(), "", _MAX_NUMBER):
        _require(False, name, f"be a finite number of at most {_MAX_NUMBER:.0e}", value)
    _require_schedule(run)
    for name, R in run.R.items():
        _require_shape(R, f"R.{name}", len(run.order) + 1, len(run.task_names))
    for name, curve in run.curves.items():
        _require_curve(curve, f"curves.{name}", sum(run.experience_sizes))
    if run.references is not None:
        for name, scores in run.references:
            _require_length(scores, f"references.{name}", len(run.task_names), "task")
    if run.selection is not None:
        last = len(run.selection.trials) - 1
        _require(run.selection.chosen <= last, "selection.chosen", f"be at most {last}", run.selection.chosen)


def _require_schedule(run: RunResult) -> None:
    n_tasks = len(run.task_names)
    _require(n_tasks > 0, "task_names", "name a task", run.task_names)
    _require(len(run.order) > 0, "order", "hold an experience", run.order)
    _require_length(run.experience_sizes, "experience_sizes", len(run.order), "experience")
    for size in run.experience_sizes:
        _require(size > 0, "experience_sizes", "be positive", size)
    for tasks in run.order:
        for task in tasks:
            _require(0 <= task < n_tasks, "order", f"hold tasks from 0 to {n_tasks - 1}", task)


def _require_shape(R: Sequence[Sequence[object]], name: str, n_rows: int, n_tasks: int) -> None:
    widths = {len(row) for row in R} or {0}
    got = f"{len(R)} rows of {' or '.join(map(str, sorted(widths)))} scores"
    rule = f"have {n_rows} rows of {n_tasks} scores: experiences + 1, and tasks"
    _require(len(R) == n_rows and widths == {n_tasks}, name, rule, got)


def _require_curve(curve: Curve, name: str, n_rows: int) -> None:
    for part in ("cumulative", "windowed"):
        _require_length(getattr(curve, part), f"{name}.{part}", len(curve.n_rows), "checkpoint")
    for before, after in pairwise([0, *curve.n_rows]):
        _require(before < after <= n_rows, f"{name}.n_rows", f"increase from 1 to at most {n_rows}", after)


def _require_length(values: Sequence[object], name: str, length: int, what: str) -> None:
    _require(len(values) == length, name, f"have a value for each {what}, {length} in all", f"{len(values)} values")


def _require(holds: bool, name: str, rule: str, value: object) -> None:
    if not holds:
        raise ValueError(f"{name} must {rule}. Got {value} instead.")


def _numbers(value: object, name: str, limit: float) -> Iterator[tuple[str, float]]:
    """List the numbers that are not finite or beyond the limit, each with the field that holds it."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _numbers(one, f"{name}.{key}" if name else key, sys.float_info.max if key in _GIVEN else limit)
    elif isinstance(value, list):
        for one in value:
            yield from _numbers(one, name, limit)
    # Of NaN, every comparison is false.
    elif isinstance(value, int | float) and not abs(value) <= limit:
        yield name, value
