"""Keys of rows as text: columns of CSV files, and a file beside ARFF, whose readers know features and labels only.

``x.keys.csv`` lies beside ``x.arff``: the names of the columns, then the key of each row, in the order of the rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, guard_text, stem, unguard_text
from mlstream._support.mapped import require_memory
from mlstream.formats.csv_dialects import quote
from mlstream.streams.keys import Keys, key_names, to_objects, to_time
from mlstream.streams.tables.table import Table

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?")


def keys_path(path: Path) -> Path:
    """Name the file of keys beside a file of rows: ``x.keys.csv`` for ``x.arff`` and ``x.arff.gz``."""
    return path.with_name(f"{stem(path)}.keys.csv")


def format_keys(keys: Keys) -> Iterator[str]:
    """Yield the names of keys as cells of CSV, then the key of each row; `parse_keys` reads the same bits.

    Texts that a spreadsheet would take for a formula begin with an apostrophe, which readers take off again.
    """
    names = key_names(keys)
    yield ",".join(quote(guard_text(name)) for name in names)
    yield from map(",".join, zip(*(_format_column(keys[name]) for name in names), strict=True))


def write_keys(path: Path, keys: Keys) -> None:
    """Write keys to a file of their own."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"{row}\n" for row in format_keys(keys))


def read_beside(path: Path, tables: Iterable[Table]) -> Iterator[Table]:
    """Give the rows of a table in pieces, read from `path`, the keys that lie beside it, as texts, if there are any.

    Raises FormatError if they are not those of as many rows.
    """
    keys = _read_keys(keys_path(path)) if keys_path(path).is_file() else {}
    n_keys, n_rows = min(map(len, keys.values()), default=0), 0
    for table in tables:
        rows = slice(n_rows, n_rows := n_rows + len(table.lines))
        if keys and n_rows > n_keys:
            break
        yield replace(table, keys={name: values[rows] for name, values in keys.items()})
    if keys and n_rows != n_keys:
        rule = f"{keys_path(path)} must hold the key of each row of {path.name}"
        more = " or more" * (n_rows > n_keys)
        raise FormatError(f"{rule}. Got {n_keys} for {n_rows}{more}; move it elsewhere if it is of another table.")


def _read_keys(path: Path) -> dict[str, np.ndarray]:
    """Read a file of keys as columns of texts; raise FormatError if it is another file."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(file, strict=True)
    except (ValueError, csv.Error):
        raise FormatError(f"{path} must be a CSV file of keys: their names, then the key of each row.") from None
    names = list(map(unguard_text, names))
    if len(set(names)) < len(names) or not names or any(len(row) != len(names) for row in rows):
        raise FormatError(f"{path} must have columns with different names, as many in every row. Got others.")
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return {name: to_objects(list(map(unguard_text, texts))) for name, texts in zip(names, columns, strict=True)}


def describe_types(keys: Keys) -> dict[str, str]:
    """Name the types of keys: ``U12`` of texts of at most 12 characters, int64, float64 and datetime64[us]."""
    return {name: str(keys.dtype[name]).removeprefix("<") for name in key_names(keys)}


def parse_keys(columns: Mapping[str, np.ndarray], types: Mapping[str, str]) -> Keys:
    """Hold columns, of texts or of their own types, as keys of stated types; raise ValueError if they are of others."""
    if list(columns) != list(types):
        raise ValueError(f"keys must have the columns {list(types)}, as the card says. Got {list(columns)}.")
    n_rows = len(next(iter(columns.values())))
    dtype = np.dtype(list(types.items()))
    require_memory(n_rows * dtype.itemsize, "the keys of the rows")
    keys = np.empty(n_rows, dtype)
    for name, texts in columns.items():
        try:
            keys[name] = _parse_column(texts, dtype[name])
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"keys {name!r} must be of the type {types[name]}, as the card says.") from None
    return keys


def infer_keys(texts: np.ndarray) -> np.ndarray:
    """Read a column of texts as whole numbers, floats or times in ISO 8601 if all are written so, else as it is.

    Numbers are read only where they would be written alike: ``007`` is text.
    """
    listed: Sequence[str] = texts.tolist()
    if all(_WHOLE.fullmatch(text) and abs(int(text)) < 2**63 for text in listed):
        return np.array(listed, dtype=object).astype(np.int64)
    if all(_is_float(text) for text in listed):
        return np.array(listed, dtype=np.float64)
    if all(map(_TIME.fullmatch, listed)):
        try:
            return np.array([to_time(datetime.fromisoformat(text)) for text in listed], dtype="datetime64[us]")
        except ValueError:
            return texts
    return texts


def _format_column(values: npt.NDArray[np.generic]) -> Iterator[str]:
    if values.dtype.kind == "U":
        return (quote(guard_text(text)) for text in values.tolist())
    if values.dtype.kind == "M":
        return map(str, values.astype(np.str_).tolist())
    return map(repr, values.tolist())


def _parse_column(texts: np.ndarray, dtype: np.dtype[np.generic]) -> np.ndarray:
    if dtype.kind == "U":
        values = texts.astype(np.str_)
        if values.dtype.itemsize > dtype.itemsize:
            raise ValueError(dtype)
        return values
    return texts.astype(np.str_).astype(dtype) if texts.dtype == object else texts.astype(dtype, casting="same_kind")


def _is_float(text: str) -> bool:
    try:
        return repr(float(text)) == text != "nan"
    except ValueError:
        return False
