"""Comparison of several methods over several data sets: mean ranks and tests based on them.

`scores` has shape (n_datasets, n_methods), one number per data set and method. SciPy's statistics are imported when a
test runs, because their import takes longer than that of everything else here.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metrics._typing import Floats
from metrics.validation import as_numbers, check_finite, require_integer


class FriedmanResult(NamedTuple):
    """Statistic and p-value of the Friedman test.

    Attributes
    ----------
    statistic : float
        Value of the test statistic.
    p_value : float
        Probability of a statistic at least as extreme if nothing differs.
    """

    statistic: float
    p_value: float


def average_ranks(scores: "ArrayLike", *, higher_is_better: bool = True) -> "Floats":
    """Mean rank of each method over data sets, 1 for the best; lower is better.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        Finite scores.
    higher_is_better : bool, default=True
        Direction of the scores.

    Returns
    -------
    ndarray of shape (n_methods,)
        In [1, n_methods].

    Raises
    ------
    ValueError
        If scores are not a non-empty, finite 2-D array.

    Notes
    -----
    Tied methods share the mean of the ranks they take up (mid-ranks), so that the ranks of every data set have the same
    sum. Dense ranks, as printed in the supplement of the continual multi-label benchmark, do not.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]])
    array([1.  , 2.25, 2.75])
    """
    return np.asarray(_ranks(scores, higher_is_better).mean(axis=0))


def friedman(scores: "ArrayLike") -> FriedmanResult:
    """Friedman test that at least one method differs from the others.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        Finite scores of at least three methods on at least two data sets.

    Returns
    -------
    FriedmanResult
        Chi-squared statistic, corrected for ties, and p-value. Both NaN if all methods tie on every data set.

    Raises
    ------
    ValueError
        If scores are not finite and 2-D, or too few.

    Notes
    -----
    Computed by `scipy.stats.friedmanchisquare`. The direction of the scores does not matter.

    References
    ----------
    M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis of variance", JASA 32,
    1937.

    Examples
    --------
    >>> test = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.6, 0.7], [0.7, 0.6, 0.5]])
    >>> round(test.statistic, 3), round(test.p_value, 3)
    (6.5, 0.039)
    """
    from scipy.stats import friedmanchisquare  # see the module's docstring

    table = _check_table(scores)
    if table.shape[0] < 2 or table.shape[1] < 3:
        raise ValueError(f"scores must hold at least 2 data sets and 3 methods. Got shape {table.shape} instead.")
    if (table == table[:, :1]).all():
        return FriedmanResult(float("nan"), float("nan"))
    result = friedmanchisquare(*table.T)
    return FriedmanResult(float(result.statistic), float(result.pvalue))


def nemenyi(scores: "ArrayLike") -> "Floats":
    """Nemenyi post-hoc test of every pair of methods, after a Friedman test.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        Finite scores of at least two methods; rows are the blocks of the paired design.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        p-values, symmetric, 1 on the diagonal.

    Raises
    ------
    ValueError
        If scores are not finite and 2-D, or of fewer than two methods.

    Notes
    -----
    The difference of mean ranks, divided by sqrt(k (k + 1) / (6 N)), is compared with the studentized range of k groups
    and infinite degrees of freedom, divided by sqrt(2). This is the paired test; the unpaired one of the same name
    (ranks over all numbers at once) has little power on such tables, because data sets differ more than methods do.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> p = nemenyi([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.6, 0.7], [0.7, 0.6, 0.5]])
    >>> round(float(p[0, 2]), 2)
    0.04
    """
    from scipy.stats import studentized_range  # see the module's docstring

    table = _check_table(scores)
    n_datasets, n_methods = table.shape
    if n_methods < 2:
        raise ValueError(f"scores must hold at least 2 methods. Got shape {table.shape} instead.")
    ranks = average_ranks(table)
    first, second = np.triu_indices(n_methods, k=1)
    gaps = np.abs(ranks[first] - ranks[second]) / _rank_error(n_methods, n_datasets)
    p_values = np.ones((n_methods, n_methods))
    p_values[first, second] = studentized_range.sf(gaps * math.sqrt(2), n_methods, np.inf)
    return np.minimum(p_values, p_values.T)


def rank_intervals(
    scores: "ArrayLike", *, higher_is_better: bool = True, level: float = 0.95, n_draws: int = 2000, seed: int = 0
) -> "Floats":
    """Bootstrap intervals of mean ranks: data sets are drawn again, with replacement.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        Finite scores.
    higher_is_better : bool, default=True
        Direction of the scores.
    level : float, default=0.95
        Share of the draws that lie within an interval, in (0, 1).
    n_draws : int, default=2000
        Number of draws.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    ndarray of shape (n_methods, 2)
        Lower and upper end of the interval of each mean rank, in [1, n_methods].

    Raises
    ------
    ValueError
        If scores are not a non-empty, finite 2-D array, or `level` or `n_draws` is out of its range.

    Notes
    -----
    The intervals are percentiles. They tell how much mean ranks depend on which data sets are there, all of them alike,
    and are too narrow where these are few. Whether two intervals overlap does not test a
    difference; pairs do.

    References
    ----------
    B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979.

    Examples
    --------
    >>> rank_intervals([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.6, 0.7], [0.7, 0.8, 0.6]])
    array([[1.  , 1.75],
           [1.25, 2.75],
           [2.25, 3.  ]])
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1). Got {level} instead.")
    n_draws = require_integer(n_draws, "n_draws", minimum=1)
    ranks = _ranks(scores, higher_is_better)
    drawn = np.random.default_rng(seed).integers(len(ranks), size=(n_draws, len(ranks)))
    counts = np.zeros((n_draws, len(ranks)))
    np.add.at(counts, (np.arange(n_draws)[:, np.newaxis], drawn), 1.0)
    means = counts @ ranks / len(ranks)
    return np.asarray(np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0).T)


