"""The four public data sets of the PRAGMA paper, and what it wished of them."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import arff
import numpy as np

DATA = Path(os.environ.get("MLSTREAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data")) / "uci"
MISSING = -1.0  # below every value: trees can tell missing ones by a split


@dataclass(frozen=True)
class Experiment:
    """Rows, the random features of a node, and the classes that matter most."""

    name: str
    X: np.ndarray
    y: np.ndarray
    max_features: int
    priority: tuple[Any, ...]
    max_depth: int | None = None

    @property
    def wanted(self) -> dict[str, Any]:
        """What the paper wished: priority classes ten times as important, and recall nine times precision there."""
        classes = np.unique(self.y).tolist()
        return {
            "importance": {c: 10.0 if c in self.priority else 1.0 for c in classes},
            "compromise": {c: (0.1, 0.9) if c in self.priority else (0.8, 0.8) for c in classes},
        }


def autos() -> Experiment:
    """Read 205 cars, 25 attributes, 6 degrees of risk; the riskiest two matter."""
    rows = _csv("imports-85.data")
    return Experiment("Autos", _numbers([row[1:] for row in rows]), np.array([int(row[0]) for row in rows]), 5, (2, 3))


def letters(vowels: str = "AEIOU", max_depth: int | None = None) -> Experiment:
    """Read 20,000 letters, 16 attributes; the vowels matter."""
    rows = _csv("letter-recognition.data")
    name = "Letters" + (", Y a vowel" if "Y" in vowels else "") + (f", depth {max_depth}" if max_depth else "")
    X, y = np.array([row[1:] for row in rows], dtype=float), np.array([row[0] for row in rows])
    return Experiment(name, X, y, 4, tuple(vowels), max_depth)


def hypothyroid() -> Experiment:
    """Read 3,772 patients; the 7.7 % who are not negative matter."""
    with (DATA / "hypothyroid.arff").open() as lines:
        rows = arff.load(lines)["data"]
    y = np.array(["negative" if row[-1] == "negative" else "minority" for row in rows])
    return Experiment("Hypothyroid", _numbers([row[:-1] for row in rows]), y, 5, ("minority",))


def satimage() -> Experiment:
    """Read 6,435 pixels, 36 attributes; the 9.7 % of class 4 matter."""
    rows = np.vstack([np.loadtxt(DATA / name) for name in ("sat.trn.txt", "sat.tst.txt")])
    y = np.where(rows[:, -1] == 4, "minority", "others")
    return Experiment("Satimage", rows[:, :-1], y, 6, ("minority",))


def _csv(name: str) -> list[list[str]]:
    with (DATA / name).open() as lines:
        return [row for row in csv.reader(lines) if row]


def _numbers(rows: list[list[Any]]) -> np.ndarray:
    """Keep numbers, number the values of names in alphabetical order, and mark what is missing."""
    return np.column_stack([_column(list(column)) for column in zip(*rows, strict=True)])


def _column(values: list[Any]) -> np.ndarray:
    known = [value for value in values if value not in (None, "?")]
    try:
        codes = {value: float(value) for value in known}
    except ValueError:
        codes = {value: float(code) for code, value in enumerate(sorted(set(known)))}
    return np.array([codes.get(value, MISSING) for value in values])
