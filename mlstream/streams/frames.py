"""Data frames of any library, and arrays from lists, sparse matrices and whatever else users pass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.mapped import require_memory
from mlstream.streams.label_values import Indicator, as_indicator

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    from narwhals.typing import IntoDataFrame, IntoSeries


# Beyond it, neighbouring whole numbers are one float.
MAX_EXACT = 2**53
EXACT_RULE = f"must hold whole numbers of at most 2**53 ({MAX_EXACT:,}), beyond which they are rounded"
# narwhals takes 20 ms to import: whoever brings no frame does without it.
Frame: TypeAlias = "IntoDataFrame"
Column: TypeAlias = "nw.Series[Any]"
Features: TypeAlias = npt.NDArray[np.floating] | sparse.csr_array

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def is_frame(value: object) -> TypeGuard[Frame]:
    """Return whether a value is a data frame: of pandas, polars, pyarrow and others that narwhals reads.

    Raises ValueError for a lazy frame of polars, whose rows are not there yet.
    """
    # Looked up on the class: a lazy frame computes its columns.
    if not hasattr(type(value), "columns"):
        return False
    from narwhals.dependencies import is_into_dataframe, is_polars_lazyframe

    if is_polars_lazyframe(value):
        raise ValueError("A frame must be in memory. Got a lazy one instead; pass frame.collect().")
    return is_into_dataframe(value)


def column_names(frame: Frame) -> tuple[str, ...]:
    """Return the names of the columns; those that are not text, such as the numbers of pandas, are written as text.

    Raises ValueError if two columns have one name.
    """
    return tuple(map(str, _open(frame).columns))


def has_names(frame: Frame) -> bool:
    """Return whether all columns are named by text, rather than numbered."""
    return all(isinstance(name, str) for name in _open(frame).columns)


def iter_columns(frame: Frame) -> Iterator[Column]:
    """Yield the columns as series of narwhals."""
    yield from _open(frame).iter_columns()


def take_columns(frame: Frame, indices: Sequence[int]) -> Frame:
    """Return the frame of some of the columns."""
    opened = _open(frame)
    # By place, polars invents a name for a column without one.
    names = [opened.columns[index] for index in indices] if has_names(frame) else list(indices)
    return opened[:, names].to_native()


def join_columns(frame: Frame, other: Frame | IntoSeries) -> Frame:
    """Put the columns of a frame and of another frame, or a series, of the same library side by side."""
    import narwhals as nw

    right = nw.from_native(other, eager_only=True, allow_series=True)
    right = right.to_frame() if isinstance(right, nw.Series) else right
    joined: Frame = nw.concat([_open(frame), right], how="horizontal").to_native()
    return joined


def read_numbers(frame: Frame, what: str, way_out: str) -> npt.NDArray[np.floating] | sparse.csr_array:
    """Read a frame of numbers and booleans; the result is a CSR matrix if most columns are sparse.

    It is float32 if all columns are so, else float64; missing values are NaN. Raises ValueError, with the name and
    `way_out`, if a column holds anything else.
    """
    if is_sparse(frame):
        return read_sparse(frame)
    columns = []
    for column in iter_columns(frame):
        numbers = _to_floats(column)
        ends = (column.min(), column.max()) if column.dtype.is_integer() else ()
        if any(value is not None and abs(value) > MAX_EXACT for value in ends):
            raise ValueError(f"{what}: column {str(column.name)!r} {EXACT_RULE}. Got larger ones; leave it out.")
        if numbers is None:
            kind = str(column.dtype).partition("(")[0].lower()
            raise ValueError(f"{what}: column {str(column.name)!r} must hold numbers. Got {kind} instead; {way_out}.")
        columns.append(numbers)
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def is_sparse(frame: Frame) -> TypeGuard[pd.DataFrame]:
    """Return whether most columns are sparse columns of pandas, and the others numbers or booleans."""
    from narwhals.dependencies import is_pandas_dataframe

    if not is_pandas_dataframe(frame):
        return False
    others = [place for place, dtype in enumerate(frame.dtypes) if not _is_sparse_type(dtype)]
    return 2 * len(others) < frame.shape[1] and all(
        _to_floats(column) is not None for column in iter_columns(take_columns(frame, others))
    )


def read_sparse(frame: pd.DataFrame) -> sparse.csr_array:
    """Read a frame of pandas as a CSR matrix, its sparse columns as they are, numbers and booleans as floats.

    It is float32 if all columns are so, else float64; missing values are NaN.
    """
    plain = frame.copy(deep=False)
    for column, dtype in zip(iter_columns(frame), frame.dtypes, strict=True):
        if not _is_sparse_type(dtype):
            plain[column.name] = _to_floats(column)
    kind = np.float32 if is_of_float32(frame) else np.float64
    accessor: Any = plain.astype(_pandas().SparseDtype(kind, 0)).sparse
    return sparse.csr_array(accessor.to_coo())


def is_of_float32(frame: Frame) -> bool:
    """Return whether all columns are float32, dense or sparse."""
    import narwhals as nw

    # A sparse column of pandas has no type of narwhals, and neither has one of polars without a value.
    kinds = {
        str(getattr(getattr(column.to_native(), "dtype", None), "subtype", ""))
        if column.dtype == nw.Unknown
        else str(column.dtype).lower()
        for column in iter_columns(frame)
    }
    return kinds == {"float32"}


def make_frame(columns: Mapping[str, Sequence[object]]) -> pd.DataFrame:
    """Make a frame of pandas of columns by name; raise ImportError if pandas is not installed."""
    frame: pd.DataFrame = _pandas().DataFrame(dict(columns))
    return frame


def make_table(
    X: np.ndarray | sparse.csr_array,
    Y: np.ndarray,
    feature_names: Sequence[str],
    label_names: Sequence[str],
    index: Mapping[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """Make a frame of pandas of labels and features, labels first, as in files.

    The features of a CSR matrix become sparse columns. `index` holds the levels of the index by name; by default rows
    are counted. Raises ImportError if pandas is not installed; ValueError if a feature and a label have one name.
    """
    pandas = _pandas()
    if both := set(feature_names) & set(label_names):
        raise ValueError(f"Features and labels must have different names in a frame. Got {min(both)!r} twice.")
    rows = None if index is None else _make_index(index)
    make = pandas.DataFrame.sparse.from_spmatrix if sparse.issparse(X) else pandas.DataFrame
    labels = pandas.DataFrame(np.asarray(Y), index=rows, columns=list(label_names))
    features = make(X, index=rows, columns=list(feature_names))
    frame: pd.DataFrame = pandas.concat([labels, features], axis="columns")
    return frame


def _make_index(levels: Mapping[str, np.ndarray]) -> pd.Index:
    (name, *others), (level, *_) = levels, levels.values()
    made = _pandas().MultiIndex.from_arrays(list(levels.values()), names=list(levels)) if others else None
    index: pd.Index = _pandas().Index(level, name=name) if made is None else made
    return index


def _pandas() -> ModuleType:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("pandas must be installed for to_frame: pip install pandas.") from error
    return pd


def _is_sparse_type(dtype: object) -> bool:
    return isinstance(dtype, _pandas().SparseDtype)


def _to_floats(column: Column) -> npt.NDArray[np.floating] | None:
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


def _open(frame: Frame) -> nw.DataFrame[Frame]:
    import narwhals as nw

    names = list(frame.columns)
    try:
        return nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"The columns of a frame must have different names. Got {twice!r} more than once.") from None


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
