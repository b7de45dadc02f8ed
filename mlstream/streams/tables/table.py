"""A table as it stands in a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream._support.content import at
from mlstream.streams.tables._growing_arrays import Cells, Growing, GrowingTable
from mlstream.streams.tables._joined_features import cut_rows


class Column(NamedTuple):
    """One column of a file."""

    name: str
    values: tuple[str, ...] | None = None
    """Of a nominal column: its values, in the order of their declaration."""
    numbers: tuple[float, ...] | None = None
    """Of a nominal column: its values as numbers, if all of them are."""
    first_word: tuple[str, int] | None = None
    """Of a nominal column whose values are not declared: the first that is no number, and its line."""

    @property
    def is_coded(self) -> bool:
        """Whether cells hold the index of a value, rather than a number."""
        return self.values is not None and self.numbers is None

    @property
    def default(self) -> float:
        """Value of a cell that a sparse row leaves out: the first value of a nominal column, else 0."""
        return self.numbers[0] if self.numbers else 0.0


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as they stand in a file."""

    path: Path  # for errors
    columns: tuple[Column, ...]
    cells: Cells  # numbers, and indices of values in coded columns; NaN where a value is missing
    lines: npt.NDArray[np.int64]  # the line of each row, from 1; the row itself where there are no lines
    relation: str = ""  # the title; empty where a format has none
    label_names: tuple[str, ...] = ()  # columns that the file itself says are labels
    unit: str = "line"  # what `lines` counts, for errors

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def at(self, line: int) -> str:
        """Return the place of an error in one of the lines."""
        return at(self.path, line, self.unit)

    def rows(self, start: int, stop: int) -> Table:
        """Cut out rows."""
        return replace(self, cells=cut_rows(self.cells, start, stop), lines=self.lines[start:stop])


def nominal(name: str, values: Sequence[str]) -> Column:
    """Make a nominal column."""
    numbers = [to_number(value) for value in values]
    finite = tuple(number for number in numbers if number is not None)
    return Column(name, tuple(values), finite if len(finite) == len(values) else None)


def to_number(text: str) -> float | None:
    """Read a finite number as programs write it; None for anything else, such as ``1_000``, ``nan`` or ``٣``.

    >>> to_number("-1.5e3"), to_number("1_000"), to_number("blue")
    (-1500.0, None, None)
    """
    if "_" in text or not text.isascii():
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def gather(tables: Iterable[Table]) -> Table:
    """Put tables of the same columns one below the other; the cells are CSR if most rows were."""
    first, tables = peek(tables)
    cells, lines = GrowingTable(len(first.columns)), Growing(np.int64)
    for table in tables:
        cells.extend(table.cells)
        lines.extend(table.lines)
    return replace(first, cells=cells.take(), lines=lines.take())


def regroup(tables: Iterable[Table], n_rows: int) -> Iterator[Table]:
    """Put tables of the same columns together, or cut them, to a number of rows each; the last has what remains."""
    pending: list[Table] = []
    for table in tables:
        # A copy, because tables may be views of larger buffers.
        pending.append(replace(table, cells=table.cells.copy(), lines=table.lines.copy()))
        n_pending = sum(len(waiting.lines) for waiting in pending)
        if n_pending < n_rows:
            continue
        whole = gather(pending)
        n_taken = n_pending - n_pending % n_rows
        yield from (whole.rows(start, start + n_rows) for start in range(0, n_taken, n_rows))
        pending = [whole.rows(n_taken, n_pending)]
    rest = gather(pending)
    if len(rest.lines):
        yield rest


def peek(tables: Iterable[Table]) -> tuple[Table, Iterator[Table]]:
    """Look at the first table; the iterator returned begins with it again."""
    iterator = iter(tables)
    first = next(iterator)
    return first, chain([first], iterator)
