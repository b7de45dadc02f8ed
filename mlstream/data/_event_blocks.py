"""Blocks of events as text, from CSV or JSON lines."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from mlstream._support.content import FormatError, at, bare_path, show
from mlstream._support.spreadsheets import unguard_text
from mlstream.data._event_cells import Block
from mlstream.formats.lines import Lines

_N_ROWS = 16384
_MAX_COLUMNS = 1000
_SUFFIXES = (".csv", ".jsonl", ".ndjson", ".json")


def read_blocks(lines: Lines, wanted: Collection[str] | None) -> Iterator[Block]:
    """Read a log of events in blocks, at least one, none of them empty; CSV or JSON lines by the ending of its path.

    `wanted` None means all columns. A FormatError names the line.
    """
    read = _read_csv if require_suffix(lines.path, bare_path(lines.path).suffix) == ".csv" else _read_json
    blocks = read(lines, wanted)
    first = next(blocks, None)
    if first is None:
        raise FormatError(f"{lines.path} must hold at least one event. Got 0.")
    yield first
    yield from blocks


def _read_csv(lines: Lines, wanted: Collection[str] | None) -> Iterator[Block]:
    rows, path = csv.reader(_split(lines)), lines.path
    _, heads = _take_rows(rows, path, 1)
    names = [unguard_text(name) for name in (heads or [[]])[0]]
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise FormatError(f"{at(path, 1)}: names of columns must differ. Got {show(twice)} twice.")
    _require_width(path, 1, len(names))
    while (taken := _take_rows(rows, path, _N_ROWS)).rows:
        if set(map(len, taken.rows)) != {len(names)}:
            line, got = next((line, len(row)) for line, row in zip(*taken, strict=True) if len(row) != len(names))
            raise FormatError(f"{at(path, line)}: an event must hold {len(names)} values. Got {got}.")
        cells = dict(zip(names, zip(*taken.rows, strict=True), strict=True))
        chosen = {name: column for name, column in cells.items() if wanted is None or name in wanted}
        yield Block(path, taken.lines, chosen, unguard_text)


class _Rows(NamedTuple):
    """Rows of a CSV file, and the line of each."""

    lines: list[int]
    rows: list[list[str]]


def _take_rows(rows: Any, path: Path, n_rows: int) -> _Rows:
    taken = _Rows([], [])
    try:
        for row in rows:
            if row:
                taken.lines.append(rows.line_num)
                taken.rows.append(row)
            if len(taken.rows) == n_rows:
                break
    except csv.Error as error:
        raise FormatError(f"{at(path, rows.line_num)}: an event must be CSV. Got: {error}.") from None
    return taken


def _split(lines: Lines) -> Iterator[str]:
    """Cut a text into lines: a block of plain ASCII at once, which is several times as fast as line by line."""
    n_lines = 0
    for block in lines.blocks():
        pieces = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n").split(b"\n")
        if block.isascii():
            yield from b"\n".join(pieces).decode("ascii").split("\n")
        else:
            yield from (lines.decode(piece, n_lines + place) for place, piece in enumerate(pieces, 1))
        n_lines += len(pieces)


def _read_json(lines: Lines, wanted: Collection[str] | None) -> Iterator[Block]:
    numbered = ((number, line) for number, line in enumerate(_split(lines), 1) if line and not line.isspace())
    # Names in the order of their first occurrence.
    names: dict[str, None] = {}
    while taken := list(islice(numbered, _N_ROWS)):
        rows = []
        for number, line in taken:
            rows.append(_read_object(line, at(lines.path, number), wanted))
            names |= dict.fromkeys(rows[-1])
            _require_width(lines.path, number, len(names))
        cells = {name: [row.get(name, "") for row in rows] for name in names}
        yield Block(lines.path, [number for number, _ in taken], cells, str)


def _read_object(line: str, where: str, wanted: Collection[str] | None) -> dict[str, str]:
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


def _flatten(fields: Mapping[str, object], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _to_cell(value: str | float | bool | None) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else str(value).lower()


def require_suffix(path: Path, suffix: str) -> str:
    """Return the ending of a path in small letters, or raise an error if no log of events ends so."""
    if suffix.lower() not in _SUFFIXES:
        raise FormatError(f"{path} must end in {', '.join(_SUFFIXES)}. Got {suffix!r} instead.")
    return suffix.lower()


def _require_width(path: Path, line: int, n_columns: int) -> None:
    if n_columns > _MAX_COLUMNS:
        raise FormatError(f"{at(path, line)}: a log must have at most {_MAX_COLUMNS} columns. Got {n_columns}.")
