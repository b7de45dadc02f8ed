"""One row of a stream, as the table of one row that learners take."""

from math import isfinite
from typing import Any

import numpy as np

from estimators._typing import Array, MatrixLike
from estimators.contract.targets import BITS, CODES, FEW, LabelTarget, is_binary
from estimators.contract.validation import FLOATS, as_mixed, is_finite, is_frame, is_sparse


def plain_row(estimator: Any, x: Any, y: MatrixLike) -> tuple[Array, Array] | None:
    """Return features (1, n_features) and labels (1, n_labels) of a row for a learner that has learnt others.

    None is for a row that the checks of whole tables must look at: the learner does not know its widths yet, or the row
    is not as most are, or something is wrong with it.
    """
    target = getattr(estimator, "_target", None)
    if (
        isinstance(target, LabelTarget)
        and type(x) is np.ndarray
        and type(y) is np.ndarray
        and x.dtype in FLOATS
        and x.shape == (estimator.n_features_in_,)
        and y.shape == (target.width,)
        and not hasattr(estimator, "feature_names_in_")
        and ((len(x) <= FEW and isfinite(sum(x.tolist()))) or is_finite(x))
        and (estimator._nominal is None or estimator._nominal.takes(x))
        and y.dtype.kind in "buif"
        and (BITS.issuperset(y.tolist()) if len(y) <= FEW else is_binary(y))
    ):
        return x[None], y.astype(CODES)[None]
    return None


def as_tables(estimator: object, x: Any, y: Any) -> tuple[MatrixLike, MatrixLike]:
    """Return the features of a row, and its labels or class, as tables of one row; CSR stays CSR."""
    if x is None or isinstance(x, dict) or (not is_sparse(x) and np.ndim(x) == 0):
        got = {type(None): "None", dict: "a dict"}.get(type(x), "a single value")
        raise ValueError(f"x must be one row, an array of features. Got {got} instead.")
    if y is None:
        raise ValueError("y must be the labels of one row. Got None instead; `predict` learns nothing.")
    target = getattr(estimator, "_target", None)
    if isinstance(target, LabelTarget) and not is_sparse(y) and np.ndim(y) == 0:
        raise ValueError(f"y must be the {target.width} labels of one row. Got a single value instead.")
    return _as_table(as_mixed(x), "x"), _as_table(y, "y")


def _as_table(x: Any, name: str) -> MatrixLike:
    if is_frame(x) and len(x) == 1:
        return x
    if is_sparse(x):
        x = x.reshape(1, -1) if len(x.shape) == 1 else x
        shape, is_row = x.shape, x.shape[0] == 1
    else:
        x = np.asanyarray(x)  # masked cells stay masked
        shape, is_row = x.shape, x.ndim == 1 or (x.ndim == 0 and name == "y")
        x = x[np.newaxis]
    if not is_row:
        raise ValueError(
            f"{name} must be one row, without a second dimension. Got shape {shape} instead; "
            "`predict_then_fit` takes several rows."
        )
    return x
