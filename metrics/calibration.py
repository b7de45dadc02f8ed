"""Calibration: whether labels come as often as their probabilities say.

Conventions of the whole file. A cell that `label_mask` leaves out does not exist, nor does an unknown one (NaN). A
label without a cell is NaN among the values of labels, and is left out of the mean over them. Bins hold their upper
edges, and the first one 0 too: a probability of 1 is in the last bin. Empty bins weigh nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics._blocks import read_indicator, read_mask, read_scores, row_blocks
from metrics._means import divide, nan_mean
from metrics._typing import Array, Floats, Indicator, LabelMatrix, Score
from metrics.validation import (
    check_probabilities,
    check_same_shape,
    check_scores,
    check_truth,
    require_choice,
    require_integer,
)

CalibrationAverage: TypeAlias = Literal["macro", "micro"] | None
BinStrategy: TypeAlias = Literal["uniform", "quantile"]
_AVERAGES = ("macro", "micro", None)


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationSums:
    """Sums over cells, per label and bin of probabilities, from which every score of calibration follows.

    Sums of disjoint chunks add up (`+`) and can be taken away again (`-`). Arrays with a further first dimension hold a
    whole curve, and every function that reads sums then returns one.

    Parameters
    ----------
    n_cells : ndarray of int, shape (..., n_labels, n_bins)
        Numbers of cells that count.
    proba, true : ndarray, shape (..., n_labels, n_bins)
        Sums of their probabilities, and numbers of those that are true.
    squares : ndarray of float, shape (..., n_labels)
        Sums of squared errors.

    Examples
    --------
    >>> first = calibration_sums([[1, 0]], [[0.9, 0.2]], n_bins=2)
    >>> second = calibration_sums([[1, 1]], [[0.8, 0.3]], n_bins=2)
    >>> (first + second).n_cells
    array([[0, 2],
           [2, 0]])
    """

    n_cells: NDArray[np.int64]
    proba: Floats
    true: NDArray[np.int64]
    squares: Floats

    def __add__(self, other: CalibrationSums) -> CalibrationSums:
        return CalibrationSums(*(ours + theirs for ours, theirs in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: CalibrationSums) -> CalibrationSums:
        return CalibrationSums(*(ours - theirs for ours, theirs in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[Array, ...]:
        """The four arrays."""
        return self.n_cells, self.proba, self.true, self.squares

    @classmethod
    def empty(cls, n_labels: int, n_bins: int = 10) -> CalibrationSums:
        """Return the sums over no row."""
        cells = np.zeros((n_labels, n_bins), dtype=np.int64)
        return cls(cells, cells.astype(np.float64), cells.copy(), np.zeros(n_labels))

    def widened(self, n_labels: int) -> CalibrationSums:
        """Return the sums with further labels, which have no cells; `n_labels` is how many there are then."""
        more = n_labels - self.squares.shape[-1]
        parts = (
            np.concatenate([part, np.zeros((*part.shape[:-2], more, part.shape[-1]), dtype=part.dtype)], axis=-2)
            for part in (*self.parts[:3], self.squares[..., np.newaxis])
        )
        n_cells, proba, true, squares = parts
        return CalibrationSums(n_cells, proba, true, squares[..., 0])

    def averaged(self, average: CalibrationAverage) -> CalibrationSums:
        """Return the sums of all labels as those of one, if the average is "micro"."""
        if average != "micro":
            return self
        n_cells, proba, true = (part.sum(axis=-2, keepdims=True) for part in self.parts[:3])
        return CalibrationSums(n_cells, proba, true, self.squares.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Points of a reliability diagram: NaN in bins without a cell. They can be unpacked."""

    mean_proba: Floats
    share_true: Floats
    n_cells: NDArray[np.int64]

    def __iter__(self) -> Iterator[Array]:
        return iter((self.mean_proba, self.share_true, self.n_cells))


def brier_score(
    y_true: LabelMatrix,
    y_proba: ArrayLike,
    *,
    average: CalibrationAverage = "macro",
    label_mask: ArrayLike | None = None,
) -> Score:
    """Mean squared error of probabilities; lower is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_proba : array-like of shape (n_samples, n_labels)
        Probabilities of the labels.
    average : {"macro", "micro", None}, default="macro"
        Mean over labels; mean over all cells; or one value per label.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a probability is outside [0, 1], an array is empty, the mask
        keeps nothing, or an option is unknown.

    See Also
    --------
    rmse : The root of the error of each row.

    Notes
    -----
    Brier's own score of one of two classes is twice as great. It is least in expectation for the true probabilities,
    and rewards both calibration and telling rows apart. A rare label has a small score whatever is predicted: compare
    with p (1 - p), the score of its share p.

    References
    ----------
    G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78(1), 1950.

    Examples
    --------
    >>> brier_score([[1, 0], [0, 0]], [[0.5, 0.0], [0.5, 0.0]])
    0.125
    """
    sums = calibration_sums(y_true, y_proba, n_bins=1, label_mask=label_mask)
    return brier_score_from_sums(sums, average=average)


