"""Data frames as tables, and as the parts of a Dataset."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mlstream._support.content import FormatError, show
from mlstream.streams.array_likes import Features
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.frames import (
    Column as FrameColumn,
)
from mlstream.streams.frames import (
    Frame,
    column_names,
    is_frame,
    is_of_float32,
    is_sparse,
    iter_columns,
    read_sparse,
    take_columns,
)
from mlstream.streams.label_values import Indicator
from mlstream.streams.tables.arrays import tabulate
from mlstream.streams.tables.columns import make_reading, part
from mlstream.streams.tables.labels import LabelRule, choose_labels, normalise_rule
from mlstream.streams.tables.table import Column, Table, nominal


class FrameParts(NamedTuple):
    """The parts of a Dataset, under the names of its fields."""

    X: Features
    Y: Indicator
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    name: str
    label_parents: dict[str, str]
    reading: ReadingCard | None


def read_frame(frame: Frame, labels: LabelRule, name: str, missing: str, categories: str | None) -> FrameParts:
    """Read a data frame, as `Dataset.from_frame` does: its arguments and errors are the same."""
    if not is_frame(frame):
        raise TypeError(
            f"frame must be a data frame of pandas, polars or pyarrow. Got {type(frame).__name__} instead; "
            "Dataset(X, Y) takes arrays."
        )
    if labels is None:
        raise ValueError(
            "labels must name the label columns of a frame, as in Dataset.from_frame(frame, labels=[...]). Got None."
        )
    names, reading = column_names(frame), make_reading(missing, categories)
    head = Table(Path(name), tuple(map(Column, names)), np.empty((0, len(names))), np.empty(0, np.int64))
    columns, parents = choose_labels(head, normalise_rule(labels))
    if not len(frame):
        raise FormatError(f"{name} must hold at least one row. Got 0.")
    features = take_columns(frame, np.setdiff1d(np.arange(len(names)), columns).tolist())
    keeps_sparse = is_sparse(features)
    table = tabulate_sparse(frame, name) if keeps_sparse else tabulate_frame(frame, name, reading)
    X, Y, feature_names, read = part(table, columns, reading)
    kind = np.float32 if is_of_float32(features) else np.float64
    X = (sparse.csr_array(X) if keeps_sparse else X).astype(kind, copy=False)
    return FrameParts(X, Y, feature_names, tuple(names[index] for index in columns), name, parents, read)


def tabulate_frame(frame: Frame, title: str, reading: ReadingCard) -> Table:
    """Read a data frame as a table, as `tabulate` does; errors call it `title` and number its rows from 1.

    Columns that declare their values in an order (ordered categories of pandas, enums of polars) are nominal, with
    these values. Raises FormatError if a column can be no feature and no label: dates, infinity, lists, free text.
    """
    columns = list(iter_columns(frame))
    for column in columns:
        _require_cells(column, title)
    table = tabulate(column_names(frame), [column.to_numpy() for column in columns], title, reading)
    for place, column in enumerate(columns):
        declared = getattr(column.dtype, "categories", None)
        if declared is not None and table.columns[place].is_coded:
            table = _declare(table, place, [str(value).strip() for value in declared])
    return table


def tabulate_sparse(frame: Any, title: str) -> Table:
    """Read a data frame of pandas, most of whose columns are sparse, as a table of CSR cells."""
    cells = read_sparse(frame).astype(np.float64)
    columns = tuple(map(Column, column_names(frame)))
    if np.isinf(cells.data).any():
        place = int(cells.tocoo().col[np.isinf(cells.data)].min())
        raise FormatError(f"{title}: column {show(columns[place].name)} must hold finite numbers. Got infinity.")
    return Table(Path(title), columns, cells, np.arange(1, cells.shape[0] + 1), unit="row")


def _require_cells(column: FrameColumn, title: str) -> None:
    """Refuse columns that are neither numbers nor words, and that NumPy has no type for."""
    kind = str(column.dtype).partition("(")[0].lower()
    if column.dtype.is_nested() or kind in {"binary", "time"}:
        name = show(str(column.name))
        raise FormatError(f"{title}: column {name} must hold numbers or words. Got {kind}; leave the column out.")


def _declare(table: Table, place: int, values: list[str]) -> Table:
    """Replace the number of each word of a column by its place among the values that the column declares."""
    column, cells = table.columns[place], np.array(table.cells)
    places = np.array([values.index(word) for word in column.values or ()], dtype=np.float64)
    known = ~np.isnan(cells[:, place])
    cells[known, place] = places[cells[known, place].astype(np.int64)]
    columns = (*table.columns[:place], nominal(column.name, values), *table.columns[place + 1 :])
    return replace(table, columns=columns, cells=cells)
