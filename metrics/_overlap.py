"""How often truth and prediction hold together, per label or per row: all that count metrics need."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from metrics._blocks import column_sums, read_indicator, read_mask, row_blocks, row_sums
from metrics._validation import Indicator, LabelMatrix, check_indicator, check_label_mask, check_same_shape

Axis = Literal[0, 1]
Sums = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


class Overlap(NamedTuple):
    """Numbers of cells along one axis, among the cells that count: one entry per label (axis 0) or row (axis 1)."""

    both: NDArray[np.int64]
    true: NDArray[np.int64]
    pred: NDArray[np.int64]
    counted: NDArray[np.int64]


def overlap(y_true: LabelMatrix, y_pred: LabelMatrix, label_mask: ArrayLike | None, axis: Axis) -> Overlap:
    """Count per label (axis 0) or per row (axis 1), in time linear in the cells, or in the ones where both are CSR."""
    truth, prediction = check_indicator(y_true, "y_true"), check_indicator(y_pred, "y_pred")
    check_same_shape(truth, prediction, "y_pred")
    mask = check_label_mask(label_mask, truth.shape)
    counted = _counted(mask, truth.shape, axis)
    if isinstance(truth, sparse.csr_array) and isinstance(prediction, sparse.csr_array):
        both, true, pred = _sparse_sums(_keep(truth, mask), _keep(prediction, mask), axis)
    else:
        both, true, pred = _dense_sums(truth, prediction, mask, axis)
    return Overlap(both, true, pred, counted)


def _counted(mask: NDArray[np.uint8] | None, shape: tuple[int, ...], axis: Axis) -> NDArray[np.int64]:
    if mask is None:
        return np.full(shape[1 - axis], shape[axis], dtype=np.int64)
    if mask.ndim == 2:
        return row_sums(mask) if axis == 1 else column_sums(mask)
    return mask.astype(np.int64) * shape[0] if axis == 0 else np.full(shape[0], mask.sum(), dtype=np.int64)


def _dense_sums(truth: Indicator, prediction: Indicator, mask: NDArray[np.uint8] | None, axis: Axis) -> Sums:
    count = row_sums if axis == 1 else column_sums
    sums: list[Sums] = []
    for rows in row_blocks(truth.shape):
        t, p = read_indicator(truth, rows, "y_true"), read_indicator(prediction, rows, "y_pred")
        if mask is not None:
            t, p = t & read_mask(mask, rows), p & read_mask(mask, rows)
        sums.append((count(t & p), count(t), count(p)))
    both, true, pred = zip(*sums, strict=True)
    if axis == 1:
        return np.concatenate(both), np.concatenate(true), np.concatenate(pred)
    return np.sum(both, axis=0), np.sum(true, axis=0), np.sum(pred, axis=0)


def _sparse_sums(truth: "sparse.csr_array[Any]", prediction: "sparse.csr_array[Any]", axis: Axis) -> Sums:
    return _ones(truth.multiply(prediction).tocsr(), axis), _ones(truth, axis), _ones(prediction, axis)


def _ones(csr: "sparse.csr_array[Any]", axis: Axis) -> NDArray[np.int64]:
    if axis == 1:
        return np.diff(csr.indptr).astype(np.int64)
    return np.bincount(csr.indices, minlength=csr.shape[1]).astype(np.int64, copy=False)


def _keep(csr: "sparse.csr_array[Any]", mask: NDArray[np.uint8] | None) -> "sparse.csr_array[Any]":
    """Drop the ones that the mask does not count."""
    if mask is None:
        return csr
    entries = csr.tocoo()
    row, column = entries.coords
    kept = (mask[column] if mask.ndim == 1 else mask[row, column]).astype(bool)
    return sparse.csr_array((entries.data[kept], (row[kept], column[kept])), shape=csr.shape)
