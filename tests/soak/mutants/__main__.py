"""Try mutants of rooms, and print those that survive as entries of ``survivors.toml``.

``python -m tests.soak.mutants metrics --file metrics/ranking.py`` tries all of one file; ``--sample 20 --seed 7`` draws
others than the soak does. With ``--results FILE`` each fate is kept in a file, a line a mutant, and a call that was
stopped goes on where it stood.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.soak.mutants.killing import Fate, Killer
from tests.soak.mutants.mutations import Mutant, find_mutants
from tests.soak.mutants.rooms import ROOMS, SAMPLE_SEED, TIERS, mutants_of
from tests.soak.mutants.survivors import format_survivor, read_survivors, survivor_of


def main() -> None:
    """Try what the command line names; the exit status is 1 if a mutant survives that is not listed."""
    given = _parser().parse_args()
    counts: Counter[str] = Counter()
    began = time.monotonic()
    for room in given.rooms:
        counts += _try_room(room, given)
    print(f"# {dict(counts)} of {counts.total()} in {time.monotonic() - began:.0f} s")
    sys.exit(bool(counts[Fate.SURVIVED.value]))


def _try_room(name: str, given: argparse.Namespace) -> Counter[str]:
    room = ROOMS[name]
    mutants = [one for path in given.file for one in find_mutants(path.resolve())] or mutants_of(
        room, given.sample or room.n_mutants, given.seed
    )
    known = {line["mutant"]: line["fate"] for line in _read(given.results)}
    waiting = [mutant for mutant in mutants if _key(mutant) not in known]
    counts = Counter(known[_key(mutant)] for mutant in mutants if _key(mutant) in known)
    if waiting:
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            killer = Killer(room, Path(folder), given.tier)
            for test in killer.covering.failed:
                print(f"# fails or is skipped without a mutant: {test}")
            for mutant in waiting:
                counts[_try(mutant, killer, given.results)] += 1
    print(f"# {name}: {dict(counts)}", flush=True)
    return counts


def _try(mutant: Mutant, killer: Killer, results: Path | None) -> str:
    try:
        fate = killer.try_mutant(mutant)
        what = "listed" if fate is Fate.SURVIVED and survivor_of(mutant) in read_survivors() else fate.value
    except RuntimeError as error:
        what = "no verdict"
        print(f"# {error}", flush=True)
    if what == Fate.SURVIVED.value:
        print(format_survivor(mutant), flush=True)
    if results:
        with results.open("a", encoding="utf-8") as file:
            print(json.dumps({"mutant": _key(mutant), "fate": what}), file=file)
    return what


def _key(mutant: Mutant) -> str:
    survivor = survivor_of(mutant)
    return f"{survivor.file}:{mutant.line}: {survivor.before} -> {survivor.after}"


def _read(results: Path | None) -> Iterator[dict[str, str]]:
    with suppress(FileNotFoundError):
        yield from map(json.loads, results.read_text(encoding="utf-8").splitlines() if results else ())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.soak.mutants", description=__doc__)
    parser.add_argument("rooms", nargs="+", choices=ROOMS)
    parser.add_argument("--file", type=Path, nargs="*", default=[], help="all mutants of these files")
    parser.add_argument("--sample", type=int, help="how many to draw of a room (default: as the soak does)")
    parser.add_argument("--seed", type=int, default=SAMPLE_SEED, help=f"of the sample (default: {SAMPLE_SEED})")
    parser.add_argument("--tier", choices=TIERS, default="full", help="which tests may kill (default: full)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="keep fates here, and try the others only")
    return parser


if __name__ == "__main__":
    main()
