"""Metrics of label decisions from per-label counts: one number, or a whole curve at once from stacked counts."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from metrics._means import divide, nan_mean
from metrics._typing import Array, Score
from metrics.counts import LabelCounts
from metrics.validation import check_number, check_zero_division, require_choice

Average: TypeAlias = Literal["samples", "micro", "macro"] | None
CountAverage: TypeAlias = Literal["micro", "macro"] | None
Ratio: TypeAlias = Literal["precision", "recall", "fbeta", "jaccard"]

_MAX_BETA = 1e100  # its square times a count must be finite


def hamming_loss_from_counts(counts: LabelCounts) -> Score:
    """Share of wrong cells, from counts; lower is better.

    Parameters
    ----------
    counts : LabelCounts
        Arrays of shape (n_labels,) or (n_checkpoints, n_labels).

    Returns
    -------
    float or ndarray of shape (n_checkpoints,)
        In [0, 1]; NaN where no cell counts.

    Examples
    --------
    >>> from metrics import label_counts
    >>> float(hamming_loss_from_counts(label_counts([[1, 0], [1, 1]], [[1, 1], [1, 1]])))
    0.25
    """
    wrong = (counts.fp + counts.fn).sum(axis=-1)
    return divide(wrong, _cells(counts).sum(axis=-1))[()]


def jaccard_from_counts(counts: LabelCounts, *, average: CountAverage = "macro", zero_division: float = 0.0) -> Score:
    """Labels right over labels true or predicted, from counts; higher is better.

    Parameters
    ----------
    counts : LabelCounts
        Arrays of shape (n_labels,) or (n_checkpoints, n_labels).
    average : {"micro", "macro", None}, default="macro"
        One ratio over all cells; mean over labels; or one value per label. Means over rows need the rows.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such labels out of the mean.

    Returns
    -------
    float or ndarray
        In [0, 1], of the shape of the counts, without the last axis unless average is None.

    Raises
    ------
    ValueError
        If an option is unknown.

    Examples
    --------
    >>> from metrics import label_counts
    >>> float(jaccard_from_counts(label_counts([[1, 0], [1, 1]], [[1, 0], [1, 1]])))
    1.0
    """
    return ratio_from_counts("jaccard", counts, average, zero_division)


def precision_from_counts(counts: LabelCounts, *, average: CountAverage = "macro", zero_division: float = 0.0) -> Score:
    """Share of predicted labels that are true, from counts; higher is better.

    Parameters
    ----------
    counts : LabelCounts
        Arrays of shape (n_labels,) or (n_checkpoints, n_labels).
    average : {"micro", "macro", None}, default="macro"
        One ratio over all cells; mean over labels; or one value per label. Means over rows need the rows.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such labels out of the mean.

    Returns
    -------
    float or ndarray
        In [0, 1], of the shape of the counts, without the last axis unless average is None.

    Raises
    ------
    ValueError
        If an option is unknown.

    Examples
    --------
    >>> from metrics import label_counts
    >>> float(precision_from_counts(label_counts([[1, 0], [1, 1]], [[1, 0], [1, 1]])))
    1.0
    """
    return ratio_from_counts("precision", counts, average, zero_division)


def recall_from_counts(counts: LabelCounts, *, average: CountAverage = "macro", zero_division: float = 0.0) -> Score:
    """Share of true labels that are predicted, from counts; higher is better.

    Parameters
    ----------
    counts : LabelCounts
        Arrays of shape (n_labels,) or (n_checkpoints, n_labels).
    average : {"micro", "macro", None}, default="macro"
        One ratio over all cells; mean over labels; or one value per label. Means over rows need the rows.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such labels out of the mean.

    Returns
    -------
    float or ndarray
        In [0, 1], of the shape of the counts, without the last axis unless average is None.

    Raises
    ------
    ValueError
        If an option is unknown.

    Examples
    --------
    >>> from metrics import label_counts
    >>> float(recall_from_counts(label_counts([[1, 0], [1, 1]], [[1, 0], [1, 1]])))
    1.0
    """
    return ratio_from_counts("recall", counts, average, zero_division)


def f1_from_counts(counts: LabelCounts, *, average: CountAverage = "macro", zero_division: float = 0.0) -> Score:
    """Harmonic mean of precision and recall, from counts; higher is better.

    Parameters
    ----------
    counts : LabelCounts
        Arrays of shape (n_labels,) or (n_checkpoints, n_labels).
    average : {"micro", "macro", None}, default="macro"
        One ratio over all cells; mean over labels; or one value per label. Means over rows need the rows.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such labels out of the mean.

    Returns
    -------
    float or ndarray
        In [0, 1], of the shape of the counts, without the last axis unless average is None.

    Raises
    ------
    ValueError
        If an option is unknown.

    Examples
    --------
    >>> from metrics import label_counts
    >>> float(f1_from_counts(label_counts([[1, 0], [1, 1]], [[1, 0], [1, 1]])))
    1.0
    """
    return fbeta_from_counts(counts, 1.0, average=average, zero_division=zero_division)


def fbeta_from_counts(
    counts: LabelCounts, beta: float, *, average: CountAverage = "macro", zero_division: float = 0.0
) -> Score:
    """Weighted harmonic mean of precision and recall, from counts; higher is better.

    Parameters
    ----------
    counts : LabelCounts
        Arrays of shape (n_labels,) or (n_checkpoints, n_labels).
    beta : float
        How many times as much recall matters as precision, at least 0; see `fbeta`.
    average : {"micro", "macro", None}, default="macro"
        One ratio over all cells; mean over labels; or one value per label. Means over rows need the rows.
    zero_division : {0, 1, nan}, default=0
        Value of 0 / 0; NaN leaves such labels out of the mean.

    Returns
    -------
    float or ndarray
        In [0, 1], of the shape of the counts, without the last axis unless average is None.

    Raises
    ------
    ValueError
        If an option is unknown, or beta is negative or not finite.

    Examples
    --------
    >>> from metrics import label_counts
    >>> float(fbeta_from_counts(label_counts([[1, 1], [1, 1]], [[1, 0], [1, 1]]), 2))
    0.7777777777777778
    """
    return ratio_from_counts("fbeta", counts, average, zero_division, beta)


def ratio_from_counts(
    name: Ratio, counts: LabelCounts, average: CountAverage, zero_division: float, beta: float = 1.0
) -> Score:
    """Compute the ratio of this name; a label without any cell is NaN and left out of means."""
    require_choice(average, "average", ("micro", "macro", None))
    undefined = check_zero_division(zero_division)
    tp, fp, fn, n_cells = counts.tp, counts.fp, counts.fn, _cells(counts)
    if average == "micro":
        tp, fp, fn, n_cells = (part.sum(axis=-1) for part in (tp, fp, fn, n_cells))
    squared = check_number(beta, "beta", low=0.0, high=_MAX_BETA) ** 2
    top, bottom = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "fbeta": ((1 + squared) * tp, (1 + squared) * tp + fp + squared * fn),
        "jaccard": (tp, tp + fp + fn),
    }[name]
    values = np.where(n_cells > 0, divide(top, bottom, zero_division=undefined), np.nan)
    return nan_mean(values) if average == "macro" else values[()]


def _cells(counts: LabelCounts) -> Array:
    return counts.tp + counts.fp + counts.fn + counts.tn
