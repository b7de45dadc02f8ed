"""The first line of a CSV file: what separates cells, and the names of the columns."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from mlstream._support.content import FormatError, at, bare_path, first_repeated, kind_by_content, show, unguard_text
from mlstream.formats.lines import Lines
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.tables.table import find_columns, kept_columns, to_number, without_keys
from mlstream.streams.tables.text_columns import IGNORE, missing_words

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Excel writes and reads such a line before the names.
_STATED = re.compile(r"sep=([^\"])", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
# Signs of a text that needs quotes.
_ODD = re.compile(r"[,;\t|\"\r\n]|sep=", re.IGNORECASE)

_NO_NAMES = "header=False or --header no reads a file without names"


class CsvDialect(NamedTuple):
    """How a CSV file is written."""

    separator: str | None = ","
    """The character between cells; None if the first line shows it."""
    is_foreign: bool = False
    """Whether any program may have written it: with an index, with separators at the ends of lines."""
    missing: frozenset[str] = frozenset()
    """Words for missing values, beside an empty cell."""
    quoted_missing: bool = False
    """Whether such words count in quotes as well, as those that the user names do."""
    ignore: tuple[str, ...] = ()
    """Columns that are not read."""
    has_names: bool = True
    """Whether the first line holds the names of the columns."""
    decimal: str = "."
    """The character before decimals."""
    keys: tuple[str, ...] = ()
    """Columns that are the keys of rows."""
    time: str | None = None
    """The column of times, which may be a key as well."""


class CsvHeader(NamedTuple):
    """The columns of a file."""

    separator: str
    names: tuple[str, ...]
    """Names of all columns; those without one are empty."""
    kept: tuple[int, ...]
    """The columns that are read, by place."""
    has_index: bool
    """Whether rows begin with their number, which is no column of the table."""
    empty: tuple[int, ...]
    """Columns without a name at the end, which hold nothing."""
    missing: frozenset[str]
    quoted_missing: bool
    decimal: str
    is_foreign: bool
    keys: tuple[int, ...]
    """The columns that are keys, by place."""

    @property
    def named(self) -> tuple[str, ...]:
        """Names of all columns that have one."""
        return tuple(filter(None, self.names))

    @property
    def width(self) -> int:
        """Number of cells in a row."""
        return len(self.names)


# As `format_csv` writes.
OWN = CsvDialect()


def dialect_of(path: Path, reading: ReadingCard) -> CsvDialect:
    """Return the dialect of a file of any origin, by the ending of its name and the options."""
    is_tsv = "tsv" in {reading.format, bare_path(path).suffix.lower().removeprefix(".")}
    separator = reading.separator or ("\t" if is_tsv else None)
    missing = missing_words(reading), reading.missing_words is not None
    dialect = CsvDialect(separator, True, *missing, reading.ignore, reading.header, reading.decimal)
    return dialect._replace(keys=reading.keys, time=reading.time)


def quote(text: str, *, always: bool = False) -> str:
    """Write a text as a cell, in quotes where any reader would take it for something else."""
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if always or _ODD.search(text) else text


def read_header(lines: Lines, dialect: CsvDialect) -> CsvHeader:
    """Read the first line that is not blank, or lines if a quoted name has several, and take the text up to its end.

    Names lose the apostrophe that `format_csv` puts before those that a spreadsheet would take for a formula. Columns
    of a file without names are called x0, x1, ... Raises FormatError if several characters may separate the names, the
    names are fewer than two or repeat, or one is missing.
    """
    head = lines.head(keep_ends=True)
    first = next(head, "")
    _require_text(first, lines, dialect)
    stated = _STATED.fullmatch(first.rstrip("\r\n"))
    if stated:
        first = next(head, "")
    if dialect.is_foreign:
        first = _skip_blank(first, head, dialect.separator or "")
    where = at(lines.path, max(1, lines.n_read))
    separator = dialect.separator or (stated and stated[1]) or _find_separator(first, where)
    cells = _split(first, head, separator, lines)
    names = tuple(map(unguard_text, cells))
    if not dialect.has_names:
        # The next line that is read is the first again, or that behind Excel's.
        lines.rewind(n_lines=bool(stated))
        names = tuple(f"x{place}" for place in range(len(cells)))
    elif dialect.is_foreign:
        _warn_of_numbers(names, first, where)
    if len(names) == 1 and dialect.is_foreign:
        rule = "the names of columns must be at least two, separated by comma, semicolon, tab or bar"
        got = f"Got {show(first.strip())}; separator= or --separator sets another, lines above the names must go"
        raise FormatError(f"{where}: {rule}. {got}.")
    return _settle(separator, names, dialect, lines.path, where)


def _require_text(first: str, lines: Lines, dialect: CsvDialect) -> None:
    """Raise FormatError if the first line shows that a file is empty, or something else than a table of text."""
    if not lines.n_read:
        rule = "a CSV file must start with the names of its columns"
        raise FormatError(f"{at(lines.path, 1)}: {rule}. Got an empty file.")
    if dialect.is_foreign and (kind := kind_by_content(lines.block)):
        raise FormatError(f"{lines.path} must be a CSV file. Got {kind}.")
    if "\0" in first:
        rule = "text must be UTF-8 or Windows-1252"
        raise FormatError(f"{at(lines.path, 1)}: {rule}. Got zero bytes, as of UTF-16; save it as CSV in UTF-8.")


def _warn_of_numbers(names: Sequence[str], line: str, where: str) -> None:
    """Warn of names that are numbers without quotes, as in a row; pandas counts columns so, from 0."""
    numbers = [name for name in names if to_number(name) is not None and f'"{name}"' not in line]
    # Of names of several lines, this is the first.
    if numbers and "\n" not in "".join(names) and numbers != list(map(str, range(len(numbers)))):
        warnings.warn(f"{where}: column {show(numbers[0])} has a number for a name; {_NO_NAMES}.", stacklevel=2)


def _skip_blank(first: str, rest: Iterator[str], separator: str) -> str:
    """Return the first line that holds more than separators."""
    blanks = "".join(SEPARATORS) + separator + '" \r\n'
    return next((line for line in chain([first], rest) if line.strip(blanks)), "")


def _settle(separator: str, names: tuple[str, ...], dialect: CsvDialect, path: Path, where: str) -> CsvHeader:
    """Tell the columns that are read from an index, from empty columns at the end, and from those left out."""
    width, has_index, n_empty = len(names), False, 0
    if names and dialect.is_foreign and "" not in dialect.ignore:
        has_index = not names[0]
        n_empty = next((place for place, name in enumerate(reversed(names)) if name), 0)
    inner = range(has_index, width - n_empty)
    named = [names[place] for place in inner]
    kept = [inner[place] for place in kept_columns(named, dialect.ignore, path)] if named else []
    keys = [inner[place] for place in find_columns(named, dialect.keys, path, "keys= or --keys")]
    kept = without_keys(names, kept, keys, dialect.time)
    _require_names({place + 1: names[place] for place in kept}, dialect, where)
    empty = tuple(range(width - n_empty, width))
    form = dialect.missing, dialect.quoted_missing, dialect.decimal
    return CsvHeader(separator, names, tuple(kept), has_index, empty, *form, dialect.is_foreign, tuple(keys))


def _require_names(names: Mapping[int, str], dialect: CsvDialect, where: str) -> None:
    """Require that columns, which are numbered, have names, all different."""
    way_out = f"; {_NO_NAMES}" * (dialect.is_foreign and bool(names))
    nameless = next((number for number, name in names.items() if dialect.is_foreign and not name), None)
    if nameless is not None:
        leave_out = "; ignore=[''] or --ignore '' leaves out columns without a name"
        raise FormatError(f"{where}: column {nameless} must have a name. Got a blank{leave_out}{way_out}.")
    repeated = first_repeated(names.values())
    if repeated is not None or not names:
        got = "no name"
        if repeated is not None:
            got = f"{show(str(repeated))} twice" + f"; {IGNORE.replace('the column', 'both')}" * dialect.is_foreign
        rule = "a CSV file must start with the names of its columns, all different"
        raise FormatError(f"{where}: {rule}. Got {got}{way_out}.")


def _find_separator(line: str, where: str) -> str:
    bare = _QUOTED.sub("", line)
    found = [separator for separator in SEPARATORS if separator in bare]
    if len(found) > 1:
        names = " and ".join(f"{SEPARATORS[separator]}s" for separator in found)
        rule = "the names of columns must be separated by one of comma, semicolon, tab and bar"
        got = f"Got {names} in {show(line.strip())}; separator= or --separator decides"
        raise FormatError(f"{where}: {rule}. {got}.")
    return found[0] if found else ","


def _split(first: str, rest: Iterator[str], separator: str, lines: Lines) -> list[str]:
    reader = csv.reader(chain([first], rest), delimiter=separator)
    try:
        return next(reader, [])
    except csv.Error as error:
        raise FormatError(f"{at(lines.path, lines.n_read)}: a row must be CSV. Got: {error}.") from None
