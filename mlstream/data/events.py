"""Logs of single events: a time for each, and columns of text or numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream.streams.stream import Index, Mask

Times: TypeAlias = npt.NDArray[np.datetime64]
Numbers: TypeAlias = npt.NDArray[np.float64]

TIME_TYPE = np.dtype("datetime64[us]")


class TextColumn(NamedTuple):
    """A column of text, each distinct value stored once.

    Parameters
    ----------
    codes : ndarray of int64, shape (n_events,)
        Index of each cell in `values`; -1 for an empty cell.
    values : tuple of str
        The distinct values, none of them empty.
    """

    codes: Index
    values: tuple[str, ...]

    @staticmethod
    def encode(cells: Iterable[str]) -> TextColumn:
        """Make a column of text cells, values in the order of their first occurrence.

        Examples
        --------
        >>> TextColumn.encode(["tcp", "", "udp", "tcp"])
        TextColumn(codes=array([ 0, -1,  1,  0]), values=('tcp', 'udp'))
        """
        cells = list(cells)
        values = tuple(filter(None, dict.fromkeys(cells)))
        index = {"": -1} | {value: code for code, value in enumerate(values)}
        return TextColumn(np.array(list(map(index.__getitem__, cells)), np.int64), values)


EventColumn: TypeAlias = TextColumn | Numbers


@dataclass(frozen=True, eq=False)
class Events:
    """A log of single events in the order of time, such as alerts or network flows.

    Parameters
    ----------
    times : ndarray of datetime64[us], shape (n_events,)
        Time of each event in UTC, never falling.
    columns : mapping of str to TextColumn or ndarray of float64
        The other columns by name, as long as `times`; NaN is an empty cell of a column of numbers.
    labels : str, optional
        The column that holds the type of an event, the label; empty for benign events.
    by : str, optional
        The column that names what an event belongs to, such as its host.
    name : str
        Short name, used in titles and file names.
    source : str
        Path of the file that the log was read from; empty for a log made in memory.
    sha256 : str
        Hash of the content (unpacked) of that file.

    Raises
    ------
    ValueError
        If columns differ in length, times fall, or `labels` or `by` is not a column.

    Examples
    --------
    >>> times = np.array(["2026-01-01T00:00", "2026-01-01T00:07"], dtype="datetime64[us]")
    >>> Events(times, {"host": TextColumn.encode(["a", "b"]), "bytes": np.array([40.0, 60.0])}, by="host")
    Events('events': 2 events from 2026-01-01T00:00:00 to 2026-01-01T00:07:00, columns host, bytes)
    """

    times: Times
    columns: Mapping[str, EventColumn]
    labels: str | None = None
    by: str | None = None
    name: str = "events"
    source: str = ""
    sha256: str = ""

    def __post_init__(self) -> None:
        if self.times.ndim != 1 or self.times.dtype != TIME_TYPE or np.isnat(self.times).any():
            raise ValueError(f"{self.name}: times must be 1-D datetime64[us] without NaT. Got {self.times.dtype}.")
        if (np.diff(self.times) < np.timedelta64(0, "us")).any():
            raise ValueError(f"{self.name}: times must not fall. Got an event before the one in front of it.")
        for name, column in self.columns.items():
            _require_column(f"{self.name}: column {name!r}", column, len(self.times))
        for role, wanted in (("labels", self.labels), ("by", self.by)):
            if wanted is not None:
                self.require(wanted, role)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        span = "" if not len(self) else f" from {_second(self.times[0])} to {_second(self.times[-1])}"
        return f"Events({self.name!r}: {len(self):,} events{span}, columns {', '.join(self.columns)})"

    def take(self, events: slice | Index | Mask) -> Events:
        """Return some of the events.

        Parameters
        ----------
        events : slice, or ndarray of int or bool
            Their places, in an order in which times do not fall, or a mask.

        Returns
        -------
        Events
            A log of them, with the same roles, name and source.

        Raises
        ------
        ValueError
            If times fall.

        Examples
        --------
        >>> times = np.array(["2026-01-01T00:00", "2026-01-01T00:07"], dtype="datetime64[us]")
        >>> len(Events(times, {"bytes": np.array([40.0, 60.0])}).take(slice(1, None)))
        1
        """
        columns = {name: take_cells(column, events) for name, column in self.columns.items()}
        return replace(self, times=self.times[events], columns=columns)

    def require(self, column: str, role: str) -> EventColumn:
        """Return a column, or raise a ValueError that calls it `role` and lists the columns that there are."""
        if column not in self.columns:
            raise ValueError(
                f"{role} must name a column of {self.name}, one of {', '.join(self.columns)}. Got {column!r} instead."
            )
        return self.columns[column]

    def texts(self, column: str, role: str) -> TextColumn:
        """Return a column as text; numbers are written without needless digits, and NaN is an empty cell."""
        found = self.require(column, role)
        if isinstance(found, TextColumn):
            return found
        is_given = ~np.isnan(found)
        numbers, codes = np.unique(found[is_given], return_inverse=True)
        every = np.full(len(found), -1)
        every[is_given] = codes
        return TextColumn(every, tuple(repr(number).removesuffix(".0") for number in numbers.tolist()))

    def numbers(self, column: str, role: str) -> Numbers:
        """Return a column of numbers, or raise a ValueError that calls it `role`."""
        found = self.require(column, role)
        if isinstance(found, TextColumn):
            raise ValueError(f"{role} must name columns of numbers. Got {column!r}, which holds text.")  # noqa: TRY004
        return found


def take_cells(column: EventColumn, events: slice | Index | Mask) -> EventColumn:
    """Return some cells of a column."""
    return column._replace(codes=column.codes[events]) if isinstance(column, TextColumn) else column[events]


def _require_column(what: str, column: EventColumn, n_events: int) -> None:
    cells = column.codes if isinstance(column, TextColumn) else column
    if cells.shape != (n_events,):
        raise ValueError(f"{what} must hold one cell for each of {n_events} events. Got shape {cells.shape}.")
    if isinstance(column, TextColumn):
        if cells.size and not -1 <= cells.min() <= cells.max() < len(column.values):
            raise ValueError(f"{what} must hold codes from -1 to {len(column.values) - 1}. Got another.")
    elif np.isinf(column).any():
        raise ValueError(f"{what} must hold finite numbers or NaN. Got infinity.")


def _second(time: np.datetime64) -> str:
    return str(time.astype("datetime64[s]"))
