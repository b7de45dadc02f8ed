"""The tables of campaigns: mean ranks, tests, and scores.

    mlstream run benchmarks/reproduction/corrected_table.toml
    mlstream run benchmarks/reproduction/corrected_table.toml --decision prevalence -o corrected-table-common
    python -m benchmarks.reproduction.ranks corrected-table corrected-table-common --pages docs/learners/corrected_table

Runs of several seeds are averaged first; scores then say how far they spread. A stream counts once every strategy has
run on it, for a score that is defined on it for all. Names of files of a folder whose runs share a rule of decisions
end with it: ranks.csv is of the learners' own decisions, ranks_prevalence.csv of the common rule.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metrics import average_ranks, friedman, nemenyi
from mlstream.analysis.costs import cpu_time_s
from mlstream.analysis.groups import Group, Spread, group_runs
from mlstream.records.run_record import load_runs
from mlstream.records.run_result import RunResult
from mlstream.reporting.tables import format_score

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
    "Frug (kWh)": (score("frug_kwh"), True),
    "Frug (kJ)": (score("frug_kj"), True),
    "Energy": (energy_j, False),
    "RMSE": (score("rmse"), False),
    "P@k": (score("precision_at_k"), True),
}
# the learner that the others are tested against
TESTED = "StreamRidge"
TABLES = {
    "ba_macro": (score("ba_macro"), 3),
    "acc_mean": (score("acc_mean"), 3),
    "bwt": (score("bwt"), 3),
    "precision_at_k": (score("precision_at_k"), 3),
    "rmse": (score("rmse"), 3),
    "energy_j": (energy_j, 1),
}
# what does not depend on the rule of decisions is written for the learners' own only
OF_PROBABILITIES = ("precision_at_k", "rmse", "energy_j")


def main(folder: Path, pages: Path | None) -> None:
    """Print mean ranks and tests; write the tables of the docs, if there is a folder for them."""
    runs = [run for run in load_runs(folder) if run.status == "done"]
    rule = find_rule(runs)
    grouped = group_runs(runs)
    most = max(len(groups) for groups in grouped.values())
    streams = {
        name: {group.strategy: group for group in groups} for name, groups in grouped.items() if len(groups) == most
    }
    ranked = rank(streams)
    sys.stdout.write(f"\n{folder}, decisions: {rule}; streams: {', '.join(streams)}\n{'':22}")
    sys.stdout.write("".join(f"{name:>10} {'rank':>5}" for name in RANKED) + "\n")
    for strategy, cells in ranked.items():
        sys.stdout.write(f"{strategy:22}{''.join(f'{mean:10.3f} {place:5.1f}' for mean, place in cells)}\n")
    tests = {name: test(streams, read) for name, (read, _) in RANKED.items()}
    for name, one in tests.items():
        sys.stdout.write(f"{name}: Friedman p = {one.friedman_p:.2g} on {one.n_streams} streams\n")
    if pages:
        end = "" if rule == "own" else f"_{rule}"
        write_ranks(pages / f"ranks{end}.csv", ranked)
        write_tests(pages / f"tests{end}.csv", tests, list(ranked))
        for name, (read, digits) in TABLES.items():
            if rule == "own" or name not in OF_PROBABILITIES:
                write_scores(pages / f"{name}{end}.csv", streams, read, digits)


def find_rule(runs: Sequence[RunResult]) -> str:
    """Give the rule of decisions that all runs share."""
    rules = sorted({str(run.settings.get("decision", "own")) for run in runs})
    if len(rules) != 1:
        raise ValueError(f"Runs of a folder must share one rule of decisions. Got {rules} instead.")
    return rules[0]


class Tests(NamedTuple):
    """Whether strategies differ in a score beyond chance, and which differ from the one tested."""

    friedman_p: float
    n_streams: int
    nemenyi_p: dict[str, float]


def test(streams: Streams, read: Callable[[RunResult], float | None]) -> Tests:
    """Give the Friedman test over all streams that have the score, and the Nemenyi test against one strategy."""
    strategies = sorted(next(iter(streams.values())))
    rows = [[groups[strategy].mean(read).mean for strategy in strategies] for groups in streams.values()]
    defined = np.array([row for row in rows if None not in row], dtype=float)
    against = nemenyi(defined)[strategies.index(TESTED)]
    return Tests(friedman(defined).p_value, len(defined), dict(zip(strategies, against.tolist(), strict=True)))


def write_tests(path: Path, tests: dict[str, Tests], strategies: Sequence[str]) -> None:
    """Write p-values: the Friedman test of each score, then each strategy against the one tested."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["p-value", *tests])
        table.writerow(["Friedman test", *(f"{one.friedman_p:.1g}" for one in tests.values())])
        for strategy in strategies:
            if strategy != TESTED:
                table.writerow(
                    [f"{TESTED} = {strategy}", *(f"{one.nemenyi_p[strategy]:.2g}" for one in tests.values())]
                )


def rank(streams: Streams) -> dict[str, list[tuple[float, float]]]:
    """Give each strategy's mean and mean rank in every column, best first by the sum of BA's and ACC's ranks."""
    strategies = sorted(next(iter(streams.values())))
    columns = []
    for read, higher in RANKED.values():
        rows = [[groups[strategy].mean(read).mean for strategy in strategies] for groups in streams.values()]
        defined = np.array([row for row in rows if None not in row], dtype=float)
        columns.append((defined.mean(axis=0), average_ranks(defined, higher_is_better=higher)))
    best_first = np.argsort(sum(ranks for _, ranks in columns[:2]), kind="stable")
    return {strategies[i]: [(float(means[i]), float(ranks[i])) for means, ranks in columns] for i in best_first}


def write_ranks(path: Path, ranked: dict[str, list[tuple[float, float]]]) -> None:
    """Write the mean ranks, the best first."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["Strategy", *RANKED])
        for strategy, cells in ranked.items():
            table.writerow([strategy, *(f"{place:.1f}" for _, place in cells)])


def write_scores(path: Path, streams: Streams, read: Callable[[RunResult], float | None], digits: int) -> None:
    """Write one score: a row for each strategy, a column for each stream."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["Strategy", *streams])
        for strategy in sorted(next(iter(streams.values()))):
            table.writerow([strategy, *(show(streams[name][strategy].mean(read), digits) for name in streams)])


def show(values: Spread, digits: int) -> str:
    """Show a mean and, where seeds differ, the standard deviation."""
    return format_score(values.mean, values.deviation, form=f".{digits}f", minus="-")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of campaigns")
    parser.add_argument("--pages", type=Path, help="folder of the tables to write")
    arguments = parser.parse_args()
    for one in arguments.folders:
        main(one, arguments.pages)
