"""One row of a stream, as the table of one row that learners take."""

from math import isfinite, isnan
from typing import Any

import numpy as np

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Classes, MatrixLike
from estimators.contract.new_labels import grows
from estimators.contract.targets import BITS, CODES, FEW, LabelTarget, is_binary
from estimators.contract.validation import FLOATS, as_mixed, is_finite, is_frame, is_sparse


def plain_row(estimator: Any, x: Any, y: MatrixLike, classes: Classes) -> tuple[Array, Array] | None:
    """Return features (1, n_features) and codes of labels (1, n_labels) of a row, for a learner that has learnt others.

    None is for a row that the checks of whole tables must look at: the learner does not know its widths yet, the row
    is not as most are or brings a new label, or something is wrong with it.
    """
    target = getattr(estimator, "_target", None)
    if (
        isinstance(target, LabelTarget)
        and type(x) is np.ndarray
        and type(y) is np.ndarray
        and x.dtype in FLOATS
        and x.shape == (estimator.n_features_in_,)
        and y.dtype.kind in "buif"
        and not hasattr(estimator, "feature_names_in_")
        and ((len(x) <= FEW and isfinite(sum(x.tolist()))) or is_finite(x))
        and (estimator._nominal is None or estimator._nominal.takes(x))
    ):
        labels = _in_own_columns(estimator, y, target, classes)
        codes = None if labels is None or labels.shape != (target.width,) else _row_codes(labels)
        return None if codes is None else (x[None], codes[None])
    return None


def _in_own_columns(estimator: object, y: Array, target: LabelTarget, classes: object) -> Array | None:
    """Return the labels of a row in the columns of the learner; None if there are new ones, or something is wrong."""
    if classes is None or (type(classes) is list and classes == target.names):
        return y
    if type(classes) is not list or target.names is None or not grows(estimator) or y.shape != (len(classes),):
        return None
    try:
        columns = [target.names.index(name) for name in classes]
    except ValueError:
        return None
    placed = np.full(target.width, np.nan)
    placed[columns] = y
    return placed if len(set(columns)) == len(columns) else None


def _row_codes(y: Array) -> Array | None:
    """Return the labels of a row as codes, unknown ones as they are stored; None if another value is among them.

    Of all values only NaN, which is unknown, differs from itself.
    """
    values = y.tolist()
    if BITS.issuperset(values) if len(y) <= FEW else is_binary(y):
        return y.astype(CODES)
    if all(map(isnan, values)):
        return np.full(len(y), UNKNOWN, CODES)
    codes = [value if value in BITS else UNKNOWN for value in values]
    is_wrong = any(code == UNKNOWN and not isnan(value) for code, value in zip(codes, values, strict=True))
    return None if is_wrong else np.array(codes, CODES)


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
