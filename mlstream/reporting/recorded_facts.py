"""Settings, seeds and meters of a campaign as its records hold them, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mlstream.records.run_result import RunResult
from mlstream.reporting.methods_text import by_value, distinct_seeds, seed_ways

_LABEL_SPACES = {"task": "those of the row's task", "seen": "those of all tasks seen so far", "all": "all"}

Facts = list[tuple[str, object]]


def recorded_facts(runs: Sequence[RunResult]) -> Facts:
    """List seeds, meters and settings; where runs differ, all values."""
    resources = [run.resources for run in runs if run.resources is not None]
    memory = {used.memory_method for used in resources}
    meters = {used.energy_method for used in resources}
    return [
        *_seed_facts(runs),
        (
            "Labels that count",
            _by_stream(by_value(runs, lambda run: _LABEL_SPACES[run.label_space], lambda run: run.stream)),
        ),
        ("Energy", ", ".join(sorted(meters))),
        ("Power read while idle, W", _range([used.energy_idle_w for used in resources])),
        ("CPU share of the meter itself", _range([used.energy_overhead_share for used in resources])),
        ("Memory", ", ".join(sorted(memory - {""}))),
        *agreed({name: str(value) for name, value in run.settings.items()} for run in runs),
    ]


def _seed_facts(runs: Sequence[RunResult]) -> Facts:
    of_learners = ("Seeds of learners", _seeds(run.seed for run in runs))
    if ways := seed_ways(runs):
        return [of_learners, ("Each seed also sets", _by_stream(ways))]
    of_orders = ("Seeds of orders of tasks", _seeds(run.order_seed for run in runs))
    return [of_learners, of_orders, ("Seeds of splits of rows", _seeds(run.split_seed for run in runs))]


def _by_stream(found: Mapping[str, Sequence[str]]) -> str:
    """Write a value; where streams differ, all values with the streams of each."""
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{value}: {', '.join(names)}" for value, names in sorted(found.items()))


def _seeds(seeds: Iterable[int | None]) -> str:
    return ", ".join(map(str, distinct_seeds(seeds)))


def _range(values: Iterable[float | None]) -> str:
    known = sorted({f"{value:.3g}" for value in values if value is not None}, key=float)
    return known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}" if known else ""


def agreed(parts: Iterable[Mapping[str, str]]) -> Facts:
    """Join the values of all runs under each name: one value where they agree."""
    joined: dict[str, dict[str, None]] = {}
    for part in parts:
        for name, value in part.items():
            joined.setdefault(name, {})[value] = None
    return [(name, ", ".join(values)) for name, values in joined.items()]
