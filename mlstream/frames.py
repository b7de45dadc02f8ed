"""Data frames of any library, read through narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse


def is_frame(value: object) -> bool:
    """Return whether a value is a data frame: of pandas, polars, pyarrow and others that narwhals reads.

    Raises
    ------
    ValueError
        If it is a lazy frame of polars, whose rows are not there yet.
    """
    # Looked up on the class: a lazy frame computes its columns.
    if not hasattr(type(value), "columns"):
        return False
    from narwhals.dependencies import is_into_dataframe, is_polars_lazyframe

    if is_polars_lazyframe(value):
        raise ValueError("A frame must be in memory. Got a lazy one instead; pass frame.collect().")
    return is_into_dataframe(value)


def column_names(frame: Any) -> tuple[str, ...]:
    """Return the names of the columns; those that are no text, such as the numbers of pandas, are written as text.

    Raises
    ------
    ValueError
        If two columns have one name.
    """
    return tuple(map(str, _open(frame).columns))


def has_names(frame: Any) -> bool:
    """Return whether all columns are named by text, rather than numbered."""
    return all(isinstance(name, str) for name in _open(frame).columns)


def read_numbers(frame: Any, what: str, way_out: str) -> npt.NDArray[np.floating] | sparse.csr_array:
    """Read a frame of numbers and booleans.

    Parameters
    ----------
    frame : frame
        The frame.
    what : str
        What errors call the frame.
    way_out : str
        What the error about another column ends with.

    Returns
    -------
    ndarray or csr_array of shape (n_rows, n_columns)
        float32 if all columns are so, else float64; missing values are NaN. A CSR matrix if all columns are sparse.

    Raises
    ------
    ValueError
        If a column holds anything else; the message names it.
    """
    if is_sparse(frame):
        return read_sparse(frame)
    columns = []
    for column in _open(frame).iter_columns():
        numbers = _to_floats(column)
        if numbers is None:
            kind = str(column.dtype).partition("(")[0].lower()
            raise ValueError(f"{what}: column {str(column.name)!r} must hold numbers. Got {kind} instead; {way_out}.")
        columns.append(numbers)
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def is_sparse(frame: Any) -> bool:
    """Return whether all columns are sparse columns of pandas."""
    from narwhals.dependencies import is_pandas_dataframe

    if not is_pandas_dataframe(frame) or not frame.shape[1]:
        return False
    import pandas as pd

    return all(isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes)


def read_sparse(frame: Any) -> sparse.csr_array:
    """Read a frame of pandas as a CSR matrix of what is not 0; float32 if all columns are so, else float64."""
    import pandas as pd

    kinds = {np.dtype(getattr(dtype, "subtype", np.float64)) for dtype in frame.dtypes}
    kind = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
    return sparse.csr_array(frame.astype(pd.SparseDtype(kind, 0)).sparse.to_coo())


def _to_floats(column: Any) -> npt.NDArray[np.floating] | None:
    """Return numbers and booleans as floats, missing ones as NaN; None for anything else."""
    import narwhals as nw

    if column.dtype == nw.Float32:
        return np.asarray(column.to_numpy())
    # Sparse columns of pandas are of no type that narwhals knows.
    if column.dtype.is_numeric() or column.dtype in {nw.Boolean, nw.Unknown}:
        return np.asarray(column.cast(nw.Float64).to_numpy())
    try:
        return np.asarray(column.cast(nw.Float64).to_numpy()) if column.dtype == nw.Object else None
    except (TypeError, ValueError):
        return None


def _open(frame: Any) -> Any:
    import narwhals as nw

    names = list(frame.columns)
    try:
        return nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"The columns of a frame must have different names. Got {twice!r} more than once.") from None
