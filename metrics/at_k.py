"""Metrics of the k best-scored labels of each row.

Conventions of the whole file. Every metric is a mean over rows. A cell that `label_mask` leaves out does not exist, and
a row without cells is left out. Where scores tie, the value is the mean over all orders of the tied labels, so that the
order of columns does not matter (F. McSherry, M. Najork, "Computing information retrieval performance measures
efficiently in the presence of tied scores", ECIR 2008). With ``ties="order"`` the label of the lower column comes
first, which published tables take. Scores must be finite, in masked cells too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import row_sums
from metrics._means import divide, mean_of_blocks
from metrics._overlap import Overlap, row_overlaps
from metrics._ranks import ScoredRows, hits_of_best, mean_over_rows, sink_masked, truth_of_best
from metrics._typing import Floats, LabelMatrix, Ties
from metrics.validation import check_k, check_truth, check_zero_division


def precision_at_k(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    k: int,
    *,
    label_mask: ArrayLike | None = None,
    ties: Ties = "expected",
) -> float:
    """Share of relevant labels among the k best-scored ones, mean over rows; higher is better.

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
    float
        In [0, 1]. A row with fewer than k relevant labels cannot reach 1: see `precision_at_k_maximum`.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, k is out of range,
        or an option is unknown.

    Notes
    -----
    ``|top-k labels & relevant labels| / k``. By default, if m labels tie for the last j places, each of them counts
    j / m. Only relevant labels count: crediting confident absences is another metric, see
    `confident_accuracy_at_k`.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", section 8.4, 2008.

    Examples
    --------
    >>> precision_at_k([[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.2], [0.1, 0.8, 0.7]], 2)
    0.5
    """
    return mean_over_rows(lambda rows: precision_of_best(rows, k, ties), y_true, y_score, label_mask)


def precision_at_k_maximum(y_true: LabelMatrix, k: int, *, label_mask: ArrayLike | None = None) -> float:
    """Greatest precision at k that any scores can reach on these rows; print it beside `precision_at_k`.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    k : int
        From 1 to the number of labels that count in a row.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float
        In [0, 1]; 1 if every row has at least k relevant labels.

    Raises
    ------
    ValueError
        If a true value is not 0, 1 or NaN, the array is empty, or k is out of range.

    Notes
    -----
    Mean over rows of ``min(k, |relevant labels|) / k``. The truth, passed as scores, reaches it, however ties are
    counted.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", section 8.4, 2008.

    Examples
    --------
    >>> precision_at_k_maximum([[1, 0, 0], [1, 1, 0]], 2)
    0.75
    """

    def share(rows: Overlap, n_labels: int) -> Floats:
        _check_k(k, n_labels, rows.counted)
        return np.minimum(rows.true, k) / k

    truth, mask = check_truth(y_true, label_mask)
    counted = None if mask is None else mask.view(np.bool_)
    return mean_of_blocks(share(rows, truth.shape[1]) for rows in row_overlaps(truth, truth, counted))


def recall_at_k(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    k: int,
    *,
    label_mask: ArrayLike | None = None,
    zero_division: float = 0.0,
    ties: Ties = "expected",
) -> float:
    """Share of the relevant labels that are among the k best-scored ones, mean over rows; higher is better.

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
    zero_division : {0, 1, nan}, default=0
        Value of a row without a relevant label; NaN leaves such rows out.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied labels, or the label of the lower column first.

    Returns
    -------
    float
        In [0, 1]; NaN if no row is left.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, k is out of range,
        or an option is unknown.

    Notes
    -----
    ``|top-k labels & relevant labels| / |relevant labels|``.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", section 8.4, 2008.

    Examples
    --------
    >>> recall_at_k([[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.2], [0.1, 0.8, 0.7]], 2)
    0.75
    """
    undefined = check_zero_division(zero_division)

    def recall(rows: ScoredRows) -> Floats:
        return divide(_hits(rows, k, ties), row_sums(rows.true), zero_division=undefined)

    return mean_over_rows(recall, y_true, y_score, label_mask)


def ndcg_at_k(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    k: int,
    *,
    label_mask: ArrayLike | None = None,
    zero_division: float = 0.0,
    ties: Ties = "expected",
) -> float:
    """Discounted gain of the k best-scored labels over the best possible one, mean over rows; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1: the gains; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    k : int
        From 1 to the number of labels that count in a row.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    zero_division : {0, 1, nan}, default=0
        Value of a row without a relevant label; NaN leaves such rows out.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied labels, or the label of the lower column first.

    Returns
    -------
    float
        In [0, 1]; NaN if no row is left.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, k is out of range,
        or an option is unknown.

    Notes
    -----
    DCG = sum over places i = 1..k of relevance_i / log2(i + 1), divided by the DCG of a perfect ranking.
    Tied labels share their mean gain by default, as in scikit-learn's `ndcg_score`.

    References
    ----------
    K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    Examples
    --------
    >>> ndcg_at_k([[0, 1, 0]], [[0.9, 0.5, 0.2]], 2)
    0.6309297535714575
    """
    undefined = check_zero_division(zero_division)

    def gain(rows: ScoredRows) -> Floats:
        require_places(rows, k)
        best = truth_of_best(rows.true, sink_masked(rows.score, rows.mask), k, ties)
        discounts = 1.0 / np.log2(np.arange(2, k + 2))
        ideal = np.concatenate([[0.0], discounts.cumsum()])[np.minimum(row_sums(rows.true), k)]
        share = divide(best @ discounts, ideal, zero_division=undefined)
        return np.minimum(share, 1.0)  # the two sums round differently

    return mean_over_rows(gain, y_true, y_score, label_mask)


def confident_accuracy_at_k(
    y_true: LabelMatrix,
    y_prob: ArrayLike,
    k: int,
    *,
    label_mask: ArrayLike | None = None,
    ties: Ties = "expected",
) -> float:
    """Share of right decisions among the k labels of greatest confidence, mean over rows; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_prob : array-like of shape (n_samples, n_labels)
        Probabilities that the label is 1, in [0, 1].
    k : int
        From 1 to the number of labels that count in a row.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    ties : {"expected", "order"}, default="expected"
        Where scores tie, the mean over all orders of the tied labels, or the label of the lower column first.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a probability leaves [0, 1], an array is empty, k is out of
        range, or an option is unknown.

    Notes
    -----
    Confidence is max(p, 1 - p), and the decision is 1 where p >= 0.5. Labels of equal confidence tie. The code
    published with the continual multi-label benchmark calls this precision at k: a confident absence is as good as a
    confident presence, so that rare labels make it close to 1 for a model that has learnt nothing.

    Examples
    --------
    >>> confident_accuracy_at_k([[1, 0, 0]], [[0.6, 0.1, 0.7]], 2)
    0.5
    """

    def accuracy(rows: ScoredRows) -> Floats:
        require_places(rows, k)
        confidence = np.subtract(1, rows.score, dtype=np.float64)
        np.maximum(confidence, rows.score, out=confidence)
        right = ((rows.score >= 0.5) == rows.true.view(np.bool_)).view(np.uint8)
        return hits_of_best(right, sink_masked(confidence, rows.mask), k, ties) / k

    return mean_over_rows(accuracy, y_true, y_prob, label_mask, probabilities=True)


def precision_of_best(rows: ScoredRows, k: int, ties: Ties) -> Floats:
    """Share of relevant labels among the `k` best-scored ones of each row."""
    return _hits(rows, k, ties) / k


def _check_k(k: int, n_labels: int, n_counted: NDArray[np.int64]) -> None:
    check_k(k, n_labels)
    if len(n_counted) and k > n_counted.min():
        raise ValueError(
            f"k must be at most the number of labels that count in every row. "
            f"Got k = {k} and a row with {n_counted.min()} instead."
        )


def require_places(rows: ScoredRows, k: int) -> None:
    """Raise a ValueError unless `k` labels count in each row."""
    _check_k(k, rows.true.shape[1], rows.n_counted)


def _hits(rows: ScoredRows, k: int, ties: Ties) -> Floats:
    require_places(rows, k)
    return hits_of_best(rows.true, sink_masked(rows.score, rows.mask), k, ties)
