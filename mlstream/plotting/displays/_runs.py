"""Runs as displays take them: one, a list, or results by names of the user's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mlstream.analysis.groups import Group, group_runs
from mlstream.records.run_record import RunResult

Runs = RunResult | Sequence[RunResult] | Mapping[str, RunResult]


def group_named(runs: Runs) -> dict[str, list[Group]]:
    """Group runs by stream and strategy; those of a mapping go under its names.

    A ValueError is raised if two runs have the same strategy, stream and seeds: they are not repetitions to average.
    """
    if isinstance(runs, RunResult):
        return group_runs([runs])
    if isinstance(runs, Mapping):
        return group_runs([run.model_copy(update={"strategy": name}) for name, run in runs.items()])
    same = Counter((run.strategy, run.stream, run.seed, run.order_seed, run.split_seed) for run in runs)
    for (strategy, stream, seed, *_), count in same.items():
        if count > 1:
            raise ValueError(
                f"Runs of one strategy on one stream must differ in their seeds. To compare estimators of one class, "
                f"pass a mapping: {{'name': result, ...}}. Got {count} runs of {strategy} on {stream} with seed {seed}."
            )
    return group_runs(runs)
