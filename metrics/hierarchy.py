"""Metrics for labels that refine each other: a row that carries a subclass carries its superclass too.

`parents` maps each subclass to its superclass, both as column numbers; labels that are not keys have no superclass.
Chains of any length are allowed. A cell that `label_mask` leaves out does not exist, and a row without cells is left
out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import read_indicator, read_mask, row_blocks
from metrics._means import divide, mean_of_blocks
from metrics._overlap import Overlap, row_overlaps
from metrics._typing import Floats, Indicator, LabelMatrix
from metrics.counts import label_counts
from metrics.validation import check_indicator, check_label_mask, check_zero_division


def pw_js(y_true: LabelMatrix, y_pred: LabelMatrix, *, label_mask: ArrayLike | None = None) -> float:
    """Precision-weighted Jaccard similarity of label sets, mean over rows; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1, superclasses included; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, or the mask keeps nothing.

    Notes
    -----
    ``|Y & P| / |Y | P| * |Y & P| / |P|`` per row. An empty prediction of a non-empty set gives 0, of an empty
    set 1. To be too coarse (1/2 for the superclass alone) pays better than to be wrong about the subclass (1/6), so
    that a learner that never refines does well: look at `refinement_jaccard` and `refinement_recall` beside it.

    References
    ----------
    M. Abdelsalam, M. Faramarzi, S. Sodhani, S. Chandar, "IIRC: Incremental implicitly-refined classification", CVPR
    2021.

    Examples
    --------
    Columns: bear, polar bear. The second row is too coarse, the third too fine.

    >>> pw_js([[1, 1]], [[1, 1]]), pw_js([[1, 1]], [[1, 0]]), pw_js([[1, 0]], [[1, 1]])
    (1.0, 0.5, 0.25)
    """
    return mean_of_blocks(_similarity(rows) for rows in row_overlaps(y_true, y_pred, label_mask))


def refinement_recall(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    parents: Mapping[int, int],
    *,
    label_mask: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Share of true subclass labels that are predicted; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1, superclasses included; NaN in y_true where a label is unknown.
    parents : mapping of int to int
        Superclass of each subclass, as column numbers.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.
    zero_division : {0, 1, nan}, default=0
        Value if no row carries a subclass.

    Returns
    -------
    float
        In [0, 1]; 0 for a learner that predicts superclasses only.

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or `parents` names a column
        that is not there or goes round in a circle.

    Notes
    -----
    sum of tp / sum of (tp + fn) over the labels that have a superclass: the recall of refinements, which `pw_js` does
    not show. A label that has neither superclass nor subclass does not refine any other and does not take part.

    Examples
    --------
    >>> refinement_recall([[1, 1], [1, 1]], [[1, 0], [1, 1]], {1: 0})
    0.5
    """
    counts = label_counts(y_true, y_pred, label_mask=label_mask)
    children, _ = edges(parents, len(counts.tp))
    found = counts.tp[children].sum()
    return float(divide(found, found + counts.fn[children].sum(), zero_division=check_zero_division(zero_division)))


def hierarchy_consistency(
    y_pred: LabelMatrix, parents: Mapping[int, int], *, label_mask: ArrayLike | None = None
) -> float:
    """Share of rows whose predicted subclasses all come with their superclass; higher is better.

    Parameters
    ----------
    y_pred : array-like or CSR of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.
    parents : mapping of int to int
        Superclass of each subclass, as column numbers.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count: a pair of a subclass and its superclass is looked at where both do.

    Returns
    -------
    float
        In [0, 1]; 1 if predictions respect the hierarchy. It does not measure whether they are right.

    Raises
    ------
    ValueError
        If a value is not 0 or 1, an array is empty, the mask keeps nothing, or `parents` names a column that is not
        there or goes round in a circle.

    Notes
    -----
    A row respects the hierarchy if no predicted label lacks its superclass among the predictions.

    Examples
    --------
    >>> hierarchy_consistency([[1, 1], [0, 1], [0, 0], [1, 0]], {1: 0})
    0.75
    """
    prediction = check_indicator(y_pred, "y_pred")
    mask = check_label_mask(label_mask, prediction.shape)
    children, superclasses = edges(parents, prediction.shape[1])
    blocks = row_blocks(prediction.shape)
    return mean_of_blocks(_respected(prediction, mask, rows, children, superclasses) for rows in blocks)


def _respected(
    prediction: Indicator,
    mask: NDArray[np.uint8] | None,
    rows: slice,
    children: NDArray[np.intp],
    superclasses: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Return for each row that counts whether every predicted child comes with its superclass."""
    block = read_indicator(prediction, rows, "y_pred").view(np.bool_)
    orphans = block[:, children] & ~block[:, superclasses]
    if mask is not None:
        counted = np.broadcast_to(read_mask(mask, rows), block.shape).view(np.bool_)
        orphans &= counted[:, children] & counted[:, superclasses]
        orphans = orphans[counted.any(axis=1)]
    respected: NDArray[np.bool_] = np.all(~orphans, axis=1)
    return respected


def _similarity(rows: Overlap) -> Floats:
    both, union = rows.both, rows.true + rows.pred - rows.both
    similarity = divide(both * both, union * rows.pred, zero_division=0.0)
    similarity[union == 0] = 1.0
    return similarity


def edges(parents: Mapping[int, int], n_labels: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return subclasses and their superclasses as column numbers, each subclass after its own superclass."""
    for column in (*parents.keys(), *parents.values()):
        if not isinstance(column, int | np.integer) or not 0 <= column < n_labels:
            raise ValueError(f"parents must map columns 0 to {n_labels - 1} to each other. Got {column!r} instead.")
    children = _downwards(parents)
    return np.array(children, dtype=np.intp), np.array([parents[child] for child in children], dtype=np.intp)


def _downwards(parents: Mapping[int, int]) -> list[int]:
    """Order subclasses from the top to the bottom; each is visited once, however long the chains are."""
    ordered: dict[int, None] = {}
    for child in parents:
        path: dict[int, None] = {}
        label = child
        while label not in ordered and label in parents:
            if label in path:
                before = list(path)
                circle = " -> ".join(map(str, [*before[before.index(label) :], label]))
                raise ValueError(f"parents must not go round in a circle. Got {circle} instead.")
            path[label] = None
            label = parents[label]
        ordered.update(dict.fromkeys(reversed(path)))
    return list(ordered)
