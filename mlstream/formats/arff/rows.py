"""The rows of an ARFF file, dense or sparse.

Almost every row is a list of plain numbers, which Python's own `split` and `float` read fast. Whatever they refuse
(quotes, comments, missing values, mistakes) is read again with care, and only there can a row be found wrong. A missing
value, ``?``, is NaN: which columns are labels, and may have one, is not known yet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from mlstream._support.content import FormatError, at, clip, first_repeated, show
from mlstream.formats.arff.header import QUOTED, unquote
from mlstream.streams.tables.table import Column, to_number

_MISSING = "?"

# Nothing is tried twice, so that the time is that of reading the text once, whatever it is.
_CELL = re.compile(rf"""\s*+({QUOTED}\s*+|[^\s,%'"][^,%]*+|)(,|%.*$|$)""")
_WORD = re.compile(rf"""({QUOTED}|%.*$|[^\s'"%]++)\s*+""")
_PAIR = re.compile(rf"""\s*+(-?[0-9]{{1,4000}})\s++({QUOTED}|[^\s,{{}}%'"]++)\s*+(?:,|(?=\}}))""")
_END = re.compile(r"\s*\}\s*(?:%.*)?$")
_WEIGHT = re.compile(r",\s*\{[^{}]*\}\s*(?:%.*)?$")


class RowReader:
    """A reader that turns lines into numbers, for a given header."""

    def __init__(self, columns: Sequence[Column], path: Path) -> None:
        self._columns = columns
        self._path = path
        self._codes = [_number_values(column) for column in columns]
        self._converters = [_converter(column, codes) for column, codes in zip(columns, self._codes, strict=True)]
        self._is_plain = not any(column.is_coded for column in columns)

    def dense(self, number: int, text: str) -> list[float]:
        """Read a row that lists every cell; `number` is its line."""
        cells = text.split(",")
        if len(cells) == len(self._columns) + 1 and not cells[-1].strip():
            cells.pop()
        if len(cells) == len(self._columns) and _is_plain_text(text):
            with suppress(KeyError, ValueError):
                row = list(map(float, cells)) if self._is_plain else self._convert(range(len(cells)), cells)
                if _is_finite(row):
                    return row
        return self._dense_with_care(number, text)

    def sparse(self, number: int, text: str) -> tuple[list[int], list[float]]:
        """Read a row of ``{index value, ...}``; `number` is its line."""
        if text[-1] == "}" and _is_plain_text(text):
            with suppress(KeyError, ValueError, IndexError):
                pairs = [pair.split() for pair in text[1:-1].split(",")]
                indices = [int(index) for index, _ in pairs]
                cells = [cell for _, cell in pairs]
                values = list(map(float, cells)) if self._is_plain else self._convert(indices, cells)
                if _is_finite(values):
                    return self._require_indices(number, indices), values
        return self._sparse_with_care(number, text)

    def _convert(self, indices: Sequence[int], cells: Sequence[str]) -> list[float]:
        return [self._converters[index](cell) for index, cell in zip(indices, cells, strict=True)]

    def _dense_with_care(self, number: int, text: str) -> list[float]:
        cells = _split(text) if "," in text else _split_words(text)
        if cells is None:
            self._fail(number, f"quotes must be closed. Got {show(text)}")
        if cells[-1].startswith("{") and len(cells) > len(self._columns):
            self._fail(number, f"a row must have no weight. Got {show(cells[-1])}")
        if len(cells) == len(self._columns) + 1 and not cells[-1]:
            cells.pop()
        if len(cells) != len(self._columns):
            self._fail(number, f"a row must hold {len(self._columns)} values. Got {len(cells)}")
        return [self._read(number, index, cell) for index, cell in enumerate(cells)]

    def _sparse_with_care(self, number: int, text: str) -> tuple[list[int], list[float]]:
        pairs, position = [], 1
        while match := _PAIR.match(text, position):
            pairs.append((int(match.group(1)), match.group(2)))
            position = match.end()
        if _WEIGHT.search(text, position):
            self._fail(number, f"a row must have no weight. Got {show(text[position:])}")
        if not _END.match(text, position):
            self._fail(number, f"a sparse row must be {{index value, ...}}. Got {show(text[position:])}")
        indices = self._require_indices(number, [index for index, _ in pairs])
        return indices, [self._read(number, index, cell) for index, cell in pairs]

    def _require_indices(self, number: int, indices: list[int]) -> list[int]:
        if indices and not 0 <= min(indices) <= max(indices) < len(self._columns):
            wrong = next(index for index in indices if not 0 <= index < len(self._columns))
            self._fail(number, f"indices must be between 0 and {len(self._columns) - 1}. Got {show(str(wrong))}")
        if len(set(indices)) < len(indices):
            self._fail(number, f"an index must occur once in a row. Got {first_repeated(indices)} again")
        return indices

    def _read(self, number: int, index: int, cell: str) -> float:
        column = self._columns[index]
        if cell == _MISSING:
            return math.nan
        if not cell:
            self._fail(
                number, f"column {show(column.name)} must have a value, or ? for an unknown label. Got {show(cell)}"
            )
        value = self._codes[index].get(unquote(cell)) if column.is_coded else to_number(unquote(cell))
        if value is None:
            rule = f"one of {{{clip(', '.join(column.values or ()))}}}" if column.is_coded else "a finite number"
            self._fail(number, f"column {show(column.name)} must be {rule}. Got {show(cell)}")
        return value

    def _fail(self, number: int, message: str) -> NoReturn:
        # Already read with care: what is wrong here is wrong.
        raise FormatError(f"{at(self._path, number)}: {message}.") from None


def _number_values(column: Column) -> dict[str, float]:
    return {value: float(code) for code, value in enumerate(column.values or ())} if column.is_coded else {}


def _converter(column: Column, codes: dict[str, float]) -> Callable[[str], float]:
    # Without quotes, a question mark is not a value but a missing one.
    bare = {value: code for value, code in codes.items() if value != _MISSING}
    return (lambda cell: bare[cell.strip()]) if column.is_coded else float


def _is_plain_text(text: str) -> bool:
    # Python reads 1_000 and ٣ as numbers; no other program does.
    return "_" not in text and text.isascii()


def _is_finite(row: list[float]) -> bool:
    # Python reads "nan" and "inf" as numbers. Their sum shows them, and takes no loop.
    return math.isfinite(sum(row))


def _split(text: str) -> list[str] | None:
    cells, position, separator = [], 0, ","
    while separator == ",":
        match = _CELL.match(text, position)
        if not match:
            return None
        cells.append(match.group(1).rstrip())
        position, separator = match.end(), match.group(2)
    return cells


def _split_words(text: str) -> list[str] | None:
    # The format's inventor also takes blanks and tabs for separators.
    words, position = [], 0
    while position < len(text):
        match = _WORD.match(text, position)
        if not match:
            return None
        words.append(match.group(1))
        position = match.end()
    return [word for word in words if not word.startswith("%")]
