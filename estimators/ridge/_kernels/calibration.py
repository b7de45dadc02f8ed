"""Kernels of calibration: evidence of scores and late labels, logistic regression on it, and what features add to it.

The state is (kept, usual, late, groups, weights, covariance, steady), as `Calibration` lists them.
"""

import math

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.ridge._kernels.ridge import dense_scores

State = tuple[Array, Array, Array, Array, Array, Array, Array]

# Evidence about a label in a row: constant, usual prevalence, discriminant, clipped score, prevalence of late over
# three memories, sum of the row's scores.
N_EVIDENCE = 8
_LATE, _ROW = 4, 7
# Rows of the usual prevalence that the prevalence of late starts from.
_PRIOR_ROWS = 5.0
# Means and variance of scores start from so many rows with, without, and in all.
_PRIOR_WITH, _PRIOR_WITHOUT, _PRIOR_VARIANCE = 5.0, 10.0, 10.0
_PRIOR_SEPARATION, _PRIOR_SEPARATION_ROWS = 0.1, 2.0
_LEAST_VARIANCE = 1e-8
_SCORE_MARGIN, _MOST_EVIDENCE, _MOST_LOG_ODDS = 0.2, 8.0, 30.0
# Rows that the distribution of scores is taken from, and the share of weights and covariance that returns to the prior.
_SCORE_ROWS, _RETURN = 500.0, 0.001
# Rows that steady weights are the mean of.
_STEADY_ROWS = 200.0


@njit(**PART)
def clip(value: float, low: float, high: float) -> float:
    """Hold a number between two others; NaN becomes the lower one, so that no state is spoiled by it."""
    if not value > low:
        return low
    return min(value, high)


@njit(**PART)
def log_odds(score: float, prevalence: float) -> float:
    """Return log(score / (1 - score)) of a score held between parts of a label's prevalence and of its absence."""
    held = clip(score, _SCORE_MARGIN * prevalence, 1.0 - _SCORE_MARGIN * (1.0 - prevalence))
    return math.log(held / (1.0 - held))


@njit(**PART)
def probability(evidence: Array, weights: Array) -> float:
    """Return the logistic function of the weighted evidence, strictly inside (0, 1)."""
    total = 0.0
    for part in range(len(weights)):
        total += evidence[part] * weights[part]
    return 1.0 / (1.0 + math.exp(-clip(total, -_MOST_LOG_ODDS, _MOST_LOG_ODDS)))


@njit(**PART)
def mean_separation(groups: Array) -> float:
    """Return by how much scores are higher on average where their label is 1, over all labels."""
    rows = _PRIOR_SEPARATION_ROWS
    total = rows * _PRIOR_SEPARATION
    for label in range(groups.shape[2]):
        without, within = groups[0, 0, label], groups[1, 0, label]
        if without >= 2.0 and within >= 2.0:
            # the inverse variance of the difference of two means
            weight = without / (without + within) * within
            total += weight * (groups[1, 1, label] / within - groups[0, 1, label] / without)
            rows += weight
    return clip(total / rows, 0.02, 0.98)


@njit(**PART)
def spread(rows: float, total: float, squares: float) -> float:
    """Return the sum of squared deviations of scores from their mean: of their number, sum and sum of squares."""
    return max(squares - total * total / rows, 0.0) if rows > 0.0 else 0.0


@njit(**PART)
def discriminant(score: float, prevalence: float, separation: float, groups: Array, label: int) -> float:
    """Return the log-odds that a score adds where scores of rows with and without the label are normal."""
    without, within = groups[0, 0, label], groups[1, 0, label]
    low = groups[0, 1, label] + _PRIOR_WITHOUT * prevalence * (1.0 - separation)
    low /= without + _PRIOR_WITHOUT
    high = groups[1, 1, label] + _PRIOR_WITH * (prevalence + (1.0 - prevalence) * separation)
    high /= within + _PRIOR_WITH
    usual = max(separation * (1.0 - separation), 0.02) * prevalence * (1.0 - prevalence)
    variance = spread(without, groups[0, 1, label], groups[0, 2, label])
    variance += spread(within, groups[1, 1, label], groups[1, 2, label])
    variance += _PRIOR_VARIANCE * usual
    variance = max(variance / (without + within + _PRIOR_VARIANCE), _LEAST_VARIANCE)
    added = max(high - low, 0.0) / variance * (score - (high + low) / 2.0)
    return clip(added, -_MOST_EVIDENCE, _MOST_EVIDENCE)


@njit(**PART)
def gather(scores: Array, usual: Array, late: Array, groups: Array, with_late: bool, evidence: Array) -> None:
    """Fill in the evidence of one row (n_labels, N_EVIDENCE)."""
    separation = mean_separation(groups)
    scored = expected = 0.5
    for label in range(len(scores)):
        positives, negatives = usual[0, label] + 0.5, max(usual[1, label] - usual[0, label], 0.0) + 0.5
        prevalence, prior = positives / (positives + negatives), math.log(positives / negatives)
        row = evidence[label]
        row[0] = 1.0
        row[1] = prior
        row[2] = discriminant(scores[label], prevalence, separation, groups, label)
        row[3] = log_odds(scores[label], prevalence) - prior
        for memory in range(len(late)):
            row[_LATE + memory] = 0.0
            if with_late:
                seen, rows = late[memory, 0, label], late[memory, 1, label]
                odds = (seen + _PRIOR_ROWS * prevalence) / (max(rows - seen, 0.0) + _PRIOR_ROWS * (1.0 - prevalence))
                row[_LATE + memory] = math.log(odds) - prior
        if usual[1, label] > 0.0:
            # a label that no row has counted changes nothing
            scored += clip(scores[label], 0.0, 1.0)
            expected += prevalence
    row_sum = math.log(scored / expected)
    for label in range(len(scores)):
        evidence[label, _ROW] = row_sum


