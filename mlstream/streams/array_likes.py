"""Features and labels as arrays, from what users pass: lists, arrays, data frames, sparse matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.mapped import require_memory
from mlstream.streams.frames import EXACT_RULE, MAX_EXACT, column_names, has_names, is_frame, read_numbers
from mlstream.streams.label_values import Indicator, as_indicator

Features: TypeAlias = npt.NDArray[np.floating] | sparse.csr_array

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def as_features(X: object, what: str = "X") -> Features:
    """Hold features, numbers and booleans, in one of the types that learners take: float32 or float64, dense or CSR.

    `X` may be an array-like, a frame or any sparse matrix, and is not copied where it is such already. Raises
    ValueError if a cell is not a number.

    >>> as_features([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    if is_frame(X):
        return read_numbers(X, what, "Dataset.from_frame reads words")
    table: Features = _as_csr(X) if sparse.issparse(X) else _as_array(X, what)
    if table.dtype.kind not in "biuf":
        raise ValueError(f"{what} must hold numbers. Got the type {table.dtype} instead.")
    if table.dtype in _FLOATS:
        return table
    values = table.data if sparse.issparse(table) else table
    if values.size and max(int(values.max()), -int(values.min())) > MAX_EXACT:
        raise ValueError(f"{what} {EXACT_RULE}. Got larger ones; leave out their column.")
    return table.astype(np.float64)


def as_labels(Y: Any, what: str = "Y") -> Indicator:
    """Hold labels in the type that their values need, as `mlstream.streams.label_values.as_indicator` does.

    `Y` may be an array-like, a frame or any sparse matrix: 1 present, 0 absent, NaN (or None, or NA of pandas) unknown.
    Cells that are not stored are 0. Raises ValueError if it is not 2-D, or a cell holds anything but 0, 1 and NaN.

    >>> as_labels([[1, 0], [0, 1]])
    array([[1, 0],
           [0, 1]], dtype=uint8)
    """
    table = read_numbers(Y, what, "Dataset.from_frame reads words such as true and false") if is_frame(Y) else Y
    return as_indicator(_as_dense(table, what) if sparse.issparse(table) else table, what)


def as_names(names: Sequence[str], table: object, prefix: Literal["x", "y"], width: int) -> tuple[str, ...]:
    """Return the names of the columns of a table: given ones, else those of a frame, else prefix and number.

    Raises TypeError if `names` is one text, whose letters would be taken for names; ValueError if there is not one name
    per column, or two columns have the same.

    >>> as_names((), np.zeros((5, 2)), "x", 2)
    ('x0', 'x1')
    """
    what = "feature" if prefix == "x" else "label"
    if isinstance(names, str):
        raise TypeError(f"{what}_names must be a list of names. Got {names!r} instead.")
    given = tuple(map(str, names))
    if not given and is_frame(table) and has_names(table):
        given = column_names(table)
    given = given or tuple(f"{prefix}{column}" for column in range(width))
    if len(given) != width:
        raise ValueError(f"There must be one {what} name per column. Got {len(given)} names for {width} columns.")
    if len(set(given)) != len(given):
        twice = next(name for name in given if given.count(name) > 1)
        raise ValueError(f"{what.capitalize()} names must differ. Got {twice!r} more than once.")
    return given


def _as_csr(X: Any) -> sparse.csr_array:
    return sparse.csr_array(X)


def _as_dense(Y: Any, what: str) -> np.ndarray:
    require_memory(math.prod(Y.shape) * Y.dtype.itemsize, what)
    return np.asarray(Y.toarray())


def _as_array(X: object, what: str) -> np.ndarray:
    try:
        table = np.asarray(X)
        # Numbers of several types, which Python keeps as objects.
        return table.astype(np.float64) if table.dtype.kind == "O" else table
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"{what} must be a table of numbers. Got {type(X).__name__}: {reason}.") from None
