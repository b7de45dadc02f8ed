"""Kernels of a mixture of linear models: scores by weights that follow the losses, and evidence that another is better.

Every row is summed by itself and in one order, so that bits do not depend on the rows around it.
"""

import math

from estimators._kernels.compile import LOOP, PART, njit
from estimators._typing import Array

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
