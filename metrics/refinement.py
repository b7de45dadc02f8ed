"""A similarity of label sets under a hierarchy that never rewards a learner for stopping at the superclass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import read_indicator, row_blocks
from metrics._means import divide, mean_of_blocks, nan_mean
from metrics._typing import Array, Floats, LabelMatrix
from metrics.hierarchy import edges
from metrics.validation import check_indicator, check_same_shape, check_truth

Columns = NDArray[np.intp]


class _Trees(NamedTuple):
    """Weight of each label and the column at the top of its tree, for all rows (one row here) or for each."""

    weight: Floats
    top: Columns


def refinement_jaccard(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    parents: Mapping[int, int],
    *,
    label_mask: ArrayLike | None = None,
) -> float:
    """Jaccard similarity in which a subclass weighs the more the harder it is to guess; higher is better.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1, superclasses included; NaN in y_true where a label is unknown.
    parents : mapping of int to int
        Superclass of each subclass, as column numbers.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count. A label whose superclass does not count stands at the top of its tree.

    Returns
    -------
    float
        In [0, 1]; 1 if and only if all predictions are right.

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, the mask keeps nothing, or `parents` names a column
        that is not there, goes round in a circle or is thousands of labels deep.

    Notes
    -----
    A label without a superclass weighs 1. A label whose superclass has C subclasses weighs C / 2 times as much as its
    superclass and all labels above that one together. In each tree of labels that a row has, or is predicted to have,
    the score is the weight of ``Y & P`` over the weight of ``Y | P``; the score of a row is the mean over these trees,
    1 for a row without one. It is the plain Jaccard similarity without a hierarchy, and also in a hierarchy of two
    levels with two subclasses to each superclass, if all labels of a row are in one tree.

    Properties, with proofs on the page "Scores for label hierarchies" of the documentation:

    1. A row scores 1 if and only if it is predicted exactly.
    2. To add a true label to a prediction raises the score of the row, to add a false one never does.
    3. To guess pays. Say that a prediction has a true label whose C subclasses it leaves out, one or more of which are
       true, and that in this tree that label and all above it are predicted and true, and no other is both. Then the
       mean of the scores after adding each one of the C subclasses is greater than the score before. One guess that is
       right with probability q pays if and only if q > 1 / (C + 2), in a tree with two levels of which a row has one
       subclass.

    A learner that always stops at a superclass of C subclasses therefore scores 2 / (C + 2) on rows of these, less
    than one that draws a subclass at random, 2 / (C + 1), or at its prevalence, or that always predicts the most
    frequent one. With two subclasses a random guess scores 0.667 and stopping 0.5: the score does not show whether a
    learner knows the subclass. Read it with the `ba_macro` of the subclasses in rows with their superclass, which is
    1/2 on average for all of these learners. Under `pw_js` stopping scores 1/2 for any C, and a guess only pays if
    q > 2/5.

    References
    ----------
    The weights are ours. That weights should depend on the numbers of siblings is due to N. Cesa-Bianchi, C. Gentile,
    L. Zaniboni, "Incremental algorithms for hierarchical classification", JMLR 7, 2006, where they fall with depth.

    A. Kosmopoulos, I. Partalas, É. Gaussier, G. Paliouras, I. Androutsopoulos, "Evaluation measures for hierarchical
    classification: a unified view and novel approaches", Data Mining and Knowledge Discovery 29, 2015.

    Examples
    --------
    Columns: bear, polar bear, brown bear, panda. Right, too coarse, and the wrong subclass:

    >>> bears = {1: 0, 2: 0, 3: 0}
    >>> for prediction in ([1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]):
    ...     refinement_jaccard([[1, 1, 0, 0]], [prediction], bears)
    1.0
    0.4
    0.25
    """
    truth, mask = check_truth(y_true, label_mask)
    prediction = check_indicator(y_pred, "y_pred")
    check_same_shape(truth, prediction, "y_pred")
    children, superclasses = edges(parents, truth.shape[1])
    counted = np.ones((1, truth.shape[1]), np.uint8) if mask is None else np.atleast_2d(mask)
    common = _plant(counted, children, superclasses) if len(counted) == 1 else None

    def score(rows: slice) -> Floats:
        own = counted if len(counted) == 1 else counted[rows]
        t, p = read_indicator(truth, rows, "y_true") & own, read_indicator(prediction, rows, "y_pred") & own
        similarity = _similarity(t, p, common or _plant(own, children, superclasses))
        return similarity[np.broadcast_to(own.any(axis=1), len(t))]

    return mean_of_blocks(score(rows) for rows in row_blocks(truth.shape))


def _plant(counted: NDArray[np.uint8], children: Columns, superclasses: Columns) -> _Trees:
    """Weigh the labels and find the tops of their trees, for each row of cells that count."""
    n_subclasses = np.zeros(counted.shape)
    for child, superclass in zip(children, superclasses, strict=True):
        n_subclasses[:, superclass] += counted[:, child]
    weight, path = np.ones(counted.shape), np.ones(counted.shape)  # of a label; of it and all labels above it
    top = np.tile(np.arange(counted.shape[1]), (len(counted), 1))
    with np.errstate(over="ignore"):
        for child, superclass in zip(children, superclasses, strict=True):
            below = counted[:, superclass].view(np.bool_)
            heavier = path[:, superclass] * np.maximum(n_subclasses[:, superclass], 1) / 2
            weight[:, child] = np.where(below, heavier, 1)
            path[:, child] = np.where(below, path[:, superclass] + heavier, 1)
            top[:, child] = np.where(below, top[:, superclass], child)
    if not np.isfinite(path).all():
        raise ValueError(f"parents must not be so deep that weights overflow. Got {len(children)} subclasses instead.")
    return _Trees(weight, top)


def _similarity(t: NDArray[np.uint8], p: NDArray[np.uint8], trees: _Trees) -> Floats:
    """Return for each row the mean similarity of the trees it touches."""
    place = (np.arange(len(t))[:, None] * t.shape[1] + trees.top).ravel()

    def weigh(cells: NDArray[np.uint8]) -> Array:
        weights = np.multiply(cells, trees.weight).ravel()
        return np.bincount(place, weights, minlength=cells.size).reshape(cells.shape)

    similarity: Floats = nan_mean(divide(weigh(t & p), weigh(t | p)))
    similarity[np.isnan(similarity)] = 1.0
    return similarity
