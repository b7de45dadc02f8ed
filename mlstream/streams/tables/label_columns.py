"""Columns of a table that become labels: of 0 and 1, of words for them, of classes, or of lists of tags."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.content import FormatError, clip, show
from mlstream._support.files import did_you_mean
from mlstream._support.mapped import require_memory
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.label_values import Indicator
from mlstream.streams.tables.arrays import Cells, Growing
from mlstream.streams.tables.table import Column, Table, take_columns, to_number
from mlstream.streams.tables.text_columns import find_truth

MAX_CLASSES = 1000
_TAG_SIGNS = ";|,\t"
_UNKNOWN, _MINUS = 2, 3
_WAY_OUT = (
    "present= or --present names the value that marks the label, classes= or --classes makes a label of each value"
)


class LabelledRows(NamedTuple):
    """The labels of a table."""

    Y: Indicator
    names: tuple[str, ...]


class LabelGatherer(Protocol):
    """Label columns, gathered piece by piece."""

    def extend(self, table: Table) -> None:
        """Append rows; raise FormatError, with the line, if a cell cannot be a label."""

    def take(self) -> LabelledRows:
        """Return the labels of all rows."""


def gather_labels(
    first: Table, places: Sequence[int], reading: ReadingCard, wanted: Sequence[str] = ()
) -> LabelGatherer:
    """Choose how columns become labels; `wanted` are the tags that become labels, all of them by default."""
    if reading.tags is not None:
        return _Tags(first, places[0], reading.tag_separator, wanted)
    return _Classes(first, places) if reading.classes else _Binary(first, places, reading.present)


class _Binary:
    """Columns of 0 and 1, -1 and 1, or two words: one byte a cell, a quarter of what unknown labels take."""

    def __init__(self, first: Table, places: Sequence[int], present: str | None) -> None:
        self._first, self._places, self._present = first, list(places), present
        self._codes = Growing(np.uint8, len(places))
        columns = enumerate(first.columns[place] for place in places)
        self._marked = [place for place, column in columns if column.is_coded or present is not None]
        # Whether a label has the value that marks it, and others.
        self._is_there, self._has_others = np.zeros((2, len(places)), dtype=bool)
        # The first line with a 0, and that with a -1, of each label.
        self._lines = {0: np.zeros(len(places), np.int64), _MINUS: np.zeros(len(places), np.int64)}

    def extend(self, table: Table) -> None:
        """Append rows."""
        block = take_columns(table.cells, self._places)
        if sparse.issparse(block) and not self._marked and (block.data == 1).all():
            codes = block.astype(np.uint8).toarray()
        else:
            codes = self._code(table, _dense(block))
        for code, lines in self._lines.items():
            if (codes == code).any():
                new = np.flatnonzero(lines == 0)
                new = new[(codes[:, new] == code).any(axis=0)]
                lines[new] = table.lines[(codes[:, new] == code).argmax(axis=0)]
        self._codes.extend(codes)

    def _code(self, table: Table, cells: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
        for place in self._marked:
            column = table.columns[self._places[place]]
            if self._present is None:
                cells[:, place] = self._read_words(table, column, cells[:, place])
            else:
                cells[:, place] = self._mark(column, cells[:, place], place)
        unknown = np.isnan(cells)
        wrong = np.argwhere((cells != 0) & (np.abs(cells) != 1) & ~unknown)
        if len(wrong):
            row, place = wrong[0]
            where, name = table.at(table.lines[row]), show(table.names[self._places[place]])
            raise FormatError(f"{where}: label {name} must be 0 or 1. Got {cells[row, place]:g}; {_WAY_OUT}.")
        return np.where(unknown, _UNKNOWN, np.where(cells == -1, _MINUS, cells == 1)).astype(np.uint8)

    def take(self) -> LabelledRows:
        """Return the labels; -1 stands for 0 in columns without a 0."""
        all_names = self._first.names
        names = tuple(all_names[place] for place in self._places)
        both = np.flatnonzero((self._lines[0] > 0) & (self._lines[_MINUS] > 0))
        if len(both):
            line = int(max(lines[both[0]] for lines in self._lines.values()))
            raise FormatError(f"{self._first.at(line)}: {_one_zero(names[both[0]])}. Got 0 and -1; {_WAY_OUT}.")
        codes = self._codes.take()
        if self._lines[_MINUS].any():
            codes[codes == _MINUS] = 0
        if self._present is not None:
            self._settle_marks(codes, names)
        is_known = codes.max(initial=0) < _UNKNOWN
        return LabelledRows(codes if is_known else np.where(codes == _UNKNOWN, np.float32(np.nan), codes), names)

    def _read_words(self, table: Table, column: Column, codes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return 1 and 0 for the values of a column of words."""
        truth = find_truth(column.values or ()) or self._refuse(table, column)
        known, numbers = ~np.isnan(codes), np.array([truth[value] for value in column.values or ()])
        return np.where(known, numbers[np.where(known, codes, 0).astype(np.int64)], np.nan)

    def _mark(self, column: Column, cells: npt.NDArray[np.float64], place: int) -> npt.NDArray[np.float64]:
        """Return 1 for the value that marks a label, and 0 for any other."""
        known, present = ~np.isnan(cells), str(self._present)
        marked = cells == (_find_code(column, present) if column.is_coded else _find_number(present))
        self._is_there[place] |= bool(marked.any())
        self._has_others[place] |= bool((known & ~marked).any())
        return np.where(known, marked, np.nan)

    def _settle_marks(self, codes: npt.NDArray[np.uint8], names: Sequence[str]) -> None:
        """Raise FormatError if no label has the value that marks it, and warn of one that has only others."""
        rule = f"the value {show(str(self._present))}, which present= or --present names"
        if not self._is_there.any():
            values = dict.fromkeys(value for place in self._places for value in self._first.columns[place].values or ())
            got = f"Got {clip(', '.join(values) or 'numbers')}{did_you_mean(str(self._present), values)}"
            raise FormatError(f"{self._first.path}: a label must have {rule}. {got}")
        for place in np.flatnonzero(self._has_others & ~self._is_there).tolist():
            warnings.warn(f"{self._first.path}: label {show(names[place])} never has {rule}.", stacklevel=4)
        # Whoever marks with a cross leaves the other cells empty.
        codes[:, ~self._has_others] &= 1

    def _refuse(self, table: Table, column: Column) -> dict[str, float]:
        rule, values = f"label {show(column.name)} must be 0 or 1", ", ".join(column.values or ())
        if column.first_word is None:
            raise FormatError(f"{table.path}: {rule}. Got the values {show(values)}; {_WAY_OUT}.")
        word, line = column.first_word
        raise FormatError(f"{table.at(line)}: {rule}, or empty where it is unknown. Got {show(word)}; {_WAY_OUT}.")


