"""Mean ranks of the strategies of a campaign folder: on the streams StreamRidge was designed on, and on the others.

    mlstream run benchmarks/reproduction/corrected_table.toml
    python -m benchmarks.reproduction.ranks corrected-table

Runs of several seeds are averaged first. A stream counts once every strategy has run on it, for a score that is defined
on it for all.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean

import numpy as np

from metrics import average_ranks
from mlstream.protocol.results import RunResult, load_runs

# StreamRidge was chosen on these (and on tables that are no streams of the protocol); the others confirm it, once.
DESIGNED_ON = ("synthetic-bilab", "synthetic-rand", "yeast-tasks", "slashdot-tasks")

SCORES: dict[str, tuple[Callable[[RunResult], float], bool]] = {
    "BA": (lambda run: _number(run.scores["ba_macro"]), True),
    "ACC": (lambda run: _number(run.scores["acc_mean"]), True),
    "Frug": (lambda run: _number(run.scores["frug"]), True),
    "CPU s": (lambda run: sum(phase.cpu_time_s for phase in run.resources.phases.values()), False),
}


def main(folder: Path) -> None:
    """Print a table for each group of streams."""
    runs = [run for run in load_runs(folder) if run.status == "done"]
    streams = _complete(runs)
    for title, group in (
        ("Streams it was designed on", [name for name in streams if name in DESIGNED_ON]),
        ("Streams that confirm", [name for name in streams if name not in DESIGNED_ON]),
        ("All streams", streams),
    ):
        if group:
            _show(title, group, runs)


def _complete(runs: Iterable[RunResult]) -> list[str]:
    strategies = defaultdict(set)
    for run in runs:
        strategies[run.stream].add(run.strategy)
    most = max(len(names) for names in strategies.values())
    return [stream for stream, names in strategies.items() if len(names) == most]


def _show(title: str, streams: list[str], runs: list[RunResult]) -> None:
    strategies = sorted({run.strategy for run in runs if run.stream in streams})
    columns = {}
    for score, (read, higher) in SCORES.items():
        values = [
            [fmean(read(run) for run in runs if (run.stream, run.strategy) == (stream, name)) for name in strategies]
            for stream in streams
        ]
        defined = [row for row in values if np.isfinite(row).all()]
        columns[score] = np.mean(defined, axis=0), average_ranks(defined, higher_is_better=higher)
    sys.stdout.write(f"\n{title}: {', '.join(streams)}\n{'':22}")
    sys.stdout.write("".join(f"{score:>9} {'rank':>5}" for score in SCORES) + "\n")
    for i in np.argsort(columns["BA"][1] + columns["ACC"][1] + columns["Frug"][1]):
        cells = "".join(f"{means[i]:9.3f} {ranks[i]:5.1f}" for means, ranks in columns.values())
        sys.stdout.write(f"{strategies[i]:22}{cells}\n")


def _number(score: float | None) -> float:
    return float("nan") if score is None else score


if __name__ == "__main__":
    main(Path(sys.argv[1]))
