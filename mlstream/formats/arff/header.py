"""The header of an ARFF file: its title and its columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mlstream._support.content import FormatError, at, show
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.table import Column, nominal
from mlstream.streams.tables.text_columns import DATES, IGNORE, TextColumn, code_values, collect_values

QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\")"""
_NAME = re.compile(rf"""\s*({QUOTED}|[^\s{{}},%'"][^\s{{}},%]*)""")
_TITLE = re.compile(rf"({QUOTED})\s*(?:%.*)?")
_KEYWORD = re.compile(r"@(\w+)", re.ASCII)
# Some tools write the range of numbers, as KEEL does.
_NUMERIC = re.compile(r"(?:numeric|real|integer)\s*(?:\[[^\]]*\]\s*)?(?:%.*)?", re.IGNORECASE)
_DATE = re.compile(rf"date\s*({QUOTED}|[^\s%]+)?\s*(?:%.*)?", re.IGNORECASE)
_RELATIONAL = re.compile(r"relational\b", re.IGNORECASE)
_STRING = re.compile(r"string\s*(?:%.*)?", re.IGNORECASE)
_NOMINAL_VALUE = re.compile(rf"""\s*({QUOTED}|[^\s{{}},%'"]+)\s*,?""")
_NOMINAL_END = re.compile(r"\s*\}\s*(?:%.*)?$")
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
# strptime takes numbers of one digit as well.
_CODES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "SSS": "%f"}
_CODES |= {code[0]: _CODES[code] for code in ("MM", "dd", "HH", "mm", "ss")}
_JAVA = re.compile(r"'([^']*)'|([a-zA-Z])\2*")
# Half of a surrogate pair is not a character.
_ESCAPE = re.compile(r"\\(u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class Header(NamedTuple):
    """The header: everything before the rows."""

    relation: str
    columns: tuple[TextColumn, ...]
    n_lines: int


def parse_header(lines: Iterable[str], path: Path, reading: ReadingCard = BY_DEFAULT) -> Header:
    """Read the lines of a file up to and with ``@data``; no more are taken.

    Columns that are ignored may be of any type, and read as 0. Raises FormatError if a line is not a header line,
    another column is neither numeric nor nominal, dates and lists of tags aside, or two columns share a name.
    """
    relation, columns, what_else, nested = "", dict[str, TextColumn](), "an empty file", ""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        what_else = "a header only" if text else what_else
        if not text or text.startswith("%"):
            continue
        where = at(path, number)
        keyword, rest = _split_keyword(text, where)
        if nested:
            # Columns of a relation within a cell, up to the end of that relation.
            nested = "" if keyword == "end" and unquote(rest) == nested else nested
        elif keyword == "data":
            if not columns:
                raise FormatError(f"{path} must declare at least one @attribute before @data. Got 0.")
            return Header(relation, tuple(columns.values()), number)
        elif keyword == "relation":
            relation = _read_title(rest)
        else:
            column, kind = _parse_column(rest, where, reading)
            name = column.column.name
            if name in columns:
                raise FormatError(f"{where}: column names must differ. Got {show(name)} twice.")
            columns[name] = column
            nested = name if _RELATIONAL.match(kind) else ""
    raise FormatError(f"{path} must be an ARFF file, with @data after its header. Got {what_else}.")


def unquote(token: str) -> str:
    r"""Read a value: take off quotes of either kind, and resolve escapes (``\'``, ``\n``, ``\u001E``) between them.

    >>> unquote("it's"), unquote("'it\\'s'")
    ("it's", "it's")
    """
    if len(token) < 2 or token[0] not in "'\"" or token[-1] != token[0]:
        return token
    return _ESCAPE.sub(_unescape, token[1:-1])


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPED.get(code, code)


def _read_title(text: str) -> str:
    quoted = _TITLE.fullmatch(text)
    return unquote(quoted.group(1)) if quoted else text


def _split_keyword(text: str, where: str) -> tuple[str, str]:
    match = _KEYWORD.match(text)
    keyword = match.group(1).lower() if match else ""
    if not match or keyword not in {"relation", "attribute", "data", "end"}:
        rule = "a line of an ARFF header must start with @relation, @attribute, @data or %"
        raise FormatError(f"{where}: {rule}. Got {show(text)}.")
    return keyword, text[match.end() :].strip()


def _parse_column(text: str, where: str, reading: ReadingCard) -> tuple[TextColumn, str]:
    match = _NAME.match(text)
    if not match:
        raise FormatError(f"{where}: @attribute must be followed by a name and a type. Got {show(text)}.")
    name, kind = unquote(match.group(1)), text[match.end() :].strip()
    if name in reading.ignore:
        return TextColumn(Column(name), lambda _: 0.0), kind
    return _choose_reader(name, kind, where, reading), kind


def _choose_reader(name: str, kind: str, where: str, reading: ReadingCard) -> TextColumn:
    if kind.startswith("{"):
        return code_values(nominal(name, _parse_values(kind, name, where)))
    if _NUMERIC.fullmatch(kind):
        return TextColumn(Column(name))
    if _STRING.fullmatch(kind) and name == reading.tags:
        return collect_values(name)
    date = _DATE.fullmatch(kind)
    if date and reading.takes_dates(name):
        return TextColumn(Column(name, is_date=True), _date_reader(name, unquote(date[1] or _ISO), where))
    way_out = DATES if date else IGNORE
    raise FormatError(f"{where}: column {show(name)} must be numeric or nominal. Got {show(kind)}; {way_out}.")


def _date_reader(name: str, pattern: str, where: str) -> Callable[[str], float | None]:
    """Return what reads times in a pattern of Java; those without a zone are UTC."""
    try:
        form = _JAVA.sub(lambda match: _CODES[match[0]] if match[1] is None else match[1], pattern)
    except KeyError:
        rule = f"column {show(name)} must have dates of {', '.join(_CODES)}, and text in single quotes"
        raise FormatError(f"{where}: {rule}. Got {show(pattern)}; {IGNORE}.") from None

    def read(text: str) -> float | None:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            return None

    return read


def _parse_values(text: str, name: str, where: str) -> tuple[str, ...]:
    values, position = dict[str, None](), 1
    while match := _NOMINAL_VALUE.match(text, position):
        value, position = unquote(match.group(1)), match.end()
        if value in values:
            raise FormatError(f"{where}: the values of column {show(name)} must differ. Got {show(value)} twice.")
        values[value] = None
    if not values or not _NOMINAL_END.match(text, position):
        raise FormatError(f"{where}: column {show(name)} must list its values as {{a, b, ...}}. Got {show(text)}.")
    return tuple(values)
