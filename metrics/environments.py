"""Metrics for environments that a learner has not been trained in."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from metrics._blocks import read_indicator, read_mask, read_scores, row_blocks
from metrics._means import divide, nan_mean
from metrics._typing import Array, Floats, Indicator, LabelMatrix
from metrics._validation import check_probabilities, check_same_shape, check_scores, check_truth


def nce(y_true: LabelMatrix, y_prob: ArrayLike, *, label_mask: ArrayLike | None = None, eps: float = 1e-15) -> float:
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

    Returns
    -------
    float
        -1 for a perfect prediction, 0 for always predicting the base rate, above 0 for worse.

    Raises
    ------
    ValueError
        If shapes differ, a true value is not 0, 1 or NaN, a probability leaves [0, 1], an array is empty, or a label
        has one class only, so that its base rate has no entropy to compare with.

    Notes
    -----
    (H(Y | f(X)) - H(Y)) / H(Y): H(Y | f(X)) is the mean log-loss, H(Y) the entropy of the label's rate, which makes
    environments of different base rates comparable. Of several labels, the mean; labels without a cell that counts are
    left out.

    References
    ----------
    Criteo AI Lab, "PRomoting INvariance for Classification across Environments", challenge of ECML-PKDD 2022.

    Examples
    --------
    >>> nce([1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25])
    0.0
    >>> round(nce([1, 0, 0, 0], [0.7, 0.1, 0.1, 0.1]), 3)
    -0.701
    """
    truth, prob, mask = _check_table(y_true, y_prob, label_mask, eps)
    return _mean_nce(truth, prob, mask, eps, where="")


def nce_by_environment(
    y_true: LabelMatrix,
    y_prob: ArrayLike,
    environment: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    eps: float = 1e-15,
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

    Returns
    -------
    dict
        `nce` of each environment, in sorted order; NaN for one in which no cell counts.

    Raises
    ------
    ValueError
        As `nce`; an environment in which a label has one class only is named.

    References
    ----------
    Criteo AI Lab, "PRomoting INvariance for Classification across Environments", challenge of ECML-PKDD 2022.

    Examples
    --------
    >>> scores = nce_by_environment([1, 0, 1, 0], [0.5, 0.5, 1, 0], ["A", "A", "B", "B"])
    >>> {name: round(score, 3) for name, score in scores.items()}
    {'A': 0.0, 'B': -1.0}
    """
    truth, prob, mask = _check_table(y_true, y_prob, label_mask, eps)
    names, codes = np.unique(_check_environment(environment, len(prob)), return_inverse=True)
    scores = {}
    for code, name in enumerate(names.tolist()):
        rows = np.flatnonzero(codes == code)
        own_mask = mask[rows] if mask is not None and mask.ndim == 2 else mask
        scores[name] = _mean_nce(truth[rows], prob[rows], own_mask, eps, where=f" in environment {name!r}")
    return scores


def worst_nce(
    y_true: LabelMatrix,
    y_prob: ArrayLike,
    environment: ArrayLike,
    *,
    label_mask: ArrayLike | None = None,
    eps: float = 1e-15,
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

    Returns
    -------
    float
        At least -1; see `nce`.

    Raises
    ------
    ValueError
        As `nce`; an environment in which a label has one class only is named.

    Notes
    -----
    max over environments e of NCE_e; one in which no cell counts is left out.

    References
    ----------
    Criteo AI Lab, "PRomoting INvariance for Classification across Environments", challenge of ECML-PKDD 2022.

    Examples
    --------
    >>> worst_nce([1, 0, 1, 0], [0.5, 0.5, 1, 0], ["A", "A", "B", "B"])
    0.0
    """
    scores = nce_by_environment(y_true, y_prob, environment, label_mask=label_mask, eps=eps)
    return float(np.nanmax(list(scores.values())))


def _check_table(
    y_true: LabelMatrix, y_prob: ArrayLike, label_mask: ArrayLike | None, eps: float
) -> tuple[Indicator, NDArray[np.floating], NDArray[np.uint8] | None]:
    """Return 2-D targets, probabilities and mask; a 1-D target is one label."""
    if not 0 < eps < 0.5:
        raise ValueError(f"eps must be in (0, 0.5). Got {eps!r} instead.")
    if not sparse.issparse(y_true) and np.ndim(y_true) == 1:
        if np.ndim(y_prob) != 1 or label_mask is not None:
            raise ValueError("y_prob must be 1-D and label_mask None where y_true is 1-D. Got 2-D arrays instead.")
        y_true, y_prob = np.asarray(y_true)[:, None], np.asarray(y_prob)[:, None]
    truth, mask = check_truth(y_true, label_mask)
    prob = check_scores(y_prob, "y_prob")
    check_same_shape(truth, prob, "y_prob")
    return truth, prob, mask


def _check_environment(environment: ArrayLike, n_samples: int) -> Array:
    names = np.asarray(environment)
    if names.shape != (n_samples,):
        raise ValueError(f"environment must have shape ({n_samples},), one per row. Got shape {names.shape} instead.")
    return names


def _mean_nce(
    truth: Indicator, prob: NDArray[np.floating], mask: NDArray[np.uint8] | None, eps: float, *, where: str
) -> float:
    losses, n_true, n_counted = _log_losses(truth, prob, mask, eps)
    used = n_counted > 0
    rate = divide(n_true, n_counted)[used]
    constant = (rate == 0) | (rate == 1)
    if constant.any():
        label = int(np.flatnonzero(used)[constant][0])
        raise ValueError(
            f"y_true must hold both classes of every label{where}. Got one class only for label {label} instead."
        )
    entropy = -(rate * np.log(rate) + (1 - rate) * np.log1p(-rate))
    return float(nan_mean(losses[used] / n_counted[used] / entropy - 1.0))


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
