"""Areas under curves over all thresholds: ROC-AUC and average precision, of each label, each row, or all cells at once.

Conventions of the whole file. A cell that `label_mask` leaves out does not exist. A label (or row) for which the area
is not defined is left out of the mean, and is NaN among the values of labels; a mean over none is NaN. Cells whose
scores tie pass a threshold together, so that their order does not matter. Scores must be finite, in masked cells too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import read_indicator, read_mask, read_scores, row_blocks, row_sums
from metrics._means import divide, nan_mean
from metrics._ranks import ScoredRows, mean_over_rows, rank, sink_masked
from metrics._typing import Floats, LabelMatrix, Score
from metrics.ranking import precision_of_rows
from metrics.validation import check_same_shape, check_scores, check_truth, require_choice

AreaAverage: TypeAlias = Literal["macro", "micro", "samples"] | None
_Scores: TypeAlias = NDArray[np.floating[Any]]
_LEFT_OUT = np.uint8(2)
_TALL = 2**16  # rows; columns of more are read eight at a time, as the processor fetches them


class _Classes(NamedTuple):
    """Sorted scores of the cells that are 0, and of those that are 1."""

    zeros: _Scores
    ones: _Scores


def roc_auc(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    average: AreaAverage = "macro",
) -> Score:
    """Area under the ROC curve; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"macro", "micro", "samples", None}, default="macro"
        Mean over labels; one value of all cells at once; mean over rows; or one value per label.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1]; 0.5 is chance level. NaN if none has both classes.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, the mask keeps
        nothing, or an option is unknown.

    Notes
    -----
    Share of pairs of a 1 and a 0 of which the 1 has the greater score; tied pairs count half. A label (or row) without
    both classes among the cells that count is left out. Where all labels have both, values are those of scikit-learn's
    `roc_auc_score`, which raises an error or returns NaN if any label lacks one.

    References
    ----------
    J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver operating characteristic (ROC) curve",
    Radiology 143(1), 1982.

    Examples
    --------
    The second label is never there:

    >>> Y, scores = [[1, 0], [0, 0], [1, 0]], [[0.9, 0.1], [0.3, 0.2], [0.3, 0.1]]
    >>> roc_auc(Y, scores)
    0.75
    >>> roc_auc(Y, scores, average=None)
    array([0.75,  nan])
    """
    return _average(_roc_of_classes, _roc_of_rows, y_true, y_score, label_mask, average)


def average_precision(
    y_true: LabelMatrix,
    y_score: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    average: AreaAverage = "macro",
) -> Score:
    """Average precision, a summary of the precision-recall curve; higher is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for more likely labels.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    average : {"macro", "micro", "samples", None}, default="macro"
        Mean over labels; one value of all cells at once; mean over rows; or one value per label.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In (0, 1]; the share of ones is chance level. NaN if no cell is 1.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a score is not finite, an array is empty, the mask keeps
        nothing, or an option is unknown.

    Notes
    -----
    Mean over the cells that are 1 of the share of ones among the cells that score at least as high: the sum of
    (R_n - R_{n-1}) P_n over thresholds, as scikit-learn's `average_precision_score`, which counts labels without a 1 as
    0. Here such a label (or row) is left out. With average="samples" it is `lrap` without the rows that have no label.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", section 8.4, 2008.

    Examples
    --------
    >>> average_precision([[1, 0], [0, 0], [1, 0]], [[0.9, 0.1], [0.3, 0.2], [0.2, 0.1]])
    0.8333333333333333
    """
    return _average(
        _precision_of_classes,
        lambda rows: precision_of_rows(rows, np.nan),
        y_true,
        y_score,
        label_mask,
        average,
    )


def _average(
    of_classes: Callable[[_Classes], float],
    of_rows: Callable[[ScoredRows], Floats],
    y_true: LabelMatrix,
    y_score: ArrayLike,
    label_mask: ArrayLike | None,
    average: AreaAverage,
) -> Score:
    require_choice(average, "average", ("macro", "micro", "samples", None))
    if average == "samples":
        return mean_over_rows(of_rows, y_true, y_score, label_mask)
    if average == "micro":
        return of_classes(_pool(y_true, y_score, label_mask))
    values = np.array([of_classes(label) for label in _labels(y_true, y_score, label_mask)])
    return values if average is None else float(nan_mean(values))


def _roc_of_classes(classes: _Classes) -> float:
    n_pairs = len(classes.zeros) * len(classes.ones)
    if not n_pairs:
        return float("nan")
    below = at_most = np.searchsorted(classes.zeros, classes.ones)
    if (classes.zeros.take(below, mode="clip") == classes.ones).any():  # the search is what takes time
        at_most = np.searchsorted(classes.zeros, classes.ones, "right")
    return float(below.sum() + at_most.sum()) / (2 * n_pairs)


def _precision_of_classes(classes: _Classes) -> float:
    if not len(classes.ones):
        return float("nan")
    # numbers of cells that score at least as high
    zeros = len(classes.zeros) - np.searchsorted(classes.zeros, classes.ones)
    places = np.arange(len(classes.ones))
    places[1:] *= classes.ones[1:] != classes.ones[:-1]
    ones = len(places) - np.maximum.accumulate(places)
    return float((ones / (ones + zeros)).mean())


def _roc_of_rows(rows: ScoredRows) -> Floats:
    ranking = rank(rows.true, sink_masked(rows.score, rows.mask))
    n_ones = row_sums(rows.true)
    n_pairs = n_ones * (rows.n_counted - n_ones)
    wrong = (ranking.true * (ranking.n_at_least - ranking.n_relevant_at_least)).sum(axis=1)
    right = ((1 - ranking.true) * ranking.n_relevant_at_least).sum(axis=1)
    right -= n_ones * (rows.true.shape[1] - rows.n_counted)  # cells that do not count rank last
    return divide(right - wrong + n_pairs, 2 * n_pairs)  # ties are among the wrong and among the right


def _pool(y_true: LabelMatrix, y_score: ArrayLike, label_mask: ArrayLike | None) -> _Classes:
    """Return the classes of all cells at once."""
    parts = [_split(*block) for block in _columns(y_true, y_score, label_mask)]
    return _Classes(*(np.sort(np.concatenate(scores)) for scores in zip(*parts, strict=True)))


def _labels(y_true: LabelMatrix, y_score: ArrayLike, label_mask: ArrayLike | None) -> Iterator[_Classes]:
    """Return the classes of each label."""
    for cells, scores in _columns(y_true, y_score, label_mask):
        for label in zip(cells, scores, strict=True):
            yield _Classes(*map(np.sort, _split(*label)))


def _split(cells: NDArray[np.uint8], scores: _Scores) -> tuple[_Scores, _Scores]:
    return scores[cells == 0], scores[cells == 1]


def _columns(
    y_true: LabelMatrix, y_score: ArrayLike, label_mask: ArrayLike | None
) -> Iterator[tuple[NDArray[np.uint8], _Scores]]:
    """Return blocks of labels, one a row: their cells, `_LEFT_OUT` where one does not count, and their scores."""
    truth, mask = check_truth(y_true, label_mask)
    table = check_scores(y_score, "y_score")
    check_same_shape(truth, table, "y_score")
    n_rows, n_labels = truth.shape
    cells = np.empty((n_labels, n_rows), dtype=np.uint8)
    for rows in row_blocks(truth.shape):
        true = read_indicator(truth, rows, "y_true")
        read_scores(table, rows, "y_score")
        cells[:, rows] = (true if mask is None else np.where(read_mask(mask, rows), true, _LEFT_OUT)).T
    for columns in row_blocks((n_labels, min(n_rows, _TALL))):
        yield cells[columns], np.ascontiguousarray(table[:, columns].T)
