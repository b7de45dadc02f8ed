"""Logs of single events in files: CSV and JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from estimators.contract.durations import parse_duration
from mlstream._support.content import FormatError, UnpackedFile, bare_path, guard_text, show, stem
from mlstream._support.files import atomic_path, did_you_mean, require_plain
from mlstream._support.mapped import require_memory
from mlstream.data._event_blocks import TABLES, Block, ColumnReader, TimeReader, read_csv, read_json, require_suffix
from mlstream.data.events import EventColumn, Events, TextColumn, take_cells
from mlstream.formats.csv_dialects import dialect_of, quote
from mlstream.formats.lines import Lines
from mlstream.streams.tables.columns import make_reading
from mlstream.streams.tables.text_columns import MISSING_WORDS


def read_events(  # noqa: PLR0913 - what a log may need to be read
    path: str | os.PathLike[str],
    *,
    time: str,
    labels: str | None = None,
    by: str | None = None,
    columns: Collection[str] | None = None,
    text: Collection[str] = (),
    max_delay: str = "1h",
    separator: str | None = None,
    missing_words: Collection[str] | None = None,
) -> Events:
    r"""Read a log of single events.

    Parameters
    ----------
    path : path
        A CSV file (.csv, .tsv) with a row of names, or JSON lines (.jsonl, .ndjson, .json); either may be packed (.gz,
        .bz2, .xz).
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
        Columns to read as text. Any other column holds numbers if all its cells among the first events (16,384 JSON
        lines, or 4 MiB of CSV) are empty or numbers that a float holds exactly.
    max_delay : str
        How far an event may lie before the latest one so far, such as "10min"; an earlier one is an error. "any" takes
        events in any order. The result is sorted by time; events of equal times stay in the order of the file.
    separator : str, optional
        The character between the cells of a CSV file; by default the comma, semicolon, tab or bar between the names.
    missing_words : collection of str, optional
        The words for a missing value in CSV, beside an empty cell; by default NA, NaN, null, ? and the like, unless
        they are in quotes.

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
    then like a formula loses the apostrophe, which `write_events` puts there. Rows of separators only, as spreadsheets
    write, are left out with a warning.

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
    require_plain(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} must be a file that exists.")
    roles = {role: name for role, name in (("labels", labels), ("by", by)) if name is not None}
    wanted = None if columns is None else {time, *columns, *text, *roles.values()}
    times = TimeReader(time, None if max_delay == "any" else parse_duration(max_delay, "max_delay"))
    are_text = {*text, *roles.values()}
    reading = make_reading(
        separator=separator, missing_words=missing_words if missing_words is None else tuple(missing_words)
    )
    with UnpackedFile(path) as file:
        lines, texts = Lines(file, path), {time, *are_text}
        if require_suffix(path, bare_path(path).suffix) in TABLES:
            blocks = read_csv(lines, time, wanted, texts, dialect_of(path, reading)._replace(is_foreign=False))
        else:
            blocks = read_json(lines, wanted)
        found = _gather(blocks, times, texts, path)
    for role, names in ({"columns": columns or (), "text": text} | {role: [roles[role]] for role in roles}).items():
        _require_names(path, role, set(names) - {time}, found)
    order = np.argsort(times.take(), kind="stable")
    return Events(
        times.take()[order],
        {name: take_cells(column, order) for name, column in found.items()},
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
        A file that ends in .csv, .tsv, .jsonl, .ndjson or .json; replaced if it exists.

    Raises
    ------
    ValueError
        If the name has another ending, a column is called "time" already, or CSV cannot hold a name or a text: a name
        with a zero byte, or a text of blanks, between which a word for a missing value may stand.
    """
    path = Path(path)
    suffix = require_suffix(path, path.suffix)
    if "time" in events.columns:
        raise ValueError("No column must be called 'time', under which the times are written. Got one.")
    if suffix in TABLES:
        _require_cells(events)
    times = (f"{time}Z" for time in np.datetime_as_string(events.times, unit="us").tolist())
    names, separator = ("time", *events.columns), "\t" if suffix == ".tsv" else ","
    to_text = _quote if suffix in TABLES else str
    rows = zip(times, *(_cells(column, to_text) for column in events.columns.values()), strict=True)
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as sink:
        if suffix in TABLES:
            sink.write(separator.join(map(_quote, names)) + "\n")
            sink.writelines(separator.join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)
        else:
            sink.writelines(_json_line(names, row) for row in rows)


def _gather(blocks: Iterable[Block], times: TimeReader, texts: set[str], path: Path) -> dict[str, EventColumn]:
    """Read all columns; those that turn out to hold texts are added to `texts`."""
    readers: dict[str, ColumnReader] = {}
    n_events = 0
    for block in blocks:
        times.extend(block)
        for name in [name for name in block.cells if name != times.column and name not in readers]:
            readers[name] = ColumnReader(block.cells[name], is_text=name in texts)
            readers[name].skip(n_events)
        texts |= {name for name, reader in readers.items() if reader.is_text}
        n_events += len(block.lines)
        # Few bytes of JSON may stand for many empty cells.
        require_memory(8 * n_events * len(readers), f"the events of {path}", FormatError)
        for name, reader in readers.items():
            reader.extend(name, block)
    if not n_events:
        raise FormatError(f"{path} must hold at least one event. Got 0.")
    return {name: reader.take() for name, reader in readers.items()}


def _require_names(path: Path, role: str, names: Collection[str], found: Collection[str]) -> None:
    unknown = sorted(set(names) - set(found))
    if unknown:
        nearest = did_you_mean(unknown[0], list(found))
        raise FormatError(f"{role} must name columns of {path}. Got {unknown[0]!r}, which is not one{nearest}.")


def _cells(column: EventColumn, to_text: Callable[[str], str]) -> Iterable[str | float | None]:
    if isinstance(column, TextColumn):
        # Code -1 is the last entry.
        values = (*map(to_text, column.values), None)
        return (values[code] for code in column.codes.tolist())
    return (None if number != number else number for number in column.tolist())  # noqa: PLR0124 - NaN


def _quote(text: str) -> str:
    return quote(guard_text(text), always=text in MISSING_WORDS)


def _require_cells(events: Events) -> None:
    """Raise ValueError for what a reader of CSV would take for something else."""
    texts = chain.from_iterable(one.values for one in events.columns.values() if isinstance(one, TextColumn))
    broken = [text for text in texts if text.strip() != text and text.strip() in {"", *MISSING_WORDS}]
    if broken := broken + [name for name in events.columns if "\0" in name]:
        rule = "Texts must not be blanks, nor words for missing values between them, nor names hold zero bytes"
        raise ValueError(f"{rule}, to be written as CSV. Got {show(broken[0])}.")


def _json_line(names: Sequence[str], row: Sequence[str | float | None]) -> str:
    fields = {name: cell for name, cell in zip(names, row, strict=True) if cell is not None}
    return json.dumps(fields, ensure_ascii=False) + "\n"
