"""Kernels of ridge regression on a stream: features, scores, sums, and mixtures of models by their losses.

Every row is summed by itself and in one order, so that bits do not depend on the rows around it.
"""

import math

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._typing import Array


@Direct
@njit(**LOOP)
def expand(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    X: Array,
    shift: Array,
    scale: Array,
    hinged: Array,
    knots: Array,
    pairs: Array,
    weights: Array,
    biases: Array,
    out: Array,
) -> None:
    """Fill rows with 1, standardised features, their hinges at the knots, products of pairs, and rectified units."""
    n_features, n_knots = len(shift), knots.shape[1]
    first_pair = 1 + n_features + len(hinged) * n_knots
    for row in range(len(X)):
        values = out[row, 1 : 1 + n_features]
        out[row, 0] = 1.0
        for feature in range(n_features):
            values[feature] = (X[row, feature] - shift[feature]) * scale[feature]
        rectify(values, weights, biases, out[row, first_pair + len(pairs) :])
        for place in range(len(hinged)):
            for knot in range(n_knots):
                hinge = 1 + n_features + place * n_knots + knot
                out[row, hinge] = max(0.0, values[hinged[place]] - knots[place, knot])
        for pair in range(len(pairs)):
            out[row, first_pair + pair] = values[pairs[pair, 0]] * values[pairs[pair, 1]]


@njit(**PART)
def rectify(values: Array, weights: Array, biases: Array, units: Array) -> None:
    """Fill in units: weighted sums of values, where they are positive."""
    for unit in range(len(units)):
        units[unit] = biases[unit]
    for feature in range(len(values)):
        for unit in range(len(units)):
            units[unit] += values[feature] * weights[feature, unit]
    for unit in range(len(units)):
        units[unit] = max(0.0, units[unit])


@njit(**LOOP)
def dense_scores(F: Array, coef: Array, out: Array) -> None:
    """Add rows of features times coefficients (n_features, n_labels) to zeros."""
    for row in range(len(F)):
        for feature in range(F.shape[1]):
            value = F[row, feature]
            if value != 0.0:
                for label in range(coef.shape[1]):
                    out[row, label] += value * coef[feature, label]


@njit(**LOOP)
def sparse_scores(indptr: Array, indices: Array, data: Array, coef: Array, out: Array) -> None:
    """Add sparse rows times coefficients (n_features, n_labels) to zeros."""
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            value = data[entry]
            for label in range(coef.shape[1]):
                out[row, label] += value * coef[indices[entry], label]


@njit(**LOOP)
def correlate(products: Array, scale: Array, penalty: Array, system: Array) -> None:
    """Fill the lower triangle with correlations of features, a penalty added to the diagonal.

    Products of features hold the constant 1 first; a scale is the inverse of a deviation, or 0 for a constant.
    """
    n_rows = products[0, 0]
    for i in range(len(scale)):
        for j in range(i + 1):
            covariance = (products[i + 1, j + 1] - products[0, i + 1] * (products[0, j + 1] / n_rows)) / n_rows
            system[i, j] = covariance * scale[i] * scale[j]
        system[i, i] += penalty[i]


@njit(**LOOP)
def count_to_doubling(Y: Array, counted: Array, positives: Array, first: int) -> tuple[int, bool]:
    """Count positive rows of each label up to the row, not before `first`, at which those of one have doubled.

    Positives (2, n_labels) are those so far, and those from which they double; the first positive row doubles none.
    Return how many rows were counted, and whether they end at such a row.
    """
    n_labels, doubled = positives.shape[1], False
    for label in range(n_labels):
        doubled |= positives[0, label] >= max(1, 2 * positives[1, label])
    for row in range(len(Y)):
        for label in range(n_labels):
            if counted[row, label] and Y[row, label] == 1:
                positives[0, label] += 1
                doubled |= positives[0, label] >= max(1, 2 * positives[1, label])
        if doubled and row >= first:
            return row + 1, True
    return len(Y), False


