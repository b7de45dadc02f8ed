"""Metrics of label scores: quality of the ranking of the labels of each row, and errors of the scores.

Conventions of the whole file. Every metric is a mean over rows. A cell that `label_mask` leaves out does not exist, and
a row without cells is left out. `coverage`, `ranking_loss` and `lrap` are pessimistic under ties: a label ranks below
every label that ties with it. Scores must be finite, in masked cells too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import row_sums
from metrics._means import divide
from metrics._ranks import ScoredRows, hits_of_best, infinite_where_zero, mean_over_rows, rank, sink_masked
from metrics._typing import Floats, LabelMatrix, Ties


def rmse(y_true: LabelMatrix, y_score: ArrayLike, *, label_mask: ArrayLike | None = None) -> float:
    """Root of the mean squared error of each row's scores, mean over rows; lower is better.

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
    float
        At least 0, and at most 1 if scores are probabilities.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, or an array is empty.

    Notes
    -----
    Mean over rows of sqrt(mean over labels of (score - truth)^2). The root is taken per row, so that the value is at
    most the root of the mean over all cells, which scikit-learn, River and others call RMSE.

    References
    ----------
    Hugo Peuzet, Pascale Kuntz, Frank Meyer, Vincent Lemaire, Killian Le Mau, "Apprentissage multi-labels et
    multi-tâches en continu pour données tabulaires", EGC 2025.

    Examples
    --------
    >>> rmse([[1, 0], [1, 1]], [[0.5, 0.5], [1.0, 1.0]])
    0.25
    """
    return mean_over_rows(root_mean_square, y_true, y_score, label_mask)


def one_error(
    y_true: LabelMatrix, y_score: ArrayLike, *, label_mask: ArrayLike | None = None, ties: Ties = "expected"
) -> float:
    """Share of rows whose best-scored label is not relevant; lower is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied labels, or the label of the lower column first.

    Returns
    -------
    float
        In [0, 1]. A row without a relevant label is always an error.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, or an option is
        unknown.

    Notes
    -----
    One minus `precision_at_k` with k = 1.

    References
    ----------
    R. E. Schapire, Y. Singer, "BoosTexter", Machine Learning 39, 2000.

    Examples
    --------
    >>> one_error([[1, 0], [1, 0]], [[0.8, 0.3], [0.2, 0.6]])
    0.5
    """

    def error(rows: ScoredRows) -> Floats:
        return 1.0 - hits_of_best(rows.true, sink_masked(rows.score, rows.mask), 1, ties)

    return mean_over_rows(error, y_true, y_score, label_mask)


def coverage(y_true: LabelMatrix, y_score: ArrayLike, *, label_mask: ArrayLike | None = None) -> float:
    """Places of the ranking needed to cover every relevant label, mean over rows; lower is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float
        In [0, n_labels]; at best the mean number of relevant labels. A row without a relevant label counts 0.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, or an array is empty.

    Notes
    -----
    Number of labels that score at least as high as the worst-scored relevant label, as scikit-learn's `coverage_error`:
    labels that tie with it are counted, so that equal scores for all labels give the worst value.
    Schapire and Singer, and MULAN, count from 0: subtract 1 (where every row has a relevant label).

    References
    ----------
    R. E. Schapire, Y. Singer, "BoosTexter", Machine Learning 39, 2000.

    Examples
    --------
    >>> coverage([[1, 0, 1]], [[0.9, 0.5, 0.2]])
    3.0
    """
    return mean_over_rows(_depth, y_true, y_score, label_mask)


def ranking_loss(y_true: LabelMatrix, y_score: ArrayLike, *, label_mask: ArrayLike | None = None) -> float:
    """Share of pairs of a relevant and an irrelevant label in the wrong order, mean over rows; lower is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float
        In [0, 1]. A row whose labels are all relevant or all irrelevant has no pair and counts 0.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, or an array is empty.

    Notes
    -----
    Tied pairs count as wrong, as in scikit-learn's `label_ranking_loss`.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, "Mining multi-label data", 2010.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.5, 0.2]])
    0.5
    """

    def loss(rows: ScoredRows) -> Floats:
        ranking = rank(rows.true, sink_masked(rows.score, rows.mask))
        wrong = (ranking.true * (ranking.n_at_least - ranking.n_relevant_at_least)).sum(axis=1)
        n_relevant = row_sums(rows.true)
        return divide(wrong, n_relevant * (rows.n_counted - n_relevant), zero_division=0.0)

    return mean_over_rows(loss, y_true, y_score, label_mask)


def lrap(y_true: LabelMatrix, y_score: ArrayLike, *, label_mask: ArrayLike | None = None) -> float:
    """Label ranking average precision: precision down to each relevant label, mean over rows; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float
        In (0, 1]. A row without a relevant label counts 1.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, or an array is empty.

    Notes
    -----
    Mean over relevant labels of (relevant labels that score at least as high) / (labels that score at least as high),
    as scikit-learn's `label_ranking_average_precision_score`. Irrelevant labels that tie with a relevant one rank above
    it.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, "Mining multi-label data", 2010.

    Examples
    --------
    >>> lrap([[1, 0, 1]], [[0.9, 0.5, 0.2]])
    0.8333333333333333
    """
    return mean_over_rows(lambda rows: precision_of_rows(rows, 1.0), y_true, y_score, label_mask)


def precision_of_rows(rows: ScoredRows, undefined: float) -> Floats:
    """Average precision of the ranking of each row; `undefined` for one without a relevant label."""
    ranking = rank(rows.true, sink_masked(rows.score, rows.mask))
    purity = (ranking.true * (ranking.n_relevant_at_least / ranking.n_at_least)).sum(axis=1)
    return divide(purity, row_sums(rows.true), zero_division=undefined)


def root_mean_square(rows: ScoredRows) -> Floats:
    """Root of the mean squared error of each row."""
    errors = np.subtract(rows.score, rows.true, dtype=np.float64)
    if rows.mask is not None:
        errors *= rows.mask
    squares: Floats = np.einsum("ij,ij->i", errors, errors)
    return np.sqrt(squares / rows.n_counted)


def _depth(rows: ScoredRows) -> NDArray[np.int64]:
    relevant = infinite_where_zero(rows.true, rows.score.dtype)
    relevant += rows.score
    worst = relevant.min(axis=1, keepdims=True)
    at_least = sink_masked(rows.score, rows.mask) >= worst
    return row_sums(at_least.view(np.uint8))
