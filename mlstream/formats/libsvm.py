"""Multi-label LIBSVM files (``1,3 2:0.5 7:1``), and those of the extreme-classification repository, as tables."""

from __future__ import annotations

import re
import warnings
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.content import FormatError, at, require_room, show
from mlstream.formats.lines import Lines, Readable
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.frames import MAX_EXACT
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.labels import PlainRule
from mlstream.streams.tables.table import Column, Table
from mlstream.streams.tables.text_columns import EXACT, is_rounded

_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_LABEL = r"[+-]?[0-9]{1,7}(?:\.0*+)?"
# Features are numbered by up to seven digits, which bounds the width that a few bytes can claim.
_ROW = re.compile(rf"({_LABEL}(?:,{_LABEL})*+)?((?:[ \t]+[0-9]{{1,7}}:{_NUMBER})*+)\s*(?:#.*)?")
_HEADER = re.compile(r"\s*([0-9]{1,10})[ \t]+([0-9]{1,7})[ \t]+([0-9]{1,7})\s*")
_ROW_RULE = "a row must be labels and index:value"
# The extreme-classification repository has features and labels in files of their own, too.
_PART = re.compile(r"[0-9]+ [0-9]+")
# So much any file may need: 100,000 labels of some thousands of rows.
_ALWAYS_BYTES = 256 * 2**20
_FEATURE_BYTES = 200
# While a piece is read, its labels are dense.
_PIECE_CELLS = 4 * 2**20


