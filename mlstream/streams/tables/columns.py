"""The parting of a table into features and labels: the one place where columns become features.

Numbers pass. A nominal column whose values are all numbers becomes these numbers; any other becomes 0/1 features, one
per value, or the number of each value. Missing values are refused, left out, filled in or kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.content import FormatError, show
from mlstream._support.memory import require_memory
from mlstream._support.reading import Categories, Missing
from mlstream.streams.array_likes import Features
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.label_values import Indicator
from mlstream.streams.tables._growing_arrays import Cells, Growing, GrowingTable
from mlstream.streams.tables._joined_features import join_columns
from mlstream.streams.tables.missing_values import fill_means, mark_missing
from mlstream.streams.tables.table import Column, Table, peek

# Below this share of stored cells, a table in sparse notation becomes a CSR matrix: less than half of the memory.
# Files in sparse notation that are full all the same (Yeast's) become dense.
SPARSE_BELOW = 0.25
BY_DEFAULT = ReadingCard()
_UNKNOWN = 2
_WAY_OUT = "; missing= or --missing (drop, mean, indicator or keep) reads it"


class Parted(NamedTuple):
    """A table divided into features and labels."""

    X: Features
    Y: Indicator
    feature_names: tuple[str, ...]
    reading: ReadingCard | None = None
    """How columns became features, with the number of rows left out; None where all options had their defaults."""


def make_reading(missing: str = "error", categories: str | None = None, separator: str | None = None) -> ReadingCard:
    """Check the options for columns that are to become features; raise ValueError if one is not among its values."""
    if missing not in get_args(Missing):
        raise ValueError(f"missing must be one of {', '.join(get_args(Missing))}. Got {missing!r} instead.")
    if categories is not None and categories not in get_args(Categories):
        raise ValueError(f"categories must be one of {', '.join(get_args(Categories))}. Got {categories!r} instead.")
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise ValueError(
            f"separator= or --separator must be one character, such as ';', and no quote. Got {separator!r} instead."
        )
    return ReadingCard(
        missing=cast(Missing, missing), categories=cast("Categories | None", categories), separator=separator
    )


def part(table: Table, labels: Sequence[int], reading: ReadingCard = BY_DEFAULT) -> Parted:
    """Part a table into features and labels: `part_all` of one table."""
    return part_all([table], labels, reading)


def part_all(tables: Iterable[Table], labels: Sequence[int], reading: ReadingCard = BY_DEFAULT) -> Parted:
    """Part tables of the same columns, at least one, into features and labels; each is dropped before the next.

    `labels` are indices of columns in the order wanted. X is a CSR matrix if most tables are and less than a quarter of
    X is stored, else dense. A missing value of a label is an unknown label. One 0/1 feature per value is called
    ``name=value``, one that marks missing values ``name is missing``; the latter come last.

    Raises FormatError if a label column holds anything but 0, 1 and missing values, a feature has a missing value, or
    none but missing ones where their mean is asked for, or its values are words that the file does not declare, unless
    `reading` says what becomes of them.
    """
    first, tables = peek(tables)
    features = np.setdiff1d(np.arange(len(first.columns)), labels).tolist()
    columns = [first.columns[index] for index in features]
    _require_declared(first, columns, reading)
    width = sum(len(_feature_names(column, reading)) for column in columns)
    X, Y = GrowingTable(width, sparse_below=SPARSE_BELOW), Growing(np.uint8, len(labels))
    n_rows = 0
    for table in tables:
        n_rows += len(table.lines)
        # Few bytes of a sparse file may stand for many labels.
        require_memory(n_rows * len(labels), f"the labels of {first.path}", FormatError)
        taken = _settle_missing(table, features, reading)
        if len(taken.lines):
            X.extend(_read_features(taken, features, reading))
            Y.extend(_read_labels(taken, labels))
    indicator = _to_indicator(Y.take())
    if n_rows and not len(indicator):
        raise FormatError(
            f"{first.path}: missing= or --missing drop must leave at least one row. Got a missing value in every row."
        )
    filled, names = _fill(X.take(), columns, first.path, reading)
    counted = reading.model_copy(update={"n_dropped": n_rows - len(indicator) if reading.missing == "drop" else None})
    return Parted(filled, indicator, names, None if counted == BY_DEFAULT else counted)


def require_complete(table: Table, columns: Sequence[int], way_out: str = "") -> None:
    """Raise FormatError, with line and column, if columns have a missing value; `way_out` ends the message."""
    missing = _find_missing(table, columns)
    if not missing.any():
        return
    row, column = np.argwhere(missing)[0]
    raise FormatError(
        f"{table.at(table.lines[row])}: column {show(table.names[columns[column]])} must have a value in every "
        f"row; labels only may be unknown. Got a missing value{way_out}."
    )


def has_complete_row(table: Table, labels: Sequence[int]) -> bool:
    """Tell whether a row has a value in every column but those of labels."""
    missing = _find_missing(table, np.setdiff1d(np.arange(len(table.columns)), labels).tolist())
    return bool((~missing.any(axis=1)).any())


def _find_missing(table: Table, columns: Sequence[int]) -> npt.NDArray[np.bool_]:
    block = _take_columns(table.cells, columns)
    if not sparse.issparse(block):
        return np.isnan(block)
    # Written out only if there is one.
    return np.isnan(block.toarray()) if np.isnan(block.data).any() else np.zeros((1, len(columns)), dtype=bool)


def _settle_missing(table: Table, features: Sequence[int], reading: ReadingCard) -> Table:
    if reading.missing == "error":
        require_complete(table, features, _WAY_OUT)
    if reading.missing != "drop":
        return table
    missing = _find_missing(table, features)
    if not missing.any():
        return table
    complete = np.flatnonzero(~missing.any(axis=1))
    return replace(table, cells=table.cells[complete], lines=table.lines[complete])


def _require_declared(table: Table, columns: Sequence[Column], reading: ReadingCard) -> None:
    """Refuse words that no header declares, unless it is said what becomes of them."""
    found = next((column for column in columns if column.first_word is not None), None)
    if found is None or found.first_word is None or reading.categories is not None:
        return
    word, line = found.first_word
    rule = "must be a finite number, or empty for an unknown label"
    way_out = "categories= or --categories (one-hot or ordinal) reads words"
    raise FormatError(f"{table.at(line)}: column {show(found.name)} {rule}. Got {show(word)}; {way_out}.")


def _fill(X: Features, columns: Sequence[Column], path: Path, reading: ReadingCard) -> tuple[Features, tuple[str, ...]]:
    """Write means for missing values, and mark these by features of their own."""
    names = [_feature_names(column, reading) for column in columns]
    flat = tuple(chain.from_iterable(names))
    if reading.missing not in {"mean", "indicator"}:
        return X, flat
    # The features that one column became are missing in the same rows: the first of them stands for all.
    marked, marks = mark_missing(X, np.cumsum([0, *map(len, names)])[:-1])
    filled = fill_means(X, flat, path)
    if reading.missing == "mean" or not len(marked):
        return filled, flat
    return join_columns([filled, marks]), (*flat, *(f"{columns[index].name} is missing" for index in marked))


def _feature_names(column: Column, reading: ReadingCard) -> tuple[str, ...]:
    if _is_one_hot(column, reading) and column.values is not None:
        return tuple(f"{column.name}={value}" for value in column.values)
    return (column.name,)


def _is_one_hot(column: Column, reading: ReadingCard) -> bool:
    return column.is_coded and reading.categories != "ordinal"


def _read_features(table: Table, features: Sequence[int], reading: ReadingCard) -> Cells:
    X: Cells = join_columns(list(_blocks(table, features, reading)))
    if sparse.issparse(X):
        X.eliminate_zeros()
    return X


def _blocks(table: Table, features: Sequence[int], reading: ReadingCard) -> Iterator[Cells]:
    for is_one_hot, group in groupby(features, lambda index: _is_one_hot(table.columns[index], reading)):
        indices = list(group)
        block = _take_columns(table.cells, indices)
        yield _one_hot(block, [len(table.columns[index].values or ()) for index in indices]) if is_one_hot else block


def _take_columns(cells: Cells, indices: Sequence[int]) -> Cells:
    # Neighbours need not be picked one by one.
    is_run = list(indices) == list(range(indices[0], indices[0] + len(indices)))
    return cells[:, indices[0] : indices[0] + len(indices)] if is_run else cells[:, list(indices)]


def _one_hot(codes: Cells, n_values: Sequence[int]) -> Cells:
    dense = codes.toarray() if sparse.issparse(codes) else codes
    first_places = np.concatenate([[0], np.cumsum(n_values)[:-1]])
    missing = np.isnan(dense)
    # The 1 of each code stands at its own place, after the places of the columns before.
    places = np.where(missing, 0, dense).astype(np.int64) + first_places
    starts = np.arange(0, places.size + 1, len(n_values))
    values = np.where(missing, 0.0, 1.0).ravel()
    X = sparse.csr_array((values, places.ravel(), starts), shape=(len(dense), sum(n_values)))
    if missing.any():
        X = X + sparse.csr_array(np.where(np.repeat(missing, n_values, axis=1), np.nan, 0.0))
    return X if sparse.issparse(codes) else X.toarray()


def _read_labels(table: Table, labels: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return labels as 0, 1 and the code of an unknown one, which take a quarter of the memory of an indicator."""
    for index in labels:
        column = table.columns[index]
        if column.first_word is not None:
            word, line = column.first_word
            rule = "must be 0 or 1, or empty for an unknown label"
            raise FormatError(f"{table.at(line)}: label {show(column.name)} {rule}. Got {show(word)}.")
        if column.is_coded:
            got = ", ".join(column.values or ())
            raise FormatError(f"{table.path}: label {show(column.name)} must be 0 or 1. Got the values {show(got)}.")
    block = _take_columns(table.cells, labels)
    values = block.toarray() if sparse.issparse(block) else block
    unknown = np.isnan(values)
    wrong = np.argwhere((values != 0) & (values != 1) & ~unknown)
    if len(wrong):
        row, column = wrong[0]
        name = table.columns[labels[column]].name
        got = f"{values[row, column]:g}"
        raise FormatError(f"{table.at(table.lines[row])}: label {show(name)} must be 0 or 1. Got {got}.")
    return np.where(unknown, _UNKNOWN, values).astype(np.uint8)


def _to_indicator(codes: npt.NDArray[np.uint8]) -> Indicator:
    unknown = codes == _UNKNOWN
    return np.where(unknown, np.float32(np.nan), codes) if unknown.any() else codes
