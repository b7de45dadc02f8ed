"""StreamRidge, Stack and what users would take instead, on the boards of strangers.toml: ranks, scores and CPU seconds.

    python -m benchmarks.strangers run design FOLDER [--learners NAME ...] [--boards NAME ...] [--jobs 2]
    python -m benchmarks.strangers print design FOLDER [--boards NAME ...]

``run`` runs what has no record in FOLDER yet; a learner may have parameters, and a name of its own ("new=StreamRidge").
``print`` ranks what is there, strangers as they come and with each of their searches. Tables are read from
TABLES/NAME.arff with NAME.xml, TABLES being --tables, or are registered ones; those that are not here are left out.
"""

import argparse
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from metrics import average_ranks
from mlstream.arena.running import SEED, enter, options_for
from mlstream.arena.suite import load_suite
from mlstream.campaign.campaign import run_campaign
from mlstream.data.datasets import load_dataset, load_registered
from mlstream.generators.from_tables.scenarios import scenario_stream
from mlstream.generators.synthetic.drifting import drifting_stream
from mlstream.records.paths import file_name
from mlstream.records.run_record import has_runs, load_runs
from mlstream.records.run_result import total_cost
from mlstream.streams.stream import Dataset, Stream

GRID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
# Each with its decision rule, and whether the greatest is best.
SCORES = {
    "ba_macro[prevalence]": True,
    "acc[prevalence]": True,
    "rmse": False,
    "precision_at_k": True,
    "subset_accuracy[half]": True,
    "f1_micro[half]": True,
}


def make_streams(phase: str, boards: list[str], tables: Path) -> Iterator[Stream]:
    """Make the streams of a phase; the name of each begins with its board."""
    for board in boards:
        for entry in GRID["boards"][board].get("streams") or GRID["boards"][board][phase]:
            name = entry.get("name") or "-".join(map(str, entry.values()))
            try:
                for seed in GRID["seeds"][phase]:
                    yield make_stream(f"{board}-{name}-{seed}", entry, seed, tables)
            except FileNotFoundError as error:
                print(f"{board}-{name} is left out: {error}", flush=True)


def make_stream(name: str, entry: dict[str, Any], seed: int, tables: Path) -> Stream:
    """Draw a stream, or shuffle the rows of a table, or of a part that the seed draws."""
    if "drawn" in entry:
        return drifting_stream(**entry["drawn"], seed=seed, name=name)
    data = load_table(entry["table"], tables)
    if "n_rows" in entry:
        kept = np.sort(np.random.default_rng(seed).permutation(len(data.Y))[: entry["n_rows"]])
        data = Dataset(data.X[kept], data.Y[kept], data.feature_names, data.label_names, data.name)
    return scenario_stream(data, "instance-incremental", unlabelled="keep", seed=seed, name=name)


@lru_cache
def load_table(name: str, tables: Path) -> Dataset:
    """Load a table from the folder of tables, or by its registered name."""
    path = tables / f"{name}.arff"
    return load_dataset(path, labels=path.with_suffix(".xml")) if path.exists() else load_registered(name)


def run_one(learner: str, streams: list[Stream], folder: Path) -> str:
    """Run a learner on the streams that it has no record of; return a line about it."""
    name, _, call = learner.partition("=") if "=" in learner.partition("(")[0] else (learner, "", learner)
    estimator = enter(call).estimator
    options = options_for(estimator, load_suite(1))
    runs = run_campaign({name: estimator}, streams, [SEED], folder / file_name(name), **options)
    return f"{name:40} {sum(total_cost(run, 'cpu_time_s') or 0.0 for run in runs):9.1f} s of CPU"


def run_all(chosen: argparse.Namespace) -> None:
    """Run learners, a process for each of some."""
    streams = list(make_streams(chosen.phase, chosen.boards, chosen.tables))
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for line in pool.map(partial(run_one, streams=streams, folder=chosen.folder / chosen.phase), chosen.learners):
            print(line, flush=True)


def print_all(chosen: argparse.Namespace) -> None:
    """Print, for each board and all of them, mean ranks by each score, mean scores, and CPU seconds."""
    folders = {folder.name: folder for folder in sorted((chosen.folder / chosen.phase).iterdir()) if has_runs(folder)}
    runs = {
        name: {run.stream: run for run in load_runs(folders[file_name(name)])}
        for name in chosen.learners
        if file_name(name) in folders
    }
    streams = {name for of_one in runs.values() for name in of_one}
    for board in [*chosen.boards, ""]:
        names = sorted(name for name in streams if name.startswith(board) and name.partition("-")[0] in chosen.boards)
        learners = [learner for learner in runs if all(name in runs[learner] for name in names)]
        if names and len(learners) > 1:
            print(f"\n{board or 'all boards'}: {len(names)} streams; ranks, mean scores, CPU seconds")
            print_board([[runs[learner][name] for learner in learners] for name in names], learners)


def print_board(runs: list[list[Any]], learners: list[str]) -> None:
    """Print one table."""
    print(f"{'':26}" + "".join(f"{name.partition('[')[0][:10]:>15}" for name in SCORES) + f"{'CPU s':>9}")
    columns = []
    for score, higher in SCORES.items():
        name = score.partition("[")[0]
        found = np.array([[run.scores.get(score, run.scores.get(name, np.nan)) for run in row] for row in runs], float)
        worst = np.where(np.isnan(found), -np.inf if higher else np.inf, found)
        ranks = np.mean([average_ranks(row[np.newaxis], higher_is_better=higher) for row in worst], axis=0)
        columns.append([f"{rank:7.1f} {mean:.3f}" for rank, mean in zip(ranks, np.nanmean(found, axis=0), strict=True)])
    cpu = np.sum([[total_cost(run, "cpu_time_s") or np.nan for run in row] for row in runs], axis=0)
    order = np.argsort([float(text.split()[0]) for text in columns[0]], kind="stable")
    for place in order:
        print(f"{learners[place]:26}" + "".join(f"{column[place]:>15}" for column in columns) + f"{cpu[place]:9.1f}")


def main() -> None:
    """Run or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everybody = [name for group in GRID["learners"].values() for name in group]
    searched = [name for group in GRID["searches"].values() for name in group]
    parser.add_argument("action", choices=("run", "print"))
    parser.add_argument("phase", choices=("design", "confirm"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--learners", nargs="+", default=[*everybody, *searched])
    parser.add_argument("--boards", nargs="+", default=list(GRID["boards"]), choices=list(GRID["boards"]))
    parser.add_argument("--tables", type=Path, default=Path("tables"))
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    {"run": run_all, "print": print_all}[chosen.action](chosen)


if __name__ == "__main__":
    main()
