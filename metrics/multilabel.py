"""Metrics of predicted labels that follow from counts of right and wrong cells, per label or per row.

Conventions of the whole file. A cell that `label_mask` leaves out does not exist: a label without cells is left out of
means over labels (and is NaN where labels are returned one by one), a row without cells is left out of means over rows.
A mean over no value is NaN. 0 / 0 is `zero_division`, as in scikit-learn but without a warning.
"""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from metrics import from_counts
from metrics._means import mean_of_blocks
from metrics._overlap import row_overlaps
from metrics._typing import LabelMatrix, Score
from metrics.counts import counts_of, label_counts
from metrics.from_counts import Average, Ratio
from metrics.validation import require_choice


def hamming_loss(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    label_mask: ArrayLike | None = None,
    average: Literal["micro", "samples"] = "micro",
) -> float:
    """Share of wrong cells; lower is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"micro", "samples"}, default="micro"
        One share of all cells that count, or the mean over rows of the share of each row.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or an option is unknown.

    Notes
    -----
    (fp + fn) / number of cells that count. Where every row has as many of these, as without a mask, both averages
    are equal and are the published definition. Where not, "micro" pools the cells, so that a row of a task with many
    labels weighs more than one of a task with few; with "samples" all rows weigh the same.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, "Mining multi-label data", 2010.

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    0.25
    >>> mask = [[True, False], [True, True]]
    >>> hamming_loss([[1, 0], [1, 1]], [[0, 0], [1, 1]], label_mask=mask, average="samples")
    0.5
    """
    require_choice(average, "average", ("micro", "samples"))
    if average == "micro":
        return float(from_counts.hamming_loss_from_counts(label_counts(y_true, y_pred, label_mask=label_mask)))
    rows = row_overlaps(y_true, y_pred, label_mask)
    return mean_of_blocks((true + pred - 2 * both) / counted for both, true, pred, counted in rows)


def subset_accuracy(y_true: LabelMatrix, y_pred: LabelMatrix, *, label_mask: ArrayLike | None = None) -> float:
    """Share of rows whose labels are all right; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or an option is unknown.

    Notes
    -----
    Also called exact match. Rows without a cell that counts are left out.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, "Mining multi-label data", 2010.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    0.5
    """
    rows = row_overlaps(y_true, y_pred, label_mask)
    return mean_of_blocks((both == true) & (both == pred) for both, true, pred, _ in rows)


def jaccard(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    label_mask: ArrayLike | None = None,
    average: Average = "samples",
    zero_division: float = 0.0,
) -> Score:
    """Labels right over labels true or predicted; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"samples", "micro", "macro", None}, default="samples"
        Mean over rows; one ratio over all cells; mean over labels; or one value per label.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such rows or labels out of the mean.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or an option is unknown.

    Notes
    -----
    tp / (tp + fp + fn). With average="samples" this is ``|Y & P| / |Y | P|`` per row, the Jaccard similarity that
    Godbole and Sarawagi call accuracy.

    References
    ----------
    S. Godbole, S. Sarawagi, "Discriminative methods for multi-labeled classification", PAKDD 2004.

    Examples
    --------
    >>> jaccard([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    0.75
    """
    return _decide("jaccard", y_true, y_pred, label_mask, average, zero_division)


def precision(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    label_mask: ArrayLike | None = None,
    average: Average = "samples",
    zero_division: float = 0.0,
) -> Score:
    """Share of predicted labels that are true; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"samples", "micro", "macro", None}, default="samples"
        Mean over rows; one ratio over all cells; mean over labels; or one value per label.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such rows or labels out of the mean.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or an option is unknown.

    Notes
    -----
    tp / (tp + fp). MOA's multi-label evaluator calls the recall precision.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, "Mining multi-label data", 2010.

    Examples
    --------
    >>> precision([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    0.75
    """
    return _decide("precision", y_true, y_pred, label_mask, average, zero_division)


def recall(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    label_mask: ArrayLike | None = None,
    average: Average = "samples",
    zero_division: float = 0.0,
) -> Score:
    """Share of true labels that are predicted; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"samples", "micro", "macro", None}, default="samples"
        Mean over rows; one ratio over all cells; mean over labels; or one value per label.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such rows or labels out of the mean.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or an option is unknown.

    Notes
    -----
    tp / (tp + fn). MOA's multi-label evaluator reports it under the name of precision.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, "Mining multi-label data", 2010.

    Examples
    --------
    >>> recall([[1, 1], [1, 1]], [[1, 0], [1, 1]])
    0.75
    """
    return _decide("recall", y_true, y_pred, label_mask, average, zero_division)


def f1(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    label_mask: ArrayLike | None = None,
    average: Average = "samples",
    zero_division: float = 0.0,
) -> Score:
    """Harmonic mean of precision and recall; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"samples", "micro", "macro", None}, default="samples"
        Mean over rows; one ratio over all cells; mean over labels; or one value per label.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such rows or labels out of the mean.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or an option is unknown.

    Notes
    -----
    2 tp / (2 tp + fp + fn), so that 0 / 0 arises only where nothing is true and nothing predicted. With
    average="macro" it is the mean of the labels' F1, not the F1 of mean precision and mean recall.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, "Mining multi-label data", 2010.

    Examples
    --------
    >>> round(f1([[1, 0], [1, 1]], [[1, 1], [1, 1]]), 3)
    0.833
    """
    return _decide("fbeta", y_true, y_pred, label_mask, average, zero_division)


def fbeta(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    beta: float,
    *,
    label_mask: ArrayLike | None = None,
    average: Average = "samples",
    zero_division: float = 0.0,
) -> Score:
    """Weighted harmonic mean of precision and recall; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    beta : float
        How many times as much recall matters as precision, at least 0: 1 gives `f1`, 0 gives `precision`.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"samples", "micro", "macro", None}, default="samples"
        Mean over rows; one ratio over all cells; mean over labels; or one value per label.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such rows or labels out of the mean.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, an option is unknown, or
        beta is negative or not finite.

    Notes
    -----
    (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp), as scikit-learn's `fbeta_score`. With average="macro" it
    is the mean over labels.

    References
    ----------
    C. J. van Rijsbergen, "Information retrieval", chapter 7, 1979.

    Examples
    --------
    >>> round(fbeta([[1, 0], [1, 1]], [[1, 1], [1, 1]], 2), 3), round(fbeta([[1, 0], [1, 1]], [[1, 1], [1, 1]], 0.5), 3)
    (0.917, 0.778)
    """
    return _decide("fbeta", y_true, y_pred, label_mask, average, zero_division, beta)


def _decide(
    name: Ratio,
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    label_mask: ArrayLike | None,
    average: Average,
    zero_division: float,
    beta: float = 1.0,
) -> Score:
    require_choice(average, "average", ("samples", "micro", "macro", None))
    if average != "samples":
        counts = label_counts(y_true, y_pred, label_mask=label_mask)
        score = from_counts.ratio_from_counts(name, counts, average, zero_division, beta)
        return score if average is None else float(score)
    rows = (counts_of(block) for block in row_overlaps(y_true, y_pred, label_mask))
    return mean_of_blocks(from_counts.ratio_from_counts(name, block, None, zero_division, beta) for block in rows)
