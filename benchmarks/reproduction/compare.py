"""The output of every reproduction: a line for each printed value, matched, explained or not, and the count.

A reason excuses no value: one that cannot match as it is printed has a value of its own that must come out instead.
"""

import csv
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TABLES = Path(__file__).parent / "tables"
ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("MLSTREAM_SHARED_DATA", ROOT.parent / "shared" / "data"))


@dataclass(frozen=True)
class Reading:
    """Value that must come out where the printed one cannot.

    Parameters
    ----------
    value : float or str
        The value by our reading of the source, or by an independent implementation of it: never our own output.
    reason : str
        Why the printed value cannot come out, and where this one is from.
    tolerance : float
        Greatest difference to it.
    """

    value: float | str
    reason: str
    tolerance: float = 0.0


@dataclass(frozen=True)
class Value:
    """One printed value, and what came out.

    Parameters
    ----------
    name : str
        Where it stands.
    printed, ours : float or str
        The printed value, and ours.
    tolerance : float
        Greatest difference of a match, fixed in advance; half a unit of the last printed digit where the value is
        deterministic.
    instead : Reading or None
        What must come out instead, where the printed value is known not to.
    """

    name: str
    printed: float | str
    ours: float | str
    tolerance: float = 0.0
    instead: Reading | None = None

    @property
    def matched(self) -> bool:
        """Whether the printed value came out."""
        return _is_near(self.printed, self.ours, self.tolerance)

    @property
    def explained(self) -> bool:
        """Whether what came out is what must come out instead."""
        return self.instead is not None and _is_near(self.instead.value, self.ours, self.instead.tolerance)

    @property
    def verdict(self) -> str:
        """One word, or the reason."""
        if self.matched:
            return "matched"
        if self.instead is None:
            return f"NOT MATCHED: more than {self.tolerance:.4g} away"
        bounds = f"{_show(self.instead.value)} \N{PLUS-MINUS SIGN} {self.instead.tolerance:.4g}"
        state = "explained" if self.explained else "NOT EXPLAINED"
        return f"{state}, {bounds} by our reading: {self.instead.reason}"


def report(source: str, values: Iterable[Value]) -> int:
    """Print values as they come, and the count; return the exit status, 1 if one is neither matched nor explained."""
    done = []
    for value in values:
        found = f"printed {_show(value.printed)}  ours {_show(value.ours)}"
        print(f"{value.name:40}  {found}  {value.verdict}", flush=True)
        done.append(value)
    n_matched = sum(value.matched for value in done)
    n_explained = sum(value.explained and not value.matched for value in done)
    missed = [value.name for value in done if not (value.matched or value.explained)]
    sys.stdout.write(f"{source}: {n_matched} of {len(done)} values matched, {n_explained} explained.\n")
    if missed:
        sys.stdout.write(f"Neither matched nor explained: {', '.join(missed)}.\n")
    return int(bool(missed))


def table(name: str) -> dict[str, dict[str, float]]:
    """Read a printed table: row -> column -> value."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {
            row.pop("strategy"): {column: float(value) for column, value in row.items()} for row in csv.DictReader(file)
        }


def require_shared() -> Path:
    """Return the folder of the published streams, or stop and say what is missing."""
    if not (SHARED / "osc-mlc").is_dir():
        sys.stderr.write(f"{SHARED} must hold the published streams (osc-mlc/); set MLSTREAM_SHARED_DATA.\n")
        raise SystemExit(2)
    return SHARED


def _is_near(expected: float | str, ours: float | str, tolerance: float) -> bool:
    if isinstance(expected, str) or isinstance(ours, str):
        return expected == ours
    return abs(expected - ours) <= tolerance + 1e-9


def _show(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4f}"
