"""The file to which every soak adds a line: what was tried, from which seed, and how often it failed."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mlstream._support.files import write_text_atomically
from tests.soak.runner import Outcome

LEDGER = Path(__file__).with_name("ledger.jsonl")


@dataclass(frozen=True)
class Total:
    """All that was tried under one name.

    Parameters
    ----------
    part : str
        The part of the soak.
    name : str
        What was tried.
    n_tried, n_seeds : int
        How often, and from how many seeds.
    """

    part: str
    name: str
    n_tried: int
    n_seeds: int


@dataclass(frozen=True)
class Summary:
    """All runs of a part.

    Parameters
    ----------
    part : str
        The part of the soak.
    hours : float
        Their time in all.
    n_seeds, n_failures : int
        How many seeds they began from, and how many trials failed.
    """

    part: str
    hours: float
    n_seeds: int
    n_failures: int


def add_to_ledger(outcome: Outcome, path: Path = LEDGER) -> None:
    """Add a line for what a part came to; a part that tried nothing adds none."""
    if not outcome.counts and not outcome.failures:
        return
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    write_text_atomically(path, before + json.dumps(_entry(outcome)) + "\n")


def read_ledger(path: Path = LEDGER) -> list[dict[str, Any]]:
    """Read the lines, oldest first."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def totals(entries: Iterable[dict[str, Any]]) -> list[Total]:
    """Sum the counts of all lines, by part and name, in the order in which they were first tried."""
    counts: Counter[tuple[str, str]] = Counter()
    seeds: dict[tuple[str, str], set[int]] = {}
    for part, name, seed, n_tried in _counted(entries):
        counts[part, name] += n_tried
        seeds.setdefault((part, name), set()).add(seed)
    return [Total(part, name, n_tried, len(seeds[part, name])) for (part, name), n_tried in counts.items()]


def summarize(entries: Sequence[dict[str, Any]]) -> list[Summary]:
    """Sum all lines of each part, in the order in which the parts first ran."""
    return [
        Summary(
            part,
            sum(one["wall_time_s"] for one in entries if one["part"] == part) / 3600,
            len({one["seed"] for one in entries if one["part"] == part}),
            sum(len(one["failures"]) for one in entries if one["part"] == part),
        )
        for part in dict.fromkeys(one["part"] for one in entries)
    ]


def _counted(entries: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, int, int]]:
    for entry in entries:
        for name, n_tried in entry["counts"].items():
            yield entry["part"], name, entry["seed"], n_tried


def _entry(outcome: Outcome) -> dict[str, Any]:
    return {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "part": outcome.part,
        "seed": outcome.seed,
        "wall_time_s": round(outcome.wall_time_s, 1),
        "counts": dict(outcome.counts),
        "failures": {str(number): text for number, text in outcome.failures.items()},
    }


def _commit() -> str:
    """Return the commit that was tried, with a plus sign if files were changed since; "unknown" outside of Git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=LEDGER.parent, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
