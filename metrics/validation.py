"""Checks of the arguments of public functions, with one sentence for each mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from metrics._typing import Array, Indicator, LabelMatrix

_MAX_EXACT = 2**53
_LONGEST = 80  # characters of a value that an error shows


def check_indicator(Y: LabelMatrix, name: str) -> Indicator:
    """Return `Y` as a 2-D array, whose values are checked where they are read, or as a canonical CSR array of 0/1."""
    if sparse.issparse(Y):
        return _canonical_csr(Y, name)
    return check_table(Y, name)


def check_truth(y_true: LabelMatrix, label_mask: ArrayLike | None) -> tuple[Indicator, NDArray[np.uint8] | None]:
    """Return true labels as `check_indicator` does, and the mask without the cells that are unknown (NaN) in them."""
    table, known = _split_unknown(y_true)
    truth = check_indicator(table, "y_true")
    mask = check_label_mask(label_mask, truth.shape)
    if known is None:
        return truth, mask
    counted = known if mask is None else known & mask.view(np.bool_)
    if not counted.any():
        raise ValueError("y_true must hold a known label where label_mask is True. Got NaN everywhere instead.")
    return truth, counted.view(np.uint8)


def as_numbers(values: ArrayLike | None) -> Array:
    """Return an array with NaN for missing values: masked ones, None, and NA of frames of any library.

    An array of objects that are not all numbers is returned as it is.
    """
    values = unmasked(values)
    if _is_nullable(values):  # pandas reads its own types fastest
        table = np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))  # type: ignore[union-attr]
        if not (np.abs(table) >= _MAX_EXACT).any():
            return table
    array = np.asarray(values)
    if array.dtype != np.object_ or not array.ndim:
        return array
    _refuse_rounded([cell for cell in array.flat if isinstance(cell, int | np.integer) and abs(int(cell)) > _MAX_EXACT])
    numbers = np.frompyfunc(_number, 1, 1)(array)
    return array if any(number is None for number in numbers.flat) else np.asarray(numbers, dtype=np.float64)


def _refuse_rounded(numbers: Sequence[object] | Array) -> None:
    if len(numbers):
        raise ValueError(
            f"whole numbers must be at most 2**53 ({_MAX_EXACT:,}), beyond which they are rounded. "
            f"Got {numbers[0]} instead."
        )


def unmasked(values: Any) -> Any:
    """Return a masked array as an array with NaN for masked cells, and anything else as it is."""
    if not np.ma.is_masked(values):
        return np.asarray(values) if isinstance(values, np.ma.MaskedArray) else values
    data = values.data if values.dtype.kind in "biuf" else values.data.astype(object)
    return np.where(np.ma.getmaskarray(values), np.nan, data)


def _is_nullable(values: object) -> bool:
    """Return whether this is a frame of pandas that holds numbers or booleans, and types which NumPy does not have."""
    if getattr(values, "ndim", 0) != 2 or not hasattr(values, "to_numpy"):
        return False
    dtypes = [*getattr(values, "dtypes", ())]
    kinds = [getattr(getattr(dtype, "categories", None), "dtype", dtype).kind for dtype in dtypes]
    return not all(isinstance(dtype, np.dtype) for dtype in dtypes) and all(kind in "biuf" for kind in kinds)


def is_absent(cell: object) -> bool:
    """Return whether a cell is None, or NA of pandas, which is known by its name alone."""
    return cell is None or type(cell).__name__ == "NAType"


def _number(cell: object) -> float | None:
    """Return a number, NaN for a missing one, None for other objects."""
    if is_absent(cell):
        return float("nan")
    return float(cell) if isinstance(cell, bool | int | float | np.bool_ | np.number) else None


def check_numbers(values: ArrayLike, name: str) -> Array:
    """Return an array of numbers or booleans, with NaN for missing ones."""
    array = as_numbers(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers or booleans. Got dtype {array.dtype} instead.")
    return array


def check_classes(classes: LabelMatrix, name: str) -> Array:
    """Return classes or groups of rows, numbers or words, none of them masked or None."""
    array = as_numbers(classes)  # type: ignore[arg-type]  # the caller has seen that they are 1-D
    missing = (np.isnan(_number(cell) or 0) for cell in array.flat)
    if np.ma.is_masked(classes) or (array.dtype == np.object_ and any(missing)):
        raise ValueError(f"{name} must be known in every row. Got missing values instead.")
    return array


def check_table(table: ArrayLike, name: str) -> Array:
    """Return a non-empty 2-D array of numbers or booleans."""
    array = check_numbers(table, name)
    if array.ndim != 2:
        raise ValueError(f"{name} must be 2-D, of shape (n_samples, n_labels). Got shape {array.shape} instead.")
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one sample and one label. Got shape {array.shape} instead.")
    return array


def check_scores(scores: ArrayLike, name: str) -> Array:
    """Return scores as a 2-D floating array; that they are finite is checked where they are read, block by block."""
    if sparse.issparse(scores):
        raise ValueError(f"{name} must be a dense array. Got a sparse {type(scores).__name__} instead.")
    array = check_table(scores, name)
    if array.dtype in (np.float32, np.float64):
        return array
    if array.itemsize >= 8:
        _refuse_rounded(array[(array > _MAX_EXACT) | (array < -_MAX_EXACT)])
    return array.astype(np.float64)


def check_same_shape(y_true: Indicator, other: Indicator, name: str) -> None:
    """Refuse two tables of different shapes; nothing is broadcast."""
    if y_true.shape != other.shape:
        raise ValueError(f"{name} must have the shape of y_true, {y_true.shape}. Got {other.shape} instead.")


def check_label_mask(label_mask: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.uint8] | None:
    """Return the mask as 0/1 bytes of shape (n_labels,) or (n_samples, n_labels)."""
    if label_mask is None:
        return None
    mask = np.asarray(label_mask)
    if np.ma.is_masked(label_mask) or mask.dtype == np.object_:
        _refuse_missing(as_numbers(label_mask))
    if mask.dtype == np.object_ and all(isinstance(cell, bool | np.bool_) for cell in mask.flat):
        mask = mask.astype(np.bool_)  # a frame of nullable booleans without a missing one
    if mask.dtype != np.bool_:
        raise ValueError(f"label_mask must be boolean. Got dtype {mask.dtype} instead.")
    if mask.shape not in (shape[1:], shape):
        raise ValueError(f"label_mask must have shape {shape[1:]} or {shape}. Got {mask.shape} instead.")
    if not mask.any():
        raise ValueError("label_mask must keep at least one label. Got a mask that is False everywhere instead.")
    return mask.view(np.uint8)


def _refuse_missing(mask: Array) -> None:
    if _holds_nan(mask):
        axes = zip(("row", "label")[-mask.ndim :], np.argwhere(np.isnan(mask))[0], strict=False)
        place = ", ".join(f"{axis} {index}" for axis, index in axes)
        raise ValueError(f"label_mask must be True or False. Got a missing value in {place} instead.")


def positive_columns(proba: Sequence[Array], classes: Sequence[ArrayLike]) -> Array:
    """Return P(label is 1), a column a label, from scikit-learn's list: of each label, the values that occurred."""
    for label, values in enumerate(classes):
        if not set(learnt := np.asarray(values).tolist()) <= {0, 1}:
            raise ValueError(
                f"The classifier must have learnt labels of 0 and 1. Got {learnt} for label {label} instead."
            )
    return np.column_stack(
        [part[:, np.asarray(values) == 1].sum(axis=1) for part, values in zip(proba, classes, strict=True)]
    )


