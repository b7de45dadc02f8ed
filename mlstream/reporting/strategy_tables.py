"""One strategy over all streams: what it scored and cost, and which configurations were chosen for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlstream.records.run_record import RunResult
from mlstream.reporting.costs import energy_kwh, energy_marks, format_bytes, format_energy, format_seconds, wall_time_s
from mlstream.reporting.groups import Group
from mlstream.reporting.score_info import Heading, score_heading
from mlstream.reporting.tables import UNDEFINED, Cell, Table, format_score

_SCORES = ("ba_macro", "acc", "bwt", "fwt", "fm", "frug")


def strategy_table(streams: Mapping[str, Sequence[Group]], strategy: str) -> Table:
    """Build the table of one strategy: a row per stream, its main scores, time, energy and size.

    Parameters
    ----------
    streams : mapping
        Name of the stream -> its groups.
    strategy : str
        Its name.

    Returns
    -------
    Table
        Means over repetitions.
    """
    heads = (Heading("Stream"), *map(score_heading, _SCORES))
    costs = (Heading("Wall s", "lower"), Heading("Energy kWh", "lower"), Heading("Model size", "lower"))
    rows = [_row(stream, group) for stream, groups in streams.items() for group in groups if group.strategy == strategy]
    return Table((*heads, *costs), tuple(rows))


def trial_table(streams: Mapping[str, Sequence[Group]], strategy: str) -> Table | None:
    """Build the table of the configurations that were tried for one strategy; None where nothing was searched."""
    rows = [
        row
        for groups in streams.values()
        for group in groups
        if group.strategy == strategy
        for run in group.runs
        for row in _trial_rows(run)
    ]
    if not rows:
        return None
    heads = (Heading("Stream"), Heading("Run"), Heading("Configuration"), Heading("Status"))
    return Table((*heads, score_heading("ba_macro"), Heading("Wall s", "lower"), Heading("Chosen")), tuple(rows))


def _row(stream: str, group: Group) -> tuple[Cell, ...]:
    name = Cell(stream, stream, note="" if group.status == "done" else group.status)
    scores = [group.score(metric) for metric in _SCORES]
    marks = energy_marks(group)
    return (
        name,
        *(Cell(format_score(one.mean, one.deviation), one.mean) for one in scores),
        _cost(group, wall_time_s, format_seconds),
        _cost(group, energy_kwh, lambda value: f"{format_energy(value)} {marks}".rstrip()),
        _cost(group, _model_size_bytes, format_bytes),
    )


def _cost(group: Group, amount: Callable[[RunResult], float | None], show: Callable[[float], str]) -> Cell:
    mean = group.mean(amount).mean
    return Cell(UNDEFINED, None) if mean is None else Cell(show(mean), mean)


def _model_size_bytes(run: RunResult) -> float | None:
    return run.resources.model_size_bytes if run.resources is not None else None


def _trial_rows(run: RunResult) -> list[tuple[Cell, ...]]:
    # A single configuration is no choice, and was not tried.
    if run.selection is None or len(run.selection.trials) == 1:
        return []
    seeds = (("seed", run.seed), ("order", run.order_seed), ("split", run.split_seed))
    name = ", ".join(f"{what} {number}" for what, number in seeds if number is not None)
    rows: list[tuple[Cell, ...]] = []
    for place, trial in enumerate(run.selection.trials):
        said = ", ".join(f"{key} = {value}" for key, value in sorted(trial.parameters.items())) or "defaults"
        is_chosen = place == run.selection.chosen
        rows.append(
            (
                Cell(run.stream, run.stream),
                Cell(name, name),
                Cell(said, said, is_best=is_chosen),
                Cell(trial.status, trial.status),
                Cell(format_score(trial.ba_macro), trial.ba_macro),
                Cell(format_seconds(trial.wall_time_s), trial.wall_time_s),
                Cell("chosen" if is_chosen else "", int(is_chosen)),
            )
        )
    return rows
