"""Scores of a stream's order: how far labels persist from row to row, and what a learner gains over repeating them.

Rows are in stream order. The no-change predictor repeats the last value of each label among the cells before a row that
count and are known; before the first such cell it predicts that the label is absent.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import read_indicator, read_mask, row_blocks
from metrics._means import divide, nan_mean
from metrics._typing import Floats, Indicator, LabelMatrix, Score
from metrics.validation import check_indicator, check_same_shape, check_truth, require_choice


class LabelPersistence(NamedTuple):
    """How far labels persist from row to row.

    Attributes
    ----------
    subset_accuracy : float
        Share of rows whose labels all equal the last ones.
    mean_kappa : float
        Mean of `kappa` over the labels for which it is defined.
    kappa : ndarray of shape (n_labels,)
        Agreement of each label with its last value beyond chance.
    """

    subset_accuracy: float
    mean_kappa: float
    kappa: np.ndarray


class _Block(NamedTuple):
    """Rows in order: truth, the last values before each row, the cells that count, and those with a value before."""

    rows: slice
    true: NDArray[np.uint8]
    last: NDArray[np.uint8]
    counted: NDArray[np.bool_]
    repeated: NDArray[np.bool_]


def no_change_predictions(y_true: "LabelMatrix", *, label_mask: "ArrayLike | None" = None) -> "NDArray[np.uint8]":
    """Predict that each label keeps the last value it had in the rows before.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels in stream order, 0 or 1; NaN where unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count: a value that does not count is not repeated.

    Returns
    -------
    ndarray of uint8, shape (n_samples, n_labels)
        Last known value of each label before each row; 0 before the first.

    Raises
    ------
    ValueError
        If a true value is not 0, 1 or NaN, the array is empty, or the mask keeps nothing.

    Notes
    -----
    `estimators.LastLabelsClassifier`, learning from every row, predicts the same where all labels are known.

    References
    ----------
    A. Bifet, J. Read, I. Žliobaitė, B. Pfahringer, G. Holmes, "Pitfalls in benchmarking data stream classification and
    how to avoid them", ECML-PKDD 2013.

    Examples
    --------
    >>> no_change_predictions([[1, 0], [float("nan"), 1], [0, 0]])
    array([[0, 0],
           [1, 0],
           [1, 1]], dtype=uint8)
    """
    truth, mask = check_truth(y_true, label_mask)
    return np.concatenate([block.last for block in _in_order(truth, mask)])


def kappa_temporal(
    y_true: "LabelMatrix",
    y_pred: "LabelMatrix",
    *,
    label_mask: "ArrayLike | None" = None,
    average: Literal["subset", "macro"] | None = "subset",
) -> Score:
    """Accuracy beyond that of repeating the last labels; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels in stream order, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count. A value that does not count is not repeated either.
    average : {"subset", "macro", None}, default="subset"
        Accuracy of whole rows (subset accuracy); mean over labels of the score of each; or one score per label.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        At most 1, for a perfect prediction; 0 for the no-change predictor, below 0 for worse. NaN where the no-change
        predictor makes no mistake, so that nothing can be gained; such labels are left out of the mean.

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or an option is unknown.

    Notes
    -----
    (p - p_n) / (1 - p_n), with p the accuracy of y_pred and p_n that of `no_change_predictions`; equally, one minus the
    ratio of their numbers of mistakes. The source defines it for one class a row. Scores of one stretch of rows and of
    its parts do not average: the last values at the start of a part are those that the part itself holds.

    References
    ----------
    A. Bifet, J. Read, I. Žliobaitė, B. Pfahringer, G. Holmes, "Pitfalls in benchmarking data stream classification and
    how to avoid them", ECML-PKDD 2013.

    I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer, G. Holmes, "Evaluation methods and decision theory for
    classification of streaming data with temporal dependence", Machine Learning 98, 2015.

    Examples
    --------
    Repeating the last labels is wrong in rows 1 and 4, the prediction in row 4 only.

    >>> kappa_temporal([[1, 0], [1, 0], [1, 0], [0, 1]], [[1, 0], [1, 0], [1, 0], [1, 0]])
    0.5
    """
    require_choice(average, "average", ("subset", "macro", None))
    truth, mask = check_truth(y_true, label_mask)
    prediction = check_indicator(y_pred, "y_pred")
    check_same_shape(truth, prediction, "y_pred")
    mistakes: Any = 0
    for block in _in_order(truth, mask):
        predicted = read_indicator(prediction, block.rows, "y_pred")
        mistakes += np.array([_mistakes(block, other, average == "subset") for other in (predicted, block.last)])
    scores = 1.0 - divide(*mistakes)
    return scores if average is None else float(nan_mean(scores))


def label_persistence(y_true: "LabelMatrix", *, label_mask: "ArrayLike | None" = None) -> LabelPersistence:
    """Measure how far labels persist from row to row: what a learner gets for repeating the last labels.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels in stream order, 0 or 1; NaN where unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    LabelPersistence
        Subset accuracy of `no_change_predictions` in [0, 1], and the agreement of each label with its last value beyond
        chance, in [-1, 1]: 1 for a label that hardly ever changes, about 0 in a stream whose rows are independent,
        below 0 for one that alternates. NaN for a label that has one value only.

    Raises
    ------
    ValueError
        If a true value is not 0, 1 or NaN, the array is empty, or the mask keeps nothing.

    Notes
    -----
    The agreement is Cohen's kappa of the pairs of a label's value and its last one. Compare the subset accuracy with
    that of the same rows shuffled: frequent label sets repeat by chance.

    References
    ----------
    A. Bifet, J. Read, I. Žliobaitė, B. Pfahringer, G. Holmes, "Pitfalls in benchmarking data stream classification and
    how to avoid them", ECML-PKDD 2013.

    J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20(1), 1960.

    Examples
    --------
    >>> sorted_rows = [[1, 0]] * 5 + [[0, 1]] * 5
    >>> persistence = label_persistence(sorted_rows)
    >>> persistence.subset_accuracy, persistence.kappa.round(2)
    (0.8, array([0.78, 0.78]))
    """
    truth, mask = check_truth(y_true, label_mask)
    n_rows = n_wrong = 0
    pairs: Any = 0
    for block in _in_order(truth, mask):
        n_rows += int(block.counted.any(axis=1).sum())
        n_wrong += int(_mistakes(block, block.last, rows=True)[0])
        now, before = block.true & block.repeated, block.last & block.repeated
        pairs += np.array([part.sum(axis=0, dtype=np.int64) for part in (block.repeated, now, before, now & before)])
    kappa = _cohen_kappa(*pairs)
    return LabelPersistence(1.0 - n_wrong / n_rows, float(nan_mean(kappa)), kappa)


def _in_order(truth: Indicator, mask: NDArray[np.uint8] | None) -> Iterator[_Block]:
    """Yield the rows block by block, each row with the last values before it."""
    n_labels = truth.shape[1]
    last, seen = np.zeros(n_labels, np.uint8), np.zeros(n_labels, np.bool_)
    for rows in row_blocks(truth.shape):
        true = read_indicator(truth, rows, "y_true")
        counted = np.broadcast_to(True if mask is None else read_mask(mask, rows).view(np.bool_), true.shape)
        values = np.vstack([last, true])
        # Row i holds the place in `values` of the last cell that counts among the rows up to i; 0 is the carried value.
        places = np.maximum.accumulate(np.where(counted, np.arange(1, len(true) + 1)[:, None], 0))
        before = np.vstack([np.zeros((1, n_labels), np.intp), places[:-1]])
        yield _Block(rows, true, np.take_along_axis(values, before, axis=0), counted, counted & (seen | (before > 0)))
        last, seen = np.take_along_axis(values, places[-1:], axis=0)[0], seen | counted.any(axis=0)


def _mistakes(block: _Block, other: NDArray[np.uint8], rows: bool) -> NDArray[np.int64]:
    """Count the rows with a mistake, or the mistakes of each label."""
    wrong = (block.true != other) & block.counted
    count: NDArray[np.int64] = (wrong.any(axis=1, keepdims=True) if rows else wrong).sum(axis=0)
    return count


def _cohen_kappa(
    n: NDArray[np.int64], n_now: NDArray[np.int64], n_before: NDArray[np.int64], n_both: NDArray[np.int64]
) -> Floats:
    """Agreement beyond chance of pairs of 0/1 values; NaN where chance alone agrees always."""
    observed = (n - n_now - n_before + 2 * n_both) * n
    by_chance = n_now * n_before + (n - n_now) * (n - n_before)
    return divide(observed - by_chance, n * n - by_chance)