def shown(value: object) -> str:
    """Return a value as an error shows it, in one line: arrays and frames by their type and shape."""
    if getattr(value, "shape", ()):
        return f"{type(value).__name__} of shape {value.shape}"  # type: ignore[attr-defined]
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def check_k(k: int, n_labels: int) -> int:
    """Return `k` if it is an integer from 1 to `n_labels`."""
    if isinstance(k, bool | np.bool_) or not isinstance(k, int | np.integer) or not 1 <= k <= n_labels:
        raise ValueError(f"k must be an integer from 1 to n_labels = {n_labels}. Got {shown(k)} instead.")
    return int(k)


def require_choice(value: object, name: str, choices: Sequence[object], way_out: str = "") -> None:
    """Refuse an option that is not one of `choices`; the other packages check their options here too."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        rule = "one of " * (len(choices) > 1) + ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be {rule}. Got {shown(value)} instead{way_out}.")


def require_integer(value: object, name: str, minimum: int) -> int:
    """Return an option that must be an integer of at least `minimum`; booleans are not integers here."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}. Got {shown(value)} instead.")
    return int(value)


def check_zero_division(value: float) -> float:
    """Return the value that stands for 0 / 0: 0, 1 or NaN, as in scikit-learn."""
    if isinstance(value, int | float | np.number) and (value in (0, 1) or np.isnan(value)):
        return float(value)
    raise ValueError(f"zero_division must be 0, 1 or NaN. Got {shown(value)} instead.")


