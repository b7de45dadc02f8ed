"""Checks of features, masks and weights, made once at the public methods of estimators."""

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from estimators._typing import Array, Estimator, MaskLike, MatrixLike, RowValues
from metrics.validation import is_absent, unmasked

Features = Array | sparse.csr_array
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
# for more values BLAS wakes threads, which takes a hundred times as long as a look at each value
FEW_VALUES = 4096
# beyond this weight, adding a row of weight 1 changes nothing
MAX_WEIGHT = 2.0**53
MAX_INDEX = np.iinfo(np.int32).max


def check_features(estimator: Estimator, X: Any, *, first: bool) -> Features:
    """Return X as float array or canonical CSR of the estimator's width; the first call fixes the width."""
    if first or not _is_plain(estimator, X):
        X = _validated(estimator, X, first=first)
        if is_sparse(X):
            X = _canonical(X)
    _check_finite(X)
    return X


def _validated(estimator: Estimator, X: MatrixLike, *, first: bool) -> Features:
    """Return X as scikit-learn checks it, with errors of one line where its own are NumPy's, or several lines."""
    try:
        with errors_in_one_line():
            return validate_data(
                estimator, as_mixed(X), reset=first, accept_sparse="csr", dtype=list(FLOATS), ensure_all_finite=False
            )
    except ValueError as error:
        rule, _, value = str(error).partition(": ")
        if rule == "could not convert string to float":
            value = value.removeprefix("np.str_(").removesuffix(")")
            raise ValueError(f"X must hold numbers. Got {value} instead; encode words as numbers first.") from None
        if rule.startswith("Complex data not supported"):
            raise ValueError("Complex data not supported: X must hold real numbers.") from None
        raise


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Raise errors of scikit-learn, which show arrays on lines of their own, with the same words in one line."""
    try:
        yield
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())) from None


def check_rows(estimator: Estimator, X: Any, *, first: bool) -> Features:
    """Return X with rows that can be taken as those of an array, whatever they hold: only the width is checked."""
    if not first and _is_plain(estimator, X):
        return X
    X = as_mixed(X)
    framed = is_frame(X) and X.shape[0] > 0
    with errors_in_one_line():
        X = validate_data(
            estimator,
            X,
            reset=first,
            skip_check_array=framed,
            accept_sparse="csr",
            dtype=None,
            ensure_all_finite=False,
        )
    rows: Features = FrameRows(X) if framed else _canonical(X) if is_sparse(X) else X  # type: ignore[assignment]
    return rows


class FrameRows:
    """Rows of a data frame, taken as those of an array are."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.shape: tuple[int, int] = frame.shape

    def __getitem__(self, rows: slice | Array) -> Self:
        return type(self)(_safe_indexing(self.frame, rows))

    def numbers(self) -> Array | None:
        """Return the rows as an array, which is cut ten times as fast, if all columns are dense numbers."""
        array = None if hasattr(self.frame, "sparse") else np.asarray(self.frame)
        return array if array is not None and array.dtype.kind in "iuf" else None


def is_frame(X: object) -> bool:
    """Return whether X is a data frame, of any package."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def as_mixed(X: Any) -> Any:
    """Return X with NaN for masked cells, and as objects where lists hold words, so that numbers stay numbers.

    Sparse frames whose gaps are not zeros are dense.
    """
    if isinstance(X, list | tuple):
        array = np.asarray(X)
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    sparse_types = [dtype for dtype in getattr(X, "dtypes", ()) if hasattr(dtype, "fill_value")] if is_frame(X) else []
    if any(dtype.fill_value != 0 for dtype in sparse_types) and len(sparse_types) == X.shape[1]:
        return X.sparse.to_dense()
    return unmasked(X)


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN, NaT, or NA of pandas."""
    return is_absent(cell) or bool(cell != cell)  # noqa: PLR0124 - NaN and NaT


def is_sparse(X: object) -> bool:
    """Return whether X is a sparse matrix or array."""
    return bool(sparse.issparse(X))


