"""A table as it stands in a file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.content import FormatError, at, show
from mlstream._support.files import did_you_mean
from mlstream.streams.tables.arrays import Cells, Growing, GrowingTable, cut_rows


class Column(NamedTuple):
    """One column of a file."""

    name: str
    values: Sequence[str] | None = None
    """Of a nominal column: its values, in the order of their declaration; of text, those found so far."""
    numbers: tuple[float, ...] | None = None
    """Of a nominal column: its values as numbers, if all of them are."""
    first_word: tuple[str, int] | None = None
    """Of a nominal column whose values are not declared: the first that is no number, and its line."""
    is_date: bool = False
    """Whether cells hold seconds since 1970."""

    @property
    def is_coded(self) -> bool:
        """Whether cells hold the index of a value, rather than a number."""
        return self.values is not None and self.numbers is None

    @property
    def is_binary(self) -> bool:
        """Whether a nominal column declares 0 and 1, in either order."""
        return self.numbers in {(0.0, 1.0), (1.0, 0.0)}

    @property
    def categories(self) -> tuple[str, ...]:
        """Of a nominal column: its values in the order of their codes; 0 and 1 are their own codes."""
        values = tuple(self.values or ())
        return values[::-1] if self.numbers == (1.0, 0.0) else values

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
    weights: npt.NDArray[np.float64] | None = None  # of the rows, in the dialect of WEKA; None where all are 1
    file_names: tuple[str, ...] = ()  # all columns, if some were left out
    keys: Mapping[str, np.ndarray] = field(default_factory=dict)  # columns that say whose a row is

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def at(self, line: int) -> str:
        """Return the place of an error in one of the lines."""
        return at(self.path, line, self.unit)

    def rows(self, start: int, stop: int) -> Table:
        """Cut out rows."""
        weights = None if self.weights is None else self.weights[start:stop]
        keys = {name: values[start:stop] for name, values in self.keys.items()}
        cells, lines = cut_rows(self.cells, start, stop), self.lines[start:stop]
        return replace(self, cells=cells, lines=lines, weights=weights, keys=keys)

    def take(self, rows: npt.NDArray[np.integer]) -> Table:
        """Pick rows."""
        weights = None if self.weights is None else self.weights[rows]
        keys = {name: values[rows] for name, values in self.keys.items()}
        return replace(self, cells=self.cells[rows], lines=self.lines[rows], weights=weights, keys=keys)

    def take_columns(self, places: Sequence[int]) -> Table:
        """Pick columns."""
        columns = tuple(self.columns[place] for place in places)
        kept = {column.name for column in columns}
        names = tuple(name for name in self.label_names if name in kept)
        file_names = self.file_names or self.names
        cells = take_columns(self.cells, places)
        return replace(self, columns=columns, cells=cells, label_names=names, file_names=file_names)


def header_only(
    path: Path, columns: Sequence[Column], *, relation: str = "", unit: str = "line", file_names: tuple[str, ...] = ()
) -> Table:
    """Make a table without rows."""
    cells, lines = np.empty((0, len(columns))), np.empty(0, np.int64)
    return Table(path, tuple(columns), cells, lines, relation, unit=unit, file_names=file_names)


def take_columns(cells: Cells, places: Sequence[int]) -> Cells:
    """Pick columns; of an array, neighbours are not copied."""
    is_run = list(places) == list(range(places[0], places[0] + len(places))) if len(places) else False
    return cells[:, places[0] : places[0] + len(places)] if is_run else cells[:, list(places)]


def kept_columns(names: Sequence[str], ignore: Sequence[str], path: Path) -> list[int]:
    """Return the places of the columns that are read; an empty name in `ignore` stands for all that have none.

    Raises FormatError if `ignore` names a column that is not there, or leaves none.
    """
    ignored = set(find_columns(names, [name for name in ignore if name], path, "ignore= or --ignore"))
    kept = [place for place, name in enumerate(names) if place not in ignored and (name or "" not in ignore)]
    if not kept:
        raise FormatError(f"{path}: ignore= or --ignore must leave a column. Got all of them.")
    return kept


def without_keys(names: Sequence[str], places: Sequence[int], keys: Collection[int], time: str | None) -> list[int]:
    """Leave columns of keys out of those that are read, except the one of times, which is read as numbers, too."""
    return [place for place in places if place not in keys or names[place] == time]


def find_columns(names: Sequence[str], wanted: Sequence[str], path: Path, what: str) -> list[int]:
    """Return the places of columns that are named, blanks around a name aside where no other column has it.

    Raises FormatError, which begins with `what` names them, if one is not there or named twice.
    """
    exact = {name: place for place, name in enumerate(names)}
    n_bare = Counter(map(str.strip, names))
    bare = {name.strip(): place for name, place in exact.items() if n_bare[name.strip()] == 1}
    places = [exact.get(name, bare.get(name.strip(), -1)) for name in wanted]
    unknown = [name for name, place in zip(wanted, places, strict=True) if place < 0]
    if unknown or len(set(places)) < len(places):
        got = _show_unknown(unknown, names) if unknown else "a name twice."
        raise FormatError(f"{path}: {what} must be columns, each named once. Got {got}")
    return places


def _show_unknown(unknown: Sequence[str], names: Sequence[str]) -> str:
    others = f" Nor are {', '.join(map(show, unknown[1:6]))}." if unknown[1:] else ""
    return f"{show(unknown[0])}, which is not a column{_nearest(unknown[0], names)}{others}"


def _nearest(name: str, names: Sequence[str]) -> str:
    """Return the end of an error about a name; in quotes where the shell would split what was meant at a comma."""
    end = did_you_mean(name, names)
    way_out = "a name with a comma stands in double quotes, its own quotes doubled"
    return f"{end[:-1]} ({way_out})?" if "," in end else end


def leave_out(tables: Iterable[Table], ignore: Sequence[str]) -> Iterator[Table]:
    """Drop columns of tables of the same columns by name."""
    if not ignore:
        yield from tables
        return
    first, tables = peek(tables)
    kept = kept_columns(first.names, ignore, first.path)
    yield from (table.take_columns(kept) for table in tables)


def mark_missing(tables: Iterable[Table], words: Iterable[str]) -> Iterator[Table]:
    """Replace numbers that are named as missing by NaN, where they are neither values of nominal columns nor dates."""
    marks = [number for number in map(to_number, words) if number is not None]
    for table in tables:
        if not marks:
            yield table
            continue
        is_number = np.array([column.values is None and not column.is_date for column in table.columns])
        if not sparse.issparse(table.cells):
            yield replace(table, cells=np.where(np.isin(table.cells, marks) & is_number, np.nan, table.cells))
            continue
        if 0.0 in marks:
            rule = "must not be among missing_words= or --missing-words for a table in sparse notation"
            raise FormatError(f"{table.path}: 0 {rule}, which leaves it out.")
        cells = table.cells.copy()
        cells.data[np.isin(cells.data, marks) & is_number[cells.indices]] = np.nan
        yield replace(table, cells=cells)


def nominal(name: str, values: Sequence[str]) -> Column:
    """Make a nominal column."""
    numbers = [to_number(value) for value in values]
    finite = tuple(number for number in numbers if number is not None)
    # 7 and 007 are two values, but one number.
    return Column(name, tuple(values), finite if len(set(finite)) == len(values) else None)


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
    cells, lines, weights = GrowingTable(len(first.columns)), Growing(np.int64), Growing(np.float64)
    is_weighted, keys = False, list[Mapping[str, np.ndarray]]()
    for table in tables:
        keys.append(table.keys)
        cells.extend(table.cells)
        lines.extend(table.lines)
        weights.extend(np.ones(len(table.lines)) if table.weights is None else table.weights)
        is_weighted |= table.weights is not None
    taken = weights.take() if is_weighted else None
    return replace(first, cells=cells.take(), lines=lines.take(), weights=taken, keys=join_key_columns(keys))


def join_key_columns(parts: Iterable[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Put columns of keys one below the other; parts without any have no rows."""
    found = list(filter(None, parts))
    return {name: np.concatenate([columns[name] for columns in found]) for name in (found[0] if found else ())}


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
