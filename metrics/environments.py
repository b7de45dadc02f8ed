"""Metrics for environments that a learner has not been trained in."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from metrics._blocks import read_indicator, read_mask, read_scores, row_blocks
from metrics._means import nan_mean
from metrics._typing import Floats, Indicator, LabelMatrix
from metrics.validation import (
    as_numbers,
    check_classes,
    check_probabilities,
    check_same_shape,
    check_scores,
    check_truth,
    require_choice,
    shown,
)

ConstantLabels: TypeAlias = Literal["raise", "skip"]


def nce(
    y_true: LabelMatrix,
    y_prob: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    eps: float = 1e-15,
    constant_labels: ConstantLabels = "raise",
) -> float:
    """Normalised cross-entropy of predicted probabilities in one environment; lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_prob : array-like of the same shape
        Probabilities that the label is 1, in [0, 1].
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count; for 2-D targets only.
    eps : float, default=1e-15
        Probabilities are clipped to [eps, 1 - eps].
    constant_labels : {"raise", "skip"}, default="raise"
        A label that has one class only has no score: its base rate has no entropy to compare with. "raise" refuses such
        labels, "skip" takes the mean over the others.

    Returns
    -------
    float
        -1 for a perfect prediction, 0 for always predicting the base rate, above 0 for worse.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a probability leaves [0, 1], an array is empty, an option is
        unknown, a label has one class only, or, with "skip", all labels have.

    Notes
    -----
    (H(Y | f(X)) - H(Y)) / H(Y): H(Y | f(X)) is the mean log-loss, H(Y) the entropy of the label's rate, which makes
    environments of different base rates comparable. Of several labels, the mean; labels without a cell that counts are
    left out.

    References
    ----------
    Criteo AI Lab, "PRINCE: PRomoting INvariance for Classification across Environments", challenge of ECML-PKDD 2022.

    Examples
    --------
    >>> nce([1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25])
    0.0
    >>> round(nce([1, 0, 0, 0], [0.7, 0.1, 0.1, 0.1]), 3)
    -0.701
    """
    require_choice(constant_labels, "constant_labels", ("raise", "skip"))
    truth, prob, mask = _check_table(y_true, y_prob, label_mask, eps)
    return _mean_nce(truth, prob, mask, eps, constant_labels, where="")


def nce_by_environment(
    y_true: LabelMatrix,
    y_prob: ArrayLike,
    environment: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    eps: float = 1e-15,
    constant_labels: ConstantLabels = "raise",
) -> dict[Any, float]:
    """Normalised cross-entropy in each environment; lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_prob : array-like of the same shape
        Probabilities that the label is 1, in [0, 1].
    environment : array-like of shape (n_samples,)
        Environment of each row: numbers or names.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count; for 2-D targets only.
    eps : float, default=1e-15
        Probabilities are clipped to [eps, 1 - eps].
    constant_labels : {"raise", "skip"}, default="raise"
        A label that has one class only has no score: its base rate has no entropy to compare with. "raise" refuses such
        labels, "skip" takes the mean over the others.

    Returns
    -------
    dict
        `nce` of each environment, in sorted order; NaN for one in which no cell counts.

    Raises
    ------
    ValueError
        As `nce`; an environment in which a label has one class only (with "skip": all labels have) is named.

    References
    ----------
    Criteo AI Lab, "PRINCE: PRomoting INvariance for Classification across Environments", challenge of ECML-PKDD 2022.

    Examples
    --------
    >>> scores = nce_by_environment([1, 0, 1, 0], [0.5, 0.5, 1, 0], ["A", "A", "B", "B"])
    >>> {name: round(score, 3) for name, score in scores.items()}
    {'A': 0.0, 'B': -1.0}
    """
    require_choice(constant_labels, "constant_labels", ("raise", "skip"))
    truth, prob, mask = _check_table(y_true, y_prob, label_mask, eps)
    rows_of = check_classes(environment, "environment")
    if rows_of.shape != (len(prob),):
        raise ValueError(f"environment must have shape ({len(prob)},), one per row. Got shape {rows_of.shape} instead.")
    names, codes = np.unique(rows_of, return_inverse=True)
    scores = {}
    for code, name in enumerate(names.tolist()):
        rows = np.flatnonzero(codes == code)
        own_mask = mask[rows] if mask is not None and mask.ndim == 2 else mask
        where = f" in environment {name!r}"
        scores[name] = _mean_nce(truth[rows], prob[rows], own_mask, eps, constant_labels, where=where)
    return scores


def worst_nce(
    y_true: LabelMatrix,
    y_prob: ArrayLike,
    environment: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    eps: float = 1e-15,
    constant_labels: ConstantLabels = "raise",
) -> float:
    """Normalised cross-entropy in the environment where it is worst; lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or array-like or CSR of shape (n_samples, n_labels)
        True labels, 0 or 1; NaN where unknown.
    y_prob : array-like of the same shape
        Probabilities that the label is 1, in [0, 1].
    environment : array-like of shape (n_samples,)
        Environment of each row: numbers or names.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count; for 2-D targets only.
    eps : float, default=1e-15
        Probabilities are clipped to [eps, 1 - eps].
    constant_labels : {"raise", "skip"}, default="raise"
        A label that has one class only has no score: its base rate has no entropy to compare with. "raise" refuses such
        labels, "skip" takes the mean over the others.

    Returns
    -------
    float
        At least -1; see `nce`.

    Raises
    ------
    ValueError
        As `nce`; an environment in which a label has one class only (with "skip": all labels have) is named.

    Notes
    -----
    max over environments e of NCE_e; one in which no cell counts is left out.

    References
    ----------
    Criteo AI Lab, "PRINCE: PRomoting INvariance for Classification across Environments", challenge of ECML-PKDD 2022.

    Examples
    --------
    >>> worst_nce([1, 0, 1, 0], [0.5, 0.5, 1, 0], ["A", "A", "B", "B"])
    0.0
    """
    scores = nce_by_environment(
        y_true, y_prob, environment, label_mask=label_mask, eps=eps, constant_labels=constant_labels
    )
    return float(np.nanmax(list(scores.values())))


def _check_table(
    y_true: LabelMatrix, y_prob: ArrayLike, label_mask: ArrayLike | None, eps: float
) -> tuple[Indicator, NDArray[np.floating], NDArray[np.uint8] | None]:
    """Return 2-D targets, probabilities and mask; a 1-D target is one label."""
    if np.ndim(eps) or not 0 < eps < 0.5:
        raise ValueError(f"eps must be in (0, 0.5). Got {shown(eps)} instead.")
    if not sparse.issparse(y_true) and np.ndim(y_true) == 1:
        if np.ndim(y_prob) != 1 or label_mask is not None:
            raise ValueError("y_prob must be 1-D and label_mask None where y_true is 1-D. Got 2-D arrays instead.")
        y_true, y_prob = as_numbers(y_true)[:, None], as_numbers(y_prob)[:, None]
    truth, mask = check_truth(y_true, label_mask)
    prob = check_scores(y_prob, "y_prob")
    check_same_shape(truth, prob, "y_prob")
    return truth, prob, mask


def _mean_nce(
    truth: Indicator,
    prob: NDArray[np.floating],
    mask: NDArray[np.uint8] | None,
    eps: float,
    constant_labels: ConstantLabels,
    *,
    where: str,
) -> float:
    losses, n_true, n_counted = _log_losses(truth, prob, mask, eps)
    constant = (n_counted > 0) & ((n_true == 0) | (n_true == n_counted))
    scored = (n_counted > 0) & ~constant
    if constant.any() and (constant_labels == "raise" or not scored.any()):
        _refuse_constant(np.flatnonzero(constant), constant_labels, where)
    rate = n_true[scored] / n_counted[scored]
    entropy = -(rate * np.log(rate) + (1 - rate) * np.log1p(-rate))
    return float(nan_mean(losses[scored] / n_counted[scored] / entropy - 1.0))


def _refuse_constant(labels: NDArray[np.intp], constant_labels: ConstantLabels, where: str) -> None:
    if constant_labels == "skip":
        raise ValueError(
            f"y_true must hold both classes of at least one label{where}. "
            f"Got one class only for each of {len(labels)} labels, the first of which is label {labels[0]}, instead."
        )
    raise ValueError(
        f"y_true must hold both classes of every label{where}, or constant_labels must be 'skip'. "
        f"Got one class only for label {labels[0]} instead."
    )


def _log_losses(
    truth: Indicator, prob: NDArray[np.floating], mask: NDArray[np.uint8] | None, eps: float
) -> tuple[Floats, Floats, Floats]:
    """Sum the log-loss, the true labels and the cells that count, label by label."""
    sums = np.zeros((3, truth.shape[1]))
    for rows in row_blocks(truth.shape):
        t, p = read_indicator(truth, rows, "y_true"), read_scores(prob, rows, "y_prob")
        check_probabilities(p, "y_prob", rows.start)
        p_clipped = np.clip(p.astype(np.float64), eps, 1 - eps)
        log_loss = -np.log(np.abs((1 - t.astype(np.int8)) - p_clipped))  # the probability given to the truth
        counted = np.broadcast_to(1 if mask is None else read_mask(mask, rows), t.shape)
        sums += [(log_loss * counted).sum(axis=0), (t * counted).sum(axis=0), counted.sum(axis=0)]
    return sums[0], sums[1], sums[2]
