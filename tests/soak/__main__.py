"""Run parts of the soak, and add what they tried to the ledger: ``python -m tests.soak --help``."""

import argparse
import secrets
import subprocess
import sys

from tests.soak.ledger import LEDGER, add_to_ledger
from tests.soak.runner import PARTS, Outcome, run_part

_SECONDS = 120


def main() -> None:
    """Run what the command line names; the exit status is 1 if anything failed."""
    given = _parser().parse_args()
    if given.trial is not None and (len(given.parts) != 1 or given.seed is None):
        sys.exit("Error: --trial must be given with one part and its --seed.")
    seed = secrets.randbelow(2**32) if given.seed is None else given.seed
    if len(given.parts) == 1:
        sys.exit(bool(_run(given.parts[0], seed, given).failures))
    # What one part has imported, started or left in memory must not meet the next.
    statuses = [_start(part, seed, given) for part in given.parts or PARTS]
    sys.exit(any(statuses))


def _start(part: str, seed: int, given: argparse.Namespace) -> int:
    command = [sys.executable, "-m", "tests.soak", part, "--seed", str(seed), "--scale", str(given.scale)]
    return subprocess.run(command, check=False).returncode


def _run(part: str, seed: int, given: argparse.Namespace) -> Outcome:
    seconds = _SECONDS * given.scale
    _say(f"{part}: seed {seed}, {seconds:.0f} s")
    outcome = run_part(part, seed, seconds, _say, only=given.trial)
    if given.trial is None:
        add_to_ledger(outcome)
    for name, n_tried in outcome.counts.items():
        _say(f"  {n_tried:>9,}  {name}")
    _say(f"{part}: {len(outcome.failures)} failed, {outcome.wall_time_s:.0f} s")
    return outcome


def _say(line: str) -> None:
    print(line, flush=True)


def _part(name: str) -> str:
    if name not in PARTS:
        raise argparse.ArgumentTypeError(f"the part must be one of {', '.join(PARTS)}. Got {name!r} instead.")
    return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.soak", description=f"Adds what was tried to {LEDGER}.")
    parser.add_argument("parts", nargs="*", metavar="PART", type=_part, help=f"{', '.join(PARTS)}; default: all")
    parser.add_argument(
        "--scale", type=float, default=1, help=f"time of each part, in units of {_SECONDS} s (default: 1)"
    )
    parser.add_argument("--seed", type=int, help="default: drawn from the system")
    parser.add_argument("--trial", type=int, help="run only this trial of a part, and leave the ledger as it is")
    return parser


if __name__ == "__main__":
    main()
