"""Metrics row by row: what a curve that is read after every row, and the mean over it, are made of.

Conventions of the whole file. Rows keep their places. A cell that `label_mask` leaves out, or that is unknown, does not
exist; a row without cells is NaN, or has counts of zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from metrics._ranks import ScoredRows, values_of_rows
from metrics._typing import Array, Floats, Indicator, LabelMatrix, Ties
from metrics.at_k import precision_of_best
from metrics.counts import LabelCounts
from metrics.ranking import root_mean_square
from metrics.validation import check_binary_values, check_indicator, check_same_shape, check_truth


def counts_by_row(y_true: LabelMatrix, y_pred: LabelMatrix, *, label_mask: ArrayLike | None = None) -> LabelCounts:
    """Count right and wrong decisions per row and label.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    LabelCounts
        Four arrays of shape (n_samples, n_labels): in each cell that counts one of them is 1.

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0, 1 or (in y_true) NaN, an array is empty, or the mask keeps nothing.

    Notes
    -----
    The sum over rows is `metrics.label_counts`, and `metrics.cumulative_counts` has the counts after each row.

    Examples
    --------
    >>> counts_by_row([[1, 0], [1, 1]], [[1, 1], [0, 1]]).tp
    array([[1, 0],
           [0, 1]])
    """
    truth, mask = check_truth(y_true, label_mask)
    true, pred = _read(truth, "y_true"), _read(check_indicator(y_pred, "y_pred"), "y_pred")
    check_same_shape(true, pred, "y_pred")
    counted = np.ones(true.shape[1], dtype=bool) if mask is None else mask.view(np.bool_)
    yes, no = true & counted, ~true & counted
    return LabelCounts(*(part.astype(np.int64) for part in (yes & pred, no & pred, yes & ~pred, no & ~pred)))


def rmse_by_row(y_true: LabelMatrix, y_score: ArrayLike, *, label_mask: ArrayLike | None = None) -> Floats:
    """Root of the mean squared error of each row's scores; lower is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, usually probabilities.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    ndarray of shape (n_samples,)
        At least 0. `metrics.rmse` is their mean.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, or an array is empty.

    Examples
    --------
    >>> rmse_by_row([[1, 0], [1, 1]], [[0.5, 0.5], [1.0, 1.0]])
    array([0.5, 0. ])
    """
    return _by_row(root_mean_square, y_true, y_score, label_mask)


def precision_at_k_by_row(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    k: int,
    *,
    label_mask: ArrayLike | None = None,
    ties: Ties = "expected",
) -> Floats:
    """Share of relevant labels among the k best-scored ones of each row; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    k : int
        From 1 to the number of labels that count in a row.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied labels, or the label of the lower column first.

    Returns
    -------
    ndarray of shape (n_samples,)
        In [0, 1]. `metrics.precision_at_k` is their mean.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, k is out of range,
        or an option is unknown.

    Examples
    --------
    >>> precision_at_k_by_row([[1, 0], [1, 1]], [[0.2, 0.5], [1.0, 0.9]], 1)
    array([0., 1.])
    """
    return _by_row(lambda rows: precision_of_best(rows, k, ties), y_true, y_score, label_mask)


def _by_row(
    score_rows: Callable[[ScoredRows], Floats], y_true: LabelMatrix, y_score: ArrayLike, label_mask: ArrayLike | None
) -> Floats:
    truth, mask = check_truth(y_true, label_mask)
    counted = None if mask is None else mask.view(np.bool_)
    scored = values_of_rows(score_rows, truth, y_score, counted)
    if counted is None or counted.ndim == 1:
        return scored
    values = np.full(len(counted), np.nan)
    values[counted.any(axis=1)] = scored
    return values


def _read(indicator: Indicator, name: str) -> Array:
    dense = indicator if isinstance(indicator, np.ndarray) else indicator.toarray()
    check_binary_values(dense, name)
    return np.asarray(dense, dtype=bool)
