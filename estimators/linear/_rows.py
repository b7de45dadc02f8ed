"""Rows of estimators in the form of the kernels of linear models."""

import numpy as np
from scipy import sparse

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.contract.base import Mask
from estimators.contract.validation import Features
from estimators.linear._kernels.rows import Rows

NO_STARTS = np.zeros(0, np.int64)
NO_COLUMNS = np.zeros(0, np.int32)
NO_WEIGHTS = np.zeros(0)


def as_rows(X: Features) -> Rows:
    """Return rows as the kernels read them, in double precision."""
    if isinstance(X, sparse.csr_array):
        indptr, columns = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)
        return Rows(indptr, columns, np.ascontiguousarray(X.data, dtype=np.float64))
    return Rows(NO_STARTS, NO_COLUMNS, np.ascontiguousarray(X, dtype=np.float64).reshape(-1))


def refuse_great(X: Features) -> ValueError:
    """Return the error for features whose products with weights could leave the range of doubles."""
    values = X.data if isinstance(X, sparse.csr_array) else X
    return ValueError(f"X must fit float32. Got {values.flat[np.abs(values).argmax()]} instead; scale the features.")


def hide(Y: Array, mask: Mask | None) -> Array:
    """Return labels with those outside the mask unknown."""
    return Y if mask is None else np.where(mask, Y, np.uint8(UNKNOWN))