def wilcoxon_holm(scores: "ArrayLike", first: int) -> "Floats":
    """Wilcoxon's signed-rank test of one method and each other one, with Holm's correction for their number.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        Finite scores.
    first : int
        Column of the method that is compared with the others.

    Returns
    -------
    ndarray of shape (n_methods,)
        Two-sided p-values; 1 for the method itself, and for one with the same scores.

    Raises
    ------
    ValueError
        If scores are not a non-empty, finite 2-D array, or `first` is not a column.

    Notes
    -----
    The test is exact where no difference is 0, and no two are of one size; otherwise its statistic is taken for normal.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> p = wilcoxon_holm([[0.9, 0.8], [0.8, 0.6], [0.9, 0.6], [0.7, 0.3], [0.8, 0.3], [0.7, 0.1]], 0)
    >>> p.round(5)
    array([1.     , 0.03125])
    """
    from scipy.stats import wilcoxon  # see the module's docstring

    table = _check_table(scores)
    if not 0 <= first < table.shape[1]:
        raise ValueError(f"first must be a column, from 0 to {table.shape[1] - 1}. Got {first} instead.")
    p_values = np.ones(table.shape[1])
    others = np.flatnonzero(np.arange(len(p_values)) != first)
    differing = others[(table[:, others] != table[:, [first]]).any(axis=0)]
    for other in differing:
        sizes = np.abs(table[:, first] - table[:, other])
        # With ties, SciPy would go through all signs of the differences, which takes seconds for a dozen of them.
        is_exact = sizes.all() and len(np.unique(sizes)) == len(sizes)
        method: Literal["exact", "approx"] = "exact" if is_exact else "approx"
        p_values[other] = wilcoxon(table[:, first], table[:, other], method=method).pvalue
    order = others[np.argsort(p_values[others], kind="stable")]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    p_values[order] = np.maximum.accumulate(steps).clip(max=1.0)
    return p_values


def critical_difference(n_methods: int, n_datasets: int, *, alpha: float = 0.05) -> float:
    """Smallest difference of mean ranks that is significant in the Nemenyi test.

    Parameters
    ----------
    n_methods : int
        Number of methods compared, at least 2.
    n_datasets : int
        Number of data sets, at least 1, without columns that are averages of others.
    alpha : float, default=0.05
        Level of the test, in (0, 1).

    Returns
    -------
    float
        Greater than 0, in ranks.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    CD = q / sqrt(2) * sqrt(k (k + 1) / (6 N)), q the upper alpha point of the studentized range of k groups and
    infinite degrees of freedom.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> round(critical_difference(4, 14), 3)
    1.254
    """
    from scipy.stats import studentized_range  # see the module's docstring

    if n_methods < 2 or n_datasets < 1 or not 0 < alpha < 1:
        raise ValueError(
            f"n_methods must be at least 2, n_datasets at least 1, and alpha in (0, 1). "
            f"Got {n_methods}, {n_datasets} and {alpha} instead."
        )
    quantile = float(studentized_range.isf(alpha, n_methods, np.inf))
    return quantile / math.sqrt(2) * _rank_error(n_methods, n_datasets)


def _rank_error(n_methods: int, n_datasets: int) -> float:
    """Return the standard error of a difference of mean ranks."""
    return math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


def _ranks(scores: "ArrayLike", higher_is_better: bool) -> "Floats":
    """Rank the methods of each data set, 1 for the best."""
    from scipy.stats import rankdata  # see the module's docstring

    table = _check_table(scores)
    return np.asarray(rankdata(-table if higher_is_better else table, axis=1))


def _check_table(scores: ArrayLike) -> Floats:
    table = as_numbers(scores)
    if table.dtype.kind not in "biuf" or table.ndim != 2 or table.size == 0:
        raise ValueError(
            f"scores must be a non-empty numeric array of shape (n_datasets, n_methods). "
            f"Got dtype {table.dtype} and shape {table.shape} instead."
        )
    check_finite(table, "scores")
    return table.astype(np.float64)