class Signs:
    """The values 0 and -1 that labels had so far, in a table that is read in chunks."""

    def __init__(self) -> None:
        self._seen: npt.NDArray[np.bool_] = np.zeros((2, 1), dtype=np.bool_)

    def extend(self, table: Table, places: Sequence[int]) -> None:
        """Look at more rows; raise FormatError if a label was both."""
        self._seen = self._seen | _find_signs(take_columns(table.cells, places))
        both = np.flatnonzero(self._seen.all(axis=0))
        if len(both):
            rule = _one_zero(table.names[places[both[0]]])
            raise FormatError(f"{table.at(table.lines[-1])}: {rule}. Got 0 and -1 until then.")


def _find_signs(cells: Cells) -> npt.NDArray[np.bool_]:
    if not sparse.issparse(cells):
        return np.stack([(cells == sign).any(axis=0) for sign in (0, -1)])
    n_rows, width = cells.shape
    n_stored = np.bincount(cells.indices[cells.data != 0], minlength=width)
    return np.stack([n_stored < n_rows, np.bincount(cells.indices[cells.data == -1], minlength=width) > 0])


def _one_zero(name: str) -> str:
    return f"label {show(name)} must hold 0 and 1, or -1 and 1"


class _Classes:
    """Columns of classes: each value of a column is a label called ``column=value``; those of 0 and 1 stay labels."""

    def __init__(self, first: Table, places: Sequence[int]) -> None:
        self._path, self._columns = first.path, [first.columns[place] for place in places]
        self._places = list(places)
        self._cells = Growing(np.float64, len(places))

    def extend(self, table: Table) -> None:
        """Append rows."""
        self._cells.extend(_dense(take_columns(table.cells, self._places)))

    def take(self) -> LabelledRows:
        """Return a label per class, unknown where the class is."""
        found = [
            _expand(self._path, column, cells)
            for column, cells in zip(self._columns, self._cells.take().T, strict=True)
        ]
        Y = np.column_stack([Y for Y, _ in found])
        names = tuple(chain.from_iterable(names for _, names in found))
        return LabelledRows(Y if np.isnan(Y).any() else Y.astype(np.uint8), names)


