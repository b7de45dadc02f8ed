"""The output of every reproduction: a line for each printed value, matched or not and why, and the count."""

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
class Value:
    """One printed value, and what came out.

    Parameters
    ----------
    name : str
        Where it stands.
    printed, ours : float or str
        The printed value, and ours.
    tolerance : float
        Greatest difference of a match; half a unit of the last printed digit where the value is deterministic.
    reason : str
        Why it cannot match, where that is known.
    """

    name: str
    printed: float | str
    ours: float | str
    tolerance: float = 0.0
    reason: str = ""

    @property
    def matched(self) -> bool:
        """Whether the printed value came out."""
        if isinstance(self.printed, str) or isinstance(self.ours, str):
            return self.printed == self.ours
        return abs(self.printed - self.ours) <= self.tolerance + 1e-9


def report(source: str, values: Iterable[Value]) -> int:
    """Print all values and the count; return the number of values that differ without a known reason."""
    values = list(values)
    width = max(len(value.name) for value in values)
    for value in values:
        verdict = "matched" if value.matched else f"NOT MATCHED: {value.reason or 'no reason known'}"
        sys.stdout.write(f"{value.name:{width}}  printed {_show(value.printed)}  ours {_show(value.ours)}  {verdict}\n")
    n_matched = sum(value.matched for value in values)
    sys.stdout.write(f"{source}: {n_matched} of {len(values)} values matched.\n")
    return sum(not (value.matched or value.reason) for value in values)


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


def _show(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4f}"
