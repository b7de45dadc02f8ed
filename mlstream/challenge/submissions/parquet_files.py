"""Parquet submissions, through pyarrow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyarrow import parquet, types

from mlstream._support.content import show
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.rows import (
    ID_TYPE,
    ROW_ID,
    SubmissionLayout,
    SubmittedRows,
    decode_ids,
    find_columns,
)
from mlstream.challenge.truth import Keys
from mlstream.formats.parquet import show_type


def read_parquet(content: bytes, layout: SubmissionLayout, name: str) -> SubmittedRows:
    """Read a Parquet file of the column ``row_id`` and a column for each scored label, in any order.

    InvalidSubmission is raised if the file is damaged, holds other columns, another number of rows, or more than it may
    when unpacked.
    """
    source = pa.BufferReader(content)
    try:
        file = parquet.ParquetFile(source)
        places = find_columns(file.schema_arrow.names, layout, name)
        _require_table(file, [file.schema_arrow.field(place) for place in places[1:]], layout, name)
        # Ids as a dictionary: a long text that is repeated is not repeated in memory.
        file = parquet.ParquetFile(source, read_dictionary=[ROW_ID], page_checksum_verification=True)
        table = file.read(use_threads=False)
        keys = _read_keys(table.column(places[0]), name)
        columns = [table.column(place).to_numpy().astype(np.float64) for place in places[1:]]
    except InvalidSubmission:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, IndexError, UnicodeDecodeError, MemoryError):
        raise InvalidSubmission(f"{name} must be a whole Parquet file. Got a damaged one.") from None
    return SubmittedRows(keys, np.column_stack(columns), np.arange(1, len(keys) + 1), "row")


def _require_table(file: parquet.ParquetFile, fields: Sequence[pa.Field], layout: SubmissionLayout, name: str) -> None:
    """Check what a file says of itself, before anything is unpacked."""
    metadata = file.metadata
    if metadata.num_rows > len(layout.keys):
        raise InvalidSubmission(f"{name} must have {len(layout.keys)} rows. Got {metadata.num_rows}.")
    wrong = next((field for field in fields if not types.is_floating(field.type)), None)
    if wrong is not None:
        rule = f"{show(wrong.name)} must hold floating-point numbers"
        raise InvalidSubmission(f"{name}: {rule}. Got {show_type(wrong.type)}.")
    n_bytes = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
    if n_bytes > layout.max_unpacked_bytes:
        raise InvalidSubmission(
            f"{name} must be of {layout.max_unpacked_bytes} bytes at most, unpacked. Got {n_bytes}."
        )


def _read_keys(column: pa.ChunkedArray, name: str) -> Keys:
    if types.is_uint64(column.type) and not column.null_count:
        return np.asarray(column.to_numpy(), np.uint64)
    if not _is_dictionary_of_texts(column.type) or column.null_count:
        raise InvalidSubmission(f"{name}: {ID_TYPE}. Got {show_type(column.type)}.")
    whole = column.unify_dictionaries()
    ids = [text.as_py() for text in whole.chunk(0).dictionary] if whole.num_chunks else []
    codes = [chunk.indices.to_numpy() for chunk in whole.chunks]
    return decode_ids(ids, np.concatenate([np.empty(0, np.int64), *codes]), lambda row: f"{name}, row {row + 1}")


def _is_dictionary_of_texts(kind: pa.DataType) -> bool:
    return bool(
        types.is_dictionary(kind) and (types.is_string(kind.value_type) or types.is_large_string(kind.value_type))
    )
