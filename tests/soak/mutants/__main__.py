"""Try mutants of a room, and print those that survive as entries of ``survivors.toml``.

``python -m tests.soak.mutants metrics --file metrics/ranking.py`` tries all of one file; ``--sample 300 --seed 7``
draws others than the soak does.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.soak.mutants.killing import Fate, Killer
from tests.soak.mutants.mutations import Mutant, find_mutants
from tests.soak.mutants.rooms import ROOMS, SAMPLE_SEED, mutants_of
from tests.soak.mutants.survivors import format_survivor, read_survivors, survivor_of


def main() -> None:
    """Try what the command line names; the exit status is 1 if a mutant survives that is not listed."""
    given = _parser().parse_args()
    room, listed = ROOMS[given.room], read_survivors()
    mutants = [one for path in given.file for one in find_mutants(path.resolve())] or mutants_of(
        room, given.sample or room.n_mutants, given.seed
    )
    counts: Counter[str] = Counter()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        killer = Killer(room, Path(folder))
        for name in killer.covering.failed:
            print(f"# fails or is skipped without a mutant: {name}")
        for mutant in mutants:
            counts[_try(mutant, killer, listed)] += 1
    print(f"# {dict(counts)} of {len(mutants)} in {time.monotonic() - began:.0f} s")
    sys.exit(bool(counts["survived"]))


def _try(mutant: Mutant, killer: Killer, listed: object) -> str:
    fate = killer.try_mutant(mutant)
    if fate is Fate.KILLED:
        return "killed"
    if survivor_of(mutant) in listed:
        return "listed"
    print(format_survivor(mutant), flush=True)
    return "survived"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.soak.mutants", description=__doc__)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--file", type=Path, nargs="*", default=[], help="all mutants of these files")
    parser.add_argument("--sample", type=int, help="how many to draw (default: as the soak does)")
    parser.add_argument("--seed", type=int, default=SAMPLE_SEED, help=f"of the sample (default: {SAMPLE_SEED})")
    return parser


if __name__ == "__main__":
    main()
