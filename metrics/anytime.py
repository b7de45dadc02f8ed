"""Any-time scores: the mean, over every row of a stream, of the score over the rows so far.

A learner can be used at any time, so that one that is good early is worth more than one that is good at the end only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from metrics._means import divide
from metrics._typing import Floats
from metrics.validation import check_numbers


def running_mean(values: ArrayLike, *, sum_before: float = 0.0, n_before: int = 0) -> Floats:
    """Mean of the values so far, after each of them.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        One value per row, NaN for rows that are not scored: they leave the mean as it is.
    sum_before : float, default=0
        Sum of the values of earlier rows, where a stream is read in pieces.
    n_before : int, default=0
        Number of these values, without NaN.

    Returns
    -------
    ndarray of shape (n_samples,)
        In the range of the values; NaN before the first value.

    Raises
    ------
    ValueError
        If `values` is not 1-D, or a value is infinite.

    Examples
    --------
    >>> running_mean([0.5, 1.0, 0.0])
    array([0.5 , 0.75, 0.5 ])
    >>> running_mean([0.0], sum_before=1.5, n_before=2)
    array([0.5])
    """
    array = _check_values(values, "values")
    defined = ~np.isnan(array)
    # One sum after the other, as they would be without pieces: the same bits however a stream is cut.
    sums = np.cumsum(np.concatenate([[sum_before], np.where(defined, array, 0.0)]))[1:]
    return divide(sums, n_before + np.cumsum(defined))


def anytime_score(readings: ArrayLike) -> float:
    """Mean of a score that was read after every row; better in the direction of the score.

    Parameters
    ----------
    readings : array-like of shape (n_samples,)
        The score over the rows so far, after each row; NaN where it is not defined yet.

    Returns
    -------
    float
        In the range of the score; NaN where no reading is defined.

    Raises
    ------
    ValueError
        If `readings` is not 1-D, or a reading is infinite.

    Notes
    -----
    ``A = (S(1) + ... + S(N)) / N``, where S(n) is the score over the first n rows, each predicted before it is learnt:
    the area under the prequential curve over its length. It is the area under the accuracy curve, A_AUC, of Koh et al.,
    with a step of one row, and with the rows of the stream in the place of a test set. Where S is a mean over rows, row
    i weighs 1 / i + ... + 1 / N: early rows weigh more. Readings that are not defined are left out. For a curve that is
    read at checkpoints only there is `metrics.area_under_curve`.

    References
    ----------
    H. Koh, D. Kim, J.-W. Ha, J. Choi, "Online continual learning on class incremental blurry task configuration with
    anytime inference", ICLR 2022.

    J. Gama, R. Sebastião, P. P. Rodrigues, "On evaluating stream learning algorithms", Machine Learning 90, 2013.

    Examples
    --------
    >>> from metrics import ba_macro_from_counts, counts_by_row, cumulative_counts
    >>> counts = counts_by_row([[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [0, 1]])
    >>> readings = ba_macro_from_counts(cumulative_counts(counts))
    >>> readings.tolist()
    [nan, 1.0, 0.875]
    >>> anytime_score(readings)
    0.9375
    """
    array = _check_values(readings, "readings")
    defined = array[~np.isnan(array)]
    return float(defined.mean()) if defined.size else float("nan")


def _check_values(values: ArrayLike, name: str) -> Floats:
    array = check_numbers(values, name).astype(np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, one number per row. Got shape {array.shape} instead.")
    if np.isinf(array).any():
        raise ValueError(f"{name} must be finite or NaN. Got {array[np.isinf(array)][0]} instead.")
    return array
