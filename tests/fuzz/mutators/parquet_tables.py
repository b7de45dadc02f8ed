"""Mutations of Parquet that pyarrow writes again: valid files with odd columns, types, values and metadata."""

from collections.abc import Callable, Sequence
from io import BytesIO
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tests.fuzz.mutators.pieces import draw_from, mutate_pieces, some

_TYPES = (
    pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_(),
    pa.string(), pa.large_string(), pa.binary(), pa.null(), pa.date32(), pa.timestamp("ns"), pa.time64("us"),
    pa.decimal128(38, 3), pa.duration("s"), pa.list_(pa.int64()), pa.large_list(pa.int32()), pa.list_(pa.float64()),
    pa.list_(pa.field("element", pa.float64())), pa.list_(pa.field("element", pa.int64())),
    pa.list_(pa.field("element", pa.int32())), pa.list_(pa.int64(), 2), pa.dictionary(pa.int32(), pa.string()),
    pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64()),
)  # fmt: skip
_CELLS = (
    None, 0, 1, -1, 2, 255, 2**31 - 1, 2**63 - 1, -(2**63), 0.5, -0.0, 1e308, float("nan"), float("inf"), True, "", "a",
    "0", "1.5", "nan", "true", "é", "0123456789abcdef", b"\xff", [], [0], [0, 0], [-1], [None], [2**31], [1e308, 0.0],
)  # fmt: skip
_NAMES = (
    "",
    "a",
    "y",
    "row",
    "row_id",
    "task",
    "__index_level_0__",
    "é",
    "a.b",
    "\n",
    "labels",
    "indices",
    "values",
    "x" * 300,
)
_WRITING: tuple[dict[str, Any], ...] = (
    {}, {}, {"compression": "zstd"}, {"compression": "gzip"}, {"compression": "none"}, {"version": "1.0"},
    {"use_dictionary": False}, {"row_group_size": 1}, {"data_page_version": "2.0"}, {"write_statistics": False},
    {"store_schema": False}, {"use_dictionary": False, "use_byte_stream_split": False, "compression": "brotli"},
    {"write_page_checksum": True}, {"data_page_size": 1},
)  # fmt: skip
_ERRORS = (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, NotImplementedError)

Column = tuple[pa.Field, list[Any]]


def mutate_parquet(content: bytes, rng: Random) -> bytes:
    """Change columns and cells, and write the table in another way."""
    try:
        table = parquet.ParquetFile(BytesIO(content)).read(use_threads=False)
        columns = [(field, table.column(place).to_pylist()) for place, field in enumerate(table.schema)]
    except _ERRORS:
        raise ValueError("The content must be Parquet.") from None
    metadata = dict(table.schema.metadata or {})
    some(rng, lambda: _change(columns, metadata, rng))
    return _write(columns, metadata, rng)


def _change(columns: list[Column], metadata: dict[bytes, bytes], rng: Random) -> None:
    if not columns or rng.random() < 0.2:
        mutate_pieces(columns, rng, _odd_column)
        return
    rng.choice(_CHANGES)(columns, metadata, rng)


def _change_cells(columns: list[Column], _: dict[bytes, bytes], rng: Random) -> None:
    cells = rng.choice(columns)[1]
    like = [cell for cell in _CELLS if type(cell) is type(cells[0])] if cells else []
    if cells and rng.random() < 0.8:
        cells[rng.randrange(len(cells))] = rng.choice((*like, None, rng.choice(cells), rng.choice(_CELLS)))
    else:
        mutate_pieces(cells, rng, draw_from(_CELLS))


def _change_type(columns: list[Column], _: dict[bytes, bytes], rng: Random) -> None:
    place = rng.randrange(len(columns))
    field, cells = columns[place]
    columns[place] = field.with_type(rng.choice(_TYPES)), cells


def _change_name(columns: list[Column], _: dict[bytes, bytes], rng: Random) -> None:
    place = rng.randrange(len(columns))
    field, cells = columns[place]
    columns[place] = field.with_name(rng.choice((*_NAMES, rng.choice(columns)[0].name))), cells


def _change_rows(columns: list[Column], _: dict[bytes, bytes], rng: Random) -> None:
    """Take some rows, in another order, some of them more than once."""
    n_rows = len(columns[0][1])
    rows = list(range(n_rows))
    mutate_pieces(rows, rng, lambda rng: rng.randrange(n_rows or 1))
    columns[:] = [(field, [cells[row] for row in rows if row < len(cells)]) for field, cells in columns]


def _change_metadata(columns: list[Column], metadata: dict[bytes, bytes], rng: Random) -> None:
    metadata[rng.choice((b"pandas", b"huggingface", b"a"))] = rng.choice((b"", b"{}", b"[]", b"\xff"))
    place = rng.randrange(len(columns))
    field, cells = columns[place]
    columns[place] = field.with_metadata(rng.choice((None, {b"mlstream": b"row"}, {b"mlstream": b""}))), cells


_CHANGES: Sequence[Callable[[list[Column], dict[bytes, bytes], Random], None]] = (
    _change_cells,
    _change_cells,
    _change_cells,
    _change_type,
    _change_name,
    _change_rows,
    _change_metadata,
)


def _odd_column(rng: Random) -> Column:
    return pa.field(rng.choice(_NAMES), rng.choice(_TYPES)), [rng.choice(_CELLS)] * 3


def _write(columns: Sequence[Column], metadata: dict[bytes, bytes], rng: Random) -> bytes:
    n_rows = max((len(cells) for _, cells in columns), default=0)
    sink = BytesIO()
    try:
        arrays = [_to_array(field.type, [*cells, *[None] * (n_rows - len(cells))]) for field, cells in columns]
        fields = [field.with_type(array.type) for (field, _), array in zip(columns, arrays, strict=True)]
        schema = pa.schema(fields, metadata)
        parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), sink, **rng.choice(_WRITING))
    except _ERRORS:
        raise ValueError("The table must be one that Parquet can hold.") from None
    return sink.getvalue()


def _to_array(kind: pa.DataType, cells: list[Any]) -> pa.Array:
    """Make a column of cells, null where they do not fit its type."""
    if pa.types.is_map(kind) or pa.types.is_fixed_size_list(kind):
        # Of what is no cell of these types, pyarrow ends the process.
        return pa.nulls(len(cells), kind)
    try:
        return pa.array(cells, kind)
    except _ERRORS:
        return pa.array([_fitting(cell, kind) for cell in cells], kind)


def _fitting(cell: Any, kind: pa.DataType) -> Any:
    try:
        pa.scalar(cell, kind)
    except _ERRORS:
        return None
    return cell
