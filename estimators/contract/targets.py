"""Targets of learning: the labels of a row, or its class; both reach the learner as 0/1 columns."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Classes, MatrixLike
from estimators.contract.validation import errors_in_one_line, is_missing, is_sparse
from metrics.validation import as_numbers

# NumPy takes a dtype three times as fast as the class of its numbers
CODES, _INTEGERS = np.dtype(np.uint8), np.dtype(np.int64)
# so many values, those of a single row, are looked at faster as numbers of Python
FEW = 64
BITS = frozenset((0, 1))
# the smallest and largest numbers inside (0, 1), as arrays: NumPy is slower on its scalars
_OPEN_INTERVAL = {
    np.dtype(kind): (np.array(np.finfo(kind).tiny), np.array(np.nextafter(kind(1), kind(0))))
    for kind in (np.float32, np.float64)
}


class LabelTarget:
    """Multi-label: any subset of `width` labels.

    If `classes` announced the width, a table may hold the first labels only, and the others are zeros.
    """

    multilabel = True

    def __init__(self, width: int, *, announced: bool = False, names: Sequence[Any] | None = None) -> None:
        self.width = width
        self.announced = announced
        self.names = None if names is None else list(names)
        self.classes = np.tile([0, 1], (width, 1))

    def encode(self, Y: MatrixLike, *, advise: Callable[[str], str] = str) -> npt.NDArray[np.uint8]:
        """Check an indicator matrix, dense or sparse, and return (n_samples, width) of 0, 1 and `UNKNOWN`.

        `advise` adds to the advice for labels that appear later what the learner can do about them.
        """
        Y = as_codes(Y)
        missing = self.width - Y.shape[1]
        if missing < 0 or (missing and not self.announced):
            way_out = "announce labels that come later with `classes` at the first call"
            if missing < 0:
                way_out = advise(way_out)
            raise ValueError(
                f"Y must have {'at most ' * self.announced}{self.width} label columns, as fixed at the first call. "
                f"Got {Y.shape[1]} instead; {way_out}."
            )
        return np.pad(Y, ((0, 0), (0, missing))) if missing else Y

    def agrees_with(self, other: object) -> bool:
        """Return whether `other` announces the same labels."""
        return isinstance(other, LabelTarget) and self.width == other.width and other.names in (None, self.names)

    def probabilities(self, scores: Array) -> Array:
        """Keep P(label = 1) inside the open interval (0, 1), as scikit-learn requires of probabilities."""
        low, high = _OPEN_INTERVAL[scores.dtype]
        return np.minimum(np.maximum(scores, low), high)

    def decisions(self, decided: Array, scores: Array) -> npt.NDArray[np.int64]:  # noqa: ARG002 - one shape for both
        """Return the label sets as the learner predicted them."""
        return decided.astype(_INTEGERS)


class ClassTarget:
    """One class a row, with scikit-learn's shapes; `values` are the sorted distinct classes.

    Two classes are one column, 1 for the second; more classes have one column each.
    """

    multilabel = False

    def __init__(self, values: Array) -> None:
        self.classes = values
        self.width = 1 if len(values) <= 2 else len(values)

    def codes(self, y: MatrixLike) -> npt.NDArray[np.int64]:
        """Check a target vector and return the position of each value in `classes`."""
        y = _vector(y)
        codes = np.searchsorted(self.classes, y).clip(max=len(self.classes) - 1)
        unknown = self.classes[codes] != y
        if unknown.any():
            raise ValueError(
                f"y must hold the classes {_short(self.classes)} of the first call. Got "
                f"{y[unknown][:1].tolist()[0]!r} instead; announce all with `classes` at the first call."
            )
        return codes.astype(np.int64)

    def encode(self, y: MatrixLike) -> npt.NDArray[np.uint8]:
        """Check a target vector and return it as (n_samples, width) of 0 and 1."""
        codes = self.codes(y)[:, np.newaxis]
        columns = np.arange(self.width) + (self.width == 1)
        return (codes == columns).astype(np.uint8)

    def agrees_with(self, other: object) -> bool:
        """Return whether `other` announces the same classes."""
        return isinstance(other, ClassTarget) and np.array_equal(self.classes, other.classes)

    def probabilities(self, scores: Array) -> Array:
        """Return (n_samples, n_classes): scores of columns normalised to sum to 1; scores of classes are unchanged."""
        n_classes = len(self.classes)
        if n_classes == 1:
            return np.ones((len(scores), 1))
        if scores.shape[1] == 1:
            return np.hstack([1 - scores, scores])
        total = scores.sum(axis=1, keepdims=True)
        uniform = np.full_like(scores, 1 / n_classes)
        return np.divide(scores, total, out=uniform, where=total > 0)

    def decisions(self, decided: Array, scores: Array) -> Array:
        """Return the class of each row: as decided, where positions of classes are; else the most probable one."""
        codes = decided if decided.ndim == 1 else self.probabilities(scores).argmax(axis=1)
        return self.classes[codes]


Target = LabelTarget | ClassTarget


def make_target(Y: MatrixLike, classes: Classes = None) -> Target:
    """Return the kind of target, from the first Y and the announced classes."""
    if isas_codes(Y):
        return _label_target(as_codes(Y).shape[1], classes)
    y = _vector(Y)
    return ClassTarget(np.unique(y) if classes is None else _announced_classes(classes))


def _announced_classes(classes: Classes) -> Array:
    values = np.asarray(classes)
    if values.size == 0:
        raise ValueError("classes must name at least one class. Got an empty list instead.")
    try:
        return np.unique(values)
    except TypeError:
        raise ValueError(f"classes must be values of one kind. Got {classes!r} instead.") from None


def isas_codes(Y: Any) -> bool:
    """Return whether Y is a table of labels; a single column of other values than 0/1 is a vector of classes."""
    if is_sparse(Y):
        return True
    Y = np.asanyarray(Y)  # masked cells stay masked
    if Y.ndim != 2 or Y.shape[1] != 1:
        return Y.ndim == 2
    Y = _as_numbers(Y)
    return bool(np.isin(Y[~np.isnan(Y)] if Y.dtype.kind == "f" else Y, (0, 1)).all())


def holds_unknown(given: object, codes: Array) -> bool:
    """Return whether any cell is unknown, from a table as given and its codes; free for tables of whole numbers."""
    if type(given) is np.ndarray and given.dtype.kind in "bui":
        return False
    return codes.ndim == 2 and has_unknown(codes)


def has_unknown(codes: npt.NDArray[np.uint8]) -> bool:
    """Return whether any label of these is unknown; of a single row, in a tenth of the time of a comparison."""
    return UNKNOWN in codes.tobytes()


def is_all_unknown(codes: npt.NDArray[np.uint8]) -> bool:
    """Return whether every label of these is unknown, as fast."""
    return codes.tobytes().count(UNKNOWN) == codes.size


def as_table(codes: Array) -> Array:
    """Return codes as a public Y: unchanged where all is known, as of classes, or float32 with NaN for `UNKNOWN`."""
    if codes.ndim == 1 or not has_unknown(codes):
        return codes
    return np.where(codes == UNKNOWN, np.float32(np.nan), codes.astype(np.float32))


def _label_target(width: int, classes: Classes) -> LabelTarget:
    if classes is None:
        return LabelTarget(width)
    if isinstance(classes, int | np.integer):
        if classes < 1:
            raise ValueError(f"classes must be at least 1, the number of labels. Got {classes} instead.")
        return LabelTarget(int(classes), announced=True)
    if isinstance(classes, str | bytes) or not isinstance(classes, Iterable):
        got = f"Got {classes!r} instead."
        raise ValueError(f"classes must be a number of labels, or a list of their names. {got}")  # noqa: TRY004 - as documented
    announced = list(classes)
    if not announced:
        raise ValueError("classes must name at least one label. Got an empty list instead.")
    if all(isinstance(entry, list | tuple | np.ndarray) for entry in announced):
        if any(not set(np.asarray(entry).tolist()) <= {0, 1} for entry in announced):
            raise ValueError(f"classes must hold 0 and 1 only for every label. Got {_short(announced)} instead.")
        return LabelTarget(len(announced), announced=True)
    return _named_labels(announced, width)


def _named_labels(announced: list[Any], width: int) -> LabelTarget:
    known = [value for value in announced if value == value]  # noqa: PLR0124 - all but NaN
    if set(known) <= {0, 1} and (len(known) < len(announced) or width > len(known) == 2):
        # the values of cells, which scikit-learn's learning_curve announces
        return LabelTarget(width)
    if len(set(known)) != len(announced):
        raise ValueError(f"classes must name every label once. Got {_short(announced)} instead.")
    return LabelTarget(len(announced), announced=True, names=announced)


def as_codes(Y: Any) -> npt.NDArray[np.uint8]:
    """Check an indicator matrix, dense or sparse, and return it as 0, 1 and `UNKNOWN`."""
    if type(Y) is np.ndarray and Y.ndim == 2 and Y.dtype.kind in "buif" and len(Y):
        dense = Y
    elif is_sparse(Y):
        dense = Y.toarray()
    else:
        with errors_in_one_line():
            dense = check_array(_as_numbers(Y), dtype=None, ensure_all_finite="allow-nan", input_name="Y")
    if dense.shape[1] == 0:
        raise ValueError(f"Y must have at least one label column. Got shape {dense.shape} instead.")
    if is_binary(dense):
        return np.ascontiguousarray(dense, dtype=CODES)
    unknown = dense != dense  # noqa: PLR0124 - true of NaN only, also in tables of objects
    wrong = ~unknown & (dense != 0) & (dense != 1)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = dense[row, column]
        raise ValueError(
            f"Y must be a table of 0 and 1, with NaN where a label is unknown, or one column of classes. Got "
            f"{value.item() if isinstance(value, np.generic) else value!r} at row {row}, column {column} instead "
            f"(continuous and multi-class tables are not supported)."
        )
    return np.where(unknown, UNKNOWN, dense).astype(np.uint8, order="C")


def _as_numbers(Y: Any) -> Array:
    """Return labels as an array, with NaN for missing values, also beside words."""
    table = as_numbers(Y)
    if table.dtype != object or not table.ndim:
        return table
    return np.where(np.frompyfunc(is_missing, 1, 1)(table).astype(bool), np.nan, table)


def is_binary(table: Array) -> bool:
    """Return whether all values of an array are 0 or 1."""
    kind = table.dtype.kind
    if kind == "b":
        return True
    if kind in "uif" and table.size <= FEW:
        return BITS.issuperset(table.ravel().tolist())
    if kind in "ui":
        # no bit but the last: much faster than comparing
        return bool(np.bitwise_or.reduce(table, axis=None) >> 1 == 0)
    return bool(((table == 0) | (table == 1)).all())


def _vector(y: MatrixLike) -> Array:
    if type(y) is np.ndarray and y.shape == (1,) and y.dtype.kind in "biu":
        return y  # one row at a time, as from River: the checks take longer than a tree
    with errors_in_one_line():
        values: Array = column_or_1d(y, warn=True)
        unknown = np.ma.is_masked(y) or (values.dtype.kind == "O" and any(map(is_missing, values)))
        if unknown or (values.dtype.kind == "f" and not np.isfinite(values).all()):
            raise ValueError("Input y contains NaN or infinity. y must be finite, and have a class in every row.")
        check_classification_targets(values)
    if values.dtype.kind == "V":
        raise ValueError(f"y must hold one value a row. Got records of dtype {values.dtype} instead.")
    return np.asarray(values)


def _short(values: Any) -> str:
    shown = ", ".join(repr(v.tolist() if isinstance(v, np.generic | np.ndarray) else v) for v in list(values)[:8])
    return f"[{shown}{', ...' if len(values) > 8 else ''}]"
