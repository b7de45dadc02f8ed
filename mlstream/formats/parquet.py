"""Parquet files as tables, through pyarrow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet, types

from mlstream._support.content import FormatError, clip, show
from mlstream.formats.lines import Readable
from mlstream.formats.parquet_columns import ROLE
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.keys import Keys, key_names, to_objects
from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import Features, Indicator
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.frame_tables import declare_numbers, read_array, read_cells
from mlstream.streams.tables.table import Column, Table, find_columns, header_only, kept_columns, without_keys
from mlstream.streams.tables.text_columns import (
    DATES,
    IGNORE,
    ChooseTexts,
    TextColumn,
    Words,
    code_values,
    join_tags,
    missing_words,
)

_N_ROWS = 4096
_PIECE_BYTES = 2**20
# A column without any value is of no type.
_NUMERIC = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null
_INDEX = re.compile(r"__index_level_[0-9]+__")


def write_parquet(path: Path, X: Features, Y: Indicator, names: Sequence[str], keys: Keys | None = None) -> None:
    """Write a dense table: labels as bytes, null where they are unknown, then features and keys in their own types.

    `names` are those of the labels, then of the features. Raises ValueError if X holds NaN or infinity.
    """
    table = np.asarray(X)
    if not np.isfinite(table).all():
        raise ValueError(f"X must be finite to be written as Parquet. Got {table[~np.isfinite(table)][0]}.")
    columns = [*map(to_nullable, Y.T), *(pa.array(np.ascontiguousarray(column)) for column in table.T)]
    arrays = [*columns, *to_key_arrays(keys)]
    parquet.write_table(pa.Table.from_arrays(arrays, [*names, *key_names(keys)]), for_arrow(path))


def for_arrow(path: Path) -> Path:
    """Return an absolute path: pyarrow would take ``~`` at the beginning of another for the user's home."""
    return path.absolute()


def to_nullable(labels: Indicator) -> pa.Array:
    """Turn the cells of a label into an array of bytes, null where it is unknown."""
    cells = known(labels)
    return pa.array(np.ascontiguousarray(filled(labels)), mask=None if cells is None else ~cells)


def read_parquet(
    source: Readable, path: Path, reading: ReadingCard = BY_DEFAULT, choose_texts: ChooseTexts = lambda _: ()
) -> Iterator[Table]:
    """Read a Parquet file in dense tables of some rows, one after the other, at least one.

    A missing value is NaN; under any `missing` but "error", words such as NA are missing values, too. Columns of
    strings are truth values or nominal. Rows are numbered from 1, for there are no lines. The index that pandas stores
    (``__index_level_0__``) is left out, and so are experience, task and row of a stream. Raises FormatError if the file
    is not Parquet, or a column holds neither numbers nor booleans nor words, has infinite values, or the name of
    another.
    """
    content = b"".join(iter(lambda: source.read(_PIECE_BYTES), b""))
    with parquet_errors(path):
        file = parquet.ParquetFile(pa.BufferReader(content))
        all_names = _require_names(file.schema_arrow, path)
        key_places = find_columns(all_names, reading.keys, path, "keys= or --keys")
        kept = without_keys(all_names, kept_columns(all_names, reading.ignore, path), key_places, reading.time)
        keys, names = ([all_names[place] for place in places] for places in (key_places, kept))
        texts = choose_texts(names)
        found = [_find_words(file, name, path, reading, are_texts=name in texts) for name in names]
        file_names = tuple(all_names) if reading.ignore else ()
        head = header_only(path, [one.column for one in found], unit="row", file_names=file_names)
        yield head
        n_rows = 0
        for batch in file.iter_batches(_N_ROWS, columns=list(dict.fromkeys([*names, *keys]))):
            columns = [_read_column(batch.column(one.column.name), one, path, n_rows, reading) for one in found]
            own = {name: read_keys_column(batch.column(name)) for name in keys}
            yield replace(head, cells=np.column_stack(columns), lines=n_rows + 1 + np.arange(len(batch)), keys=own)
            n_rows += len(batch)


def to_key_arrays(keys: Keys | None) -> list[pa.Array]:
    """Turn columns of keys into arrays."""
    columns = [] if keys is None else [keys[name] for name in key_names(keys)]
    kinds = [pa.string() if column.dtype.kind == "U" else None for column in columns]
    return [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]


