"""Bayesian comparison of two methods over several data sets."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metrics.validation import check_number, check_numbers, require_integer


class BayesianComparison(NamedTuple):
    """Posterior probabilities that the first method is better, that both are equivalent, or the second is better.

    Attributes
    ----------
    first_better : float
        Probability that the first method is better by more than the region of practical equivalence.
    equivalent : float
        Probability that the two are practically equivalent.
    second_better : float
        Probability that the second method is better by more than that.
    """

    first_better: float
    equivalent: float
    second_better: float


def bayesian_signed_rank(
    first: "ArrayLike", second: "ArrayLike", *, rope: float = 0.01, n_draws: int = 50_000, seed: int = 0
) -> BayesianComparison:
    """Probability that one method is better than another, or that they are practically equivalent.

    Parameters
    ----------
    first, second : array-like of shape (n_datasets,)
        Finite scores of two methods on the same data sets, higher being better.
    rope : float, default=0.01
        Region of practical equivalence: differences of at most this size do not matter. At least 0, in the unit of the
        scores.
    n_draws : int, default=50_000
        Monte Carlo draws from the posterior.
    seed : int, default=0
        Seed of the draws: the same seed gives the same probabilities.

    Returns
    -------
    BayesianComparison
        Three probabilities that add up to 1.

    Raises
    ------
    ValueError
        If the scores differ in shape, are not finite or empty, or an option is out of range.

    Notes
    -----
    Bayesian counterpart of the Wilcoxon signed-rank test. Weights of the differences z are drawn from a Dirichlet
    distribution with one unit per data set and half a unit for a pseudo-observation of no difference; in each draw the
    pairs with (z_i + z_j) / 2 above `rope`, below -`rope` and between share the weight w_i w_j, and the greatest share
    wins. A probability is the share of draws won.

    References
    ----------
    A. Benavoli, G. Corani, J. Demšar, M. Zaffalon, "Time for a change: a tutorial for comparing multiple classifiers
    through Bayesian analysis", JMLR 18, 2017.

    Examples
    --------
    >>> bayesian_signed_rank([0.9, 0.8, 0.9, 0.7, 0.9], [0.7, 0.6, 0.6, 0.6, 0.5]).first_better > 0.99
    True
    """
    rope = check_number(rope, "rope", low=0.0)
    require_integer(n_draws, "n_draws", 1)
    one, two = (check_numbers(*side).astype(np.float64) for side in ((first, "first"), (second, "second")))
    if one.ndim != 1 or one.shape != two.shape or not one.size:
        raise ValueError(
            f"first and second must be 1-D, of one length. Got shapes {one.shape} and {two.shape} instead."
        )
    differences = np.concatenate([[0.0], one - two])
    if not np.isfinite(differences).all():
        raise ValueError("first and second must be finite. Got a NaN or infinite difference instead.")
    pair_means = (differences[:, None] + differences) / 2
    prior = np.concatenate([[0.5], np.ones(len(differences) - 1)])
    weights = np.random.default_rng(seed).dirichlet(prior, size=n_draws)
    outcomes = (pair_means > rope, np.abs(pair_means) <= rope, pair_means < -rope)
    # as numbers, since BLAS does not multiply numbers by booleans
    mass = np.stack([np.einsum("ni,ni->n", weights @ pairs.astype(np.float64), weights) for pairs in outcomes], axis=1)
    n_won = np.bincount(mass.argmax(axis=1), minlength=3)
    return BayesianComparison(*(n_won / n_draws).tolist())
