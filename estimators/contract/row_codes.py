"""Rows in the form in which they are stored: labels and masks as one code, features in a chosen precision."""

import numpy as np
import numpy.typing as npt

from estimators._typing import Array

# what is added to the value of a label that counts
COUNTS = np.uint8(2)
# no value is beyond the range of float32 where the sum of squares is below this
SURELY_FITS = 1e70
# for more values BLAS wakes threads
FEW_VALUES = 4096


def encode_labels(Y: Array, mask: Array | None) -> Array:
    """Return label + 2 * (does it count?) for each label; without a mask, all count whose value is not unknown."""
    if mask is None:
        return Y ^ COUNTS  # 0 and 1 become 2 and 3; 2, which is unknown, becomes a 0 that does not count
    once = mask.view(np.uint8)
    return Y + (once + once)  # of a single row, NumPy adds arrays faster than it multiplies by a number


def fits_surely(values: Array, dtype: npt.DTypeLike) -> bool:
    """Return whether few features fit a precision for sure: a third of the time of trying, which matters for a row."""
    return values.dtype == dtype or (values.size <= FEW_VALUES and bool(np.vdot(values, values) < SURELY_FITS))


def cast_features(values: Array, dtype: npt.DTypeLike) -> Array:
    """Return features in a precision; refuse those that do not fit."""
    if fits_surely(values, dtype):
        return values.astype(dtype, copy=False)
    with np.errstate(over="ignore"):
        cast = values.astype(dtype)
    if not np.isfinite(cast).all():
        raise ValueError(f"X must fit {np.dtype(dtype).name}. Got {values[~np.isfinite(cast)][0]} instead.")
    return cast