def read_keys_column(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Read a column of keys: objects, with None for missing ones, but for numbers and times."""
    kind = column.type
    if types.is_timestamp(kind):
        return np.asarray(column.cast(pa.timestamp("us"), safe=False).to_numpy(zero_copy_only=False))
    if column.null_count or not (types.is_integer(kind) or types.is_floating(kind)):
        return to_objects(column.to_pylist())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def show_type(kind: pa.DataType) -> str:
    """Describe a type in an error of one line, whatever the names of its fields are."""
    return clip(" ".join(str(kind).split()))


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Raise errors of pyarrow as a FormatError that names the file, and those of the disk as such, with its name."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        # A disk that is full or fails, or memory that is too small, says nothing about the file.
        if isinstance(error, MemoryError):
            raise
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), error.filename or str(path)) from error
        raise FormatError(f"{path} must be a Parquet file. Got: {clip(' '.join(str(error).split()))}.") from None


def _require_names(schema: pa.Schema, path: Path) -> list[str]:
    fields = [field for field in schema if not _INDEX.fullmatch(field.name)]
    columns = [field for field in fields if ROLE not in (field.metadata or {})]
    if len(columns) < len(fields) and any(types.is_list(field.type) for field in columns):
        raise FormatError(f"{path} must be a table. Got rows of a sparse stream; `load` reads them.")
    names = [field.name for field in columns]
    # A column that is left out must not have the name of one that is read either.
    if not names or any(len(schema.get_all_field_indices(name)) > 1 for name in names):
        raise FormatError(f"{path} must have columns with different names. Got no columns, or one name twice.")
    return names


def _find_words(
    file: parquet.ParquetFile, name: str, path: Path, reading: ReadingCard, *, are_texts: bool
) -> TextColumn:
    """Return how a column is read."""
    kind = file.schema_arrow.field(name).type
    if any(is_of(kind) for is_of in _NUMERIC):
        return TextColumn(Column(name))
    if types.is_timestamp(kind) or types.is_date(kind):
        if reading.takes_dates(name):
            return TextColumn(Column(name, is_date=True))
        raise FormatError(f"{path}: column {show(name)} must hold numbers or words. Got {show_type(kind)}; {DATES}.")
    if not _is_text(kind) and not (name == reading.tags and _is_list(kind)):
        rule = "must hold numbers, booleans or words"
        raise FormatError(f"{path}: column {show(name)} {rule}. Got {show_type(kind)}; {IGNORE}.")
    missing = missing_words(reading)
    words = Words(name, path, reading, are_texts=are_texts, missing=missing, unit="row")
    column = file.read(columns=[name]).column(0)
    texts = _read_texts(column, reading)
    words.add(texts, range(1, len(texts) + 1))
    return _declare(words.settle(), column, reading)


def _declare(found: TextColumn, column: pa.ChunkedArray, reading: ReadingCard) -> TextColumn:
    """Make numbers nominal, with the values of their dictionary, if they are to be categories."""
    name = found.column.name
    if not types.is_dictionary(column.type) or reading.categories != "ordinal" or found != TextColumn(Column(name)):
        return found
    chunks = column.unify_dictionaries().chunks
    return code_values(declare_numbers(name, chunks[0].dictionary.to_pylist() if chunks else (), reading))


def _is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind))


def _read_texts(column: pa.ChunkedArray, reading: ReadingCard) -> list[str]:
    values = (join_tags(value, reading.tag_separator) for value in column.to_pylist())
    return ["" if value is None else str(value) for value in values]


def _read_column(
    column: pa.Array, found: TextColumn, path: Path, n_before: int, reading: ReadingCard
) -> npt.NDArray[np.float64]:
    name = found.column.name
    if _is_text(column.type) or name == reading.tags:
        return read_cells(_read_texts(column, reading), found, path, reading, n_before)
    if found.column.is_date:
        values = column.cast(pa.timestamp("us"), safe=False).to_numpy(zero_copy_only=False)
    elif types.is_integer(column.type) and column.null_count:
        # pyarrow would round whole numbers where one is missing.
        values = np.array(column.to_pylist(), dtype=object)
    else:
        values = column.to_numpy(zero_copy_only=False)
    return read_array(name, values, path, reading, n_before)[1]
