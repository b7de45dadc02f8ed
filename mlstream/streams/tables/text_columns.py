"""Cells of text, read alike in all formats: numbers, missing values, words, truth values and dates."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, at, show
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.frames import EXACT_RULE, MAX_EXACT
from mlstream.streams.tables.table import Column, to_number

# Spellings of a missing value, beside an empty cell: those of R, pandas, Excel, SQL, WEKA and KEEL. Values that a
# header declares, and words in quotes, are never among them.
MISSING_WORDS = frozenset({"NA", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "null", "NULL", "?", "<null>"})
# A column has at most so many different words; where there are more than a few, each must come twice on average.
MAX_WORDS = 100
_FEW_WORDS = 20

CATEGORIES = "categories= or --categories (one-hot or ordinal) reads words"
IGNORE = "ignore= or --ignore leaves the column out"
MISSING = "missing_words= or --missing-words names the words for a missing value, in place of NA, NaN and others"
DATES = f"dates= or --dates (epoch or parts) makes numbers of it, {IGNORE}"
_FORMAT = "date_format= or --date-format"
NUMBER_RULE = "must be a finite number, or empty where it is unknown"
EXACT = f"{EXACT_RULE}; {IGNORE}"
_DATE_RULE = f"must hold dates in ISO 8601, such as 2026-01-31T10:30:00Z, or as {_FORMAT} says; {IGNORE}"

_TRUTH = ({"false": 0.0, "true": 1.0}, {"no": 0.0, "yes": 1.0})
# Of labels only: as features, letters are more often words.
_TRUTH_OF_LABELS = (*_TRUTH, {"f": 0.0, "t": 1.0}, {"n": 0.0, "y": 1.0})
_WHOLE = re.compile(r"\s*[+-]?[0-9]{16,}\s*")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9.]*,[0-9]+")
_DATE = re.compile(r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}([T ].*)?|[0-9]{1,2}([-/.])[0-9]{1,2}\3[0-9]{2,4}([T ].*)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


ChooseTexts: TypeAlias = Callable[[Sequence[str]], Collection[str]]


class TextColumn(NamedTuple):
    """A column, and what reads a text in its cells, without blanks around it."""

    column: Column
    read: Callable[[str], float | None] = to_number
    """The number of a text; None if it cannot be there."""

    @property
    def rule(self) -> str:
        """The rule for the cells of the column, for errors."""
        if self.column.is_coded and self.column.values and self.column.first_word is None:
            return f"must be one of its values, {', '.join(map(show, self.column.values))}"
        return _DATE_RULE if self.column.is_date else NUMBER_RULE


class Words:
    """The different texts of one column, gathered from its cells, those for missing values left out.

    They stay words, however many, if `are_texts`. Errors number cells by `unit`: "line" or "row".
    """

    def __init__(
        self,
        name: str,
        path: Path,
        reading: ReadingCard,
        *,
        are_texts: bool = False,
        missing: Collection[str] = (),
        unit: str = "line",
    ) -> None:
        self.name, self._path, self._reading, self._missing, self._unit = name, path, reading, missing, unit
        self._are_texts = are_texts
        self._lines: dict[str, int] = {}
        self._first: tuple[str, int] | None = None
        self._n_cells = 0

    @property
    def are_many(self) -> bool:
        """Whether there are so many texts that, of those that are not numbers, only the first is still of interest."""
        return not self._are_texts and len(self._lines) > MAX_WORDS

    def add(self, cells: Sequence[str], lines: Sequence[int], n_cells: int | None = None) -> None:
        """Look at more cells, and the line of each; `n_cells` counts them, where repeated ones are left out."""
        self._n_cells += len(cells) if n_cells is None else n_cells
        firsts: dict[str, int] = {}
        for place, cell in enumerate(cells):
            firsts.setdefault(cell, place)
        for cell, place in firsts.items():
            text = cell.strip()
            if text in self._lines or not text or text in self._missing:
                continue
            is_new_word = self._first is None and to_number(text) is None
            if is_new_word or not self.are_many:
                line = int(lines[place])
                self._lines[text] = line
                self._first = (text, line) if is_new_word else self._first

    def settle(self) -> TextColumn:
        """Return how the column is read.

        Raises FormatError if the column holds dates that do not become numbers, decimal commas, or too many words.
        """
        texts = sorted(self._lines)
        if self._are_texts:
            return code_values(Column(self.name, sorted(texts, key=lambda text: to_number(text) or 0.0)))
        if self._first is None:
            return TextColumn(Column(self.name))
        truth = find_truth(texts, _TRUTH)
        if truth is not None:
            return TextColumn(Column(self.name), truth.get)
        if self._reading.takes_dates(self.name):
            read = date_reader(self._reading)
            if all(_DATE.fullmatch(text) or read(text) is not None for text in texts):
                return TextColumn(Column(self.name, is_date=True), read)
        self._require_words()
        self._warn_of_numbers()
        return code_values(Column(self.name, tuple(texts), first_word=self._first))

    def _warn_of_numbers(self) -> None:
        """Warn of a column of numbers with few words among them, which will be read as words."""
        numbers = [text for text in self._lines if to_number(text) is not None]
        if self._reading.categories is not None and self._first and len(numbers) > max(1, len(self._lines) / 2):
            text, line = self._first
            got = f"holds numbers and {show(text)}, and is read as words; {MISSING}"
            warnings.warn(f"{at(self._path, line, self._unit)}: column {show(self.name)} {got}.", stacklevel=2)

    def _require_words(self) -> None:
        for text, line in self._lines.items():
            where, name = at(self._path, line, self._unit), show(self.name)
            if _DECIMAL_COMMA.fullmatch(text):
                is_csv = self._unit == "line"
                comma = "decimal=',' or --decimal comma reads it, if no comma is between thousands"
                way_out = comma if is_csv else "write decimal points, and nothing between thousands"
                raise FormatError(f"{where}: column {name} {NUMBER_RULE}. Got {show(text)}; {way_out}.")
            if _DATE.fullmatch(text):
                if self._reading.takes_dates(self.name):
                    other = next(other for other in self._lines if not _DATE.fullmatch(other))
                    got = f"Got {show(text)}, and {show(other)}; {MISSING}, {IGNORE}"
                    raise FormatError(f"{where}: column {name} must hold dates or words, not both. {got}.")
                got = f"{show(text)}, a date; {DATES}"
                if to_seconds(text) is None:
                    got += f", {_FORMAT} says how it is written ('%d/%m/%Y %H:%M', say)"
                raise FormatError(f"{where}: column {name} must hold numbers or words. Got {got}.")
        self._require_few()

    def _require_few(self) -> None:
        n_words = len(self._lines)
        if n_words <= _FEW_WORDS or n_words <= min(MAX_WORDS, self._n_cells / 2) or self._first is None:
            return
        text, line = self._first
        where, name = at(self._path, line, self._unit), show(self.name)
        n_numbers = sum(to_number(word) is not None for word in self._lines)
        if 2 * n_numbers > n_words:
            got = f"Got {show(text)}, among numbers; {MISSING}, {IGNORE}"
            raise FormatError(f"{where}: column {name} {NUMBER_RULE}. {got}.")
        rule = f"must have at most {MAX_WORDS} different words, each twice on average"
        got = f"Got {show(text)} and others (free text, names or keys)"
        raise FormatError(f"{where}: column {name} {rule}. {got}; {IGNORE}.")


def read_texts(
    texts: Sequence[str], column: TextColumn, missing: Collection[str], fail: Callable[[int, str], FormatError]
) -> npt.NDArray[np.float64]:
    """Read texts of a column, missing ones as NaN; `fail` makes an error of a place and the rule broken."""
    numbers = np.empty(len(texts))
    for place, text in enumerate(map(str.strip, texts)):
        number = None if text in missing else column.read(text)
        if number is None and text and text not in missing:
            raise fail(place, column.rule)
        numbers[place] = math.nan if number is None else number
    for place in np.flatnonzero(np.abs(numbers) >= MAX_EXACT).tolist():
        if is_rounded(texts[place]):
            raise fail(place, EXACT)
    return numbers


def missing_words(reading: ReadingCard, *signs: str) -> frozenset[str]:
    """Return the words for a missing value, beside an empty cell; `signs` are those that a format defines.

    Where there are signs, words that the user names may be in quotes of either kind.
    """
    if reading.missing_words is None:
        return MISSING_WORDS
    quotes = ("", "'", '"') if signs else ("",)
    return frozenset((*signs, *(f"{quote}{word}{quote}" for word in reading.missing_words for quote in quotes)))


def join_tags(tags: object, separator: str) -> object:
    """Write a list of tags as text; anything else is returned as it is.

    Raises FormatError if a tag holds the separator.
    """
    if not isinstance(tags, list | tuple | set | frozenset | np.ndarray):
        return tags
    texts = [str(tag) for tag in tags if tag is not None]
    broken = next((text for text in texts if separator in text), None)
    if broken is not None:
        way_out = "tag_separator= or --tag-separator names text that is in no tag"
        raise FormatError(f"a tag must not hold {separator!r}, which separates tags. Got {show(broken)}; {way_out}.")
    return separator.join(texts)


def find_truth(
    values: Iterable[str], pairs: Sequence[Mapping[str, float]] = _TRUTH_OF_LABELS
) -> dict[str, float] | None:
    """Return 1 or 0 for each value if all are words of one pair, such as true and false, in any case; else None.

    >>> find_truth(["TRUE", "False"]), find_truth(["t", "f"]), find_truth(["yes", "false"])
    ({'TRUE': 1.0, 'False': 0.0}, {'t': 1.0, 'f': 0.0}, None)
    """
    values = list(values)
    return next(
        (
            {value: pair[value.lower()] for value in values}
            for pair in pairs
            if all(value.lower() in pair for value in values)
        ),
        None,
    )


def date_reader(reading: ReadingCard) -> Callable[[str], float | None]:
    """Return what reads dates as seconds since 1970; times without a zone are UTC."""
    return to_seconds if reading.date_format is None else partial(to_seconds, form=reading.date_format)


def to_seconds(text: str, form: str | None = None) -> float | None:
    """Read a date or time as seconds since 1970; None for anything else.

    It is written as `form`, in the codes of `datetime.strptime`, says; by default in ISO 8601, its day year first.
    Times without a zone are UTC.

    >>> to_seconds("1970-01-02"), to_seconds("1970/01/01 01:00+01:00"), to_seconds("1/2/1970")
    (86400.0, 0.0, None)
    >>> to_seconds("2/1/1970", "%d/%m/%Y")
    86400.0
    """
    day, rest = text[:10], text[10:]
    try:
        if form is not None:
            found = datetime.strptime(text, form)
        else:
            found = datetime.fromisoformat(day.replace("/", "-").replace(".", "-") + rest)
    except ValueError:
        return None
    return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH).total_seconds()


def is_rounded(text: str) -> bool:
    """Tell whether text is a whole number so large that a float may be another.

    >>> is_rounded("9007199254740993"), is_rounded("9007199254740992"), is_rounded("1e300")
    (True, False, False)
    """
    return _WHOLE.fullmatch(text) is not None and abs(int(text)) > MAX_EXACT


def code_values(column: Column) -> TextColumn:
    """Return what reads a nominal column: its values are numbered, unless they are numbers."""
    if not column.is_coded:
        return TextColumn(column)
    return TextColumn(column, {text: float(code) for code, text in enumerate(column.values or ())}.get)


def collect_values(name: str) -> TextColumn:
    """Return what numbers the texts of a column as they come."""
    codes: dict[str, float] = {}
    values: list[str] = []

    def read(text: str) -> float:
        if text not in codes:
            codes[text] = float(len(values))
            values.append(text)
        return codes[text]

    return TextColumn(Column(name, values), read)
