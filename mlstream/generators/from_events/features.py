"""Features of a window: counts of events and of their values, statistics of numbers, and the time of day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from mlstream.data.events import Numbers, TextColumn
from mlstream.streams.stream import Index

Statistic = Literal["mean", "min", "max", "sum"]
Clock = Literal["day", "week"]
Named: TypeAlias = Iterator[tuple[str, Numbers]]

STATISTICS: tuple[Statistic, ...] = ("mean", "min", "max", "sum")
_DAY_US = 86400 * 10**6
# Length of each clock, and the time since it began at the start of 1970, a Thursday.
CLOCKS: dict[Clock, tuple[int, int]] = {"day": (_DAY_US, 0), "week": (7 * _DAY_US, 3 * _DAY_US)}

OTHER = "(other)"


class Vocabulary(NamedTuple):
    """The values of a column that are counted."""

    values: tuple[str, ...]
    has_other: bool  # the values that are not listed have a count in common


def frequent_values(column: TextColumn, max_values: int) -> Vocabulary:
    """Choose the most frequent values of a column; ties go to the first in alphabetical order.

    >>> frequent_values(TextColumn.encode(["udp", "tcp", "tcp", "icmp"]), 2)
    Vocabulary(values=('tcp', 'icmp'), has_other=True)
    """
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
    ranked = sorted(zip((-counts).tolist(), column.values, strict=True))
    return Vocabulary(tuple(value for _, value in ranked[:max_values]), len(ranked) > max_values)


def count_names(name: str, vocabulary: Vocabulary) -> list[str]:
    """Return the names of the features of a column of text."""
    return [f"{name}={value}" for value in (*vocabulary.values, *([OTHER] if vocabulary.has_other else []))]


def count_values(column: TextColumn, vocabulary: Vocabulary, rows: Index, n_rows: int) -> Numbers:
    """Count the values of each row's events; shape (n_rows, values and, if there is one, the rest)."""
    width = len(vocabulary.values) + vocabulary.has_other
    places = {value: place for place, value in enumerate(vocabulary.values)}
    rest = len(places) if vocabulary.has_other else -1
    # The last entry is that of code -1, an empty cell.
    place = np.array([*(places.get(value, rest) for value in column.values), -1])[column.codes]
    counted = place >= 0
    counts = np.bincount(rows[counted] * width + place[counted], minlength=n_rows * width)
    return counts.reshape(n_rows, width).astype(np.float64)


def summarise(values: Numbers, statistics: Sequence[Statistic], rows: Index, n_rows: int) -> Numbers:
    """Compute statistics of the numbers of each row's events, whose rows do not fall; 0 where a row has no number."""
    given = ~np.isnan(values)
    values, rows = values[given], rows[given]
    summary = np.zeros((n_rows, len(statistics)))
    if not len(values):
        return summary
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    for column, statistic in zip(summary.T, statistics, strict=True):
        column[rows[begins]] = _REDUCTIONS[statistic](values, begins)
    return summary


def clock_features(starts_us: Index, clocks: Sequence[Clock]) -> Named:
    """Yield sine and cosine of the time of day, or of the week, at which windows start."""
    for clock in clocks:
        length, passed = CLOCKS[clock]
        angle = 2 * np.pi * (((starts_us + passed) % length) / length)
        yield f"{clock}_sin", np.sin(angle)
        yield f"{clock}_cos", np.cos(angle)


def _mean(values: Numbers, begins: Index) -> Numbers:
    return np.asarray(np.add.reduceat(values, begins) / np.diff(begins, append=len(values)))


_REDUCTIONS: Mapping[Statistic, Callable[[Numbers, Index], Numbers]] = {
    "mean": _mean,
    "min": np.minimum.reduceat,
    "max": np.maximum.reduceat,
    "sum": np.add.reduceat,
}
