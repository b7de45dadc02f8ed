"""The cost of runs in time, energy and memory, by phase and by part of the machine, and scores against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from mlstream.analysis.groups import Group
from mlstream.records.run_result import SELECTION, RunResult, total_cost

Amount = Callable[[RunResult], float | None]

SCORE = "acc"
_JOULES_OF_KWH = 3.6e6
# Part of the machine -> field of `PhaseResources`.
_PARTS = {"processor": "energy_cpu_kwh", "memory": "energy_ram_kwh", "GPU": "energy_gpu_kwh"}
_PHASES = (SELECTION, "predict", "learn", "online", "evaluate")


class Cost(NamedTuple):
    """A cost that scores are drawn against: the title and unit of its axis, and how it is read from a run."""

    title: str
    unit: str
    amount: Amount


class CostPoint(NamedTuple):
    """The mean cost and score of a strategy over runs."""

    name: str
    style: int  # place of the strategy in the campaign
    cost: float
    score: float
    deviation: float | None  # of the score
    is_finished: bool  # a capped run did less than the others, for less, and does not compete
    is_uncertain: bool  # the cost lies below what the meter resolves


class CostPoints(NamedTuple):
    """The strategies of one stream, by one cost."""

    name: str  # A word for file names.
    title: str  # Title of an axis, with its unit.
    points: list[CostPoint]  # Strategies with a measured cost and score; at least one.


def cost_points(groups: Sequence[Group], score: str = SCORE) -> list[CostPoints]:
    """List a score against wall time and against energy; a cost that no run has measured is left out."""
    found = (CostPoints(name, cost_title(name, groups), _points(groups, score, COSTS[name].amount)) for name in COSTS)
    return [charted for charted in found if charted.points]


def cost_title(cost: str, groups: Iterable[Group], n_streams: int = 1) -> str:
    """Return the title of an axis of costs: the unit, whether it is an estimate, and over how many streams."""
    is_estimate = cost == "energy" and any("≈" in energy_marks(group) for group in groups)
    total = f" of {n_streams} streams" if n_streams > 1 else ""
    return f"{COSTS[cost].title}{total}, {COSTS[cost].unit}{' (estimate)' if is_estimate else ''}"


def phase_names(groups: Iterable[Group]) -> list[str]:
    """List the phases that some run has, in the order in which they come."""
    resources = [run.resources for group in groups for run in group.measured if run.resources is not None]
    found = dict.fromkeys(phase for used in resources for phase in used.phases)
    return [phase for phase in _PHASES if phase in found] + [phase for phase in found if phase not in _PHASES]


def wall_time_s(run: RunResult, phase: str | None = None) -> float | None:
    """Return the wall seconds of one phase, or of the stream; None where they were not measured."""
    return total_cost(run, "wall_time_s", phase)


def cpu_time_s(run: RunResult) -> float | None:
    """Return the CPU seconds of the stream; None where they were not measured."""
    return total_cost(run, "cpu_time_s")


def energy_kwh(run: RunResult, phase: str | None = None) -> float | None:
    """Return the energy of one phase, or of the stream; None where any part of it was not measured."""
    return total_cost(run, "energy_kwh", phase)


def energy_j(run: RunResult, phase: str | None = None) -> float | None:
    """Return the energy of one phase, or of the stream, in joules: most runs are far below a kWh."""
    kwh = energy_kwh(run, phase)
    return None if kwh is None else kwh * _JOULES_OF_KWH


def part_j(run: RunResult, part: str) -> float | None:
    """Return the energy of processor, memory or GPU in joules; None where the record does not hold it."""
    kwh = total_cost(run, _PARTS[part])
    return None if kwh is None else kwh * _JOULES_OF_KWH


def energy_shares(runs: Sequence[RunResult]) -> dict[str, float]:
    """Return the share of each part of the machine in the energy of all runs that record it by parts.

    Parts that used nothing are left out; the result is empty if fewer than two parts remain.
    """
    joules = {part: sum(part_j(run, part) or 0.0 for run in runs) for part in _PARTS}
    known = {part: used / sum(joules.values()) for part, used in joules.items() if used}
    return known if len(known) > 1 else {}


def energy_marks(group: Group) -> str:
    """Return the signs that qualify an energy: ≈ for an estimate, † for one below the meter's resolution."""
    resources = [run.resources for run in group.measured if run.resources is not None]
    estimate = "≈" if any(used.energy_is_estimate for used in resources) else ""
    return estimate + ("†" if any(used.energy_below_resolution for used in resources) else "")


def memory_growth_bytes(run: RunResult) -> float | None:
    """Return by how much the process grew from the learner's first call to its peak; None in records that lack it."""
    used = run.resources
    return max(used.peak_memory_bytes - used.memory_before_bytes, 0) if used and used.memory_before_bytes else None


def peak_memory_bytes(run: RunResult) -> float | None:
    """Return the largest memory of the process; None where it was not measured."""
    return run.resources.peak_memory_bytes if run.resources is not None else None


def model_size_bytes(run: RunResult) -> float | None:
    """Return the size of the model at the end; None where it was not measured."""
    return run.resources.model_size_bytes if run.resources is not None else None


COSTS = {"time": Cost("Wall time", "s", wall_time_s), "energy": Cost("Energy", "J", energy_j)}


def _points(groups: Sequence[Group], metric: str, amount: Amount) -> list[CostPoint]:
    points = []
    for group in groups:
        cost, (score, deviation, _) = group.mean(amount).mean, group.score(metric)
        if cost is not None and score is not None:
            is_finished, is_uncertain = group.status == "done", "†" in energy_marks(group)
            points.append(CostPoint(group.label, group.style, cost, score, deviation, is_finished, is_uncertain))
    return points