def _find_code(column: Column, text: str) -> float:
    values = list(column.values or ())
    return values.index(text) if text in values else math.nan


def _find_number(text: str) -> float:
    """Return the number that a text stands for, words for 1 and 0 too."""
    number = to_number(text)
    return (find_truth([text]) or {}).get(text, math.nan) if number is None else number


def _show_number(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


def _expand(path: Path, column: Column, cells: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float32], list[str]]:
    known, values = ~np.isnan(cells), list(column.values or ())
    classes = np.arange(len(values)) if column.is_coded else np.unique(cells[known])
    texts = values if column.is_coded else list(map(_show_number, classes.tolist()))
    if len(texts) > MAX_CLASSES:
        rule = f"must hold at most {MAX_CLASSES} values for classes= or --classes"
        raise FormatError(f"{path}: label column {show(column.name)} {rule}. Got {len(texts)}.")
    require_memory(5 * len(cells) * len(texts), f"the classes of {path}", FormatError)
    truth: Mapping[str, float | None] = find_truth(texts) or {text: to_number(text) for text in texts}
    if {0.0, 1.0}.issuperset(truth.values()):
        # A label of its own, as it would be without `classes`.
        Y, names = np.isin(cells, classes[[bool(truth[text]) for text in texts]])[:, np.newaxis], [column.name]
    else:
        Y, names = cells[:, np.newaxis] == classes, [f"{column.name}={text}" for text in texts]
    return np.where(known[:, np.newaxis], Y, np.nan).astype(np.float32), names


class _Tags:
    """A column that lists the labels of each row; an empty cell lists none."""

    def __init__(self, first: Table, place: int, separator: str, wanted: Sequence[str]) -> None:
        self._path, self._place, self._separator, self._wanted = first.path, place, separator, tuple(wanted)
        self._numbers: dict[str, int] = {}
        self._tags, self._sizes = Growing(np.int64), Growing(np.int64)
        # In how many texts each sign is, and the separator.
        self._signs = Counter[str]()

    def extend(self, table: Table) -> None:
        """Append rows."""
        cells, column = _dense(take_columns(table.cells, [self._place]))[:, 0], table.columns[self._place]
        tags = {code: self._split(column, code) for code in np.unique(cells[~np.isnan(cells)]).tolist()}
        rows = [tags.get(code, []) for code in cells.tolist()]
        self._sizes.extend(np.array([len(row) for row in rows], np.int64))
        self._tags.extend(np.array(list(chain.from_iterable(rows)), np.int64))

    def take(self) -> LabelledRows:
        """Return a label per tag, in alphabetical order or as they are wanted."""
        names = self._wanted or tuple(sorted(self._numbers))
        sizes, tags = self._sizes.take(), self._tags.take()
        require_memory(len(sizes) * len(names), f"the labels of {self._path}", FormatError)
        if not names:
            raise FormatError(f"{self._path}: tags must name a label in some row. Got empty cells only.")
        others = [sign for sign in _TAG_SIGNS if self._signs[sign] > 1]
        if others and not self._signs[self._separator]:
            got = f"no row holds {self._separator!r}, but several hold {others[0]!r}"
            way_out = "tag_separator= or --tag-separator says what separates tags"
            warnings.warn(f"{self._path}: {got}; {way_out}.", stacklevel=2)
        places = np.full(len(self._numbers), -1)
        for place, name in enumerate(names):
            if name in self._numbers:
                places[self._numbers[name]] = place
            else:
                warnings.warn(f"{self._path}: no row has the tag {show(name)}.", stacklevel=2)
        if n_others := np.count_nonzero(places < 0):
            warnings.warn(f"{self._path}: {n_others} tags that labels= does not name were left out.", stacklevel=2)
        Y = np.zeros((len(sizes), len(names)), np.uint8)
        columns = places[tags]
        Y[np.repeat(np.arange(len(sizes)), sizes)[columns >= 0], columns[columns >= 0]] = 1
        return LabelledRows(Y, names)

    def _split(self, column: Column, code: float) -> list[int]:
        text = column.values[int(code)] if column.is_coded and column.values else _show_number(code)
        self._signs.update(sign for sign in {self._separator, *_TAG_SIGNS} if sign in text)
        tags = dict.fromkeys(tag.strip() for tag in text.split(self._separator))
        return [self._numbers.setdefault(tag, len(self._numbers)) for tag in tags if tag]


def _dense(block: Cells) -> npt.NDArray[np.float64]:
    """Copy columns."""
    return block.toarray() if sparse.issparse(block) else np.array(block)