def expected_calibration_error(
    y_true: LabelMatrix,
    y_proba: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: BinStrategy = "uniform",
    average: CalibrationAverage = "macro",
    label_mask: ArrayLike | None = None,
) -> Score:
    """Mean distance of probabilities and shares of true cells, over bins of probabilities; lower is better.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_proba : array-like of shape (n_samples, n_labels)
        Probabilities of the labels.
    n_bins : int, default=10
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Whether bins have equal widths, or about equal numbers of cells of a label.
    average : {"macro", "micro", None}, default="macro"
        Mean over labels; one value of all cells at once; or one value per label.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        As `brier_score`; or if `n_bins` is less than 1.

    Notes
    -----
    The distance of the mean probability of a bin to the share of its cells that are true, mean over cells. It says
    nothing about how well rows are told apart: the share of a label in all rows, predicted for each, has an error near
    0. With few cells in a bin, it is above 0 even for true probabilities. With equal widths it is what torchmetrics
    computes for a binary task, apart from probabilities on edges.

    References
    ----------
    M. P. Naeini, G. F. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI
    2015.

    Examples
    --------
    >>> y_true, y_proba = [[1], [1], [0], [0]], [[0.9], [0.7], [0.1], [0.1]]
    >>> round(expected_calibration_error(y_true, y_proba, n_bins=2), 2)
    0.15
    """
    sums = _sums(y_true, y_proba, n_bins, strategy, label_mask, average)
    return expected_calibration_error_from_sums(sums, average=average)


def calibration_curve(
    y_true: LabelMatrix,
    y_proba: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: BinStrategy = "uniform",
    average: Literal["micro"] | None = None,
    label_mask: ArrayLike | None = None,
) -> CalibrationCurve:
    """Compute the points of reliability diagrams, which lie on the diagonal for calibrated probabilities.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_proba : array-like of shape (n_samples, n_labels)
        Probabilities of the labels.
    n_bins : int, default=10
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Whether bins have equal widths, or about equal numbers of cells of a label.
    average : {"micro", None}, default=None
        A curve per label, or one of all cells.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    CalibrationCurve
        Arrays `mean_proba`, `share_true` and `n_cells` of shape (n_labels, n_bins), or (n_bins,) for all cells. Bins
        without a cell are kept, with NaN.

    Raises
    ------
    ValueError
        As `expected_calibration_error`.

    References
    ----------
    A. Niculescu-Mizil, R. Caruana, "Predicting good probabilities with supervised learning", ICML 2005.

    Examples
    --------
    >>> curve = calibration_curve([[1], [1], [0], [0]], [[0.9], [0.7], [0.1], [0.1]], n_bins=2)
    >>> curve.mean_proba
    array([[0.1, 0.8]])
    >>> curve.share_true
    array([[0., 1.]])
    """
    require_choice(average, "average", ("micro", None))
    sums = _sums(y_true, y_proba, n_bins, strategy, label_mask, average).averaged(average)
    curve = CalibrationCurve(divide(sums.proba, sums.n_cells), divide(sums.true, sums.n_cells), sums.n_cells)
    return curve if average is None else CalibrationCurve(curve.mean_proba[0], curve.share_true[0], curve.n_cells[0])


def calibration_sums(
    y_true: LabelMatrix, y_proba: ArrayLike, *, n_bins: int = 10, label_mask: ArrayLike | None = None
) -> CalibrationSums:
    """Sum what scores of calibration need, in bins of equal widths.

    Parameters
    ----------
    y_true : array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_proba : array-like of shape (n_samples, n_labels)
        Probabilities of the labels.
    n_bins : int, default=10
        Number of bins.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count.

    Returns
    -------
    CalibrationSums
        Arrays of shape (n_labels, n_bins) and (n_labels,).

    Raises
    ------
    ValueError
        As `expected_calibration_error`.

    Examples
    --------
    >>> calibration_sums([[1, 0]], [[0.75, 0.25]], n_bins=2).squares
    array([0.0625, 0.0625])
    """
    return _sums(y_true, y_proba, n_bins, "uniform", label_mask, None)


def brier_score_from_sums(sums: CalibrationSums, *, average: CalibrationAverage = "macro") -> Score:
    """Mean squared error of probabilities, from sums; lower is better.

    Parameters
    ----------
    sums : CalibrationSums
        Sums of any number of bins, see `calibration_sums`.
    average : {"macro", "micro", None}, default="macro"
        As in `brier_score`.

    Returns
    -------
    float or ndarray
        In [0, 1]; one value for each set of sums. NaN without a cell.

    Raises
    ------
    ValueError
        If `average` is unknown.

    Examples
    --------
    >>> brier_score_from_sums(calibration_sums([[1, 0]], [[0.5, 0.0]]))
    0.125
    """
    pooled = _pooled(sums, average)
    return _averaged(divide(pooled.squares, pooled.n_cells.sum(axis=-1)), average)


