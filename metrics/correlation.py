"""Correlation of predicted and true labels: Matthews correlation coefficient."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from metrics._means import divide, nan_mean
from metrics._typing import LabelMatrix, Score
from metrics.counts import LabelCounts, label_counts
from metrics.from_counts import CountAverage
from metrics.validation import require_choice


def mcc(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    label_mask: ArrayLike | None = None,
    average: CountAverage = "macro",
) -> Score:
    """Matthews correlation coefficient of true and predicted labels; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"macro", "micro", None}, default="macro"
        Mean over labels; one coefficient of all cells; or one value per label.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [-1, 1]; 0 is chance level. NaN if no label can be scored.

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or an option is unknown.

    Notes
    -----
    (tp tn - fp fn) / sqrt((tp + fp) (tp + fn) (tn + fp) (tn + fn)). A label whose true values are all 0 or all 1 has no
    coefficient: it is left out of the mean, as in `ba_macro`. One that has both, but whose predictions are all the
    same, has 0, as in scikit-learn.

    References
    ----------
    B. W. Matthews, "Comparison of the predicted and observed secondary structure of T4 phage lysozyme", Biochimica et
    Biophysica Acta 405(2), 1975.

    Examples
    --------
    >>> round(mcc([[1, 0], [0, 0], [1, 1]], [[1, 0], [0, 1], [0, 1]]), 3)
    0.5
    """
    score = mcc_from_counts(label_counts(y_true, y_pred, label_mask=label_mask), average=average)
    return score if average is None else float(score)


def mcc_from_counts(counts: LabelCounts, *, average: CountAverage = "macro") -> Score:
    """Matthews correlation coefficient from counts; higher is better.

    Parameters
    ----------
    counts : LabelCounts
        Arrays of shape (n_labels,) or (n_checkpoints, n_labels).
    average : {"macro", "micro", None}, default="macro"
        Mean over labels; one coefficient of all cells; or one value per label.

    Returns
    -------
    float or ndarray
        In [-1, 1], of the shape of the counts, without the last axis unless average is None; NaN where no label can be
        scored.

    Raises
    ------
    ValueError
        If an option is unknown.

    Examples
    --------
    >>> float(mcc_from_counts(label_counts([[1, 0], [0, 1]], [[1, 0], [0, 0]])))
    0.5
    """
    require_choice(average, "average", ("macro", "micro", None))
    # floats, because products of four counts overflow integers
    parts = (np.asarray(part, dtype=np.float64) for part in (counts.tp, counts.fp, counts.fn, counts.tn))
    tp, fp, fn, tn = (part.sum(axis=-1) for part in parts) if average == "micro" else parts
    spread = np.sqrt((tp + fp) * (tn + fn)) * np.sqrt((tp + fn) * (tn + fp))
    values = divide(tp * tn - fp * fn, spread, zero_division=0.0)
    values = np.where((tp + fn) * (tn + fp) > 0, values, np.nan)
    return nan_mean(values) if average == "macro" else values[()]