def is_fitted(estimator: object) -> bool:
    """Return whether scikit-learn takes an estimator for fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def stack_rows(parts: Sequence[Features]) -> Features:
    """Put rows under each other; they are sparse if those of any part are, and frames stay frames."""
    if is_frame(parts[0]):
        # pandas and polars have one name for it
        stacked: Features = sys.modules[type(parts[0]).__module__.partition(".")[0]].concat(parts)
        return stacked
    if any(is_sparse(part) for part in parts):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(part) for part in parts], format="csr"))
    return np.concatenate([np.asarray(part) for part in parts])


def check_label_mask(label_mask: MaskLike, n_samples: int, n_labels: int) -> npt.NDArray[np.bool_] | None:
    """Return the mask as boolean (n_samples, n_labels), or None without a mask."""
    if label_mask is None:
        return None
    mask = read_mask(label_mask, n_samples, n_labels)
    n_counted = np.count_nonzero(mask)
    if n_counted < mask.size and (n_counted == 0 or mask.size > n_labels):
        _check_every_row_counts(mask)
    if mask.ndim == 2:
        return mask
    return mask[np.newaxis] if n_samples == 1 else np.broadcast_to(mask, (n_samples, n_labels))


def read_mask(label_mask: MaskLike, n_samples: int, n_labels: int) -> npt.NDArray[np.bool_]:
    """Return the mask as boolean, (n_labels,) or (n_samples, n_labels); rows may count no label."""
    if np.ma.is_masked(label_mask):
        raise ValueError("label_mask must say of each cell whether it counts. Got masked cells instead.")
    mask = label_mask.toarray() if sparse.issparse(label_mask) else np.asarray(label_mask)
    if mask.dtype.kind != "b":
        if not np.isin(mask, (0, 1)).all():
            raise ValueError(f"label_mask must be boolean. Got dtype {mask.dtype} instead.")
        mask = mask.astype(bool)
    if mask.shape not in ((n_labels,), (n_samples, n_labels)):
        raise ValueError(
            f"label_mask must have shape ({n_labels},) or ({n_samples}, {n_labels}). Got {mask.shape} instead."
        )
    return mask


def check_sample_weight(sample_weight: RowValues, X: Features) -> npt.NDArray[np.float64] | None:
    """Return the weights as float64 (n_samples,), or None without weights."""
    if sample_weight is None:
        return None
    with errors_in_one_line():
        weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (X.shape[0],):
        raise ValueError(f"sample_weight must have shape ({X.shape[0]},). Got {weight.shape} instead.")
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative. Got {weight.min()} instead.")
    if (weight > MAX_WEIGHT).any():
        raise ValueError(
            f"sample_weight must be at most 2**53, beyond which a row of weight 1 would not count. "
            f"Got {weight.max()} instead; divide all weights by one number."
        )
    # kernels are compiled for arrays that can be written to; a Series of pandas cannot
    return np.require(weight, requirements=["C", "W"])


def require_a_weight(weight: Array | None) -> None:
    """Refuse weights of which none is positive."""
    if weight is not None and len(weight) and not weight.any():
        raise ValueError("sample_weight must be greater than 0 for at least one row. Got zeros only instead.")


def check_row_values(name: str, values: npt.ArrayLike, n_samples: int) -> Array:
    """Return values of rows as an array (n_samples,)."""
    array = np.asarray(values)
    if array.shape != (n_samples,):
        raise ValueError(f"{name} must have shape ({n_samples},), one value a row. Got {array.shape} instead.")
    return array


def _is_plain(estimator: Any, X: object) -> bool:
    """Return whether only finiteness is left to check: a call for one row must not cost a full validation."""
    return (
        type(X) is np.ndarray
        and X.dtype in FLOATS
        and X.ndim == 2
        and X.shape[1] == estimator.n_features_in_
        and len(X) > 0
        and not hasattr(estimator, "feature_names_in_")
    )


def _check_every_row_counts(mask: npt.NDArray[np.bool_]) -> None:
    counted = np.asfortranarray(mask).any(axis=-1)  # few long columns are faster to reduce than many short rows
    if not counted.all():
        row = int(np.argmin(counted))
        raise ValueError(
            f"label_mask must keep at least one label in every row. Got a row without any, row {row}, instead."
        )


def _canonical(given: Any) -> sparse.csr_array:
    X = sparse.csr_array(given)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(X.nnz, X.shape[1]) <= MAX_INDEX:
        # what SciPy makes of lists of places; scikit-learn's trees take short indices only
        X = sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X


def _check_finite(X: Features) -> None:
    if isinstance(X, sparse.csr_array):
        if not is_finite(X.data):
            position = int(np.argmin(np.isfinite(X.data)))
            row = int(np.searchsorted(X.indptr, position, side="right")) - 1
            _refuse(X.data[position], row, int(X.indices[position]))
    elif not is_finite(X):
        row, column = np.argwhere(~np.isfinite(X))[0].tolist()
        _refuse(X[row, column], row, column)


def is_finite(values: Array) -> bool:
    """Return whether an array holds neither NaN nor infinity."""
    # a finite sum of squares has finite parts, and takes half the time; squares that overflow need a second look
    few = values.size <= FEW_VALUES
    return (few and math.isfinite(np.vdot(values, values))) or bool(np.isfinite(values).all())


def _refuse(value: float, row: int, column: int) -> None:
    got = "NaN" if np.isnan(value) else f"infinity ({value})"
    raise ValueError(f"X must be finite. Got {got} at row {row}, column {column} instead.")
