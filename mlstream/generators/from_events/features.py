"""Features of a window: counts of events and of their values, statistics of numbers, and the time of day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from metrics.validation import require_choice
from mlstream.data.events import Numbers, TextColumn
from mlstream.streams.stream import Index

Statistic = Literal["mean", "min", "max", "sum"]
Clock = Literal["day", "week"]
Scalar = TypeVar("Scalar", np.int64, np.float64)

STATISTICS: tuple[Statistic, ...] = ("mean", "min", "max", "sum")
# How a number is added to a statistic, and what the statistic is before the first one; a mean is a sum to begin with.
_RULES: Mapping[Statistic, tuple[np.ufunc, float]] = {
    "mean": (np.add, 0.0),
    "min": (np.minimum, np.inf),
    "max": (np.maximum, -np.inf),
    "sum": (np.add, 0.0),
}
_DAY_US = 86400 * 10**6
# Length of each clock, and the time since it began at the start of 1970, a Thursday.
CLOCKS: dict[Clock, tuple[int, int]] = {"day": (_DAY_US, 0), "week": (7 * _DAY_US, 3 * _DAY_US)}

OTHER = "(other)"
# So many events are added at once.
BLOCK = 65536


class Vocabulary(NamedTuple):
    """The values of a column that are counted."""

    values: tuple[str, ...]
    has_other: bool  # the values that are not listed have a count in common

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.values) + self.has_other

    def places(self, first: int) -> tuple[dict[str | None, int], int]:
        """Return the feature of each value, and of all others, -1 for none, if the first one is `first`."""
        places: dict[str | None, int] = {value: place for place, value in enumerate(self.values, first)}
        return places | {"": -1, None: -1}, first + len(self.values) if self.has_other else -1


class Fields(NamedTuple):
    """Choice of what becomes features: columns by name, and options."""

    categories: Mapping[str, Vocabulary]
    numbers: tuple[str, ...]
    statistics: tuple[Statistic, ...]
    clock: tuple[Clock, ...]
    time_column: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        counts = [name for column, kept in self.categories.items() for name in count_names(column, kept)]
        statistics = [f"{column}_{statistic}" for column in self.numbers for statistic in self.statistics]
        clock = [f"{clock}_{function}" for clock in self.clock for function in ("sin", "cos")]
        return ("events", *counts, *statistics, *clock, *([self.time_column] if self.time_column else []))

    @property
    def places(self) -> list[tuple[dict[str | None, int], int]]:
        """The feature of each value of each column of categories."""
        columns = list(self.categories.values())
        widths = np.cumsum([1, *(column.width for column in columns)]).tolist()
        return [column.places(first) for column, first in zip(columns, widths, strict=False)]


def make_fields(
    categories: Mapping[str, Vocabulary],
    numbers: Iterable[str],
    statistics: Sequence[Statistic],
    clock: Sequence[Clock],
    time_column: str | None,
) -> Fields:
    """Check the choices of statistics and clocks."""
    for name, wanted, choices in (("statistics", statistics, STATISTICS), ("clock", clock, tuple(CLOCKS))):
        for choice in listed(wanted, name):
            require_choice(choice, name, choices)
    return Fields(categories, tuple(numbers), tuple(statistics), tuple(clock), time_column)


def listed(names: Any, what: str) -> Any:
    """Return names, but not the letters of one that was given alone."""
    if names and isinstance(names, str):
        raise ValueError(f"{what} must be a list of names. Got {names!r} instead.")
    return names


def refuse_labels(fields: Fields, labels: str | None) -> None:
    """Refuse counts of the labels themselves."""
    if labels in fields.categories or labels in fields.numbers:
        raise ValueError(
            f"categories and numbers must not hold the column of labels with horizon=0: its counts are the labels. "
            f"Got {labels!r}; leave it out, or use horizon=1."
        )


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


class Aggregates:
    """Features of rows to which events are added: the same bits, however the events of a row are cut into blocks."""

    def __init__(self, fields: Fields, n_rows: int = 0) -> None:
        self._fields = fields
        self._columns = np.arange(len(fields.numbers))
        n_counts = 1 + sum(vocabulary.width for vocabulary in fields.categories.values())
        n_statistics = len(fields.numbers) * len(fields.statistics)
        self._statistics = slice(n_counts, n_counts + n_statistics)
        self._first = np.zeros(len(fields.names))
        self._first[self._statistics] = [
            _RULES[statistic][1] for _ in fields.numbers for statistic in fields.statistics
        ]
        self.X = self.empty_rows(n_rows)
        self.n_given = np.zeros((n_rows, len(fields.numbers)), np.int64)

    def empty_rows(self, n_rows: int) -> Numbers:
        """Return rows without an event, not finished."""
        rows = np.empty((n_rows, len(self._first)))
        rows[:] = self._first
        return rows

    def extend(self, n_rows: int) -> None:
        """Append rows without an event."""
        self.X = np.concatenate([self.X, self.empty_rows(n_rows)])
        self.n_given = np.concatenate([self.n_given, np.zeros((n_rows, self.n_given.shape[1]), np.int64)])

    def drop(self, n_rows: int) -> None:
        """Forget the first rows."""
        self.X, self.n_given = self.X[n_rows:].copy(), self.n_given[n_rows:].copy()

    def add(self, rows: Index, places: Index, values: Numbers) -> None:
        """Add events: the row of each, the features its categories count for (-1: none), and its numbers."""
        cells, given = self.X.reshape(-1), ~np.isnan(values)
        begins = rows * self.X.shape[1]
        np.add.at(cells, begins, 1.0)
        np.add.at(cells, (begins[:, np.newaxis] + places)[places >= 0], 1.0)
        # Neither the least nor the greatest of 0.0 and -0.0 is defined; a sum that begins with 0.0 is never -0.0.
        numbers = values[given] + 0.0
        own = (rows[:, np.newaxis] * len(self._columns) + self._columns)[given]
        np.add.at(self.n_given.reshape(-1), own, 1)
        step = len(self._fields.statistics)
        own = (begins[:, np.newaxis] + self._statistics.start + step * self._columns)[given]
        for place, statistic in enumerate(self._fields.statistics):
            _RULES[statistic][0].at(cells, own + place, numbers)

    def finish(self, X: Numbers, n_given: Index, starts_us: Index) -> None:
        """Complete rows in place: means, 0 where a row has no number, and the time at which windows start."""
        statistics = X[:, self._statistics].reshape(*n_given.shape, len(self._fields.statistics), copy=False)
        if "mean" in self._fields.statistics:
            statistics[:, :, self._fields.statistics.index("mean")] /= np.maximum(n_given, 1)
        statistics[n_given == 0] = 0
        column = self._statistics.stop
        for values in clock_features(starts_us, self._fields.clock):
            X[:, column] = values
            column += 1
        if self._fields.time_column:
            X[:, column] = starts_us / 1e6


def stack(columns: Sequence[npt.NDArray[Scalar]], n_rows: int, dtype: type[Scalar]) -> npt.NDArray[Scalar]:
    """Put columns, if there are any, side by side."""
    table = np.empty((n_rows, len(columns)), dtype)
    for place, column in enumerate(columns):
        table[:, place] = column
    return table


def clock_features(starts_us: Index, clocks: Sequence[Clock]) -> Iterator[Numbers]:
    """Yield sine and cosine of the time of day, or of the week, at which windows start."""
    for clock in clocks:
        length, passed = CLOCKS[clock]
        angle = 2 * np.pi * (((starts_us + passed) % length) / length)
        yield np.sin(angle)
        yield np.cos(angle)
