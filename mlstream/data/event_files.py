"""Logs of single events in files: CSV and JSON lines."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, UnpackedFile, show, stem
from mlstream._support.files import atomic_path
from mlstream._support.memory import require_memory
from mlstream._support.spreadsheets import guard_text
from mlstream.data._event_blocks import read_blocks, require_suffix
from mlstream.data._event_cells import Block, NumberReader, TextReader, TimeReader, start_column
from mlstream.data.durations import parse_duration
from mlstream.data.events import EventColumn, Events, TextColumn
from mlstream.formats.lines import Lines


def read_events(
    path: str | os.PathLike[str],
    *,
    time: str,
    labels: str | None = None,
    by: str | None = None,
    columns: Collection[str] | None = None,
    text: Collection[str] = (),
    max_delay: str = "1h",
) -> Events:
    r"""Read a log of single events.

    Parameters
    ----------
    path : path
        A CSV file with a row of names, or JSON lines (.jsonl, .ndjson, .json); either may be packed (.gz, .bz2, .xz).
    time : str
        The column of times: ISO 8601, or seconds or milliseconds since 1970. The first event determines which; times
        without a zone are UTC, and digits after the microsecond are cut off.
    labels : str, optional
        The column that holds the type of an event, read as text; empty for benign events.
    by : str, optional
        The column that names what an event belongs to, such as its host, read as text.
    columns : collection of str, optional
        Other columns to read; by default all.
    text : collection of str
        Columns to read as text. Any other column holds numbers if all its cells among the first 16,384 events are
        numbers or empty.
    max_delay : str
        How far an event may lie before the latest one so far, such as "10min"; an earlier one is an error. "any" takes
        events in any order. The result is sorted by time; events of equal times stay in the order of the file.

    Returns
    -------
    Events
        In the order of time.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file breaks its format, or an event has no time or one that is out of order; the message names the line.

    Notes
    -----
    Fields of nested JSON objects are columns by their path, such as ``alert.signature``; lists are refused, unless
    `columns` leaves them out. Numbers in JSON strings are numbers, too. In CSV, text that begins with an apostrophe and
    then like a formula loses the apostrophe, which `write_events` puts there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = Path(folder) / "log.csv"
    ...     _ = log.write_text("ts,host,threat\n2026-01-01T10:00:00Z,web,\n2026-01-01T10:00:05Z,web,scan\n")
    ...     read_events(log, time="ts", labels="threat", by="host")
    Events('log': 2 events from 2026-01-01T10:00:00 to 2026-01-01T10:00:05, columns host, threat)
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} must be a file that exists.")
    roles = {role: name for role, name in (("labels", labels), ("by", by)) if name is not None}
    wanted = None if columns is None else {time, *columns, *text, *roles.values()}
    times = TimeReader(time, None if max_delay == "any" else parse_duration(max_delay, "max_delay"))
    with UnpackedFile(path) as file:
        blocks = read_blocks(Lines(file, path), wanted)
        found = _gather(blocks, times, {*text, *roles.values()})
    for role, names in ({"columns": columns or (), "text": text} | {role: [roles[role]] for role in roles}).items():
        _require_names(path, role, set(names) - {time}, found)
    order = np.argsort(times.take(), kind="stable")
    return Events(
        times.take()[order],
        {name: _reorder(column, order) for name, column in found.items()},
        **roles,
        name=stem(path),
        source=str(path),
        sha256=file.sha256,
    )


def write_events(events: Events, path: str | os.PathLike[str]) -> None:
    """Write a log of events, from which `read_events` reads the same events.

    Parameters
    ----------
    events : Events
        The log. Its times become a column called "time", in ISO 8601. Columns whose texts are all numbers have to be
        named to be read as text again.
    path : path
        A file that ends in .csv, .jsonl, .ndjson or .json; replaced if it exists.

    Raises
    ------
    ValueError
        If the name has another ending, a column is called "time" already, or a text has more than one line.
    """
    path = Path(path)
    suffix = require_suffix(path, path.suffix)
    if "time" in events.columns:
        raise ValueError("No column must be called 'time', under which the times are written. Got one.")
    texts = chain(events.columns, *(one.values for one in events.columns.values() if isinstance(one, TextColumn)))
    if broken := [text for text in texts if "\n" in text or "\r" in text]:
        raise ValueError(f"Names and texts must be of one line to be written. Got {show(broken[0])}.")
    times = (f"{time}Z" for time in np.datetime_as_string(events.times, unit="us").tolist())
    rows = zip(times, *(_cells(column) for column in events.columns.values()), strict=True)
    names = ("time", *events.columns)
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as sink:
        if suffix == ".csv":
            writer = csv.writer(sink, lineterminator="\n")
            writer.writerow(map(guard_text, names))
            writer.writerows([_csv_cell(cell) for cell in row] for row in rows)
        else:
            sink.writelines(_json_line(names, row) for row in rows)


def _gather(blocks: Iterable[Block], times: TimeReader, are_text: Collection[str]) -> dict[str, EventColumn]:
    readers: dict[str, TextReader | NumberReader] = {}
    n_events = 0
    for block in blocks:
        times.extend(block)
        for name in [name for name in block.cells if name != times.column and name not in readers]:
            readers[name] = start_column(name, block, is_text=name in are_text)
            readers[name].skip(n_events)
        n_events += len(block.lines)
        # Few bytes of JSON may stand for many empty cells.
        require_memory(8 * n_events * len(readers), f"the events of {block.path}", FormatError)
        for name, reader in readers.items():
            reader.extend(name, block)
    return {name: reader.take() for name, reader in readers.items()}


def _reorder(column: EventColumn, order: npt.NDArray[np.int64]) -> EventColumn:
    return column._replace(codes=column.codes[order]) if isinstance(column, TextColumn) else column[order]


def _require_names(path: Path, role: str, names: Collection[str], found: Collection[str]) -> None:
    unknown = sorted(set(names) - set(found))
    if unknown:
        raise FormatError(f"{role} must name columns of {path}. Got {unknown[0]!r}, which is not one.")


def _cells(column: EventColumn) -> Iterable[str | float | None]:
    if isinstance(column, TextColumn):
        # Code -1 is the last entry.
        values = (*column.values, None)
        return (values[code] for code in column.codes.tolist())
    return (None if number != number else number for number in column.tolist())  # noqa: PLR0124 - NaN


def _csv_cell(cell: str | float | None) -> str:
    if cell is None:
        return ""
    return guard_text(cell) if isinstance(cell, str) else repr(cell)


def _json_line(names: Sequence[str], row: Sequence[str | float | None]) -> str:
    fields = {name: cell for name, cell in zip(names, row, strict=True) if cell is not None}
    return json.dumps(fields, ensure_ascii=False) + "\n"
