"""TOML files that people wrote: any error is one line that names the file."""

from __future__ import annotations

import os
import re
import tomllib
from itertools import accumulate

from mlstream._support.files import read_bounded

# Room for lists of a hundred thousand streams.
_MOST_BYTES = 2**24
# No file of ours has more than six; errors that show a value could not write one that is far deeper, or far longer.
_MOST_LEVELS = 50
_MOST_BITS = 64
# The parser names a key twice in some errors, however long it is.
_LONGEST_ERROR = 300
# Strings and comments; without an end, which the parser refuses, they reach to that of the line or of the file. Nothing
# is tried twice, so that the time does not grow with the square of the content.
_TEXT = re.compile(
    rb'"""(?:[^"\\]++|\\.?|"(?!""))*+(?:"{3,5}|\Z)'
    rb"|'''(?:[^']++|'(?!''))*+(?:'{3,5}|\Z)"
    rb'|"(?:[^"\\\n]++|\\[^\n])*+"?'
    rb"|'[^'\n]*+'?"
    rb"|\#[^\n]*+",
    re.DOTALL,
)
_LONG_KEY = re.compile(rb"(?<![\w.-])(?:[\w-]++\.){%d}" % _MOST_LEVELS)
# As signed bytes, one level more or less.
_TO_STEPS = bytes.maketrans(b"[{]}", b"\1\1\xff\xff")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def read_toml(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read a TOML file of at most 16 MiB, as `parse_toml` does its content."""
    return parse_toml(read_bounded(path, _MOST_BYTES), os.fspath(path))


def read_toml_text(path: str | os.PathLike[str]) -> str:
    """Read the text of a TOML file that `read_toml` takes, with line ends of one character."""
    return read_bounded(path, _MOST_BYTES).decode("utf-8").replace("\r\n", "\n")


def parse_toml(content: bytes, where: str) -> dict[str, object]:
    """Read the content of a TOML file; `where` names it in errors.

    Raises ValueError if the content is not TOML in UTF-8, nested more than 50 levels deep, or holds an integer of more
    than 64 bits.
    """
    if _has_deep_line(content):
        raise _too_deep(where)
    try:
        table = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:
        # Integers of thousands of digits are an error of Python's, not of TOML's.
        text = str(error)
        if len(text) > _LONGEST_ERROR:
            text = f"{text[:_LONGEST_ERROR]}... {text[text.rfind('(') :]}"
        raise ValueError(f"{where} must be TOML. Got this: {text}.") from None
    _require_plain(table, where)
    return table


def _has_deep_line(content: bytes) -> bool:
    """Tell whether a key has too many dots, or arrays and inline tables are nested too deep.

    The parser takes time that grows with the square of a key's dots, and a level of Python's stack for each bracket.
    """
    bare = _TEXT.sub(b"s", content).translate(None, b" \t")
    if _LONG_KEY.search(bare):
        return True
    steps = memoryview(bare.translate(_TO_STEPS, _NO_BRACKETS)).cast("b")
    return any(level > _MOST_LEVELS for level in accumulate(steps))


def _require_plain(table: dict[str, object], where: str) -> None:
    values: list[object] = [table]
    for _ in range(_MOST_LEVELS):
        if any(isinstance(value, int) and value.bit_length() > _MOST_BITS for value in values):
            raise ValueError(f"{where} must be TOML with integers of at most {_MOST_BITS} bits. Got a larger one.")
        values = [inner for value in values for inner in _inner(value)]
    if values:
        raise _too_deep(where)


def _too_deep(where: str) -> ValueError:
    return ValueError(f"{where} must be TOML of at most {_MOST_LEVELS} levels. Got more.")


def _inner(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
