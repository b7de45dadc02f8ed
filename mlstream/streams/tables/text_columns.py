"""Columns whose cells are text: truth values, words, or what is refused with a way out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mlstream._support.content import FormatError, at, show
from mlstream.streams.tables.table import Column, to_number

# Spellings of a missing value, beside an empty cell: those of R, pandas, SQL and WEKA. They are never values.
MISSING_WORDS = frozenset({"NA", "N/A", "NaN", "nan", "<NA>", "null", "NULL", "?"})
# A column has at most so many different words; where there are more than a few, each must come twice on average.
MAX_WORDS = 100
_FEW_WORDS = 20

_BOOLEANS = ({"false": 0.0, "true": 1.0}, {"no": 0.0, "yes": 1.0})
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9.]*,[0-9]+")
_DATE = re.compile(r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}([T ].*)?|[0-9]{1,2}([-/.])[0-9]{1,2}\3[0-9]{2,4}([T ].*)?")
_LEAVE_OUT = "leave the column out"


class TextColumn(NamedTuple):
    """A column, and the number of each text in its cells."""

    column: Column
    codes: Mapping[str, float]
    """The number of each text, without blanks around it; texts of numbers stand for themselves."""


class Words:
    """The different texts of one column, gathered from its cells.

    Without `takes_missing`, words for missing values such as NA are refused; with it, they are missing values. Errors
    number cells by `unit`: "line" or "row".
    """

    def __init__(self, name: str, path: Path, *, takes_missing: bool, unit: str = "line") -> None:
        self._name, self._path, self._takes_missing, self._unit = name, path, takes_missing, unit
        self._lines: dict[str, int] = {}
        self._first: tuple[str, int] | None = None
        self._n_cells = 0

    @property
    def are_many(self) -> bool:
        """Whether there are so many texts that, of those that are not numbers, only the first is still of interest."""
        return len(self._lines) > MAX_WORDS

    def add(self, cells: Sequence[str], lines: Sequence[int], n_cells: int | None = None) -> None:
        """Look at more cells, and the line of each; `n_cells` counts them, where repeated ones are left out."""
        self._n_cells += len(cells) if n_cells is None else n_cells
        for cell in dict.fromkeys(cells):
            text = cell.strip()
            if text in self._lines or not text or (self._takes_missing and text in MISSING_WORDS):
                continue
            is_new_word = self._first is None and to_number(text) is None
            if is_new_word or len(self._lines) <= MAX_WORDS:
                line = int(lines[cells.index(cell)])
                self._lines[text] = line
                self._first = (text, line) if is_new_word else self._first

    def settle(self) -> TextColumn | None:
        """Return how the column is read; None if all cells are numbers.

        Raises FormatError if the column holds dates, decimal commas, words for missing values that are not taken, or
        too many words.
        """
        if self._first is None:
            return None
        texts = sorted(self._lines)
        for booleans in _BOOLEANS:
            if {text.lower() for text in texts} <= set(booleans):
                return TextColumn(Column(self._name), {text: booleans[text.lower()] for text in texts})
        self._require_words()
        column = Column(self._name, tuple(texts), first_word=self._first)
        return TextColumn(column, {text: float(code) for code, text in enumerate(texts)})

    def _require_words(self) -> None:
        for text, line in self._lines.items():
            where, name = at(self._path, line, self._unit), show(self._name)
            number = f"{where}: column {name} must be a finite number, or empty for an unknown label."
            if text in MISSING_WORDS:
                way_out = "Under missing= or --missing (drop, mean, indicator or keep), this is a missing value"
                raise FormatError(f"{number} {way_out}. Got {show(text)}.")
            if _DECIMAL_COMMA.fullmatch(text):
                raise FormatError(f"{number} Got {show(text)}; write a decimal point instead of the comma.")
            if _DATE.fullmatch(text):
                rule = f"must hold numbers or words. Got {show(text)}, a date"
                raise FormatError(
                    f"{where}: column {name} {rule}; write it as a number, such as days, or {_LEAVE_OUT}."
                )
        self._require_few()

    def _require_few(self) -> None:
        n_words = len(self._lines)
        if n_words <= _FEW_WORDS or n_words <= min(MAX_WORDS, self._n_cells / 2) or self._first is None:
            return
        text, line = self._first
        where, name = at(self._path, line, self._unit), show(self._name)
        n_numbers = sum(to_number(word) is not None for word in self._lines)
        if 2 * n_numbers > n_words:
            rule = "must be a finite number, or empty for an unknown label"
            raise FormatError(f"{where}: column {name} {rule}. Got {show(text)}, among numbers.")
        rule = f"must have at most {MAX_WORDS} different words, each twice on average"
        got = f"Got {show(text)} and others (free text, names or keys)"
        raise FormatError(f"{where}: column {name} {rule}. {got}; {_LEAVE_OUT}, or group its values.")


def read_cells(cells: Iterable[str], codes: Mapping[str, float] | None, *, takes_missing: bool) -> list[float | None]:
    """Read the cells of a column: numbers, or the numbers of words; NaN for a missing value, None for anything else."""
    return [read_cell(cell, codes, takes_missing=takes_missing) for cell in cells]


def read_cell(text: str, codes: Mapping[str, float] | None, *, takes_missing: bool) -> float | None:
    """Read one cell; return None if it is neither a number nor one of the words of its column.

    >>> read_cell("2.5", None, takes_missing=False), read_cell(" red", {"red": 1.0}, takes_missing=False)
    (2.5, 1.0)
    >>> read_cell("NA", None, takes_missing=False), read_cell("NA", None, takes_missing=True)
    (None, nan)
    """
    stripped = text.strip()
    if not stripped or (takes_missing and stripped in MISSING_WORDS):
        return math.nan
    return to_number(text) if codes is None else codes.get(stripped)