@njit(**PART)
def decide_at(proba: float, positives: float, rows: float) -> bool:
    """Decide a label at its prevalence; one that never came, or always, stays so."""
    if positives <= 0.0:
        return False
    return positives >= rows or proba >= positives / rows


@njit(**PART)
def learn_label(  # noqa: PLR0913, PLR0917 - numbers and arrays in, arrays out
    label: int, score: float, y: float, share: float, weight: float, evidence: Array, moved: Array, state: State
) -> None:
    """Take a step of Newton's method on the log loss of one label, and count it, in place; old scores fade.

    The step, of a row that counts as `share` rows, is by the greatest curvature that there is, 1/4, so that it cannot
    overshoot. `weight` rows are counted, all time and of late; the score is added to the rows of its kind.
    """
    kept, usual, late, groups, weights, covariance, _ = state
    proba, variance = probability(evidence, weights), 0.0
    for part in range(len(moved)):
        moved[part] = 0.0
        for other in range(len(moved)):
            moved[part] += covariance[part, other] * evidence[other]
        variance += evidence[part] * moved[part]
    step = share * (y - proba) / (1.0 + 0.25 * share * variance)
    curvature = share * proba * (1.0 - proba)
    shrink = curvature / (1.0 + curvature * variance)
    for part in range(len(moved)):
        weights[part] += step * moved[part]
        for other in range(len(moved)):
            covariance[part, other] -= shrink * (moved[part] * moved[other])
    usual[0, label] += weight * y
    usual[1, label] += weight
    for memory in range(len(kept)):
        late[memory, 0, label] = late[memory, 0, label] * kept[memory] + weight * y
        late[memory, 1, label] = late[memory, 1, label] * kept[memory] + weight
    for part in range(3):
        groups[0, part, label] *= 1.0 - 1.0 / _SCORE_ROWS
        groups[1, part, label] *= 1.0 - 1.0 / _SCORE_ROWS
    held, kind = clip(score, -1.0, 2.0), 1 if y > 0.0 else 0
    groups[kind, 0, label] += weight
    groups[kind, 1, label] += weight * held
    groups[kind, 2, label] += weight * held * held


@njit(**PART)
def return_to_prior(weights: Array, covariance: Array, steady: Array, prior: Array) -> None:
    """Let weights drift back to their first values, and become less certain; average them, in place."""
    kept = math.sqrt(1.0 - _RETURN)
    for part in range(len(weights)):
        weights[part] = prior[0, part] + kept * (weights[part] - prior[0, part])
        for other in range(len(weights)):
            covariance[part, other] *= 1.0 - _RETURN
        covariance[part, part] += _RETURN * prior[1, part]
        steady[part] += (weights[part] - steady[part]) / _STEADY_ROWS


@njit(**LOOP)
def estimate_then_learn(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    scores: Array,
    Y: Array,
    counted: Array,
    weight: Array,
    prior: Array,
    state: State,
    with_late: bool,
    evidence: Array,
    moved: Array,
    proba: Array,
    decided: Array,
) -> None:
    """Fill in probabilities and decisions of each row, and learn it, in place, if there are labels of it.

    Rows that are learnt are predicted by the state after the rows before them; without labels (0, n_labels) one state
    serves all rows. `prior`, (2, N_EVIDENCE), holds first weights and variances; `state` is as `Calibration` lists it.
    With `with_late`, rows follow those learnt; otherwise the steady weights are used, without evidence of recent
    labels. `evidence`, (n_labels, N_EVIDENCE), and `moved`, (N_EVIDENCE,), are room to work in; `proba` and `decided`,
    (n_samples, n_labels), are filled in.
    """
    _, usual, late, groups, weights, covariance, steady = state
    used = weights if with_late else steady
    for row in range(len(scores)):
        gather(scores[row], usual, late, groups, with_late, evidence)
        for label in range(scores.shape[1]):
            proba[row, label] = probability(evidence[label], used)
            decided[row, label] = decide_at(proba[row, label], usual[0, label], usual[1, label])
        if len(Y):
            n_counted = 0.0
            for label in range(scores.shape[1]):
                n_counted += counted[row, label]
            # labels are alike: the more there are, the shorter the step of each
            share = weight[row] / math.sqrt(max(n_counted, 1.0))
            for label in range(scores.shape[1]):
                if counted[row, label]:
                    score, y = scores[row, label], Y[row, label]
                    learn_label(label, score, y, share, weight[row], evidence[label], moved, state)
            return_to_prior(weights, covariance, steady, prior)


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
