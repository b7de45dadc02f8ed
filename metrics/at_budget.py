"""Metrics of the best-scored cells of each period: what a budget of alarms can find.

Conventions of both metrics. A cell, a label of a row, is an alarm if it is among the `budget` best-scored cells of its
period, of all rows and labels; a period with fewer cells has an alarm for each. Cells that `label_mask` leaves out, and
unknown ones (NaN), do not exist. Hits are summed over periods before anything is divided. Where scores tie for the last
places, each of the m tied cells counts j / m of the j alarms that are left; with ``ties="order"`` the earlier row, then
the lower column, comes first, as an alarm that is raised at once does.
"""

from __future__ import annotations

from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import read_indicator, read_scores
from metrics._typing import Array, LabelMatrix, Ties
from metrics.validation import (
    check_classes,
    check_same_shape,
    check_scores,
    check_truth,
    check_zero_division,
    require_choice,
    require_integer,
)


def precision_at_budget(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    budget: int,
    *,
    period: int | ArrayLike | None = None,
    label_mask: ArrayLike | None = None,
    ties: Ties = "expected",
) -> float:
    """Share of alarms that are true, if the best-scored cells of each period are alarms; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels; all labels on one scale.
    budget : int
        Alarms in a period, at least 1.
    period : int or array-like of shape (n_samples,), optional
        Rows in a period, or the period of each row, such as its day; by default all rows are one.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied cells, or the earlier row, then the lower column, first.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, budget or period
        are out of range, or an option is unknown.

    See Also
    --------
    precision_at_k : The share among the best labels of each row.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", section 8.4, 2008.

    Examples
    --------
    >>> y_true, y_score = [[1, 0], [1, 0], [0, 0]], [[0.9, 0.8], [0.7, 0.1], [0.6, 0.5]]
    >>> precision_at_budget(y_true, y_score, 2)
    0.5
    >>> precision_at_budget(y_true, y_score, 1, period=["Monday", "Tuesday", "Tuesday"])
    1.0
    """
    best = _best(y_true, y_score, budget, period, label_mask, ties)
    return best.n_hits / best.n_alarms


def recall_at_budget(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    budget: int,
    *,
    period: int | ArrayLike | None = None,
    label_mask: ArrayLike | None = None,
    zero_division: float = 0.0,
    ties: Ties = "expected",
) -> float:
    """Share of relevant cells that are alarms, if the best-scored ones of each period are; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels; all labels on one scale.
    budget : int
        Alarms in a period, at least 1.
    period : int or array-like of shape (n_samples,), optional
        Rows in a period, or the period of each row, such as its day; by default all rows are one.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    zero_division : {0, 1, nan}, default=0
        Value if no cell is relevant.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied cells, or the earlier row, then the lower column, first.

    Returns
    -------
    float
        In [0, 1]; it cannot reach 1 if a period has more relevant cells than the budget.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, budget or period
        are out of range, or an option is unknown.

    See Also
    --------
    recall_at_k : The share among the best labels of each row.
    estimators.AlarmBudget : Alarms that are raised at once, before the other rows of the period are known.

    Notes
    -----
    The scores of a period are ranked after it has ended. Alarms that must be raised at once find fewer.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", section 8.4, 2008.

    Examples
    --------
    >>> y_true, y_score = [[1, 0], [1, 0], [0, 1]], [[0.9, 0.8], [0.7, 0.1], [0.6, 0.5]]
    >>> [round(recall_at_budget(y_true, y_score, budget), 2) for budget in (1, 3, 6)]
    [0.33, 0.67, 1.0]
    """
    undefined = check_zero_division(zero_division)
    best = _best(y_true, y_score, budget, period, label_mask, ties)
    return best.n_hits / best.n_relevant if best.n_relevant else undefined


class _Best(NamedTuple):
    n_hits: float
    n_alarms: int
    n_relevant: int


def _best(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    budget: int,
    period: int | ArrayLike | None,
    label_mask: ArrayLike | None,
    ties: Ties,
) -> _Best:
    """Count the alarms, those that are hits, and the relevant cells."""
    require_choice(ties, "ties", get_args(Ties))
    budget = require_integer(budget, "budget", 1)
    table, mask = check_truth(y_true, label_mask)
    scores = check_scores(y_score, "y_score")
    check_same_shape(table, scores, "y_score")
    rows = slice(0, len(scores))
    true, score = read_indicator(table, rows, "y_true"), read_scores(scores, rows, "y_score")
    counted = np.ones(true.shape, dtype=np.bool_) if mask is None else np.broadcast_to(mask, true.shape).view(np.bool_)
    periods = np.broadcast_to(_periods(period, len(true))[:, None], true.shape)[counted]
    cells, score = true[counted], score[counted]
    order = np.lexsort((-score, periods))
    cells, score, periods = cells[order], score[order], periods[order]
    starts = np.flatnonzero(np.diff(periods, prepend=-1))
    n_alarms = np.minimum(np.diff(starts, append=len(cells)), budget)
    return _Best(_hits(cells, score, starts, n_alarms, ties), int(n_alarms.sum()), int(cells.sum(dtype=np.int64)))


def _hits(
    true: NDArray[np.uint8], score: NDArray[np.floating], starts: NDArray[np.intp], n_alarms: Array, ties: Ties
) -> float:
    """Count the hits among the first cells of each period, which come best first, and parts of those that tie."""
    of_cell = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(true)))
    if ties == "order":
        return float(true[np.arange(len(true)) - starts[of_cell] < n_alarms[of_cell]].sum(dtype=np.int64))
    last = score[starts + n_alarms - 1][of_cell]
    above, tied = score > last, score == last
    n_above, n_tied, hits_tied = (
        np.bincount(of_cell[cells], minlength=len(starts)) for cells in (above, tied, tied & (true == 1))
    )
    return float(true[above].sum(dtype=np.int64) + (hits_tied * (n_alarms - n_above) / n_tied).sum())


def _periods(period: int | ArrayLike | None, n_rows: int) -> NDArray[np.intp]:
    """Return the number of the period of each row, from 0 on."""
    if period is None:
        return np.zeros(n_rows, dtype=np.intp)
    if not np.ndim(period):
        return np.arange(n_rows, dtype=np.intp) // require_integer(period, "period", 1)
    if np.shape(period) != (n_rows,):
        raise ValueError(f"period must hold a value for each of the {n_rows} rows. Got shape {np.shape(period)}.")
    values = check_classes(period, "period")
    if values.dtype.kind in "mM" and np.isnat(values).any():
        raise ValueError("period must be known in every row. Got missing values instead.")
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.intp)
