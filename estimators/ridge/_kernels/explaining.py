"""Kernels that say what each feature adds to scores and log-odds of ridge regression."""

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.ridge._kernels.calibration import _MOST_LOG_ODDS, _ROW, State, clip, gather
from estimators.ridge._kernels.ridge import dense_scores

# Of differences of scores that are less, log-odds have no secant that rounding would not spoil.
_LEAST_DIFFERENCE = 1e-12


@Direct
@njit(**LOOP)
def add_by_owner(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    F: Array,
    usual: Array,
    coef: Array,
    owners: Array,
    contributions: Array,
    interactions: Array,
    scores: Array,
    usual_scores: Array,
) -> None:
    """Add what each function of the basis adds to a score, beside that of a usual row (1, n_basis), to its owner.

    The scores of rows, and of the usual one, are added to zeros.

    Owners are features, then interactions; functions of the basis with the owner -1 are left out, as is the constant.
    """
    dense_scores(F, coef, scores)
    dense_scores(usual, coef, usual_scores)
    n_features = contributions.shape[2]
    for row in range(len(F)):
        for place in range(1, F.shape[1]):
            difference, owner = F[row, place] - usual[0, place], owners[place]
            if difference == 0.0 or owner < 0:
                continue
            for label in range(coef.shape[1]):
                value = difference * coef[place, label]
                if owner < n_features:
                    contributions[row, label, owner] += value
                else:
                    interactions[row, label, owner - n_features] += value


@njit(**PART)
def weigh(evidence: Array, weights: Array) -> float:
    """Return the weighted evidence, as `calibration.probability` bounds it."""
    total = 0.0
    for part in range(len(weights)):
        total += evidence[part] * weights[part]
    return clip(total, -_MOST_LOG_ODDS, _MOST_LOG_ODDS)


@Direct
@njit(**LOOP)
def turn_into_log_odds(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    scores: Array,
    usual_scores: Array,
    state: State,
    with_late: bool,
    evidence: Array,
    contributions: Array,
    interactions: Array,
    base: Array,
    log_odds: Array,
) -> None:
    """Scale contributions to scores so that they are to log-odds, in place; fill in log-odds, and those of the base.

    The last interaction becomes the evidence of the row, which is that of all labels. `evidence` (2, n_labels,
    N_EVIDENCE) is room to work in.
    """
    _, usual, late, groups, weights, _, steady = state
    used = weights if with_late else steady
    n_last = interactions.shape[2] - 1
    gather(usual_scores, usual, late, groups, with_late, evidence[0])
    for label in range(len(base)):
        base[label] = weigh(evidence[0, label], used)
    for row in range(len(scores)):
        gather(scores[row], usual, late, groups, with_late, evidence[1])
        for label in range(len(base)):
            log_odds[row, label] = weigh(evidence[1, label], used)
            of_row = used[_ROW] * (evidence[1, label, _ROW] - evidence[0, label, _ROW])
            own, difference = log_odds[row, label] - base[label] - of_row, scores[row, label] - usual_scores[label]
            secant = own / difference if abs(difference) > _LEAST_DIFFERENCE else 0.0
            for feature in range(contributions.shape[2]):
                contributions[row, label, feature] *= secant
            for place in range(n_last):
                interactions[row, label, place] *= secant
            interactions[row, label, n_last] = of_row
