"""The header of an ARFF file: its title and its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from mlstream._support.content import FormatError, at, show
from mlstream.streams.tables.table import Column, nominal

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NAME = re.compile(rf"""\s*({QUOTED}|[^\s{{}},%'"][^\s{{}},%]*)""")
_TITLE = re.compile(rf"({QUOTED})\s*(?:%.*)?")
_KEYWORD = re.compile(r"@(\w+)", re.ASCII)
_NUMERIC = re.compile(r"(?:numeric|real|integer)\s*(?:%.*)?", re.IGNORECASE)
_NOMINAL_VALUE = re.compile(rf"""\s*({QUOTED}|[^\s{{}},%'"]+)\s*,?""")
_NOMINAL_END = re.compile(r"\s*\}\s*(?:%.*)?$")
# Half of a surrogate pair is not a character.
_ESCAPE = re.compile(r"\\(u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class Header(NamedTuple):
    """The header: everything before the rows."""

    relation: str
    columns: tuple[Column, ...]
    n_lines: int


def parse_header(lines: Iterable[str], path: Path) -> Header:
    """Read the lines of a file up to and with ``@data``; no more are taken.

    Raises FormatError if a line is not a header line, a column is neither numeric nor nominal, or two columns share a
    name.
    """
    relation, columns, what_else = "", dict[str, Column](), "an empty file"
    for number, line in enumerate(lines, 1):
        text = line.strip()
        what_else = "a header only" if text else what_else
        if not text or text.startswith("%"):
            continue
        where = at(path, number)
        keyword, rest = _split_keyword(text, where)
        if keyword == "data":
            if not columns:
                raise FormatError(f"{path} must declare at least one @attribute before @data. Got 0.")
            return Header(relation, tuple(columns.values()), number)
        if keyword == "relation":
            relation = _read_title(rest)
        else:
            column = _parse_column(rest, where)
            if column.name in columns:
                raise FormatError(f"{where}: column names must differ. Got {show(column.name)} twice.")
            columns[column.name] = column
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
    if not match or keyword not in {"relation", "attribute", "data"}:
        rule = "a line of an ARFF header must start with @relation, @attribute, @data or %"
        raise FormatError(f"{where}: {rule}. Got {show(text)}.")
    return keyword, text[match.end() :].strip()


def _parse_column(text: str, where: str) -> Column:
    match = _NAME.match(text)
    if not match:
        raise FormatError(f"{where}: @attribute must be followed by a name and a type. Got {show(text)}.")
    name, kind = unquote(match.group(1)), text[match.end() :].strip()
    if kind.startswith("{"):
        return nominal(name, _parse_values(kind, name, where))
    if not _NUMERIC.fullmatch(kind):
        raise FormatError(f"{where}: column {show(name)} must be numeric or nominal. Got {show(kind)}.")
    return Column(name)


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
