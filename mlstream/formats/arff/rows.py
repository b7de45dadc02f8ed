"""The rows of an ARFF file, dense or sparse.

Almost every row is a list of plain numbers, which Python's own `split` and `float` read fast. Whatever they refuse
(quotes, comments, missing values, mistakes) is read again with care, and only there can a row be found wrong. A missing
value, ``?``, is NaN: which columns are labels, and may have one, is not known yet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, cast

from mlstream._support.content import FormatError, at, clip, first_repeated, show
from mlstream.formats.arff.header import QUOTED, unquote
from mlstream.streams.frames import MAX_EXACT
from mlstream.streams.tables.table import to_number
from mlstream.streams.tables.text_columns import EXACT, IGNORE, MISSING, MISSING_WORDS, TextColumn, is_rounded

_MISSING = "?"

# Nothing is tried twice, so that the time is that of reading the text once, whatever it is.
_CELL = re.compile(rf"""\s*+({QUOTED}\s*+|[^\s,%'"][^,%]*+|)(,|%.*$|$)""")
_WORD = re.compile(rf"""({QUOTED}|%.*$|[^\s'"%]++)\s*+""")
_PAIR = re.compile(rf"""\s*+(-?[0-9]{{1,4000}})\s++({QUOTED}|[^\s,{{}}%'"]++)\s*+(?:,|(?=\}}))""")
_END = re.compile(r"\s*\}\s*(?:%.*)?$")
_WEIGHT = re.compile(r"\s*\}\s*,\s*(\{[^{}]*\})\s*(?:%.*)?$")


class RowReader:
    """A reader that turns lines into numbers, for a given header."""

    def __init__(self, columns: Sequence[TextColumn], path: Path, missing: Collection[str] = MISSING_WORDS) -> None:
        self._columns = columns
        self._path = path
        self._missing = missing
        self._is_plain = all(column.read is to_number for column in columns)
        # Quotes and comments show in text of any kind only with care.
        self.is_careful = any(isinstance(column.column.values, list) for column in columns)
        """Whether rows are read with care at once."""
        self.weights: dict[int, float] = {}
        """The weight of each line that has one."""

    def dense(self, number: int, text: str) -> list[float]:
        """Read a row that lists every cell; `number` is its line."""
        cells = text.split(",")
        if len(cells) == len(self._columns) + 1 and not cells[-1].strip():
            cells.pop()
        if len(cells) == len(self._columns) and _is_plain_text(text) and not self.is_careful:
            with suppress(KeyError, ValueError):
                row = list(map(float, cells)) if self._is_plain else self._convert(self._columns, cells)
                if _is_finite(row):
                    return row
        return self._dense_with_care(number, text)

    def sparse(self, number: int, text: str) -> tuple[list[int], list[float]]:
        """Read a row of ``{index value, ...}``; `number` is its line."""
        if text[-1] == "}" and _is_plain_text(text) and not self.is_careful:
            with suppress(KeyError, ValueError, IndexError):
                pairs = [pair.split() for pair in text[1:-1].split(",")]
                indices = [int(index) for index, _ in pairs]
                cells = [cell for _, cell in pairs]
                values = (
                    list(map(float, cells))
                    if self._is_plain
                    else self._convert([self._columns[index] for index in indices], cells)
                )
                if _is_finite(values):
                    return self._require_indices(number, indices), values
        return self._sparse_with_care(number, text)

    def _convert(self, columns: Sequence[TextColumn], cells: Sequence[str]) -> list[float]:
        row = [column.read(cell.strip()) for column, cell in zip(columns, cells, strict=True)]
        # Without quotes, a question mark is not a value but a missing one.
        if None in row or any(cell.strip() == _MISSING for cell in cells):
            raise ValueError(cells)
        return cast("list[float]", row)

    def _dense_with_care(self, number: int, text: str) -> list[float]:
        cells = _split(text) if "," in text else _split_words(text)
        if cells is None:
            self._fail(number, f"quotes must be closed. Got {show(text)}")
        # A weight, or a separator at the end of the line.
        if len(cells) == len(self._columns) + 1 and (not cells[-1] or cells[-1].startswith("{")):
            weight = cells.pop()
            if weight:
                self._take_weight(number, weight)
        if len(cells) != len(self._columns):
            self._fail(number, f"a row must hold {len(self._columns)} values. Got {len(cells)}")
        return [self._read(number, index, cell) for index, cell in enumerate(cells)]

    def _sparse_with_care(self, number: int, text: str) -> tuple[list[int], list[float]]:
        pairs, position = [], 1
        while match := _PAIR.match(text, position):
            pairs.append((int(match.group(1)), match.group(2)))
            position = match.end()
        if weight := _WEIGHT.match(text, position):
            self._take_weight(number, weight[1])
        elif not _END.match(text, position):
            self._fail(number, f"a sparse row must be {{index value, ...}}. Got {show(text[position:])}")
        indices = self._require_indices(number, [index for index, _ in pairs])
        return indices, [self._read(number, index, cell) for index, cell in pairs]

    def _take_weight(self, number: int, text: str) -> None:
        weight = to_number(text[1:-1])
        if weight is None or weight < 0:
            self._fail(number, f"a weight behind a row must be {{number}}, not below 0. Got {show(text)}")
        self.weights[number] = weight

    def _require_indices(self, number: int, indices: list[int]) -> list[int]:
        if indices and not 0 <= min(indices) <= max(indices) < len(self._columns):
            wrong = next(index for index in indices if not 0 <= index < len(self._columns))
            self._fail(number, f"indices must be between 0 and {len(self._columns) - 1}. Got {show(str(wrong))}")
        if len(set(indices)) < len(indices):
            self._fail(number, f"an index must occur once in a row. Got {first_repeated(indices)} again")
        return indices

    def _read(self, number: int, index: int, cell: str) -> float:
        column = self._columns[index]
        bare = unquote(cell)
        value = column.read(bare) if cell != _MISSING else None
        if value is None and cell not in self._missing and cell:
            got = f"Got {show(cell)}; {MISSING}, {IGNORE}"
            self._fail(number, f"column {show(column.column.name)} {_find_rule(column)}. {got}")
        if value is not None and abs(value) >= MAX_EXACT and is_rounded(bare):
            self._fail(number, f"column {show(column.column.name)} {EXACT}. Got {show(cell)}")
        return math.nan if value is None else value

    def _fail(self, number: int, message: str) -> NoReturn:
        # Already read with care: what is wrong here is wrong.
        raise FormatError(f"{at(self._path, number)}: {message}.") from None


def _find_rule(column: TextColumn) -> str:
    """Return what the header says about the cells of a column, for errors."""
    if column.column.values is not None:
        return f"must be one of {{{clip(', '.join(column.column.values))}}}"
    return "must hold dates as its header writes them" if column.column.is_date else column.rule


def _is_plain_text(text: str) -> bool:
    # Python reads 1_000 and ٣ as numbers; no other program does. In quotes, words hold anything.
    return not {"_", "'", '"'}.intersection(text) and text.isascii()


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
