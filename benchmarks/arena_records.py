"""The records of the arena that come with the package: of all strategies, resumable over days.

    python -m benchmarks.arena_records run FOLDER                      # what has no record in FOLDER yet, 2 processes
    python -m benchmarks.arena_records run FOLDER --lite --learners NN BR_HT
    python -m benchmarks.arena_records write FOLDER                    # puts the records of FOLDER into the package
    python -m benchmarks.arena_records confirm FOLDER                  # after a change of code: runs a part again
    python -m benchmarks.arena_records lite                            # agreement of the lite ranks with the whole

``confirm`` runs, of each learner whose source has another hash than its records, the least cell of every board again.
Where all scores are the same, the records get the new hash; else it says which learner must run again from the start.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

from benchmarks.arena_lite import print_agreement
from estimators.strategies import STRATEGIES
from mlstream import arena
from mlstream.arena import records as arena_records
from mlstream.arena.again import compare, run_again
from mlstream.arena.records import LearnerRecord
from mlstream.arena.running import enter, load_streams, read_folder
from mlstream.arena.suite import Scope, load_suite
from mlstream.records.paths import file_name
from mlstream.records.run_record import has_runs, load_runs
from mlstream.streams.stream import Stream

SHIPPED = Path(arena_records.__file__).with_name("records_1.jsonl")


def run_one(learner: str, folder: Path, scope: Scope, boards: list[str]) -> str:
    """Run a strategy on what has no record in the folder; return a line about it."""
    done = arena.run(learner, folder, scope=scope, boards=boards)
    cells = done.record.cells.values()
    seconds = sum(cell.cpu_s or 0.0 for cell in cells)
    counts = ", ".join(
        f"{sum(cell.status == status for cell in cells)} {status}" for status in ("done", "capped", "failed")
    )
    return f"{learner:24} {counts}; {seconds:9.1f} s of CPU"


def run_all(chosen: argparse.Namespace) -> None:
    """Run strategies, a process for each of two."""
    with ProcessPoolExecutor(chosen.jobs) as pool:
        scope: Scope = "lite" if chosen.lite else "full"
        waiting = {
            pool.submit(run_one, learner, chosen.folder, scope, chosen.boards): learner for learner in chosen.learners
        }
        for ended in as_completed(waiting):
            error = ended.exception()
            print(
                ended.result() if error is None else f"{waiting[ended]:24} {type(error).__name__}: {error}", flush=True
            )


def write(chosen: argparse.Namespace) -> None:
    """Put the records of a folder in the place of those of the package, in the order of the strategies."""
    found, matrices = dict(arena.load_records()), arena.load_matrices()
    for name in STRATEGIES:
        folder = chosen.folder / file_name(name)
        if has_runs(folder):
            found[name] = read_folder(folder)
            new = arena_records.matrices_of(run for run in load_runs(folder) if run.stream in found[name].cells)
            matrices = {key: R for key, R in matrices.items() if key[0] != name} | new
    order = list(STRATEGIES).index
    arena_records.save_records(sorted(found.values(), key=lambda record: order(record.learner)), SHIPPED)
    ordered = dict(sorted(matrices.items(), key=lambda entry: order(entry[0][0])))
    arena_records.save_matrices(ordered, SHIPPED.with_name("matrices_1.jsonl.xz"))
    print(f"{len(found)} learners, {sum(len(record.cells) for record in found.values())} cells in {SHIPPED}")


@cache
def load_once(version: int, name: str) -> list[Stream]:
    """Load a stream, or nothing where its table is not here; the least cells of learners are mostly the same."""
    return load_streams([entry for entry in load_suite(version).streams if entry.name == name])[0]


def confirm(record: LearnerRecord) -> LearnerRecord:
    """Run the least cell of each board again, and return the record with the hash of the present source."""
    suite, contestant = load_suite(record.suite), enter(record.learner)
    boards = [record.cells.keys() & {entry.name for entry in suite.entries("full", board)} for board in suite.boards]
    least = {min(board, key=lambda name: record.cells[name].cpu_s or 0.0) for board in boards if board}
    streams = [stream for name in sorted(least) for stream in load_once(suite.version, name)]
    changed = [difference for difference in compare(record, run_again(contestant, streams, suite)) if difference.size]
    if changed:
        raise SystemExit(f"{record.learner} must run from the start: remove its folder and run it. Got {changed[0]}.")
    return record.model_copy(update={"source_sha256": contestant.source_sha256})


def confirm_all(chosen: argparse.Namespace) -> None:
    """Run a part of what is stale again, and give records that hold the new hash."""
    found = dict(arena.load_records())
    for name in chosen.learners:
        if name in found and found[name].source_sha256 != enter(name).source_sha256:
            found[name] = confirm(found[name])
            print(f"{name}: the scores are the same", flush=True)
    arena_records.save_records(found.values(), SHIPPED)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "write", "confirm", "lite"])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("arena-records"))
    parser.add_argument("--learners", nargs="+", default=list(STRATEGIES), choices=list(STRATEGIES), metavar="LEARNER")
    parser.add_argument("--boards", nargs="+", default=[])
    parser.add_argument("--lite", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.action == "lite":
        print_agreement(sys.stdout)
    else:
        {"run": run_all, "write": write, "confirm": confirm_all}[chosen.action](chosen)


if __name__ == "__main__":
    main()
