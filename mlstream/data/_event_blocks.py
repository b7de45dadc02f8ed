"""Blocks of events, from CSV or JSON lines."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, at, show
from mlstream._support.spreadsheets import unguard_text
from mlstream.data._event_cells import Block
from mlstream.data.events import TextColumn
from mlstream.formats.csv_blocks import CsvBlock, Texts, iterate_blocks
from mlstream.formats.csv_dialects import CsvDialect, read_header
from mlstream.formats.lines import Lines

# Of JSON lines; a block of CSV has 4 MiB.
_N_ROWS = 16384
_MAX_COLUMNS = 1000
TABLES = (".csv", ".tsv")
_SUFFIXES = (*TABLES, ".jsonl", ".ndjson", ".json")


def read_csv(
    lines: Lines, time: str, wanted: Collection[str] | None, texts: Collection[str], dialect: CsvDialect
) -> Iterator[Block]:
    """Read a log in CSV in blocks, none of them empty.

    `wanted` None means all columns. Those in `texts`, to which more may be added between blocks, are read as texts,
    and `time` must be among them. A FormatError names the line.
    """
    header = read_header(lines, dialect)
    _require_width(lines.path, lines.n_read, header.width)
    places = {name: place for place, name in enumerate(header.names) if wanted is None or name in wanted}
    n_blank = 0
    for block in iterate_blocks(lines, header):
        found = block.read(places.values(), [place for name, place in places.items() if name in texts])
        numbers = block.lines
        if time in places and (cast(Texts, found[places[time]]).codes < 0).any():
            found, numbers = _leave_out_blank(block, list(places.values()))
            n_blank += len(block.lines) - len(numbers)
        if len(numbers):
            yield Block(lines.path, numbers, {name: found[place] for name, place in places.items()}, unguard_text)
    if n_blank:
        warnings.warn(f"{lines.path}: rows without any value were left out: {n_blank}.", stacklevel=2)


def _leave_out_blank(block: CsvBlock, places: list[int]) -> tuple[Mapping[int, Texts], npt.NDArray[np.int64]]:
    """Read columns of a block as texts, without the rows of separators that spreadsheets write for an empty line."""
    held = ~block.find_blank()
    found = {place: Texts(codes[held], values) for place, (codes, values) in block.find_texts(places, places).items()}
    return found, block.lines[held]


def read_json(lines: Lines, wanted: Collection[str] | None, first_line: int = 1) -> Iterator[Block]:
    """Read a log in JSON lines, all columns as texts; as `read_csv`."""
    numbered = ((number, line) for number, line in enumerate(lines.head(), first_line) if line and not line.isspace())
    # Names in the order of their first occurrence.
    names: dict[str, None] = {}
    while taken := list(islice(numbered, _N_ROWS)):
        rows = []
        for number, line in taken:
            rows.append(_read_object(line, wanted, at(lines.path, number)))
            names |= dict.fromkeys(rows[-1])
            _require_width(lines.path, number, len(names))
        columns = {name: TextColumn.encode(row.get(name, "") for row in rows) for name in names}
        cells = {name: Texts(codes.astype(np.int32), list(values)) for name, (codes, values) in columns.items()}
        yield Block(lines.path, np.array([number for number, _ in taken]), cells, str)


def _read_object(line: str, wanted: Collection[str] | None, where: str) -> dict[str, str]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: an event must be a JSON object. Got: {error}.") from None
    if not isinstance(fields, dict):
        raise FormatError(f"{where}: an event must be a JSON object. Got {show(line)}.")
    cells: dict[str, str] = {}
    for name, value in _flatten(fields, ""):
        if wanted is not None and name not in wanted:
            continue
        if isinstance(value, list):
            raise FormatError(
                f"{where}: column {show(name)} must hold text or numbers; `columns` leaves others out. Got a list."
            )
        if name in cells:
            raise FormatError(f"{where}: names of columns must differ. Got {show(name)} twice.")
        cells[name] = _to_cell(value)
    return cells


def _flatten(fields: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _to_cell(value: object) -> str:
    if isinstance(value, str):
        return value
    # Python writes NaN for a missing number.
    return "" if value is None or value != value else str(value).lower()  # noqa: PLR0124


def require_suffix(path: Path, suffix: str) -> str:
    """Return the ending of a path in small letters, or raise an error if no log of events ends so."""
    if suffix.lower() not in _SUFFIXES:
        raise FormatError(f"{path} must end in {', '.join(_SUFFIXES)}. Got {suffix!r} instead.")
    return suffix.lower()


def _require_width(path: Path, line: int, n_columns: int) -> None:
    if n_columns > _MAX_COLUMNS:
        raise FormatError(f"{at(path, line)}: a log must have at most {_MAX_COLUMNS} columns. Got {n_columns}.")
