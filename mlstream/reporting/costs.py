"""The cost of runs in time, energy and memory, by phase and averaged over seeds: tables, and accuracy against it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from mlstream.drawing.costs import CostPoint, cost_chart
from mlstream.drawing.plotly_parts import Chart
from mlstream.records.run_record import SELECTION, RunResult, total_cost
from mlstream.reporting.energy_parts import JOULES_OF_KWH, energy_shares, part_j
from mlstream.reporting.groups import Group
from mlstream.reporting.score_info import Heading, score_heading
from mlstream.reporting.tables import PARAMETERS, STRATEGY, UNDEFINED, Cell, Table, name_cells

Amount = Callable[[RunResult], float | None]

SCORE = "acc"
_PHASES = (SELECTION, "predict", "learn", "online", "evaluate")


def cost_table(groups: Sequence[Group]) -> Table:
    """Build the table of what the runs of one stream cost, a row per group."""
    names, runs = phase_names(groups), [run for group in groups for run in group.measured]
    columns: list[tuple[str, Amount, Callable[[float], str]]] = [
        ("Wall s, all", wall_time_s, format_seconds),
        *((f"Wall s, {name}", partial(wall_time_s, phase=name), format_seconds) for name in names),
        ("CPU s, all", cpu_time_s, format_seconds),
        ("Energy J, all", energy_j, format_energy),
        *((f"Energy J, {name}", partial(energy_j, phase=name), format_energy) for name in names),
        *((f"Energy J, {part}", partial(part_j, part=part), format_energy) for part in energy_shares(runs)),
        ("Memory growth", _memory_growth_bytes, format_bytes),
        ("Peak memory, process", _peak_memory_bytes, format_bytes),
        ("Model size", model_size_bytes, format_bytes),
    ]
    rows = [(*name_cells(group), *(cost_cell(group, amount, show) for _, amount, show in columns)) for group in groups]
    return Table((STRATEGY, PARAMETERS, *(Heading(title, "lower") for title, _, _ in columns)), tuple(rows))


class Cost(NamedTuple):
    """A cost that scores are drawn against: the title and unit of its axis, and how it is read from a run."""

    title: str
    unit: str
    amount: Amount


class CostPoints(NamedTuple):
    """The strategies of one stream, by one cost."""

    name: str  # A word for file names.
    title: str  # Title of an axis, with its unit.
    points: list[CostPoint]  # Strategies with a measured cost and score; at least one.


def cost_points(groups: Sequence[Group], score: str = SCORE) -> list[CostPoints]:
    """List a score against wall time and against energy; a cost that no run has measured is left out."""
    found = (CostPoints(name, cost_title(name, groups), _points(groups, score, COSTS[name].amount)) for name in COSTS)
    return [one for one in found if one.points]


def cost_title(cost: str, groups: Iterable[Group], n_streams: int = 1) -> str:
    """Return the title of an axis of costs: the unit, whether it is an estimate, and over how many streams."""
    is_estimate = cost == "energy" and any("≈" in energy_marks(group) for group in groups)
    total = f" of {n_streams} streams" if n_streams > 1 else ""
    return f"{COSTS[cost].title}{total}, {COSTS[cost].unit}{' (estimate)' if is_estimate else ''}"


def cost_charts(groups: Sequence[Group], costs: Collection[str] = ("time", "energy")) -> list[Chart]:
    """Draw ACC against wall time ("time") and energy ("energy"); a cost that no run has measured is left out."""
    title = score_heading(SCORE).title
    return [cost_chart(one.points, title, one.title) for one in cost_points(groups) if one.name in costs]


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
    return None if kwh is None else kwh * JOULES_OF_KWH


def energy_marks(group: Group) -> str:
    """Return the signs that qualify an energy: ≈ for an estimate, † for one below the meter's resolution."""
    resources = [run.resources for run in group.measured if run.resources is not None]
    estimate = "≈" if any(used.energy_is_estimate for used in resources) else ""
    return estimate + ("†" if any(used.energy_below_resolution for used in resources) else "")


COSTS = {"time": Cost("Wall time", "s", wall_time_s), "energy": Cost("Energy", "J", energy_j)}


def format_seconds(value: float) -> str:
    """Format seconds to three digits.

    >>> format_seconds(0.012345), format_seconds(12345.6)
    ('0.0123', '12,346')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def format_energy(value: float) -> str:
    """Format joules to three digits.

    >>> format_energy(4.2e-8 * 3.6e6), format_energy(1234.5)
    ('0.151', '1,234')
    """
    return format_seconds(value)


def format_bytes(value: float) -> str:
    """Format a size in B, kB, MB or GB.

    >>> format_bytes(12_600)
    '12.6 kB'
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


def _points(groups: Sequence[Group], metric: str, amount: Amount) -> list[CostPoint]:
    points = []
    for group in groups:
        cost, (score, deviation, _) = group.mean(amount).mean, group.score(metric)
        if cost is not None and score is not None:
            is_finished, is_uncertain = group.status == "done", "†" in energy_marks(group)
            points.append(CostPoint(group.label, group.style, cost, score, deviation, is_finished, is_uncertain))
    return points


def cost_cell(group: Group, amount: Amount, show: Callable[[float], str]) -> Cell:
    """Return the cell of a cost, its mean over seeds."""
    mean = group.mean(amount).mean
    if mean is None:
        return Cell(UNDEFINED, None)
    marks = energy_marks(group) if show is format_energy else ""
    return Cell(f"{show(mean)} {marks}".rstrip(), mean)


def _memory_growth_bytes(run: RunResult) -> float | None:
    """Return by how much the process grew from the learner's first call to its peak; None in records that lack it."""
    used = run.resources
    return max(used.peak_memory_bytes - used.memory_before_bytes, 0) if used and used.memory_before_bytes else None


def _peak_memory_bytes(run: RunResult) -> float | None:
    return run.resources.peak_memory_bytes if run.resources is not None else None


def model_size_bytes(run: RunResult) -> float | None:
    """Return the size of the model at the end; None where it was not measured."""
    return run.resources.model_size_bytes if run.resources is not None else None