def expected_calibration_error_from_sums(sums: CalibrationSums, *, average: CalibrationAverage = "macro") -> Score:
    """Mean distance of probabilities and shares of true cells, from sums of bins; lower is better.

    Parameters
    ----------
    sums : CalibrationSums
        Sums of the bins, see `calibration_sums`.
    average : {"macro", "micro", None}, default="macro"
        As in `expected_calibration_error`.

    Returns
    -------
    float or ndarray
        In [0, 1]; one value for each set of sums. NaN without a cell.

    Raises
    ------
    ValueError
        If `average` is unknown.

    Examples
    --------
    >>> expected_calibration_error_from_sums(calibration_sums([[1], [0]], [[0.75], [0.25]]))
    0.25
    """
    pooled = _pooled(sums, average)
    distances = np.abs(pooled.proba - pooled.true).sum(axis=-1)
    return _averaged(divide(distances, pooled.n_cells.sum(axis=-1)), average)


def stack_sums(chunks: Iterable[CalibrationSums]) -> CalibrationSums:
    """Stack the sums of consecutive chunks, of the same labels and bins, along a first dimension."""
    return CalibrationSums(*map(np.stack, zip(*(chunk.parts for chunk in chunks), strict=True)))


def _pooled(sums: CalibrationSums, average: CalibrationAverage) -> CalibrationSums:
    require_choice(average, "average", _AVERAGES)
    return sums.averaged(average)


def _averaged(values: Floats, average: CalibrationAverage) -> Score:
    if average is None:
        return values
    mean = values[..., 0] if average == "micro" else nan_mean(values)
    return mean if np.ndim(mean) else float(mean)


def _sums(
    y_true: LabelMatrix,
    y_proba: ArrayLike,
    n_bins: int,
    strategy: BinStrategy,
    label_mask: ArrayLike | None,
    average: CalibrationAverage,
) -> CalibrationSums:
    """Return the sums of each label; bins of equal numbers of cells are those of all labels if they will be pooled."""
    n_bins = require_integer(n_bins, "n_bins", 1)
    require_choice(strategy, "strategy", get_args(BinStrategy))
    require_choice(average, "average", _AVERAGES)
    table, mask = check_truth(y_true, label_mask)
    proba = check_scores(y_proba, "y_proba")
    check_same_shape(table, proba, "y_proba")
    edges = np.linspace(0.0, 1.0, n_bins + 1)[np.newaxis]
    if strategy == "quantile":
        edges = _quantiles(table, proba, mask, n_bins, pooled=average == "micro")
    blocks = _blocks(table, proba, mask)
    return _total([_sum_up(*block, edges) for block in blocks])


def _total(parts: list[CalibrationSums]) -> CalibrationSums:
    return sum(parts[1:], start=parts[0])


class _Block(NamedTuple):
    true: NDArray[np.uint8]
    proba: Floats
    counted: NDArray[np.bool_]


def _blocks(table: Indicator, proba: Array, mask: NDArray[np.uint8] | None) -> Iterator[_Block]:
    """Read checked blocks of rows."""
    for rows in row_blocks(proba.shape):
        true, values = read_indicator(table, rows, "y_true"), read_scores(proba, rows, "y_proba")
        check_probabilities(values, "y_proba", rows.start)
        counted = np.ones(true.shape, dtype=np.bool_)
        if mask is not None:
            counted &= read_mask(mask, rows).view(np.bool_)
        yield _Block(true, values.astype(np.float64, copy=False), counted)


def _quantiles(table: Indicator, proba: Array, mask: NDArray[np.uint8] | None, n_bins: int, *, pooled: bool) -> Floats:
    """Return edges of bins between which there are equal numbers of cells of a label, or of all labels."""
    values, counted = (
        np.concatenate(parts) for parts in zip(*(block[1:] for block in _blocks(table, proba, mask)), strict=True)
    )
    shares = np.linspace(0.0, 1.0, n_bins + 1)
    if pooled:
        return np.asarray(np.quantile(values[counted], shares)[np.newaxis])
    edges = np.full((values.shape[1], n_bins + 1), np.nan)
    for label in np.flatnonzero(counted.any(axis=0)):
        edges[label] = np.quantile(values[counted[:, label], label], shares)
    return edges


def _sum_up(true: NDArray[np.uint8], proba: Floats, counted: NDArray[np.bool_], edges: Floats) -> CalibrationSums:
    """Sum over the cells of a block; edges are of each label, or the same for all."""
    shape = true.shape[1], edges.shape[1] - 1
    labels, values, hits = np.nonzero(counted)[1], proba[counted], true[counted]
    if len(edges) == 1:
        places = np.searchsorted(edges[0, 1:-1], values)
    else:
        places = sum((values > upper[labels] for upper in edges[:, 1:-1].T), start=np.zeros(len(values), dtype=np.intp))
    places += labels * shape[1]

    def add(weights: Array | None) -> Array:
        return np.bincount(places, weights, shape[0] * shape[1]).reshape(shape)

    squares = np.asarray(np.bincount(labels, (values - hits) ** 2, shape[0]), dtype=np.float64)
    return CalibrationSums(add(None), add(values), add(hits).astype(np.int64), squares)
