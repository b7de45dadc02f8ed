"""Rows of a stream written to Parquet files in groups, and compared with them, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet
from scipy import sparse

from mlstream._support.mapped import release
from mlstream.formats.flat import index_masks, require_writable
from mlstream.formats.key_files import describe_types
from mlstream.formats.parquet import for_arrow, parquet_errors, to_key_arrays, to_nullable
from mlstream.formats.parquet_columns import RowColumns, list_of
from mlstream.streams.card_model import PartCard, RowsCard
from mlstream.streams.keys import join_keys, take_keys
from mlstream.streams.stream import EvaluationSet, Experience, Index, Indicator, Mask, Stream

_GROUP_BYTES = 8 * 2**20
_MAX_GROUP_ROWS = 2**20
_N_TURNED = 16
# Of pages and their heads, beyond values.
_SLACK_BYTES = 2**16

Part: TypeAlias = Experience | EvaluationSet


class StreamRows:
    """The rows of a stream as they lie in Parquet files; with `as_columns`, a sparse one has no lists but columns, too.

    Raises ValueError if X is of several kinds, or the card is of another stream.
    """

    def __init__(self, stream: Stream, *, as_columns: bool = False) -> None:
        require_writable(stream)
        self._stream, card = stream, stream.card
        masks, self._mask_ids = index_masks(_all_parts(stream))
        self.layout = _describe(stream, masks, self._mask_ids)
        as_lists = self.layout.sparse and not as_columns
        self._columns = RowColumns.of(card, self.layout, as_lists=as_lists)

    def write(self, train: Path, test: Path) -> None:
        """Write the rows of the experiences, and those of the evaluation sets."""
        schema = self._columns.schema
        # Features rarely repeat: to look for values that do takes three times as long as to write them.
        few_values = [field.name for field in schema if field.type in {pa.string(), pa.int32(), pa.uint8()}]
        for path, parts, mask_ids in self._halves(train, test):
            options = {"compression": "zstd", "use_dictionary": few_values}
            with parquet.ParquetWriter(for_arrow(path), schema, **options) as writer:
                for group in _row_groups(parts, mask_ids, self._columns):
                    writer.write_table(group)

    def are_in(self, train: Path, test: Path) -> bool:
        """Return whether files hold what `write` writes, reading one group of rows at a time.

        Raises FormatError if a file is not Parquet.
        """
        return all(
            _holds(path, _row_groups(parts, mask_ids, self._columns), self._columns.schema)
            for path, parts, mask_ids in self._halves(train, test)
        )

    def _halves(self, train: Path, test: Path) -> Iterator[tuple[Path, Sequence[Part], Sequence[Index]]]:
        n_learning = len(self._stream.experiences)
        yield train, self._stream.experiences, self._mask_ids[:n_learning]
        yield test, self._stream.evaluation_sets, self._mask_ids[n_learning:]


def _describe(stream: Stream, masks: Mask, mask_ids: Sequence[Index]) -> RowsCard:
    described = [
        PartCard(mask=int(ids[0]) if part.label_mask.ndim == 1 else None)
        for part, ids in zip(_all_parts(stream), mask_ids, strict=True)
    ]
    X, keys = stream.experiences[0].X, join_keys([part.keys for part in _all_parts(stream)])
    return RowsCard(
        dtype="float32" if X.dtype == np.float32 else "float64",
        sparse=sparse.issparse(X),
        # Parts whose labels are all known hold them as uint8.
        has_unknown=any(part.Y.dtype != np.uint8 for part in _all_parts(stream)),
        masks=[np.flatnonzero(mask).tolist() for mask in masks],
        experiences=described[: len(stream.experiences)],
        evaluation_sets=described[len(stream.experiences) :],
        key_types={} if keys is None else describe_types(keys),
    )


def _all_parts(stream: Stream) -> tuple[Part, ...]:
    return (*stream.experiences, *stream.evaluation_sets)


def _holds(path: Path, groups: Iterator[pa.Table], schema: pa.Schema) -> bool:
    with parquet_errors(path), parquet.ParquetFile(for_arrow(path)) as file:
        if not file.schema_arrow.equals(schema, check_metadata=True):
            return False
        n_groups, n_equal = file.metadata.num_row_groups, 0
        for group in groups:
            if n_equal == n_groups or not _may_be(file.metadata.row_group(n_equal), group):
                return False
            if not file.read_row_group(n_equal, use_threads=False).equals(group):
                return False
            n_equal += 1
        return bool(n_equal == n_groups)


def _may_be(found: parquet.RowGroupMetaData, group: pa.Table) -> bool:
    """Return whether a group of a file is no larger than one that is expected: there may be no memory for more."""
    if found.num_rows != len(group):
        return False
    return all(_is_no_larger(found.column(number), column) for number, column in enumerate(group.columns))


def _is_no_larger(found: parquet.ColumnChunkMetaData, column: pa.ChunkedArray) -> bool:
    # An empty list counts as a value in Parquet.
    n_listed = len(column.combine_chunks().flatten()) if pa.types.is_list(column.type) else 0
    is_short = found.num_values <= len(column) + n_listed
    return bool(is_short and found.total_uncompressed_size <= 2 * column.nbytes + _SLACK_BYTES)


def count_values(file: parquet.FileMetaData) -> int:
    """Count the values that the metadata of a Parquet file announce."""
    groups = [file.row_group(number) for number in range(file.num_row_groups)]
    return sum(group.column(number).num_values for group in groups for number in range(group.num_columns))


def _row_groups(parts: Sequence[Part], masks: Sequence[Index], columns: RowColumns) -> Iterator[pa.Table]:
    """Turn the rows of parts into tables of as many rows each, but for the last one."""
    n_rows = sum(map(len, parts))
    n_stored = sum(part.X.nnz for part in parts if sparse.issparse(part.X))
    n_listed = 12 * n_stored // max(1, n_rows) + 3 * len(columns.labels)
    n_bytes = 32 + (n_listed if columns.as_lists else columns.n_dense_bytes)
    for pieces in _cut([len(part) for part in parts], min(max(1, _GROUP_BYTES // n_bytes), _MAX_GROUP_ROWS)):
        yield _encode([_Piece(number, parts[number], masks[number], rows) for number, rows in pieces], columns)
        release(*(table for number, _ in pieces for table in (parts[number].X, parts[number].Y)))


def _cut(sizes: Sequence[int], step: int) -> Iterator[list[tuple[int, slice]]]:
    """Cut parts of some sizes, one after the other, into lists of slices that hold `step` rows together."""
    pieces: list[tuple[int, slice]] = []
    n_left = step
    for number, size in enumerate(sizes):
        start = 0
        while start < size:
            stop = min(size, start + n_left)
            pieces.append((number, slice(start, stop)))
            n_left -= stop - start
            start = stop
            if not n_left:
                yield pieces
                pieces, n_left = [], step
    if pieces:
        yield pieces


class _Piece:
    """Some rows of a part of a stream, and what they belong to."""

    def __init__(self, number: int, part: Part, masks: Index, rows: slice) -> None:
        self.n_rows = rows.stop - rows.start
        self.X, self.Y, self.keys = part.X[rows], part.Y[rows], take_keys(part.keys, rows)
        self._number, self._part, self._masks, self._rows = number, part, masks, rows

    def find(self, role: str) -> npt.NDArray[np.int64]:
        """Return the numbers of rows, tasks, masks or experiences; of the last, -1 in evaluation sets."""
        part, rows = self._part, self._rows
        if role == "row":
            return np.asarray(part.row_ids[rows])
        if role == "mask":
            return self._masks[rows] if len(self._masks) > 1 else np.repeat(self._masks, self.n_rows)
        if isinstance(part, EvaluationSet):
            return np.full(self.n_rows, part.task_id if role == "task" else -1)
        return np.asarray(part.task_ids[rows]) if role == "task" else np.full(self.n_rows, self._number)


def _encode(pieces: Sequence[_Piece], columns: RowColumns) -> pa.Table:
    arrays = [_encode_role(role, np.concatenate([one.find(role) for one in pieces]), columns) for role in columns.names]
    Y = np.concatenate([piece.Y for piece in pieces])
    encode = _encode_lists if columns.as_lists else _encode_columns
    cells = encode([piece.X for piece in pieces], Y, columns)
    keys = join_keys([piece.keys for piece in pieces])
    return pa.Table.from_arrays([*arrays, *cells, *to_key_arrays(keys)], schema=columns.schema)


def _encode_role(role: str, numbers: npt.NDArray[np.int64], columns: RowColumns) -> pa.Array:
    if role == "task":
        return pa.array(columns.tasks, pa.string()).take(pa.array(numbers))
    if role == "experience":
        return pa.array(numbers, pa.int32(), mask=numbers < 0)
    return pa.array(numbers).cast(columns.schema.field(columns.names[role]).type)


def _encode_columns(X: Sequence[Any], Y: Indicator, _: RowColumns) -> Iterator[pa.Array]:
    yield from map(to_nullable, Y.T)
    tables = [piece if isinstance(piece, np.ndarray) else piece.toarray() for piece in X]
    # Columns are turned some at a time: all at once would take the memory of the group again.
    for start in range(0, tables[0].shape[1], _N_TURNED):
        turned = np.concatenate([table[:, start : start + _N_TURNED] for table in tables]).T
        # NaN is a missing value.
        yield from (pa.array(column, from_pandas=True) for column in np.ascontiguousarray(turned))


def _encode_lists(X: Sequence[Any], Y: Indicator, columns: RowColumns) -> Iterator[pa.Array]:
    for cells in (Y == 1, np.isnan(Y)) if columns.has_unknown else (Y == 1,):
        yield _to_lists(np.r_[0, np.cumsum(cells.sum(axis=1))], pa.array(np.nonzero(cells)[1]))
    table = sparse.csr_array(sparse.vstack(X, format="csr"))
    yield _to_lists(table.indptr, pa.array(table.indices.astype(np.int32)))
    # NaN is a missing value.
    yield _to_lists(table.indptr, pa.array(table.data, from_pandas=True))


def _to_lists(offsets: npt.NDArray[np.integer], values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(offsets.astype(np.int32), values, type=list_of(values.type))