# Rate at which a loss lowers a weight, and share of all weight that is spread evenly after each row.
_RATE, _SHARE = 2.0, 0.002
# Rows over which errors and prevalence are averaged; rows of the usual prevalence, and of no error, they start from.
_MEMORY, _PRIOR_ROWS = 50.0, 5.0
# Scores beyond these bounds lose no more; a prevalence beyond its bounds would make a loss too heavy.
_LEAST_SCORE, _GREATEST_SCORE = -1.0, 2.0
_LEAST_SHARE = 0.01


@njit(**PART)
def add_losses(
    scores: Array, y: Array, counted: Array, prevalence: Array, late: Array, errors: Array, losses: Array
) -> int:
    """Set the loss of each model on a row: squared errors without their mean of late, both classes equally heavy.

    Returns the number of labels that count; without any, losses are 0 and nothing else changes.
    """
    n_labels, n_counted = len(y), 0
    for label in range(n_labels):
        n_counted += counted[label]
    for model in range(len(losses)):
        losses[model] = 0.0
    for label in range(n_labels):
        if counted[label]:
            rows = late[0, label] + _PRIOR_ROWS
            share = (late[1, label] + _PRIOR_ROWS * prevalence[label]) / rows
            share = min(max(share, _LEAST_SHARE), 1.0 - _LEAST_SHARE)
            heaviness = (0.5 / share if y[label] else 0.5 / (1.0 - share)) / n_counted
            for model in range(len(losses)):
                score = min(max(scores[model * n_labels + label], _LEAST_SCORE), _GREATEST_SCORE)
                error = score - y[label]
                losses[model] += heaviness * (error - errors[model, label] / rows) ** 2
                errors[model, label] = errors[model, label] * (1.0 - 1.0 / _MEMORY) + error
            for part in range(2):
                late[part, label] = late[part, label] * (1.0 - 1.0 / _MEMORY) + (y[label] if part else 1.0)
    return n_counted


@njit(**LOOP)
def reweigh(losses: Array, weights: Array) -> None:
    """Lower weights exponentially by the losses, then share out a little of them evenly, in place."""
    least = losses[0]
    for model in range(len(losses)):
        least = min(least, losses[model])
    total = 0.0
    for model in range(len(weights)):
        weights[model] *= math.exp(-_RATE * (losses[model] - least))
        total += weights[model]
    for model in range(len(weights)):
        weights[model] = (1.0 - _SHARE) * weights[model] / total + _SHARE / len(weights)


@njit(**PART)
def gather_evidence(losses: Array, current: int, margins: Array, evidence: Array, spans: Array, gains: Array) -> None:
    """Add what each model saves beside the current one; evidence starts again where it would be negative, in place."""
    for model in range(len(losses)):
        saved = _RATE * (losses[current] * (1.0 - margins[model]) - losses[model])
        gains[model] += saved
        evidence[model] += saved
        spans[model] += 1
        if evidence[model] <= 0.0:
            evidence[model] = 0.0
            spans[model] = 0


@njit(**LOOP)
def blend_then_follow(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    scores: Array,
    Y: Array,
    counted: Array,
    prevalence: Array,
    current: int,
    margins: Array,
    weights: Array,
    evidence: Array,
    spans: Array,
    gains: Array,
    late: Array,
    errors: Array,
    losses: Array,
    out: Array,
) -> None:
    """Average scores of all models (n_samples, n_models * n_labels); let labels change weights and evidence, in place.

    Each row is averaged by the weights after the rows before it; without labels (0, n_labels), all by the same.
    """
    n_labels = out.shape[1]
    for row in range(len(out)):
        for label in range(n_labels):
            value = 0.0
            for model in range(len(weights)):
                value += weights[model] * scores[row, model * n_labels + label]
            out[row, label] = value
        if len(Y) and add_losses(scores[row], Y[row], counted[row], prevalence, late, errors, losses):
            reweigh(losses, weights)
            gather_evidence(losses, current, margins, evidence, spans, gains)
