"""The first line of a CSV file: what separates cells, and the names of the columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from mlstream._support.content import FormatError, at, bare_path, show
from mlstream._support.spreadsheets import unguard_text
from mlstream.formats.lines import Lines
from mlstream.streams.card_model import ReadingCard

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Excel writes and reads such a line before the names.
_STATED = re.compile(r"sep=([^\"])", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')


class CsvDialect(NamedTuple):
    """How a CSV file is written."""

    separator: str | None = ","
    """The character between cells; None if the first line shows it."""
    takes_index: bool = False
    """Whether a first column without a name is the index of pandas, which is left out."""
    takes_missing: bool = False
    """Whether words such as NA are missing values."""


class CsvHeader(NamedTuple):
    """The first line."""

    separator: str
    names: tuple[str, ...]
    has_index: bool
    """Whether rows begin with their number, which is no column of the table."""

    @property
    def width(self) -> int:
        """Number of cells in a row."""
        return len(self.names) + self.has_index


# As `format_csv` writes.
OWN = CsvDialect()


def dialect_of(path: Path, reading: ReadingCard) -> CsvDialect:
    """Return the dialect of a file of any origin, by the ending of its name and the options."""
    by_name = "\t" if bare_path(path).suffix.lower() == ".tsv" else None
    return CsvDialect(reading.separator or by_name, takes_index=True, takes_missing=reading.missing != "error")


def read_header(lines: Lines, dialect: CsvDialect) -> CsvHeader:
    """Read the first line, or lines if a quoted name has several; the text is taken up to the end of the header.

    Names lose the apostrophe that `format_csv` puts before those that a spreadsheet would take for a formula. Raises
    FormatError if several characters may separate the names, or the names are fewer than two or repeat.
    """
    head = lines.head()
    first = next(head, "")
    if "\0" in first:
        rule = "text must be UTF-8 or Latin-1"
        raise FormatError(f"{at(lines.path, 1)}: {rule}. Got zero bytes, as of UTF-16; save it as CSV in UTF-8.")
    stated = _STATED.fullmatch(first) if dialect.takes_index else None
    if stated:
        first = next(head, "")
    separator = dialect.separator or (stated and stated[1]) or _find_separator(first, lines.path)
    names = tuple(map(unguard_text, _split(first, head, separator, lines)))
    has_index = dialect.takes_index and len(names) > 1 and not names[0]
    header = CsvHeader(separator, names[1:] if has_index else names, has_index)
    _require_names(header, lines.path)
    if len(names) < 2 and dialect.takes_index:
        rule = "the names of columns must be at least two, separated by comma, semicolon, tab or bar"
        raise FormatError(f"{at(lines.path, 1)}: {rule}. Got {show(first)}; separator= or --separator sets another.")
    return header


def _find_separator(line: str, path: Path) -> str:
    bare = _QUOTED.sub("", line)
    found = [separator for separator in SEPARATORS if separator in bare]
    if len(found) > 1:
        names = " and ".join(f"{SEPARATORS[separator]}s" for separator in found)
        rule = "the names of columns must be separated by one of comma, semicolon, tab and bar"
        raise FormatError(f"{at(path, 1)}: {rule}. Got {names} in {show(line)}; separator= or --separator decides.")
    return found[0] if found else ","


def _split(first: str, rest: Iterator[str], separator: str, lines: Lines) -> list[str]:
    reader = csv.reader(chain([first], rest), delimiter=separator)
    try:
        return next(reader, [])
    except csv.Error as error:
        raise FormatError(f"{at(lines.path, lines.n_read)}: a row must be CSV. Got: {error}.") from None


def _require_names(header: CsvHeader, path: Path) -> None:
    names = header.names
    if names and len(set(names)) == len(names):
        return
    got = f"{Counter(names).most_common(1)[0][0]!r} twice" if names else "no name"
    raise FormatError(f"{at(path, 1)}: a CSV file must start with the names of its columns, all different. Got {got}.")
