"""Counts of cells that are 1 in truth, in prediction and in both, per label or per row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from metrics._blocks import column_sums, read_indicator, read_mask, row_blocks, row_sums
from metrics._typing import Indicator, LabelMatrix
from metrics.validation import check_indicator, check_same_shape, check_truth

Axis: TypeAlias = Literal[0, 1]
Mask: TypeAlias = NDArray[np.uint8] | None


class Overlap(NamedTuple):
    """Numbers of cells that are 1 in both, in truth and in the prediction, and that count, per label or per row."""

    both: NDArray[np.int64]
    true: NDArray[np.int64]
    pred: NDArray[np.int64]
    counted: NDArray[np.int64]


def label_overlap(y_true: LabelMatrix, y_pred: LabelMatrix, label_mask: ArrayLike | None) -> Overlap:
    """Count per label."""
    total, *others = _parts(y_true, y_pred, label_mask, axis=0)
    for part in others:
        total = Overlap(*(sums + more for sums, more in zip(total, part, strict=True)))
    return total


def row_overlaps(y_true: LabelMatrix, y_pred: LabelMatrix, label_mask: ArrayLike | None) -> Iterator[Overlap]:
    """Count per row, block by block; rows in which no cell counts are left out."""
    for part in _parts(y_true, y_pred, label_mask, axis=1):
        kept = part.counted > 0
        yield part if kept.all() else Overlap(*(numbers[kept] for numbers in part))


def _parts(y_true: LabelMatrix, y_pred: LabelMatrix, label_mask: ArrayLike | None, axis: Axis) -> Iterator[Overlap]:
    """Check the input and count it: as a whole if both tables are CSR, in time linear in their ones, else in blocks."""
    truth, mask = check_truth(y_true, label_mask)
    prediction = check_indicator(y_pred, "y_pred")
    check_same_shape(truth, prediction, "y_pred")
    if isinstance(truth, sparse.csr_array) and isinstance(prediction, sparse.csr_array):
        truth, prediction = _keep(truth, mask), _keep(prediction, mask)
        both, true, pred = (_ones(csr, axis) for csr in (truth.multiply(prediction).tocsr(), truth, prediction))
        yield Overlap(both, true, pred, _counted(mask, truth.shape, axis))
    else:
        yield from _dense_parts(truth, prediction, mask, axis)


def _dense_parts(truth: Indicator, prediction: Indicator, mask: Mask, axis: Axis) -> Iterator[Overlap]:
    count = row_sums if axis == 1 else column_sums
    for rows in row_blocks(truth.shape):
        t, p = read_indicator(truth, rows, "y_true"), read_indicator(prediction, rows, "y_pred")
        m = None if mask is None else read_mask(mask, rows)
        if m is not None:
            t, p = t & m, p & m
        yield Overlap(count(t & p), count(t), count(p), _counted(m, t.shape, axis))


def _counted(mask: Mask, shape: tuple[int, ...], axis: Axis) -> NDArray[np.int64]:
    """Count the cells that the mask keeps."""
    if mask is None:
        return np.full(shape[1 - axis], shape[axis])
    if mask.ndim == 2:
        return row_sums(mask) if axis == 1 else column_sums(mask)
    return mask.astype(np.int64) * shape[0] if axis == 0 else np.full(shape[0], np.count_nonzero(mask))


def _ones(csr: sparse.csr_array[Any], axis: Axis) -> NDArray[np.int64]:
    if axis == 1:
        return np.diff(csr.indptr).astype(np.int64)
    return np.bincount(csr.indices, minlength=csr.shape[1])


def _keep(csr: sparse.csr_array[Any], mask: Mask) -> sparse.csr_array[Any]:
    """Drop the ones that the mask does not count."""
    if mask is None:
        return csr
    entries = csr.tocoo()
    row, column = entries.coords
    kept = (mask[column] if mask.ndim == 1 else mask[row, column]).astype(bool)
    return sparse.csr_array((entries.data[kept], (row[kept], column[kept])), shape=csr.shape)
