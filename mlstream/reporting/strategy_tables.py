"""One strategy over all streams: its scores and costs, and the configurations that were tried for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlstream.records.frugality import FRUGALITIES
from mlstream.records.run_record import RunResult
from mlstream.reporting.costs import (
    cost_cell,
    energy_j,
    format_bytes,
    format_energy,
    format_seconds,
    model_size_bytes,
    wall_time_s,
)
from mlstream.reporting.groups import Group
from mlstream.reporting.score_info import Heading, score_heading
from mlstream.reporting.tables import PARAMETERS, Cell, Table, format_score

_SCORES = ("ba_macro", "acc", "bwt", "fwt", "fm", *FRUGALITIES)


def strategy_table(streams: Mapping[str, Sequence[Group]], strategy: str) -> Table:
    """Build the table of one strategy: a row per stream, its mean scores, time, energy and size over repetitions."""
    heads = (Heading("Stream"), PARAMETERS, *map(score_heading, _SCORES))
    costs = (Heading("Wall s", "lower"), Heading("Energy J", "lower"), Heading("Model size", "lower"))
    rows = [_row(stream, group) for stream, groups in streams.items() for group in groups if group.strategy == strategy]
    return Table((*heads, *costs), tuple(rows))


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


def _row(stream: str, group: Group) -> tuple[Cell, ...]:
    name = Cell(stream, stream, note="" if group.status == "done" else group.status)
    scores = [group.score(metric) for metric in _SCORES]
    return (
        name,
        Cell(group.tuning, group.tuning),
        *(Cell(format_score(one.mean, one.deviation), one.mean) for one in scores),
        cost_cell(group, wall_time_s, format_seconds),
        cost_cell(group, energy_j, format_energy),
        cost_cell(group, model_size_bytes, format_bytes),
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
