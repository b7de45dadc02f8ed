"""Parquet files of numbers as tables, through pa."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mlstream.formats.content import FormatError, clip, show
from mlstream.formats.lines import Readable
from mlstream.formats.table import Column, Table
from mlstream.label_values import filled, known
from mlstream.stream import Features, Indicator

try:
    import pyarrow as pa
    from pyarrow import parquet, types
except ImportError as error:
    raise ImportError("pyarrow must be installed for Parquet files: pip install 'mlstream[tables]'.") from error

_N_ROWS = 4096
_PIECE_BYTES = 2**20


def write_parquet(path: Path, X: Features, Y: Indicator, names: Sequence[str]) -> None:
    """Write a dense table: labels as bytes, null where they are unknown, then features in their own type.

    Parameters
    ----------
    path : Path
        The file.
    X : ndarray of float32 or float64, shape (n_samples, n_features)
        Features, finite.
    Y : ndarray of uint8 or float32, shape (n_samples, n_labels)
        Labels.
    names : sequence of str
        Names of the columns: labels first.

    Raises
    ------
    ValueError
        If X holds NaN or infinity.
    """
    table = np.asarray(X)
    if not np.isfinite(table).all():
        raise ValueError(f"X must be finite to be written as Parquet. Got {table[~np.isfinite(table)][0]}.")
    columns = [*map(_to_nullable, Y.T), *(pa.array(np.ascontiguousarray(column)) for column in table.T)]
    parquet.write_table(pa.Table.from_arrays(columns, list(names)), path)


def _to_nullable(labels: Indicator) -> Any:
    cells = known(labels)
    return pa.array(np.ascontiguousarray(filled(labels)), mask=None if cells is None else ~cells)


def read_parquet(source: Readable, path: Path) -> Iterator[Table]:
    """Read a Parquet file in tables of some rows, one after the other.

    Parameters
    ----------
    source : Readable
        The content, unpacked.
    path : Path
        The file, for errors.

    Yields
    ------
    Table
        At least one; dense, all columns numeric, a missing value NaN. Rows are numbered from 1, for there are no lines.

    Raises
    ------
    FormatError
        If the file is no Parquet file, or a column is neither numeric nor boolean, has infinite values, or the name of
        another.
    """
    content = b"".join(iter(lambda: source.read(_PIECE_BYTES), b""))
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        columns = _read_columns(file.schema_arrow, path)
        yield Table(path, columns, np.empty((0, len(columns))), np.empty(0, np.int64))
        n_rows = 0
        for batch in file.iter_batches(_N_ROWS):
            cells = np.column_stack([_read_column(batch, index, path) for index in range(len(columns))])
            yield Table(path, columns, cells, np.arange(n_rows + 1, n_rows + 1 + len(cells)))
            n_rows += len(cells)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} must be a Parquet file. Got: {clip(' '.join(str(error).split()))}.") from None


def _read_columns(schema: Any, path: Path) -> tuple[Column, ...]:
    names = list(schema.names)
    if not names or len(set(names)) < len(names):
        raise FormatError(f"{path} must have columns with different names. Got no columns, or one name twice.")
    for field in schema:
        if not (types.is_integer(field.type) or types.is_floating(field.type) or types.is_boolean(field.type)):
            raise FormatError(f"{path}: column {show(field.name)} must hold numbers. Got {field.type}.")
    return tuple(map(Column, names))


def _read_column(batch: Any, index: int, path: Path) -> Any:
    column = batch.column(index)
    # Of whole numbers and booleans, too, a missing one is NaN.
    numbers = column.to_numpy(zero_copy_only=False).astype(np.float64)
    if np.isinf(numbers).any():
        raise FormatError(f"{path}: column {show(batch.schema.names[index])} must hold finite numbers. Got infinity.")
    return numbers
