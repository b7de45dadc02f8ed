"""Prediction sets: how often they hold the truth, and how many values they hold.

Conventions of the whole file. The set of a cell is a code: 1 is {1}, 0 is {0}, -1 is {0, 1}, -2 is the empty set. A
cell that `label_mask` leaves out does not exist, nor does an unknown one (NaN). A label without a cell is NaN among the
values of labels, and is left out of the mean over them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import read_indicator
from metrics._means import divide, nan_mean
from metrics._typing import Array, LabelMatrix, Score
from metrics.validation import check_label_mask, check_same_shape, check_table, check_truth, require_choice

SetAverage: TypeAlias = Literal["micro", "macro", "subset"] | None
_OPEN, _EMPTY = -1, -2
# numbers of values in the sets of codes -2 to 1
_N_VALUES = np.array([0, 2, 1, 1])


def set_coverage(
    y_true: LabelMatrix, sets: ArrayLike, *, average: SetAverage = "micro", label_mask: ArrayLike | None = None
) -> Score:
    """Share of sets that hold the true value; best where it is what was promised, and 1 if every set does.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    sets : array-like of shape (n_samples, n_labels)
        1 for {1}, 0 for {0}, -1 for {0, 1}, -2 for the empty set, as `PredictionSets.predict_set` returns.
    average : {"micro", "macro", "subset", None}, default="micro"
        Share of all cells; mean over labels; share of rows of which every set holds its true value; or one value per
        label.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count: with ``y_true == 1``, how often labels that are there were not excluded.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a set is not one of the codes, an array is empty, the mask
        keeps nothing, or `average` is unknown.

    See Also
    --------
    set_size : What coverage costs: sets of both values hold any truth.
    coverage : The coverage error of rankings, which is something else.

    References
    ----------
    Vovk, Gammerman, Shafer, "Algorithmic learning in a random world", 2005.

    Examples
    --------
    >>> set_coverage([[1, 0], [1, 1]], [[1, -1], [0, 1]])
    0.75
    >>> set_coverage([[1, 0], [1, 1]], [[1, -1], [0, 1]], average="subset")
    0.5
    """
    require_choice(average, "average", ("micro", "macro", "subset", None))
    truth, mask = check_truth(y_true, label_mask)
    table = check_table(sets, "sets")
    check_same_shape(truth, table, "sets")
    counted = _counted(mask, table.shape)
    codes = _codes(table, counted)
    held = (codes == _OPEN) | (codes == read_indicator(truth, slice(0, len(table)), "y_true"))
    if average == "subset":
        rows = counted.any(axis=1)
        return float((held | ~counted).all(axis=1)[rows].mean())
    return _averaged(held, counted, average)


def set_size(
    sets: ArrayLike, *, average: Literal["micro", "macro"] | None = "micro", label_mask: ArrayLike | None = None
) -> Score:
    """Mean number of values in a set; lower is better where coverage is the same.

    Parameters
    ----------
    sets : array-like of shape (n_samples, n_labels)
        1 for {1}, 0 for {0}, -1 for {0, 1}, -2 for the empty set, as `PredictionSets.predict_set` returns.
    average : {"micro", "macro", None}, default="micro"
        Mean over all cells; mean over labels; or one value per label.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 2]: 1 if every label is decided, 2 if all are open, 0 if all sets are empty.

    Raises
    ------
    ValueError
        If a set is not one of the codes, the array is empty, the mask keeps nothing, or `average` is unknown.

    Examples
    --------
    >>> set_size([[1, -1], [0, -1]], average=None)
    array([1., 2.])
    """
    require_choice(average, "average", ("micro", "macro", None))
    table = check_table(sets, "sets")
    counted = _counted(check_label_mask(label_mask, table.shape), table.shape)
    return _averaged(_N_VALUES[_codes(table, counted) - _EMPTY], counted, average)


def _counted(mask: NDArray[np.uint8] | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    return np.broadcast_to(np.True_ if mask is None else mask.view(np.bool_), shape)


def _codes(table: Array, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the codes of sets, and those of undecided ones in cells that do not count."""
    wrong = counted & ~np.isin(table, (_EMPTY, _OPEN, 0, 1))
    if wrong.any():
        row, label = np.argwhere(wrong)[0]
        raise ValueError(
            f"sets must hold 1, 0, -1 for {{0, 1}} and -2 for the empty set. Got {table[row, label]} in row {row}, "
            f"label {label}."
        )
    return np.where(counted, table, _OPEN).astype(np.int64)


def _averaged(values: Array, counted: NDArray[np.bool_], average: str | None) -> Score:
    sums, n_cells = np.where(counted, values, 0).sum(axis=0), counted.sum(axis=0)
    if average == "micro":
        return float(sums.sum() / n_cells.sum())
    means = divide(sums, n_cells)
    return means if average is None else float(nan_mean(means))