def check_number(value: float, name: str, *, low: float = -np.inf, high: float = np.inf) -> float:
    """Return a finite number of the closed interval from `low` to `high`."""
    array = as_numbers(value)
    number = float(array) if not array.ndim and array.dtype.kind in "biuf" else float("nan")
    if not np.isfinite(number) or not low <= number <= high:
        raise ValueError(f"{name} must be a finite number in [{low:g}, {high:g}]. Got {shown(value)} instead.")
    return number


def check_binary_values(values: Array, name: str, first_row: int = 0) -> None:
    """Refuse a block of rows that holds anything but 0 and 1, and name the first such cell."""
    if np.count_nonzero(values == 1) != np.count_nonzero(values):
        row, label = np.argwhere((values != 0) & (values != 1))[0]
        cell = f"{values[row, label]} in row {first_row + row}, label {label}"
        raise ValueError(f"{name} must hold only 0 and 1. Got {cell} instead.")


def check_finite(values: Array, name: str, first_row: int = 0, column: str = "label") -> None:
    """Refuse a block of rows that holds a NaN or an infinite value, and name the first such cell."""
    if np.isfinite(np.einsum("ij->", values)):  # where nothing overflows; half the time of looking at each value
        return
    finite = np.isfinite(values)
    if not finite.all():
        row, place = np.argwhere(~finite)[0]
        cell = f"{values[row, place]} in row {first_row + row}, {column} {place}"
        raise ValueError(f"{name} must hold finite numbers. Got {cell} instead.")


def check_probabilities(values: Array, name: str, first_row: int) -> None:
    """Refuse a block of rows that leaves [0, 1], and name the first such cell."""
    outside = (values < 0) | (values > 1)
    if outside.any():
        row, label = np.argwhere(outside)[0]
        cell = f"{values[row, label]} in row {first_row + row}, label {label}"
        raise ValueError(f"{name} must hold probabilities in [0, 1]. Got {cell} instead.")


def _split_unknown(y_true: LabelMatrix) -> tuple[LabelMatrix, NDArray[np.bool_] | None]:
    """Return a table with 0 in place of NaN, and its known cells; None if all are, which costs nothing for integers."""
    if sparse.issparse(y_true):
        return _split_unknown_csr(y_true)
    table = as_numbers(y_true)
    if not _holds_nan(table):
        return table, None
    known = ~np.isnan(table)
    return np.where(known, table, 0), known


def _split_unknown_csr(Y: LabelMatrix) -> tuple[LabelMatrix, NDArray[np.bool_] | None]:
    csr: sparse.csr_array[Any] = sparse.csr_array(Y)  # type: ignore[arg-type]  # the caller has seen that Y is sparse
    if csr.ndim != 2 or not _holds_nan(csr.data):
        return csr, None
    csr = csr.copy()
    csr.sum_duplicates()
    unknown = np.isnan(csr.data)
    known = np.ones(csr.shape, dtype=np.bool_)
    known[np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))[unknown], csr.indices[unknown]] = False
    csr.data[unknown] = 0
    return csr, known


def _holds_nan(values: Array) -> bool:
    return values.dtype.kind == "f" and values.size > 0 and bool(np.isnan(values.min()))  # the minimum passes NaN on


def _canonical_csr(Y: LabelMatrix, name: str) -> sparse.csr_array[Any]:
    """Return a CSR array without explicit zeros or duplicates, leaving the caller's matrix as it is."""
    csr: sparse.csr_array[Any] = sparse.csr_array(Y)  # type: ignore[arg-type]  # the caller has seen that Y is sparse
    if 0 in csr.shape or csr.ndim != 2:
        raise ValueError(f"{name} must hold at least one sample and one label. Got shape {csr.shape} instead.")
    if not csr.has_canonical_format or not csr.data.all():
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    if not (csr.data == 1).all():
        raise ValueError(f"{name} must hold only 0 and 1. Got {csr.data[csr.data != 1][0]} instead.")
    return sparse.csr_array((csr.data.astype(np.uint8), csr.indices, csr.indptr), shape=csr.shape)
