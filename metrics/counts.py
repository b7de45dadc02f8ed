"""Per-label counts of right and wrong decisions: they add over chunks, so that a score never rescans a stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._overlap import Overlap, label_overlap
from metrics._typing import LabelMatrix
from metrics.validation import require_integer


@dataclass(frozen=True, slots=True, eq=False)
class LabelCounts:
    """Numbers of decisions per label, among the cells that count.

    Counts of disjoint chunks add up (`+`) and can be taken away again (`-`). Arrays of shape
    (n_checkpoints, n_labels) hold a whole curve, and every function that reads counts then returns one.

    Parameters
    ----------
    tp, fp, fn, tn : ndarray of int, shape (..., n_labels)
        True positives, false positives, false negatives, true negatives.

    Examples
    --------
    >>> first = label_counts([[1, 0]], [[1, 1]])
    >>> second = label_counts([[1, 1]], [[0, 1]])
    >>> (first + second).tp
    array([1, 1])
    """

    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    fn: NDArray[np.int64]
    tn: NDArray[np.int64]

    def __add__(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn)

    def __sub__(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(self.tp - other.tp, self.fp - other.fp, self.fn - other.fn, self.tn - other.tn)

    def widened(self, n_labels: int) -> LabelCounts:
        """Return the counts with further labels, which have no cells; `n_labels` is how many there are then."""
        more = np.zeros((*self.tp.shape[:-1], n_labels - self.tp.shape[-1]), dtype=self.tp.dtype)
        parts = (np.concatenate([part, more], axis=-1) for part in (self.tp, self.fp, self.fn, self.tn))
        return LabelCounts(*parts)


def label_counts(y_true: LabelMatrix, y_pred: LabelMatrix, *, label_mask: ArrayLike | None = None) -> LabelCounts:
    """Count right and wrong decisions per label.

    Parameters
    ----------
    y_true, y_pred : array-like or CSR of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in y_true where a label is unknown.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count. A label without any has four zeros.

    Returns
    -------
    LabelCounts
        Four arrays of shape (n_labels,).

    Raises
    ------
    ValueError
        If shapes differ, a value is not 0 or 1, an array is empty, or the mask keeps nothing.

    Examples
    --------
    >>> counts = label_counts([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    >>> counts.tp, counts.fp
    (array([1, 1]), array([0, 1]))
    """
    return counts_of(label_overlap(y_true, y_pred, label_mask))


def counts_of(overlap: Overlap) -> LabelCounts:
    """Return true and false positives and negatives, per label or per row as the overlap is."""
    both, true, pred, counted = overlap
    return LabelCounts(tp=both, fp=pred - both, fn=true - both, tn=counted - true - pred + both)


def stack_counts(chunks: Iterable[LabelCounts]) -> LabelCounts:
    """Stack the counts of consecutive chunks.

    Parameters
    ----------
    chunks : iterable of LabelCounts
        Counts of shape (n_labels,), in stream order.

    Returns
    -------
    LabelCounts
        Arrays of shape (n_chunks, n_labels).

    Raises
    ------
    ValueError
        If there is no chunk, or chunks differ in width.

    Examples
    --------
    >>> chunk = label_counts([[1, 0]], [[1, 1]])
    >>> stack_counts([chunk, chunk]).tp.shape
    (2, 2)
    """
    chunks = list(chunks)
    if len({chunk.tp.shape for chunk in chunks}) != 1:
        shapes = sorted({chunk.tp.shape for chunk in chunks})
        raise ValueError(f"chunks must be at least one count, all of one shape. Got shapes {shapes} instead.")
    fields = ("tp", "fp", "fn", "tn")
    return LabelCounts(*(np.stack([getattr(chunk, field) for chunk in chunks]) for field in fields))


def cumulative_counts(stacked: LabelCounts) -> LabelCounts:
    """Add up the counts from the first chunk to each chunk.

    Parameters
    ----------
    stacked : LabelCounts
        Arrays of shape (n_chunks, n_labels), see `stack_counts`.

    Returns
    -------
    LabelCounts
        Arrays of shape (n_chunks, n_labels); the last row counts the whole stream.

    Examples
    --------
    >>> chunk = label_counts([[1, 0]], [[1, 1]])
    >>> cumulative_counts(stack_counts([chunk, chunk])).tp
    array([[1, 0],
           [2, 0]])
    """
    return LabelCounts(*(np.cumsum(part, axis=0) for part in (stacked.tp, stacked.fp, stacked.fn, stacked.tn)))


def windowed_counts(stacked: LabelCounts, n_chunks: int) -> LabelCounts:
    """Add up the counts of the last `n_chunks` chunks at each chunk, fewer at the start of the stream.

    Parameters
    ----------
    stacked : LabelCounts
        Arrays of shape (n_chunks_in_all, n_labels), see `stack_counts`.
    n_chunks : int
        Width of the window, in chunks.

    Returns
    -------
    LabelCounts
        Arrays of the same shape.

    Raises
    ------
    ValueError
        If `n_chunks` is less than 1.

    Examples
    --------
    >>> chunk = label_counts([[1, 0]], [[1, 1]])
    >>> windowed_counts(stack_counts([chunk] * 4), 2).tp[:, 0]
    array([1, 2, 2, 2])
    """
    require_integer(n_chunks, "n_chunks", 1)
    cumulative = cumulative_counts(stacked)
    parts = cumulative.tp, cumulative.fp, cumulative.fn, cumulative.tn
    left = (np.concatenate([np.zeros_like(part[:n_chunks]), part[:-n_chunks]]) for part in parts)
    return cumulative - LabelCounts(*left)
