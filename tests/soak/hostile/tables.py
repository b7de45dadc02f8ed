"""Features, labels, masks and weights in every dtype and layout, and values that must be refused."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

Draw = np.random.Generator
Change = Callable[[Any, Draw], Any]

N_FEATURES = 6
INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64", "longdouble", ">f8")


def rows_of_features(n_rows: int, rng: Draw) -> Any:
    """Draw features that every type of float holds exactly, a third of them zero."""
    return rng.integers(0, 256, (n_rows, N_FEATURES)) / 256 * (rng.random((n_rows, N_FEATURES)) < 0.7)


def labels_of(X: Any, n_labels: int, rng: Draw) -> Any:
    """Draw 0/1 labels that depend on features."""
    return (X[:, :n_labels] + 0.2 * rng.normal(size=(len(X), n_labels)) > 0.4).astype(np.int64)


# --------------------------------------------------------------------- layouts
def _strided(table: Any, rng: Draw) -> Any:
    return np.repeat(np.repeat(table, 2, axis=0), 3, axis=1)[::2, ::3]


def _backwards(table: Any, rng: Draw) -> Any:
    return np.ascontiguousarray(table[::-1, ::-1])[::-1, ::-1]


def _read_only(table: Any, rng: Draw) -> Any:
    table = table.copy()
    table.flags.writeable = False
    return table


def _memory_mapped(table: Any, rng: Draw) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, table)
        return np.load(path, mmap_mode="r")


def _misaligned(table: Any, rng: Draw) -> Any:
    moved = np.frombuffer(bytearray(table.nbytes + 1), table.dtype, offset=1).reshape(table.shape)
    moved[:] = table
    return moved


# other forms of the same values, all of which are taken
LAYOUTS: Mapping[str, Change] = {
    "C": lambda table, rng: np.ascontiguousarray(table),
    "Fortran": lambda table, rng: np.asfortranarray(table),
    "strided": _strided,
    "negative strides": _backwards,
    "read-only": _read_only,
    "memory-mapped": _memory_mapped,
    "misaligned": _misaligned,
    "lists": lambda table, rng: table.tolist(),
    "tuples": lambda table, rng: tuple(map(tuple, table.tolist())),
    "list of arrays": lambda table, rng: list(table),
    "objects": lambda table, rng: table.astype(object),
    "pandas": lambda table, rng: pd.DataFrame(table),
    "pandas with names": lambda table, rng: pd.DataFrame(table, columns=[f"x{j}" for j in range(table.shape[1])]),
    "polars": lambda table, rng: pl.DataFrame(np.ascontiguousarray(table), schema=_names(table)),
    **{dtype: lambda table, rng, dtype=dtype: table.astype(dtype) for dtype in FLOATS},
}


def _names(table: Any) -> list[str]:
    return [f"x{j}" for j in range(table.shape[1])]


# -------------------------------------------------------------------- sparse
def _coordinates(table: Any, rng: Draw) -> Any:
    """Split each value into two halves, in any order, beside stored zeros."""
    places = np.indices(table.shape).reshape(2, -1)
    order = rng.permutation(np.tile(np.arange(table.size), 2))
    return sparse.coo_array((table.ravel()[order] / 2, tuple(places[:, order])), shape=table.shape)


def _unsorted(table: Any, rng: Draw) -> Any:
    whole = sparse.csr_array(table)
    for start, end in zip(whole.indptr, whole.indptr[1:], strict=False):
        order = start + rng.permutation(end - start)
        whole.indices[start:end], whole.data[start:end] = whole.indices[order], whole.data[order]
    whole.has_sorted_indices = False
    return whole


def _duplicates(table: Any, rng: Draw) -> Any:
    n_rows, width = table.shape
    indices, data = np.tile(np.arange(width), 2 * n_rows), np.repeat(table, 2, axis=0).ravel() / 2
    return sparse.csr_array((data, indices, np.arange(n_rows + 1) * 2 * width), shape=table.shape)


def _long_indices(table: Any, rng: Draw) -> Any:
    short = sparse.csr_array(table)
    long = sparse.csr_array(short.shape, dtype=short.dtype)
    long.data, long.indices, long.indptr = short.data, short.indices.astype(np.int64), short.indptr.astype(np.int64)
    return long


SPARSE: Mapping[str, Change] = {
    "CSR": lambda table, rng: sparse.csr_array(table),
    "CSR matrix": lambda table, rng: sparse.csr_matrix(table),
    "CSC": lambda table, rng: sparse.csc_array(table),
    "COO with duplicates": _coordinates,
    "DIA": lambda table, rng: sparse.dia_array(table),
    "LIL": lambda table, rng: sparse.lil_array(table),
    "DOK": lambda table, rng: sparse.dok_array(table),
    "BSR": lambda table, rng: sparse.bsr_array(table),
    "CSR unsorted": _unsorted,
    "CSR with duplicates": _duplicates,
    "CSR with long indices": _long_indices,
}


# ---------------------------------------------------------------- wrong tables
def _with(*values: Any) -> Change:
    """Put one of the values into some cells."""

    def put(table: Any, rng: Draw) -> Any:
        table = np.array(table, dtype=float)
        cells = rng.random(table.shape) < rng.choice([0.02, 0.3, 1.0])
        cells.flat[rng.integers(cells.size)] = True
        return np.where(cells, rng.choice(values, table.shape), table)

    return put


def _sparse_with(value: float) -> Change:
    return lambda table, rng: sparse.csr_array(_with(value)(table, rng))


def _ragged(table: Any, rng: Draw) -> Any:
    return [*table.tolist(), [1.0]]


# features that must be refused
WRONG_FEATURES: Mapping[str, Change] = {
    "NaN": _with(np.nan),
    "infinity": _with(np.inf, -np.inf),
    "sparse NaN": _sparse_with(np.nan),
    "sparse infinity": _sparse_with(np.inf),
    "complex": lambda table, rng: table + 1j,
    "words": lambda table, rng: np.full(table.shape, "word"),
    "words among objects": lambda table, rng: np.where(table > 0.5, "word", table.astype(object)),
    "None among objects": lambda table, rng: np.where(np.ones_like(table), None, table),
    "bytes": lambda table, rng: np.full(table.shape, b"\xff"),
    "one column more": lambda table, rng: np.hstack([table, table[:, :1]]),
    "one column less": lambda table, rng: table[:, 1:],
    "sparse, one column less": lambda table, rng: sparse.csr_array(table[:, 1:]),
    "no rows": lambda table, rng: table[:0],
    "no columns": lambda table, rng: table[:, :0],
    "sparse without rows": lambda table, rng: sparse.csr_array(table[:0]),
    "1-D": lambda table, rng: table[:, 0],
    "3-D": lambda table, rng: table[np.newaxis],
    "a number": lambda table, rng: 1.0,
    "None": lambda table, rng: None,
    "a word": lambda table, rng: "word",
    "a dict": lambda table, rng: {"a": 1.0},
    "ragged": _ragged,
    "records": lambda table, rng: np.zeros(len(table), dtype=[("a", float)]),
}
# right where a call may fix the width
WIDTHS = ("one column more", "one column less", "sparse, one column less")
# features that may be refused, or learnt: too large for float32, for their squares, or for their sums; or no floats
ODD_FEATURES: Mapping[str, Change] = {
    "1e308": _with(1e308),
    "1e308 and -1e308": _with(1e308, -1e308),
    "1.7976931348623157e308": _with(1.7976931348623157e308, -1.7976931348623157e308),
    "5e-324": _with(5e-324, -5e-324),
    "1e200": _with(1e200, -1e200),
    "1e154": _with(1e154, 1e-154),
    "1e39": _with(1e39),
    "1e30": _with(1e30, -1e30),
    "float32 maximum": lambda table, rng: _with(3.4e38, -3.4e38)(table, rng).astype(np.float32),
    "sparse 1e308": _sparse_with(1e308),
    "-0.0": _with(-0.0),
    "dates": lambda table, rng: (table * 1e9).astype("datetime64[ns]"),
    "durations": lambda table, rng: (table * 1e9).astype("timedelta64[ns]"),
    "numbers as words": lambda table, rng: table.astype(str),
    "long numbers": lambda table, rng: (table * 2**62).astype(np.uint64) * np.uint64(4),
    "masked": lambda table, rng: np.ma.masked_array(table, table > 0.9),
    "np.matrix": lambda table, rng: table.view(np.matrix),
    "categories": lambda table, rng: pd.DataFrame(table).astype("category"),
    "nullable": lambda table, rng: pd.DataFrame(table).convert_dtypes().mask(table > 0.99),
    "integers": lambda table, rng: (table * 127).astype(rng.choice(INTEGERS)),
}
WRONG_LABELS: Mapping[str, Change] = {
    "infinity": _with(np.inf),
    "2": _with(2.0),
    "-1": _with(-1.0),
    "0.5": _with(0.5),
    "1e308": _with(1e308, 5e-324),
    "words": lambda table, rng: np.full(table.shape, "word"),
    "dates": lambda table, rng: table.astype("datetime64[D]"),
    "complex": lambda table, rng: table + 1j,
    "None among objects": lambda table, rng: np.full(table.shape, None),
    "sparse 2": _sparse_with(2.0),
    "no rows": lambda table, rng: table[:0],
    "no columns": lambda table, rng: table[:, :0],
    "one row more": lambda table, rng: np.vstack([table, table[:1]]),
    "one row less": lambda table, rng: table[1:],
    "3-D": lambda table, rng: table[np.newaxis],
    "None": lambda table, rng: None,
    "a number": lambda table, rng: 1,
    "a word": lambda table, rng: "word",
    "a dict": lambda table, rng: {"a": 1},
    "ragged": _ragged,
    "records": lambda table, rng: np.zeros(len(table), dtype=[("a", float)]),
}
ODD_LABELS: Mapping[str, Change] = {
    "one label more": lambda table, rng: np.hstack([table, table[:, :1]]),
    "one label less": lambda table, rng: table[:, 1:],
    "1-D": lambda table, rng: table[:, 0],
    "some unknown": _with(np.nan),
    "all unknown": lambda table, rng: np.full(table.shape, np.nan),
    "unknown rows": lambda table, rng: np.where(rng.random((len(table), 1)) < 0.5, np.nan, table),
    "0 only": lambda table, rng: np.zeros_like(table),
    "1 only": lambda table, rng: np.ones_like(table),
    "integers": lambda table, rng: table.astype(rng.choice(INTEGERS)),
    "masked": lambda table, rng: np.ma.masked_array(table, table > 0.9),
    "np.matrix": lambda table, rng: table.view(np.matrix),
}
WRONG_CLASSES: Mapping[str, Change] = {
    "NaN": lambda y, rng: np.where(np.arange(len(y)) == rng.integers(len(y)), np.nan, 0.0),
    "infinity": lambda y, rng: np.full(len(y), np.inf),
    "one row more": lambda y, rng: np.concatenate([y, y[:1]]),
    "no rows": lambda y, rng: y[:0],
    "3-D": lambda y, rng: y[np.newaxis, np.newaxis],
    "None": lambda y, rng: None,
    "a number": lambda y, rng: 1,
    "a dict": lambda y, rng: {"a": 1},
    "shares": lambda y, rng: rng.random(len(y)),
}
ODD_CLASSES: Mapping[str, Change] = {
    "unknown": lambda y, rng: np.where(rng.random(len(y)) < 0.5, y, np.array(["other"]) if y.dtype.kind == "U" else 9),
    "one class": lambda y, rng: y[:1].repeat(len(y)),
    "words and numbers": lambda y, rng: np.array([*y.tolist()[1:], "word"], dtype=object),
    "dates": lambda y, rng: np.full(len(y), np.datetime64("2020-01-01")),
    "complex": lambda y, rng: np.full(len(y), 1j),
    "None among objects": lambda y, rng: np.full(len(y), None),
    "a column": lambda y, rng: y[:, np.newaxis],
    "2-D": lambda y, rng: np.stack([y, y], axis=1),
    "integers": lambda y, rng: rng.integers(0, 2, len(y)).astype(rng.choice(INTEGERS)),
}
WRONG_MASKS: Mapping[str, Change] = {
    "one column more": lambda mask, rng: np.ones((len(mask), mask.shape[1] + 1), dtype=bool),
    "one row more": lambda mask, rng: np.ones((len(mask) + 1, mask.shape[1]), dtype=bool),
    "False": lambda mask, rng: np.zeros_like(mask),
    "False in a row": lambda mask, rng: mask & (np.arange(len(mask)) > 0)[:, np.newaxis],
    "0.5": lambda mask, rng: mask * 0.5,
    "NaN": lambda mask, rng: np.full(mask.shape, np.nan),
    "words": lambda mask, rng: np.full(mask.shape, "word"),
    "objects": lambda mask, rng: np.full(mask.shape, None),
    "3-D": lambda mask, rng: mask[np.newaxis],
    "a number": lambda mask, rng: 1,
    "ragged": _ragged,
    "dates": lambda mask, rng: mask.astype("datetime64[D]"),
}
ODD_MASKS: Mapping[str, Change] = {
    "rows": lambda mask, rng: mask,
    "labels": lambda mask, rng: mask[0],
    "0 and 1": lambda mask, rng: mask.astype(rng.choice((*INTEGERS, *FLOATS))),
    "lists": lambda mask, rng: mask.tolist(),
    "Fortran": lambda mask, rng: np.asfortranarray(mask),
    "pandas": lambda mask, rng: pd.DataFrame(mask),
    "True": lambda mask, rng: np.ones_like(mask),
}
WRONG_WEIGHTS: Mapping[str, Change] = {
    "negative": lambda weight, rng: weight - 10,
    "NaN": lambda weight, rng: np.where(weight == weight.max(), np.nan, weight),
    "infinity": lambda weight, rng: weight + np.inf,
    "1e308": lambda weight, rng: weight + 1e308,
    "one more": lambda weight, rng: np.append(weight, 1.0),
    "2-D": lambda weight, rng: weight[:, np.newaxis],
    "words": lambda weight, rng: np.full(len(weight), "word"),
    "objects": lambda weight, rng: np.full(len(weight), None),
    "complex": lambda weight, rng: weight + 1j,
    "a word": lambda weight, rng: "word",
    "a dict": lambda weight, rng: {"a": 1},
    "ragged": lambda weight, rng: [[1.0], 2.0],
}
ODD_WEIGHTS: Mapping[str, Change] = {
    "whole": lambda weight, rng: weight,
    "zeros": lambda weight, rng: weight * 0,
    "shares": lambda weight, rng: weight / 3,
    "tiny": lambda weight, rng: weight * 5e-324,
    "huge": lambda weight, rng: np.minimum(weight, 1) * 2.0**53,
    "integers": lambda weight, rng: weight.astype(rng.choice(INTEGERS)),
    "lists": lambda weight, rng: weight.tolist(),
    "strided": lambda weight, rng: np.repeat(weight, 2)[::2],
    "a number": lambda weight, rng: 2.0,
    "pandas": lambda weight, rng: pd.Series(weight),
}
ANNOUNCED: Mapping[str, Any] = {
    "0": 0,
    "-1": -1,
    "3": 3,
    "50": 50,
    "2.5": 2.5,
    "NaN": float("nan"),
    "a word": "word",
    "an empty list": [],
    "a name twice": ["a", "a", "b", "c"],
    "names": ["a", "b", "c", "d"],
    "0 and 1": [0, 1],
    "other values": [np.array([0, 2])] * 4,
    "numbers": np.arange(3),
    "unequal": [1, "a", None],
    "a dict": {"a": 1},
    "2-D": np.zeros((2, 2)),
}
