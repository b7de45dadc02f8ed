"""KEEL files (.dat) as tables: several outputs are labels; of a single one, each class becomes a label."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from mlstream._support.content import FormatError, at, first_repeated, show
from mlstream.formats.lines import Lines, Readable
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.frames import MAX_EXACT
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.label_columns import MAX_CLASSES
from mlstream.streams.tables.labels import PlainRule
from mlstream.streams.tables.table import Column, Table, nominal, to_number
from mlstream.streams.tables.text_columns import (
    EXACT,
    IGNORE,
    MISSING,
    TextColumn,
    code_values,
    is_rounded,
    missing_words,
)

_N_ROWS = 4096
_ATTRIBUTE = re.compile(r"""('[^']*'|"[^"]*"|[^\s{\[]+)\s*(.*)""")
_NUMERIC = re.compile(r"(real|integer|numeric)\s*(?:\[([^\],]*),([^\],]*)\])?", re.IGNORECASE)
_VALUES = re.compile(r"\{(.*)\}")


@dataclass
class _Header:
    """Declarations of the lines before the rows."""

    relation: str = ""
    columns: dict[str, Column] = field(default_factory=dict)
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of each column that may hold classes: these."""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


def read_keel(
    source: Readable, path: Path, reading: ReadingCard = BY_DEFAULT, rule: PlainRule = None
) -> Iterator[Table]:
    r"""Read a KEEL file in tables of some thousands of rows, one after the other, at least one.

    Inputs come first, in the order of the file; then the labels: the outputs, if there are several, else one per class,
    in the order of their declaration. Where `rule` is a number, or names the only output, columns stay as they are. A
    missing value is NaN; where the class is missing, so are all labels. Raises FormatError, with the
    line, if anything contradicts the format or the header.

    >>> from io import BytesIO
    >>> head = b"@relation iris\n@attribute width real [0, 5]\n@attribute kind {setosa, virginica}\n@outputs kind\n"
    >>> first, rows = read_keel(BytesIO(head + b"@data\n3.5, virginica\n"), Path("iris.dat"))
    >>> rows.names, rows.cells.tolist(), rows.label_names
    (('width', 'setosa', 'virginica'), [[3.5, 0.0, 1.0]], ('setosa', 'virginica'))
    """
    lines = Lines(source, path, "%")
    numbered = enumerate(lines.head(), 1)
    header = _settle_roles(_read_header(numbered, path, reading.ignore), rule)
    reader = _RowReader(header, path, reading)
    yield reader.to_table([], [])
    rows = ((line, text) for line, text in numbered if text.strip() and not text.lstrip().startswith("%"))
    while some := list(islice(rows, _N_ROWS)):
        yield reader.to_table([reader.read(text, line) for line, text in some], [line for line, _ in some])


def _read_header(numbered: Iterator[tuple[int, str]], path: Path, ignore: Collection[str]) -> _Header:
    header = _Header()
    for line, text in numbered:
        keyword, rest = (*text.split(maxsplit=1), "", "")[:2]
        where, rest = at(path, line), rest.strip()
        match keyword.lower():
            case "@data":
                return header
            case "@relation":
                header.relation = rest
            case "@attribute":
                _declare(header, rest, where, ignore)
            case "@input" | "@inputs":
                header.inputs += _names(rest)
            case "@output" | "@outputs":
                header.outputs += _names(rest)
            case _ if keyword and not keyword.startswith("%"):
                keywords = "@relation, @attribute, @inputs, @outputs or @data"
                got = show(text.strip())
                raise FormatError(f"{where}: a line of a KEEL header must start with {keywords}. Got {got}.")
    raise FormatError(f"{path} must be a KEEL file, with @data after its header. Got a header only, or nothing.")


def _declare(header: _Header, text: str, where: str, ignore: Collection[str]) -> None:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        raise FormatError(f"{where}: @attribute must be followed by a name and a type. Got {show(text)}.")
    name, kind = match[1].strip("'\""), match[2].strip()
    if name in header.columns:
        raise FormatError(f"{where}: column names must differ. Got {show(name)} twice.")
    if listed := _VALUES.fullmatch(kind):
        values = _read_values(listed[1], name, where)
        header.columns[name], header.classes[name] = nominal(name, values), values
        return
    # Columns within the cells of a relation, as ARFF has them, come next.
    is_relation = kind.lower() == "relational"
    header.columns[name] = Column(name)
    numeric = _NUMERIC.fullmatch(kind)
    if numeric is not None:
        header.classes |= _find_range(name, numeric)
    elif is_relation or name not in ignore:
        rule, way_out = "must be real, integer or {a, b, ...}", "format= or --format arff reads ARFF"
        got = f"{show(kind)}; {way_out if is_relation else IGNORE}"
        raise FormatError(f"{where}: column {show(name)} {rule}. Got {got}.")


def _read_values(text: str, name: str, where: str) -> tuple[str, ...]:
    values = tuple(_split(text))
    if not all(values) or len(set(values)) < len(values):
        raise FormatError(
            f"{where}: the values of column {show(name)} must differ. Got {show(str(first_repeated(values) or ''))}."
        )
    return values


def _find_range(name: str, numeric: re.Match[str]) -> dict[str, tuple[str, ...]]:
    """Return the classes of a column of whole numbers, if it has a range of not too many."""
    least, most = to_number(numeric[2] or ""), to_number(numeric[3] or "")
    if numeric[1].lower() != "integer" or least is None or most is None or not 0 <= most - least < MAX_CLASSES:
        return {}
    return {name: tuple(str(value) for value in range(int(least), int(most) + 1))}


def _split(text: str) -> list[str]:
    return [part.strip().strip("'\"") for part in text.split(",")]


def _names(text: str) -> list[str]:
    return [name for name in _split(text) if name]


def _settle_roles(header: _Header, rule: PlainRule) -> _Header:
    """Choose inputs and outputs: those that are named; by default, the last column is the output.

    All columns are inputs where the rule chooses labels among them, or what is named does not fit.
    """
    names = list(header.columns)
    outputs = header.outputs or names[-1:]
    inputs = header.inputs or [name for name in names if name not in outputs]
    fits = sorted(inputs + outputs) == sorted(names)
    if len(outputs) == 1:
        # Its classes become labels, unless the rule names the column itself.
        fits = fits and outputs[0] in header.classes and not (isinstance(rule, tuple) and outputs[0] in rule)
    header.inputs, header.outputs = (inputs, outputs) if fits and not isinstance(rule, int) else (names, [])
    return header


class _RowReader:
    """Turn lines into numbers, for a given header."""

    def __init__(self, header: _Header, path: Path, reading: ReadingCard) -> None:
        self._path, self._relation, self._missing = path, header.relation, missing_words(reading, "?", "<null>")
        names = list(header.columns)
        self._names = names
        self._readers = [
            TextColumn(column, lambda _: 0.0) if name in reading.ignore else code_values(column)
            for name, column in header.columns.items()
        ]
        self._inputs = [names.index(name) for name in names if name in set(header.inputs)]
        self._outputs = [names.index(name) for name in names if name in set(header.outputs)]
        self._classes = header.classes[header.outputs[0]] if len(header.outputs) == 1 else None
        if self._classes is not None:
            self._readers[self._outputs[0]] = code_values(Column(header.outputs[0], self._classes))
        inputs = [header.columns[names[index]] for index in self._inputs]
        self._columns = (*inputs, *self._label_columns(header))

    def read(self, text: str, line: int) -> list[float]:
        """Read one row."""
        cells = text.split(",")
        if len(cells) != len(self._readers):
            rule = f"a row must hold {len(self._readers)} values"
            raise FormatError(f"{at(self._path, line)}: {rule}. Got {len(cells)}.")
        return [self._read(place, cell.strip(), line) for place, cell in enumerate(cells)]

    def _read(self, place: int, cell: str, line: int) -> float:
        column, bare = self._readers[place], cell.strip("'\"")
        number = column.read(bare)
        numbers = column.column.numbers
        if number is None or (numbers is not None and number not in numbers):
            if cell and cell not in self._missing:
                rule = "must be a finite number or one of its values, ? or <null> if it is missing"
                got = f"Got {show(cell)}; {MISSING}, {IGNORE}"
                raise FormatError(f"{at(self._path, line)}: column {show(self._names[place])} {rule}. {got}.")
            return math.nan
        if abs(number) >= MAX_EXACT and is_rounded(bare):
            rule = f"column {show(self._names[place])} {EXACT}"
            raise FormatError(f"{at(self._path, line)}: {rule}. Got {show(cell)}.")
        return number

    def to_table(self, rows: Sequence[Sequence[float]], lines: Sequence[int]) -> Table:
        """Put rows together, inputs first."""
        cells = np.array(rows, dtype=np.float64).reshape(len(rows), len(self._readers))
        labels = outputs = cells[:, self._outputs]
        if self._classes is not None:
            labels = (outputs == np.arange(len(self._classes))).astype(np.float64)
            labels[np.isnan(outputs[:, 0])] = np.nan
        table = np.hstack([cells[:, self._inputs], labels])
        names = tuple(column.name for column in self._columns[len(self._inputs) :])
        return Table(self._path, self._columns, table, np.array(lines, np.int64), self._relation, names)

    def _label_columns(self, header: _Header) -> list[Column]:
        if self._classes is None:
            return [header.columns[self._names[index]] for index in self._outputs]
        # A class may be called as an input.
        is_taken = set(self._classes) & set(header.inputs)
        return [Column(f"{header.outputs[0]}={name}" if is_taken else name) for name in self._classes]
