"""Metrics of the k best-scored labels in which a label weighs the more the likelier it is to be missing.

Tables of many labels lack some that are relevant, rare ones most often. A relevant label that is there counts 1 / p, p
the probability (propensity) that it is observed, so that the expectation is that of the complete truth. Conventions on
masks and ties are those of `metrics.at_k`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from metrics._ranks import ScoredRows, sink_masked, truth_of_best, values_of_rows
from metrics._typing import Floats, LabelMatrix, Ties
from metrics.at_k import require_places
from metrics.validation import check_number, check_numbers, require_integer

_LEAST = 1e-100  # the sum of many numbers 1 / p has to be finite


def label_propensities(label_counts: ArrayLike, n_samples: int, *, a: float = 0.55, b: float = 1.5) -> Floats:
    """Probability that a relevant label is observed, from its number of training rows.

    Parameters
    ----------
    label_counts : array-like of int, shape (n_labels,)
        Number of training rows that have each label: ``Y.sum(axis=0)``.
    n_samples : int
        Number of training rows, at least 3.
    a : float, default=0.55
        How fast propensities rise. The authors use 0.5 for Wikipedia and 0.6 for Amazon.
    b : float, default=1.5
        Constant that is added to counts. The authors use 0.4 for Wikipedia and 2.6 for Amazon.

    Returns
    -------
    ndarray of shape (n_labels,)
        In (0, 1], rising with the count.

    Raises
    ------
    ValueError
        If a count is not between 0 and n_samples, an option is out of range, or a propensity is less than 1e-100: that
        of a label that never occurs is 0 with b = 0.

    Notes
    -----
    1 / (1 + C (N_l + b)^-a) with C = (log(n_samples) - 1) (b + 1)^a and N_l the count.

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation, tagging, ranking & other
    missing label applications", KDD 2016.

    Examples
    --------
    >>> label_propensities([1, 10, 1000], 10_000).round(3)
    array([0.109, 0.22 , 0.767])
    """
    n_rows = require_integer(n_samples, "n_samples", 3)  # the logarithm of fewer is less than 1
    counts = _one_per_label(label_counts, "label_counts", 0, n_rows)
    a, b = check_number(a, "a", low=0.0), check_number(b, "b", low=0.0)
    with np.errstate(divide="ignore", over="ignore"):
        propensities: Floats = 1 / (1 + (np.log(n_rows) - 1) * ((b + 1) / (counts + b)) ** a)
    rare = np.flatnonzero(propensities < _LEAST)
    if len(rare):
        got = f"{propensities[rare[0]]} for label {rare[0]}, which has {counts[rare[0]]:g} rows,"
        raise ValueError(f"propensities must be at least {_LEAST}: raise b or lower a. Got {got} instead.")
    return propensities


def psprecision_at_k(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    k: int,
    propensities: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    normalize: bool = True,
    ties: Ties = "expected",
) -> float:
    """Propensity-scored precision at k: hits on rare labels count more; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    k : int
        From 1 to the number of labels that count in a row.
    propensities : array-like of shape (n_labels,)
        Probability that a relevant label is observed, from 1e-100 to 1: see `label_propensities`.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    normalize : bool, default=True
        Whether to divide by the greatest value that any scores can reach on these rows, as published tables do.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied labels, or the label of the lower column first.

    Returns
    -------
    float
        In [0, 1] if normalized, NaN where no label is relevant; else at least 0.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, k is out of range,
        a propensity is not between 1e-100 and 1, or an option is unknown.

    Notes
    -----
    Mean over rows of the sum of 1 / p over the relevant labels among the k best-scored ones, divided by k; normalized,
    the ratio of that mean to the one of the scores y_true / p. With all propensities 1 it is `precision_at_k`,
    normalized by `precision_at_k_maximum`.

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation, tagging, ranking & other
    missing label applications", KDD 2016.

    Examples
    --------
    The second label is rare:

    >>> y_true, y_score = [[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.2], [0.1, 0.8, 0.7]]
    >>> psprecision_at_k(y_true, y_score, 1, [0.8, 0.2, 0.5])
    1.0
    >>> psprecision_at_k(y_true, y_score, 1, [0.8, 0.2, 0.5], normalize=False)
    3.125
    """
    gains = _gains(lambda n: np.full(n, 1 / n), k, propensities, ties)
    return _summarise(values_of_rows(gains, y_true, y_score, label_mask), normalize)


def psndcg_at_k(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    k: int,
    propensities: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    normalize: bool = True,
    ties: Ties = "expected",
) -> float:
    """Propensity-scored discounted gain at k: hits on rare labels count more; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    k : int
        From 1 to the number of labels that count in a row.
    propensities : array-like of shape (n_labels,)
        Probability that a relevant label is observed, from 1e-100 to 1: see `label_propensities`.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    normalize : bool, default=True
        Whether to divide by the greatest value that any scores can reach on these rows, as published tables do.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied labels, or the label of the lower column first.

    Returns
    -------
    float
        In [0, 1] if normalized, NaN where no label is relevant; else at least 0.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, k is out of range,
        a propensity is not between 1e-100 and 1, or an option is unknown.

    Notes
    -----
    Mean over rows of the sum over places i = 1..k of relevance_i / (p_i log2(i + 1)), divided by the sum of
    1 / log2(i + 1); normalized, the ratio of that mean to the one of the scores y_true / p, as in the
    extreme-classification repository. napkinXC divides each row by a sum of min(k, relevant labels) terms instead, so
    that rows with few labels weigh more.

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation, tagging, ranking & other
    missing label applications", KDD 2016.

    Examples
    --------
    >>> psndcg_at_k([[1, 1, 0]], [[0.9, 0.5, 0.2]], 2, [0.8, 0.2, 0.5])
    0.7609096232928763
    """
    gains = _gains(_discounts, k, propensities, ties)
    return _summarise(values_of_rows(gains, y_true, y_score, label_mask), normalize)


def _discounts(k: int) -> Floats:
    discounts: Floats = 1.0 / np.log2(np.arange(2, k + 2))
    return np.asarray(discounts / discounts.sum())


def _gains(
    weigh_places: Callable[[int], Floats], k: int, propensities: ArrayLike, ties: Ties
) -> Callable[[ScoredRows], Floats]:
    """Return what computes, of each row, the gain that is reached and the greatest one."""

    @cache  # for the blocks of a table
    def checked(n_labels: int) -> Floats:
        return _one_per_label(propensities, "propensities", _LEAST, 1, n_labels)

    def reached_and_best(rows: ScoredRows) -> Floats:
        require_places(rows, k)
        gains = rows.true / checked(rows.true.shape[1])
        places = weigh_places(k)
        reached = truth_of_best(gains, sink_masked(rows.score, rows.mask), k, ties) @ places
        return np.column_stack([reached, np.sort(gains, axis=1)[:, : -k - 1 : -1] @ places])

    return reached_and_best


def _summarise(gains: Floats, normalize: bool) -> float:
    reached, best = gains.sum(axis=0).tolist()
    if not normalize:
        return float(reached / len(gains))
    return min(reached / best, 1.0) if best else float("nan")  # the two sums round differently


def _one_per_label(values: ArrayLike, name: str, low: float, high: float, n_labels: int | None = None) -> Floats:
    """Return numbers from `low` to `high`; the row of a matrix, such as sums of a sparse one, is read too."""
    array = check_numbers(getattr(values, "A1", values), name)
    if array.ndim != 1 or n_labels not in (None, array.size):
        count = "" if n_labels is None else f", {n_labels} in all"
        raise ValueError(f"{name} must be one number per label{count}. Got shape {array.shape} instead.")
    wrong = np.flatnonzero(~((array >= low) & (array <= high)))
    if len(wrong):
        raise ValueError(f"{name} must be from {low} to {high}. Got {array[wrong[0]]} for label {wrong[0]} instead.")
    return array.astype(np.float64)
