"""Tables of one class a row, as the UCI repository keeps them, in plain text or ARFF: each class becomes a label."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, at, bare_path, read_lines, stem
from mlstream.streams.stream import Dataset

Row = list[str | float | None]

# Less than all known values, so that one split of a tree separates missing ones.
_MISSING = -1.0


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
