"""The parting of a table into features and labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._memory import require_memory
from mlstream.formats._growing_arrays import Cells, Growing, GrowingTable
from mlstream.formats._joined_features import join_columns
from mlstream.formats.content import FormatError, at, show
from mlstream.formats.table import Column, Table, peek
from mlstream.stream import Features, Indicator

# Below this share of stored cells, a table in sparse notation becomes a CSR matrix: less than half of the memory.
# Files in sparse notation that are full all the same (Yeast's) become dense.
SPARSE_BELOW = 0.25
_UNKNOWN = 2


class Parted(NamedTuple):
    """A table divided into features and labels."""

    X: Features
    Y: Indicator
    feature_names: tuple[str, ...]


def part(table: Table, labels: Sequence[int]) -> Parted:
    """Part a table into features and labels: `part_all` of one table."""
    return part_all([table], labels)


def part_all(tables: Iterable[Table], labels: Sequence[int]) -> Parted:
    """Part tables of the same columns, one below the other, into features and labels.

    Nominal features whose values are all numbers become these numbers; any other nominal feature becomes one 0/1
    column per value, called ``name=value``.

    Parameters
    ----------
    tables : iterable of Table
        The tables, at least one; each is dropped before the next is taken.
    labels : sequence of int
        Indices of the label columns, in the order wanted.

    Returns
    -------
    Parted
        X is a CSR matrix if most tables are and less than a quarter of X is stored, else dense. A missing value of a
        label is an unknown label.

    Raises
    ------
    FormatError
        If a label column holds anything but 0, 1 and missing values, or a feature has a missing value.
    """
    first, tables = peek(tables)
    features = np.setdiff1d(np.arange(len(first.columns)), labels).tolist()
    names = tuple(name for index in features for name in _feature_names(first.columns[index]))
    X, Y = GrowingTable(len(names), sparse_below=SPARSE_BELOW), Growing(np.uint8, len(labels))
    n_rows = 0
    for table in tables:
        n_rows += len(table.lines)
        # Few bytes of a sparse file may stand for many labels.
        require_memory(n_rows * len(labels), f"the labels of {first.path}", FormatError)
        if len(table.lines):
            X.extend(_read_features(table, features))
            Y.extend(_read_labels(table, labels))
    return Parted(X.take(), _to_indicator(Y.take()), names)


def require_complete(table: Table, columns: Sequence[int]) -> None:
    """Refuse columns that have a missing value.

    Raises
    ------
    FormatError
        The message names the line and the column.
    """
    block = _take_columns(table.cells, columns)
    stored = block.data if sparse.issparse(block) else block
    if not np.isnan(stored).any():
        return
    dense = block.toarray() if sparse.issparse(block) else block
    row, column = np.argwhere(np.isnan(dense))[0]
    raise FormatError(
        f"{at(table.path, table.lines[row])}: column {show(table.names[columns[column]])} must have a value in every "
        "row; labels only may be unknown. Got a missing value."
    )


def _feature_names(column: Column) -> tuple[str, ...]:
    if column.is_coded and column.values is not None:
        return tuple(f"{column.name}={value}" for value in column.values)
    return (column.name,)


def _read_features(table: Table, features: Sequence[int]) -> Cells:
    require_complete(table, features)
    X: Cells = join_columns(list(_blocks(table, features)))
    if sparse.issparse(X):
        X.eliminate_zeros()
    return X


def _blocks(table: Table, features: Sequence[int]) -> Iterator[Cells]:
    for is_coded, group in groupby(features, lambda index: table.columns[index].is_coded):
        indices = list(group)
        block = _take_columns(table.cells, indices)
        yield _one_hot(block, [len(_feature_names(table.columns[index])) for index in indices]) if is_coded else block


def _take_columns(cells: Cells, indices: Sequence[int]) -> Cells:
    # Neighbours need not be picked one by one.
    is_run = list(indices) == list(range(indices[0], indices[0] + len(indices)))
    return cells[:, indices[0] : indices[0] + len(indices)] if is_run else cells[:, list(indices)]


def _one_hot(codes: Cells, n_values: Sequence[int]) -> Cells:
    dense = codes.toarray() if sparse.issparse(codes) else codes
    # The 1 of each code stands at its own place, after the places of the columns before.
    places = dense.astype(np.int64) + np.concatenate([[0], np.cumsum(n_values)[:-1]])
    starts = np.arange(0, places.size + 1, len(n_values))
    X = sparse.csr_array((np.ones(places.size), places.ravel(), starts), shape=(len(dense), sum(n_values)))
    return X if sparse.issparse(codes) else X.toarray()


def _read_labels(table: Table, labels: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return labels as 0, 1 and the code of an unknown one, which take a quarter of the memory of an indicator."""
    for index in labels:
        column = table.columns[index]
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
        raise FormatError(f"{at(table.path, table.lines[row])}: label {show(name)} must be 0 or 1. Got {got}.")
    return np.where(unknown, _UNKNOWN, values).astype(np.uint8)


def _to_indicator(codes: npt.NDArray[np.uint8]) -> Indicator:
    unknown = codes == _UNKNOWN
    return np.where(unknown, np.float32(np.nan), codes) if unknown.any() else codes
