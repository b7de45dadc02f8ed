"""Tables of costs on one stream, and of one strategy over all streams, with the configurations tried for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from mlstream.analysis.costs import (
    Amount,
    cpu_time_s,
    energy_j,
    energy_marks,
    energy_shares,
    memory_growth_bytes,
    model_size_bytes,
    part_j,
    peak_memory_bytes,
    phase_names,
    wall_time_s,
)
from mlstream.analysis.groups import Group
from mlstream.analysis.score_info import Heading, score_heading
from mlstream.records.frugality import FRUGALITIES
from mlstream.records.run_result import RunResult
from mlstream.reporting.methods_text import same_scores_note
from mlstream.reporting.tables import PARAMETERS, STRATEGY, UNDEFINED, Cell, Table, format_score, name_cells

_SCORES = ("ba_macro", "acc", "bwt", "fwt", "fm", *FRUGALITIES)


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
        ("Memory growth", memory_growth_bytes, format_bytes),
        ("Peak memory, process", peak_memory_bytes, format_bytes),
        ("Model size", model_size_bytes, format_bytes),
    ]
    rows = [(*name_cells(group), *(_cost_cell(group, amount, show) for _, amount, show in columns)) for group in groups]
    return Table((STRATEGY, PARAMETERS, *(Heading(title, "lower") for title, _, _ in columns)), tuple(rows))


def strategy_table(streams: Mapping[str, Sequence[Group]], strategy: str) -> Table:
    """Build the table of one strategy: a row per stream, its mean scores, time, energy and size over repetitions."""
    heads = (Heading("Stream"), PARAMETERS, *map(score_heading, _SCORES))
    costs = (Heading("Wall s", "lower"), Heading("Energy J", "lower"), Heading("Model size", "lower"))
    found = [(stream, group) for stream, groups in streams.items() for group in groups if group.strategy == strategy]
    rows = [_row(stream, group) for stream, group in found]
    return Table((*heads, *costs), tuple(rows), same_scores_note([group for _, group in found]))


def trial_table(streams: Mapping[str, Sequence[Group]], strategy: str) -> Table | None:
    """Build the table of the configurations that were tried for one strategy; None where there was no search."""
    groups = [group for parts in streams.values() for group in parts if group.strategy == strategy]
    # A single configuration was taken without a trial.
    runs = [run for group in groups for run in group.runs if run.selection and len(run.selection.trials) > 1]
    if not runs:
        return None
    trials = [trial for run in runs if run.selection for trial in run.selection.trials]
    scores = ["ba_macro", *(["nce"] if any(trial.nce is not None for trial in trials) else [])]
    heads = (Heading("Stream"), Heading("Run"), Heading("Configuration"), Heading("Status"))
    rows = [row for run in runs for row in _trial_rows(run, scores)]
    return Table((*heads, *map(score_heading, scores), Heading("Wall s", "lower"), Heading("Chosen")), tuple(rows))


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


def _cost_cell(group: Group, amount: Amount, show: Callable[[float], str]) -> Cell:
    mean = group.mean(amount).mean
    if mean is None:
        return Cell(UNDEFINED, None)
    marks = energy_marks(group) if show is format_energy else ""
    return Cell(f"{show(mean)} {marks}".rstrip(), mean)


def _row(stream: str, group: Group) -> tuple[Cell, ...]:
    name = Cell(stream, stream, note="" if group.status == "done" else group.status)
    scores = [group.score(metric) for metric in _SCORES]
    return (
        name,
        Cell(group.tuning, group.tuning),
        *(Cell(format_score(one.mean, one.deviation), one.mean) for one in scores),
        _cost_cell(group, wall_time_s, format_seconds),
        _cost_cell(group, energy_j, format_energy),
        _cost_cell(group, model_size_bytes, format_bytes),
    )


def _trial_rows(run: RunResult, scores: Sequence[str]) -> list[tuple[Cell, ...]]:
    if run.selection is None:
        return []
    seeds = (("seed", run.seed), ("order", run.order_seed), ("split", run.split_seed))
    name = ", ".join(f"{what} {number}" for what, number in seeds if number is not None)
    rows: list[tuple[Cell, ...]] = []
    for place, trial in enumerate(run.selection.trials):
        shown = ", ".join(f"{key} = {value}" for key, value in sorted(trial.parameters.items())) or "defaults"
        is_chosen = place == run.selection.chosen
        rows.append(
            (
                Cell(run.stream, run.stream),
                Cell(name, name),
                Cell(shown, shown, is_best=is_chosen),
                Cell(trial.status, trial.status),
                *(Cell(format_score(getattr(trial, name)), getattr(trial, name)) for name in scores),
                Cell(format_seconds(trial.wall_time_s), trial.wall_time_s),
                Cell("chosen" if is_chosen else "", int(is_chosen)),
            )
        )
    return rows