class _Rows(NamedTuple):
    """The rows of a file, one after the other, and what its first line states."""

    labels: array[int]
    label_ends: array[int]
    cells: array[float]
    """Index and value in turn."""
    cell_ends: array[int]
    lines: array[int]
    header: tuple[int, int, int] | None
    """Numbers of rows, features and labels."""
    n_bytes: int
    """Size of the file."""
    rounded: dict[int, tuple[int, str]]
    """By index: the line of a whole number that a float may round, and its text."""

    def add(self, line: int, labels: str | None, cells: str) -> None:
        """Append the row of a line."""
        if labels:
            self.labels.extend(int(float(label)) for label in labels.split(","))
        parts = cells.replace(":", " ").split()
        numbers = list(map(float, parts))
        if max(numbers, default=0) >= MAX_EXACT or min(numbers, default=0) <= -MAX_EXACT:
            pairs = zip(map(int, parts[::2]), parts[1::2], strict=True)
            self.rounded.update({index: (line, text) for index, text in pairs if is_rounded(text)})
        self.cells.extend(numbers)
        self.label_ends.append(len(self.labels))
        self.cell_ends.append(len(self.cells) // 2)
        self.lines.append(line)


def read_libsvm(
    source: Readable, path: Path, reading: ReadingCard = BY_DEFAULT, rule: PlainRule = None
) -> Iterator[Table]:
    """Read a LIBSVM file in tables of some rows, one after the other; features come first, then labels.

    Where the first line states numbers of rows, features and labels, these are the widths, and numbers begin with 0.
    Else X is as wide as `n_features` of `reading` or the greatest index says, and features are numbered from 0 if any
    index is 0, else from 1; labels are those that occur, or that `rule` names, or as many as it counts. Rows that are
    labelled -1 and 1 have one label. Raises FormatError, with the line, if a row is anything else than labels and
    ``index:value``, a number is beyond the width, or no label occurs.
    """
    rows = _read_rows(Lines(source, path))
    n_stated = rows.header[0] if rows.header else len(rows.lines)
    if n_stated != len(rows.lines):
        raise FormatError(f"{path} must hold {n_stated} rows, as its first line says. Got {len(rows.lines)}.")
    X, (Y, label_names) = _take_features(rows, reading, path), _take_labels(rows, rule, path)
    names = tuple(f"f{place}" for place in range(X.shape[1]))
    # A label may be called like a feature.
    columns = tuple(map(Column, (*names, *label_names)))
    lines = np.array(rows.lines, np.int64)
    step = max(1, _PIECE_CELLS // max(1, len(label_names)))
    for start in range(0, max(1, len(lines)), step):
        part = slice(start, start + step)
        cells = sparse.csr_array(sparse.hstack([X[part], Y[part]], format="csr"))
        yield Table(path, columns, cells, lines[part], label_names=label_names)


def _read_rows(lines: Lines) -> _Rows:
    header, n_bytes = None, 0
    rows = _Rows(array("q"), array("q", [0]), array("d"), array("q", [0]), array("q"), None, 0, {})
    for number, line in enumerate(lines.head(), 1):
        n_bytes += len(line)
        if number == 1 and (stated := _HEADER.fullmatch(line)):
            header = int(stated[1]), int(stated[2]), int(stated[3])
            continue
        # Scikit-learn writes a row without anything as a blank; where rows are counted, it may be an empty line.
        is_empty = not line if header is None else not line.strip() and len(rows.lines) == header[0]
        if is_empty or line.lstrip().startswith("#"):
            continue
        match = _ROW.fullmatch(line)
        if match is None:
            raise FormatError(f"{at(lines.path, number)}: {_ROW_RULE}. Got {show(line[:200])}{_find_way_out(line)}.")
        rows.add(number, match[1], match[2])
    return rows._replace(header=header, n_bytes=n_bytes)


def _find_way_out(line: str) -> str:
    return "; a file of features or of labels alone must be joined with the other" if _PART.fullmatch(line) else ""


def _take_features(rows: _Rows, reading: ReadingCard, path: Path) -> sparse.csr_array:
    cells, ends = np.array(rows.cells), np.array(rows.cell_ends)
    values, indices = cells[1::2].copy(), cells[::2].astype(np.int64)
    _require(rows, np.flatnonzero(~np.isfinite(values)), ends, path, "values must be finite numbers", values)
    width = reading.n_features if rows.header is None else rows.header[1]
    first = int(rows.header is None and indices.min(initial=1) > 0)
    if first and width is not None and 0 < indices.max(initial=0) < width:
        way_out = "a first line with the numbers of rows, features and labels says that they begin with 0"
        warnings.warn(f"{path}: features are numbered from 1, as none has the index 0; {way_out}.", stacklevel=3)
    indices -= first
    for index, (line, text) in rows.rounded.items():
        if (name := f"f{index - first}") not in reading.ignore:
            raise FormatError(f"{at(path, line)}: column {show(name)} {EXACT}. Got {text}.")
    width = int(indices.max(initial=0)) + 1 if width is None else width
    if _FEATURE_BYTES * width > _ALWAYS_BYTES:
        require_room(_FEATURE_BYTES * width, rows.n_bytes, f"{path}: names of {width:,} features")
    X = sparse.csr_array((values, indices, ends), shape=(len(rows.lines), max(width, int(indices.max(initial=0)) + 1)))
    X.sort_indices()
    rule = f"indices must be {first} to {width - 1 + first}, as {_stating(rows, 'n_features= or --n-features')} says"
    _require(rows, np.flatnonzero(indices >= width), ends, path, rule, indices + first)
    repeated = np.flatnonzero(np.diff(X.indices, prepend=-1) == 0)
    starts = np.zeros(len(indices) + 1, dtype=bool)
    starts[ends] = True
    rule = "an index must occur once in a row"
    _require(rows, repeated[~starts[repeated]], ends, path, rule, X.indices + first)
    return X


def _take_labels(rows: _Rows, rule: PlainRule, path: Path) -> tuple[sparse.csr_array, tuple[str, ...]]:
    labels, ends = np.array(rows.labels, np.int64), np.array(rows.label_ends)
    numbers = _name_labels(rows, rule, path, np.unique(labels))
    n_rows, n_labels = len(rows.lines), len(numbers)
    if n_rows * n_labels > _ALWAYS_BYTES:
        require_room(n_rows * n_labels, rows.n_bytes, f"{path}: {n_rows:,} rows of {n_labels:,} labels")
    order = np.argsort(numbers)
    places = order[np.searchsorted(numbers, labels, sorter=order).clip(max=len(numbers) - 1)]
    is_known = np.asarray(numbers)[places] == labels
    others = np.unique(labels[~is_known])
    if isinstance(rule, tuple) and len(others):
        warnings.warn(f"{path}: {len(others)} labels that labels= does not name were left out.", stacklevel=3)
    elif others.tolist() != [-1]:
        rule = f"labels must be {numbers[0]} to {numbers[-1]}, as {_stating(rows, 'labels= or --labels')} says"
        _require(rows, np.flatnonzero(~is_known), ends, path, rule, labels)
    owners = np.repeat(np.arange(len(rows.lines)), np.diff(ends))
    pairs = owners[is_known], places[is_known]
    Y = sparse.csr_array((np.ones(len(pairs[0])), pairs), shape=(n_rows, n_labels))
    # A label that a row lists twice is there once.
    Y.data[:] = 1
    return Y, tuple(map(str, numbers))


def _name_labels(rows: _Rows, rule: PlainRule, path: Path, found: npt.NDArray[np.int64]) -> list[int]:
    """Choose the numbers of the labels."""
    if isinstance(rule, str):
        raise FormatError(f"{path}: labels must be names or a number, for rows name theirs. Got {rule!r}.")
    if isinstance(rule, tuple):
        return _parse_names(rule, path)
    n_labels = rule if rule is not None else rows.header[2] if rows.header else None
    numbers = _find_labels(rows, found) if n_labels is None else _count_labels(rows, n_labels, found, path)
    if not numbers or numbers[0] < 0:
        got = f"label {numbers[0]}" if numbers else "no label"
        raise FormatError(f"{path} must have at least one label, numbered from 0 on, or -1 and 1. Got {got}.")
    return numbers


def _parse_names(names: Sequence[str], path: Path) -> list[int]:
    unknown = next((name for name in names if not name.isdecimal()), None)
    if unknown is not None or len(set(names)) < len(names):
        got = "a name twice" if unknown is None else repr(unknown)
        raise FormatError(f"{path}: labels must be named by their numbers, each once. Got {got}.")
    return list(map(int, names))


def _find_labels(rows: _Rows, found: npt.NDArray[np.int64]) -> list[int]:
    # Of two classes, -1 is the absence of the other.
    is_binary = found.tolist() == [-1, 1] and len(rows.labels) == len(rows.lines)
    return [1] if is_binary else found.tolist()


def _count_labels(rows: _Rows, n_labels: int, found: npt.NDArray[np.int64], path: Path) -> list[int]:
    is_one_based = rows.header is None and 0 not in found and n_labels in found
    if rows.header is None and not {0, n_labels}.intersection(found.tolist()):
        warnings.warn(f"{path}: labels are numbered from 0, or labels= (--labels) must list their names.", stacklevel=4)
    return list(range(is_one_based, n_labels + is_one_based))


def _stating(rows: _Rows, option: str) -> str:
    return option if rows.header is None else "its first line"


def _require(
    rows: _Rows,
    wrong: npt.NDArray[np.intp],
    ends: npt.NDArray[np.int64],
    path: Path,
    rule: str,
    numbers: npt.NDArray[np.number],
) -> None:
    """Raise an error, with the line, if there is a wrong pair or label; `ends` are those of the rows."""
    if len(wrong):
        row = int(np.searchsorted(ends, wrong[0], side="right")) - 1
        raise FormatError(f"{at(path, rows.lines[row])}: {rule}. Got {numbers[wrong[0]]}.")
