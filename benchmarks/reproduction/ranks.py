"""The tables of a campaign folder: mean ranks on the streams StreamRidge was designed on and on others, and the scores.

    mlstream run benchmarks/reproduction/corrected_table.toml
    python -m benchmarks.reproduction.ranks corrected-table docs/corrected_table

Runs of several seeds are averaged first; scores then say how far they spread. A stream counts once every strategy has
run on it, for a score that is defined on it for all.
"""

import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from metrics import average_ranks
from mlstream.records.run_record import RunResult, load_runs
from mlstream.reporting.costs import cpu_time_s
from mlstream.reporting.groups import Group, Spread, group_runs

# StreamRidge was chosen on these (and on tables that are no streams of the protocol); the others confirm it, once.
DESIGNED_ON = ("synthetic-bilab", "synthetic-rand", "yeast-tasks", "slashdot-tasks")
# of a busy core, as in campaigns without a meter. The meter adds what the machine takes while a run waits for others.
CPU_POWER_W = 15.0

Streams = dict[str, dict[str, Group]]


def score(name: str) -> Callable[[RunResult], float | None]:
    """Give what reads a score of a run."""
    return lambda run: run.scores.get(name)


def energy_j(run: RunResult) -> float | None:
    """Give the energy of learning and evaluation in joules: CPU seconds times the power of a core."""
    seconds = cpu_time_s(run)
    return None if seconds is None else seconds * CPU_POWER_W


# what is ranked, and whether more is better
RANKED = {
    "BA": (score("ba_macro"), True),
    "ACC": (score("acc_mean"), True),
    "Frug": (score("frug"), True),
    "Energy": (energy_j, False),
}
TABLES = {
    "ba_macro": (score("ba_macro"), 3),
    "acc_mean": (score("acc_mean"), 3),
    "bwt": (score("bwt"), 3),
    "precision_at_k": (score("precision_at_k"), 3),
    "rmse": (score("rmse"), 3),
    "energy_j": (energy_j, 1),
}


def main(folder: Path, pages: Path | None) -> None:
    """Print mean ranks for each group of streams; write the tables of the docs, if there is a folder for them."""
    grouped = group_runs([run for run in load_runs(folder) if run.status == "done"])
    most = max(len(groups) for groups in grouped.values())
    streams = {
        name: {group.strategy: group for group in groups} for name, groups in grouped.items() if len(groups) == most
    }
    parts = {
        "designed": [name for name in streams if name in DESIGNED_ON],
        "confirming": [name for name in streams if name not in DESIGNED_ON],
        "all": list(streams),
    }
    ranked = {title: rank(streams, names) for title, names in parts.items() if names}
    for title, table in ranked.items():
        sys.stdout.write(f"\nStreams, {title}: {', '.join(parts[title])}\n{'':22}")
        sys.stdout.write("".join(f"{name:>9} {'rank':>5}" for name in RANKED) + "\n")
        for strategy, cells in table.items():
            sys.stdout.write(f"{strategy:22}{''.join(f'{mean:9.3f} {place:5.1f}' for mean, place in cells)}\n")
    if pages:
        write_ranks(pages / "ranks.csv", ranked)
        for name, (read, digits) in TABLES.items():
            write_scores(pages / f"{name}.csv", streams, read, digits)


def rank(streams: Streams, names: Sequence[str]) -> dict[str, list[tuple[float, float]]]:
    """Give each strategy's mean and mean rank in every column, best first by the sum of the first three ranks."""
    strategies = sorted(streams[names[0]])
    columns = []
    for read, higher in RANKED.values():
        rows = [[streams[name][strategy].mean(read).mean for strategy in strategies] for name in names]
        defined = np.array([row for row in rows if None not in row], dtype=float)
        columns.append((defined.mean(axis=0), average_ranks(defined, higher_is_better=higher)))
    best_first = np.argsort(sum(ranks for _, ranks in columns[:3]), kind="stable")
    return {strategies[i]: [(float(means[i]), float(ranks[i])) for means, ranks in columns] for i in best_first}


def write_ranks(path: Path, ranked: dict[str, dict[str, list[tuple[float, float]]]]) -> None:
    """Write the mean ranks: a column for each score and group of streams, the best on all streams first."""
    heads = [f"{column}, {title}" for column in RANKED for title in ranked]
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["Strategy", *heads])
        for strategy in ranked["all"]:
            cells = [f"{part[strategy][i][1]:.1f}" for i in range(len(RANKED)) for part in ranked.values()]
            table.writerow([strategy, *cells])


def write_scores(path: Path, streams: Streams, read: Callable[[RunResult], float | None], digits: int) -> None:
    """Write one score: a row for each strategy, a column for each stream."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["Strategy", *streams])
        for strategy in sorted(next(iter(streams.values()))):
            table.writerow([strategy, *(show(streams[name][strategy].mean(read), digits) for name in streams)])


def show(values: Spread, digits: int) -> str:
    """Show a mean and, of several seeds, the standard deviation."""
    if values.mean is None:
        return "n/a"
    mean = f"{values.mean:.{digits}f}"
    return mean if values.deviation is None else f"{mean} ± {values.deviation:.{digits}f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
