"""Tables of classes, which become labels: one class a row, as UCI keeps them, or paths through a tree, as Clus does."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, UnpackedFile, at, bare_path, read_lines, show, stem
from mlstream.formats.arff.reader import read_arff
from mlstream.formats.lines import Lines
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.label_values import as_indicator
from mlstream.streams.stream import Dataset, Indicator
from mlstream.streams.tables.arrays import join_columns
from mlstream.streams.tables.columns import BY_DEFAULT, part
from mlstream.streams.tables.table import Column, Table, gather, leave_out

Row = list[str | float | None]

# Less than all known values, so that one split of a tree separates missing ones.
_MISSING = -1.0
_CLASSES = re.compile(r"\s*@attribute\s+(\S+)\s+hierarchical\s+(\S+)\s*", re.IGNORECASE)
_UNKNOWN = "?"
_DATA = re.compile(r"\s*@data\b", re.IGNORECASE)


def read_class_table(paths: Sequence[Path], contents: Sequence[bytes], *, class_first: bool) -> Dataset:
    """Read a table of one class a row, in the first column or the last one.

    The rows of one file follow those of the other; paths only name files in errors. There is one label per class, in
    alphabetical order. Values that are not numbers are numbered in alphabetical order; missing ones (``?``) are -1. A
    FormatError is raised if a row has another number of values than the first one, or the ARFF cannot be read.
    """
    names, rows = _read_all(paths, contents)
    columns = list(zip(*rows, strict=True))
    classes = [str(value) for value in columns.pop(0 if class_first else -1)]
    names.pop(0 if class_first else -1)
    labels = sorted(set(classes))
    Y = np.array(classes)[:, np.newaxis] == np.array(labels)
    return Dataset(
        np.column_stack([_to_numbers(column) for column in columns]),
        Y.view(np.uint8),
        tuple(names),
        tuple(labels),
        name=stem(paths[0]),
        source=str(paths[0]),
        sha256=hashlib.sha256(b"".join(contents)).hexdigest(),
    )


def _read_all(paths: Sequence[Path], contents: Sequence[bytes]) -> tuple[list[str], list[Row]]:
    names: list[str] = []
    rows: list[Row] = []
    for path, content in zip(paths, contents, strict=True):
        read = _read_arff if bare_path(path).suffix == ".arff" else _read_plain
        found_names, found = read(path, content)
        names = names or found_names
        if len(found_names) != len(names):
            raise FormatError(f"{path} must hold rows of {len(names)} values. Got {len(found_names)}.")
        rows += found
    return names, rows


def _read_arff(path: Path, content: bytes) -> tuple[list[str], list[Row]]:
    import arff

    try:
        table = arff.loads("\n".join(read_lines(content)))
    except arff.ArffException as error:
        raise FormatError(f"{path}: {' '.join(str(error).split())}") from None
    if not table["data"]:
        raise FormatError(f"{path} must hold at least one row. Got 0.")
    return [name for name, _ in table["attributes"]], table["data"]


def _read_plain(path: Path, content: bytes) -> tuple[list[str], list[Row]]:
    lines = enumerate(read_lines(content), 1)
    numbered = [(line, text.replace(",", " ").split()) for line, text in lines if text.strip()]
    if not numbered:
        raise FormatError(f"{path} must hold at least one row. Got 0.")
    width = len(numbered[0][1])
    for line, values in numbered:
        if len(values) != width:
            raise FormatError(f"{at(path, line)}: a row must hold {width} values. Got {len(values)}.")
    rows: list[Row] = [[None if value == "?" else value for value in values] for _, values in numbered]
    return [f"x{column}" for column in range(width)], rows


def _to_numbers(values: Iterable[str | float | None]) -> npt.NDArray[np.float64]:
    codes: dict[str | float | None, float]
    known = {value for value in values if value is not None}
    try:
        codes = {value: float(value) for value in known}
    except ValueError:
        codes = {value: float(code) for code, value in enumerate(sorted(known))}
    return np.array([codes.get(value, _MISSING) for value in values])


class _Read(NamedTuple):
    """Features, and the classes of each row with their declared names."""

    features: Table
    names: tuple[str, ...]
    Y: Indicator


def is_hierarchical(path: Path) -> bool:
    """Tell whether a file is ARFF, packed or not, whose header declares a tree of classes."""
    if bare_path(path).suffix.lower() != ".arff":
        return False
    with UnpackedFile(path) as file:
        for line in Lines(file, path).head():
            if _DATA.match(line):
                return False
            if _CLASSES.fullmatch(line):
                return True
    return False


def read_hierarchical_table(
    paths: Sequence[Path], contents: Sequence[bytes], reading: ReadingCard = BY_DEFAULT
) -> Dataset:
    """Read a table whose last column holds paths through a tree of classes: ``2/1/3``, several joined by ``@``.

    The rows of one file follow those of the other; paths only name files in errors. There is one label per class, in
    the order of declaration, named by its whole path. A row has the labels of its paths and of all classes above them;
    all labels of a row with ``?`` for its paths are unknown. `label_parents` is the tree. A FormatError names the file
    and the line.
    """
    found = [_read(path, read_lines(content), reading) for path, content in zip(paths, contents, strict=True)]
    names = found[0].names
    for path, one in zip(paths, found, strict=True):
        if one.names != names:
            raise FormatError(f"{path} must declare the classes of {paths[0]}. Got others.")
    table = gather(one.features for one in found)
    whole, n_features = _append(table, np.concatenate([one.Y for one in found]), names), len(table.columns) - 1
    parted = part(whole, range(n_features, n_features + len(names)), reading)
    return Dataset(
        **parted._asdict(),
        name=stem(paths[0]),
        source=str(paths[0]),
        sha256=hashlib.sha256(b"".join(contents)).hexdigest(),
        label_parents={name: name.rpartition("/")[0] for name in names if "/" in name},
    )


def _append(table: Table, Y: Indicator, names: Sequence[str]) -> Table:
    """Put the classes in the place of the last column, which stood for them."""
    width = len(table.columns) - 1
    columns = (*table.columns[:width], *map(Column, names))
    return replace(table, columns=columns, cells=join_columns([table.cells[:, :width], Y.astype(np.float64)]))


def _read(path: Path, lines: list[str], reading: ReadingCard) -> _Read:
    names: tuple[str, ...] = ()
    for number, line in enumerate(lines):
        if declared := _CLASSES.fullmatch(line):
            names = _declare(declared[2], at(path, number + 1))
            if declared[1] in reading.ignore:
                raise ValueError(f"ignore= or --ignore must not name the classes of {path}. Got {declared[1]!r}.")
            # The rest is an ordinary file, with zeros for classes, whose lines keep their numbers.
            lines[number] = f"@attribute {declared[1]} numeric"
        elif names and _DATA.match(line):
            Y = _take_classes(lines, number + 1, names, path)
            rows = read_arff(BytesIO("\n".join(lines).encode()), path, reading)
            return _Read(gather(leave_out(rows, reading.ignore)), names, Y)
        elif names and line.strip() and not line.lstrip().startswith("%"):
            raise FormatError(f"{at(path, number + 1)}: the column of classes must be the last. Got {show(line)}.")
    raise FormatError(f"{path} must declare classes (@attribute NAME hierarchical a,a/b,...) and @data. Got neither.")


def _declare(text: str, where: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    known = set(names)
    if len(known) < len(names) or not all(names):
        raise FormatError(f"{where}: classes must have names that differ. Got {show(text)}.")
    for name in names:
        above = name.rpartition("/")[0]
        if above and above not in known:
            raise FormatError(f"{where}: the class above {show(name)} must be declared too. Got no {show(above)}.")
    return names


def _take_classes(lines: list[str], start: int, names: tuple[str, ...], path: Path) -> Indicator:
    """Cut the classes off the rows, and mark them and all above."""
    column = {name: place for place, name in enumerate(names)}
    rows: list[Indicator] = []
    for number in range(start, len(lines)):
        text = lines[number].strip()
        if not text or text.startswith("%"):
            continue
        values, _, classes = text.rpartition(",")
        lines[number] = f"{values},0"
        if classes.strip() == _UNKNOWN and _UNKNOWN not in column:
            rows.append(np.full(len(names), np.nan, dtype=np.float32))
            continue
        rows.append(np.zeros(len(names), dtype=np.uint8))
        for name in chain.from_iterable(_path(leaf) for leaf in classes.strip().split("@")):
            if name not in column:
                raise FormatError(f"{at(path, number + 1)}: classes must be declared ones. Got {show(name)}.")
            rows[-1][column[name]] = 1
    return as_indicator(np.array(rows).reshape(len(rows), len(names)))


def _path(name: str) -> list[str]:
    """Return a class and all above it."""
    parts = name.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
