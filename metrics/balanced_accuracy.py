"""Balanced accuracy of predicted labels, with conventions for labels that have one class only."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from metrics._means import divide, nan_mean
from metrics._typing import LabelMatrix, Score
from metrics.counts import LabelCounts, label_counts
from metrics.validation import require_choice

OneClass: TypeAlias = Literal["skip", "recall", "river"]


def ba_macro(
    y_true: LabelMatrix, y_pred: LabelMatrix, *, label_mask: ArrayLike | None = None, one_class: OneClass = "skip"
) -> float:
    """Average balanced accuracy over labels; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    one_class : {"skip", "recall", "river"}, default="skip"
        Score of a label whose true values are all 0 or all 1, for which balanced accuracy is not defined. "skip" leaves
        the label out, "recall" takes the recall of its only class, and "river" divides that recall by the number of
        classes among true and predicted values, as River does up to 0.21.

    Returns
    -------
    float
        In [0, 1]; 0.5 is chance level where every label has two classes. NaN if no label can be scored.

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, or the mask keeps nothing.

    Notes
    -----
    BA of a label is (tp / (tp + fn) + tn / (tn + fp)) / 2. Under "river" a constant prediction gets
    1 on a label that never varies, so that it can score far above 0.5 (0.64 on Reuters-K500): report the option
    beside such a number.

    References
    ----------
    K. H. Brodersen et al., "The balanced accuracy and its posterior distribution", ICPR 2010.

    Examples
    --------
    >>> ba_macro([[1, 0], [0, 0], [1, 1]], [[1, 0], [0, 1], [0, 1]])
    0.75
    """
    return float(ba_macro_from_counts(label_counts(y_true, y_pred, label_mask=label_mask), one_class=one_class))


def ba_macro_from_counts(counts: LabelCounts, *, one_class: OneClass = "skip") -> Score:
    """Average balanced accuracy over labels from counts; higher is better.

    Parameters
    ----------
    counts : LabelCounts
        Arrays of shape (n_labels,) or (n_checkpoints, n_labels).
    one_class : {"skip", "recall", "river"}, default="skip"
        See `ba_macro`.

    Returns
    -------
    float or ndarray of shape (n_checkpoints,)
        In [0, 1]; NaN where no label can be scored.

    Raises
    ------
    ValueError
        If `one_class` is not one of the three.

    Examples
    --------
    >>> float(ba_macro_from_counts(label_counts([[1, 0], [0, 1]], [[1, 0], [0, 0]])))
    0.75
    """
    require_choice(one_class, "one_class", ("skip", "recall", "river"))
    tp, fp, fn, tn = counts.tp, counts.fp, counts.fn, counts.tn
    recalls = np.stack([divide(tp, tp + fn), divide(tn, tn + fp)], axis=-1)
    if one_class == "skip":
        return nan_mean(recalls.mean(axis=-1))
    if one_class == "recall":
        return nan_mean(nan_mean(recalls))
    n_classes = (tp + fn + fp > 0).astype(np.int64) + (tn + fp + fn > 0)
    return nan_mean(divide(np.nansum(recalls, axis=-1), n_classes))
