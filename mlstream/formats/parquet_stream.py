"""Streams as Parquet: the rows to learn from, the held-out rows, and a card with what else there is to know.

``x.train.parquet`` holds the rows of the experiences in stream order, ``x.test.parquet`` those of the evaluation
sets, task after task, and ``x.card.json`` the card with the label masks. The columns are those of `RowColumns`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute, parquet, types

from mlstream._support.content import FormatError, require_room
from mlstream._support.files import atomic_paths
from mlstream.formats.flat import BY_ROW, FlatParts, FlatStream, restore, to_masks
from mlstream.formats.key_files import parse_keys
from mlstream.formats.parquet import for_arrow, parquet_errors, read_keys_column, show_type
from mlstream.formats.parquet_columns import RowColumns
from mlstream.formats.parquet_rows import StreamRows, count_values
from mlstream.formats.table_io import (
    card_path,
    describe_file,
    evaluation_path,
    require_card,
    require_layout,
    require_listed,
)
from mlstream.streams.card_model import PartCard, StreamCard
from mlstream.streams.keys import Keys
from mlstream.streams.label_values import as_indicator
from mlstream.streams.stream import Features, Index, Indicator, Stream
from mlstream.streams.tables.arrays import make_csr


def save_parquet(stream: Stream, path: str | os.PathLike[str]) -> None:
    """Write a stream as two Parquet files and a card, all of them or none, the card last.

    `path` is for the rows to learn from; the others go beside it, and files that exist are replaced. X is float32 or
    float64; a NaN is a missing value. Raises ValueError if X is of several kinds, or the card is of another stream.
    """
    path, rows = Path(path), StreamRows(stream)
    with atomic_paths(path, evaluation_path(path), card_path(path)) as (train, test, card):
        rows.write(train, test)
        files = [describe_file(train, path.name), describe_file(test, evaluation_path(path).name)]
        whole = stream.card.model_copy(update={"files": files, "rows": rows.layout})
        card.write_text(whole.model_dump_json(indent=1), encoding="utf-8")


def load_parquet(path: str | os.PathLike[str]) -> Stream:
    """Read a stream that `save_parquet` wrote: equal array by array and type by type.

    Raises FileNotFoundError if the card or the file of held-out rows is not beside `path`; FormatError if a file is not
    the one that the card lists, or they do not fit each other.
    """
    path = Path(path)
    card = require_card(path)
    for file in (path, evaluation_path(path)):
        require_listed(file, card)
    try:
        return restore_rows(_read(path, card), _read(evaluation_path(path), card), card)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def restore_rows(train: pa.Table, test: pa.Table, card: StreamCard) -> Stream:
    """Make a stream of the rows of its Parquet files: all rows of the experiences, and of the evaluation sets.

    Raises ValueError if rows or columns are missing or in another order, or the card is not of these files.
    """
    layout = require_layout(card)
    n_labels = len(card.label_names)
    sizes = [part.n_samples for part in card.experiences]
    learning = _Columns(train, card, "train")
    flat = FlatStream(
        to_masks([task.signature for task in card.tasks], n_labels),
        to_masks(layout.masks, n_labels),
        _to_parts(learning, layout.experiences, sizes),
        _to_parts(_Columns(test, card, "test"), layout.evaluation_sets, [task.n_evaluation for task in card.tasks]),
        card.model_copy(update={"files": [], "rows": None}),
    )
    learning.require_experiences(sizes)
    return restore(flat)


def _read(path: Path, card: StreamCard) -> pa.Table:
    with parquet_errors(path), parquet.ParquetFile(for_arrow(path)) as file:
        form = _form(card)
        if not file.schema_arrow.equals(form.schema):
            raise FormatError(f"{path} must have the columns that were written for its card. Got others.")
        # Labels are dense in memory, whatever the features are.
        n_bytes = 8 * count_values(file.metadata) + 4 * file.metadata.num_rows * len(form.labels)
        require_room(n_bytes, path.stat().st_size, f"{path}: its rows")
    # Names of tasks are held once, however many rows have them.
    as_words = [form.names["task"]]
    with parquet_errors(path), parquet.ParquetFile(for_arrow(path), read_dictionary=as_words) as file:
        # pyarrow 18 cannot read a file without groups of rows.
        return file.read() if file.metadata.num_row_groups else file.schema_arrow.empty_table()


def _form(card: StreamCard) -> RowColumns:
    layout = require_layout(card)
    return RowColumns.of(card, layout, as_lists=layout.sparse)


def _is_like(got: pa.DataType, expected: pa.DataType) -> bool:
    """Return whether values of a type are those of another, perhaps with longer offsets or as a dictionary."""
    if types.is_dictionary(got):
        return _is_like(got.value_type, expected)
    if types.is_large_list(got):
        return bool(types.is_list(expected) and got.value_type == expected.value_type)
    return bool(got == expected or (types.is_large_string(got) and types.is_string(expected)))


class _Columns:
    """The columns of a table of rows as arrays."""

    def __init__(self, table: pa.Table, card: StreamCard, name: str) -> None:
        self.form = _form(card)
        self.name, self.n_rows, self._table = name, len(table), table
        for field in self.form.schema:
            found = table.schema.get_all_field_indices(field.name)
            if len(found) != 1:
                rule = f"{name} rows must have the columns that were published"
                raise ValueError(f"{rule}. Got {len(found) or 'no'} column{'s' * (len(found) > 1)} {field.name!r}.")
            if not _is_like(got := table.schema.field(found[0]).type, field.type):
                rule = f"The column {field.name!r} of {name} rows must be {field.type}"
                raise ValueError(f"{rule}. Got {show_type(got)}.")

    def role(self, role: str) -> pa.ChunkedArray:
        return self._table.column(self.form.names[role])

    def task_ids(self) -> Index:
        ids = compute.index_in(self.role("task"), value_set=pa.array(self.form.tasks, pa.string()))
        if ids.null_count:
            raise ValueError(f"{self.name} rows must be of the tasks on the card. Got a row of another.")
        return self._integers(ids)

    def integers(self, role: str) -> Index:
        column = self.role(role)
        if column.null_count:
            raise ValueError(f"{self.name} rows must have a number in the column {self.form.names[role]!r}. Got null.")
        return self._integers(column)

    def require_experiences(self, sizes: Sequence[int]) -> None:
        """Refuse rows that are not in stream order."""
        if not np.array_equal(self.integers("experience"), np.repeat(np.arange(len(sizes)), sizes)):
            raise ValueError(f"{self.name} rows must be in stream order, as published. Got other experiences.")

    @staticmethod
    def _integers(column: pa.ChunkedArray) -> Index:
        return np.asarray(column.to_numpy(), dtype=np.int64)

    def keys(self) -> Keys | None:
        """Return the keys of the rows, of the types on the card, if they have any."""
        columns = {name: self._table.column(column) for name, column in self.form.key_columns.items()}
        if lacking := next((name for name, column in columns.items() if column.null_count), None):
            raise ValueError(f"{self.name} rows must have a key in every row. Got null in {lacking!r}.")
        read = {name: read_keys_column(column) for name, column in columns.items()}
        return parse_keys(read, self.form.key_types) if read else None

    def features(self) -> Features:
        if not self.form.as_lists:
            return self._stack(self.form.feature_columns, self.form.dtype)
        (indptr, indices), (other, values) = self._lists("indices"), self._lists("values")
        if not np.array_equal(indptr, other):
            raise ValueError(f"{self.name} rows must hold as many values as indices. Got others.")
        self._require_below(indices, len(self.form.features), "indices")
        return make_csr(
            values.astype(self.form.dtype, copy=False), indices.astype(indptr.dtype), indptr, len(self.form.features)
        )

    def labels(self) -> Indicator:
        what = f"the labels of {self.name} rows"
        if not self.form.as_lists:
            return as_indicator(self._stack(self.form.labels, None), what)
        Y = np.zeros((self.n_rows, len(self.form.labels)), dtype=np.float32)
        for name, value in (("labels", 1), ("unknown_labels", np.nan)) if self.form.has_unknown else (("labels", 1),):
            indptr, labels = self._lists(name)
            self._require_below(labels, len(self.form.labels), name)
            Y[np.repeat(np.arange(self.n_rows), np.diff(indptr)), labels] = value
        return as_indicator(Y, what)

    def _stack(self, names: Sequence[str], dtype: np.dtype[np.floating] | None) -> npt.NDArray[np.floating]:
        if not names:
            return np.empty((self.n_rows, 0), dtype=dtype)
        columns = [self._table.column(name).to_numpy() for name in names]
        return np.stack(columns, axis=1, dtype=dtype, casting="same_kind")

    def _lists(self, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Return where the list of each row begins, and the values of all lists."""
        column = self._table.column(name)
        if column.null_count:
            raise ValueError(f"{self.name} rows must have a list in the column {name!r}. Got null.")
        sizes, values = compute.list_value_length(column).to_numpy(), compute.list_flatten(column).to_numpy()
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), values

    def _require_below(self, numbers: npt.NDArray[np.integer], stop: int, name: str) -> None:
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < stop:
            got = f"{numbers.min()} to {numbers.max()}"
            raise ValueError(f"{self.name} rows must hold numbers from 0 to {stop - 1} in {name!r}. Got {got}.")


def _to_parts(columns: _Columns, parts: Sequence[PartCard], sizes: Sequence[int]) -> FlatParts:
    if len(parts) != len(sizes):
        raise ValueError(f"the card must lay out {len(sizes)} parts of the {columns.name} rows. Got {len(parts)}.")
    if sum(sizes) != columns.n_rows:
        raise ValueError(f"there must be {sum(sizes)} {columns.name} rows, as the card says. Got {columns.n_rows}.")
    offsets = np.cumsum([0, *sizes])
    return FlatParts(
        columns.features(),
        columns.labels(),
        columns.task_ids(),
        columns.integers("row"),
        _join_masks(columns, parts, offsets),
        np.array([part.mask if isinstance(part.mask, int) else BY_ROW for part in parts]),
        offsets,
        columns.keys(),
    )


def _join_masks(columns: _Columns, parts: Sequence[PartCard], offsets: Index) -> Index:
    by_row = columns.integers("mask") if columns.form.has_masks else np.empty(0, dtype=np.int64)
    masks = [
        np.full(stop - start, part.mask) if isinstance(part.mask, int) else by_row[start:stop]
        for part, (start, stop) in zip(parts, pairwise(offsets.tolist()), strict=True)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *masks])
