"""Records of runs as columns and as pages: the scores of one run over tasks, and many runs, a row each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlstream import _html

if TYPE_CHECKING:
    from mlstream.records.run_record import RunResult

# Choosing hyper-parameters comes before the stream: its cost belongs to no total.
SELECTION = "select"
_IDENTITY = ("stream", "strategy", "seed", "order_seed", "split_seed", "status")


def score_columns(run: RunResult) -> dict[str, list[Any]]:
    """Return the matrices R of a run as columns, a row for each experience and task; row 0 is before any learning."""
    places = [(after, task) for after in range(len(run.order) + 1) for task in range(len(run.task_names))]
    columns: dict[str, list[Any]] = {
        "experience": [after for after, _ in places],
        "task": [run.task_names[task] for _, task in places],
    }
    return columns | {
        metric: [_number(R[after][task]) if after < len(R) else math.nan for after, task in places]
        for metric, R in run.R.items()
    }


def run_columns(runs: Sequence[RunResult]) -> dict[str, list[Any]]:
    """Return runs as columns: what they are, all scores that one of them has, and the cost of the stream."""
    columns: dict[str, list[Any]] = {name: [getattr(run, name) for run in runs] for name in _IDENTITY}
    scores = dict.fromkeys(name for run in runs for name in run.scores)
    columns |= {name: [_number(run.scores.get(name)) for run in runs] for name in scores}
    for name in ("wall_time_s", "cpu_time_s", "energy_kwh"):
        columns[name] = [_number(total_cost(run, name)) for run in runs]
    for name in ("peak_memory_bytes", "model_size_bytes"):
        columns[name] = [_number(getattr(run.resources, name, None)) for run in runs]
    return columns


def run_html(run: RunResult) -> str:
    """Write a run in short as HTML: what it is, its scores, and when the tasks came."""
    wall_time = total_cost(run, "wall_time_s")
    facts = {
        "Stream": run.stream,
        "Learner": run.estimator,
        "Seed": run.seed,
        "Seed of the order": run.order_seed,
        "Seed of the split": run.split_seed,
        "Status": run.status,
        "Error": (run.error or "").strip().rpartition("\n")[2],
        "Labels that count": run.label_space_rule,
        "Wall time": "" if wall_time is None else f"{wall_time:.3g} s",
    }
    scores = [
        (name, run.undefined.get(name, "not defined") if value is None else f"{value:.4g}")
        for name, value in run.scores.items()
    ]
    parts = [_html.table(("Score", "Value"), scores)] if scores else []
    schedule = _html.schedule(run.task_names, run.experience_sizes, run.order)
    return _html.summary(f"Run of {run.strategy}", facts, *parts, schedule)


def total_cost(run: RunResult, what: str, phase: str | None = None) -> float | None:
    """Return a cost of one phase, or of all but the search of parameters; None if any part of it was not measured.

    `what` is a field of `PhaseResources` that adds up over phases, such as wall_time_s.
    """
    phases = run.resources.phases if run.resources is not None else {}
    parts = [getattr(used, what) for name, used in phases.items() if (name == phase if phase else name != SELECTION)]
    return sum(parts) if parts and None not in parts else None


def _number(value: float | None) -> float:
    return math.nan if value is None else value
