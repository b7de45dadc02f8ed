"""Parquet submissions, through pyarrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyarrow import parquet, types

from mlstream._support.content import show
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.rows import N_DIGITS, ROW_ID, SubmissionLayout, SubmittedRows, decode_ids
from mlstream.challenge.truth import Keys
from mlstream.formats.parquet import show_type


def read_parquet(content: bytes, layout: SubmissionLayout, name: str) -> SubmittedRows:
    """Read a Parquet file of the column ``row_id`` and a column for each scored label, in any order.

    InvalidSubmission is raised if the file is damaged, holds other columns, another number of rows, or more than it may
    when unpacked.
    """
    try:
        # Ids as a dictionary: a long text that is repeated is not repeated in memory.
        file = parquet.ParquetFile(pa.BufferReader(content), read_dictionary=[ROW_ID], page_checksum_verification=True)
        _require_table(file, layout, name)
        table = file.read(use_threads=False)
        keys = _read_keys(table.column(ROW_ID), name)
        columns = [table.column(label).to_numpy().astype(np.float64) for label in layout.label_names]
    except InvalidSubmission:
        raise
    except KeyError:
        raise InvalidSubmission(
            f"{name}: the columns must be {ROW_ID} and the scored labels. Got no {ROW_ID}."
        ) from None
    except (pa.ArrowException, OSError, ValueError, TypeError, IndexError, UnicodeDecodeError, MemoryError):
        raise InvalidSubmission(f"{name} must be a whole Parquet file. Got a damaged one.") from None
    return SubmittedRows(keys, np.column_stack(columns), np.arange(1, len(keys) + 1), "row")


def _require_table(file: parquet.ParquetFile, layout: SubmissionLayout, name: str) -> None:
    """Check what a file says of itself, before anything is unpacked."""
    schema, metadata = file.schema_arrow, file.metadata
    expected = [ROW_ID, *layout.label_names]
    if sorted(schema.names) != sorted(expected):
        odd = next((one for one in schema.names if schema.names.count(one) > 1 or one not in expected), None)
        got = f"{len(schema.names)} columns" if odd is None else show(odd)
        raise InvalidSubmission(f"{name}: the columns must be {ROW_ID} and the scored labels. Got {got}.")
    if metadata.num_rows != len(layout.keys):
        raise InvalidSubmission(f"{name} must have {len(layout.keys)} rows. Got {metadata.num_rows}.")
    wrong = next((one for one in layout.label_names if not types.is_floating(schema.field(one).type)), None)
    if wrong is not None:
        raise InvalidSubmission(
            f"{name}: {show(wrong)} must hold floating-point numbers. Got {show_type(schema.field(wrong).type)}."
        )
    n_bytes = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
    if n_bytes > layout.max_unpacked_bytes:
        raise InvalidSubmission(
            f"{name} must be of {layout.max_unpacked_bytes} bytes at most, unpacked. Got {n_bytes}."
        )


def _read_keys(column: pa.ChunkedArray, name: str) -> Keys:
    if types.is_uint64(column.type) and not column.null_count:
        return np.asarray(column.to_numpy(), np.uint64)
    if not _is_dictionary_of_texts(column.type) or column.null_count:
        raise InvalidSubmission(
            f"{name}: {ROW_ID} must hold texts of {N_DIGITS} digits, or numbers of type uint64. "
            f"Got {show_type(column.type)}."
        )
    keys = [_read_chunk(chunk, name) for chunk in column.chunks]
    return np.concatenate(keys) if keys else np.empty(0, np.uint64)


def _read_chunk(chunk: pa.DictionaryArray, name: str) -> Keys:
    ids = [text.as_py().encode() for text in chunk.dictionary]
    wrong = next((one for one in ids if len(one) != N_DIGITS), None)
    if wrong is None:
        keys, valid = decode_ids(np.frombuffer(b"".join(ids), np.uint8).reshape(-1, N_DIGITS))
        if valid.all():
            return np.asarray(keys[chunk.indices.to_numpy()], np.uint64)
        wrong = ids[int(np.flatnonzero(~valid)[0])]
    raise InvalidSubmission(
        f"{name}: {ROW_ID} must be {N_DIGITS} hexadecimal digits in lower case. "
        f"Got {show(wrong.decode('utf-8', 'replace'))} instead."
    )


def _is_dictionary_of_texts(kind: pa.DataType) -> bool:
    return bool(
        types.is_dictionary(kind) and (types.is_string(kind.value_type) or types.is_large_string(kind.value_type))
    )
