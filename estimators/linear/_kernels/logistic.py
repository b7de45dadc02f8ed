"""Logistic regressions on the same rows, side by side: scores, gradients and steps of gradient descent.

The weights are (n_features, n_models): a feature of a row meets the weights of all models in one stretch of memory, and
every sum is taken in the order of the features, so that sparse rows give the bits of dense ones.
"""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, LOOP, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.linear._kernels.rows import Features, Rows, all_in_range, load

# beyond these, River's logistic function is 0 or 1, and its gradient is that of the asymptote
FLAT_SCORE, STEEP_SCORE = 30.0, 18.0


class Step(NamedTuple):
    """Sizes of the steps."""

    weights: float  # learning rate
    intercept: float  # learning rate
    clip: float  # greatest absolute value of a gradient with respect to the score


class Models(NamedTuple):
    """Logistic regressions: weights (n_features, n_models) and intercepts (n_models,)."""

    weights: Array
    intercepts: Array


class Work(NamedTuple):
    """Working memory for one row: its features, and the score and the step of each model."""

    features: Features
    scores: Array
    steps: Array


@njit(**HOT)
def sigmoid(score: float) -> float:
    """Return P(label = 1) of a score."""
    if score < -FLAT_SCORE:
        return 0.0
    if score > FLAT_SCORE:
        return 1.0
    return 1.0 / (1.0 + math.exp(-score))


@njit(**HOT)
def is_positive(score: float) -> bool:
    """Return the decision for a score; probabilities that round to one half are negative."""
    return sigmoid(score) > 0.5


@njit(**HOT)
def gradient(score: float, code: int, weight: float, clip: float) -> float:
    """Return the derivative of the logarithmic loss with respect to the score, times the weight of the row."""
    sign = 1.0 if code == 1 else -1.0
    margin = score * sign
    if margin > STEEP_SCORE:
        slope = math.exp(-margin) * -sign
    elif margin < -STEEP_SCORE:
        slope = -sign
    else:
        slope = -sign / (math.exp(margin) + 1.0)
    return min(max(weight * slope, -clip), clip)


@njit(**HOT)
def score_row(models: Models, features: Features, n: int, scores: Array) -> None:
    """Write the score of a row by every model."""
    for k in range(len(scores)):
        scores[k] = 0.0
    for q in range(n):
        f, x = features.places[q], features.values[q]
        for k in range(len(scores)):
            scores[k] += x * models.weights[f, k]
    for k in range(len(scores)):
        scores[k] += models.intercepts[k]


@njit(**HOT)
def move(models: Models, features: Features, n: int, steps: Array) -> None:
    """Subtract from the weights of every model its step times the features of the row."""
    for q in range(n):
        f, x = features.places[q], features.values[q]
        for k in range(len(steps)):
            models.weights[f, k] -= x * steps[k]


@Direct
@njit(**LOOP)
def learn(models: Models, rows: Rows, codes: Array, row_weights: Array, step: Step, work: Work, proba: Array) -> bool:
    """Predict each row from the rows before it, then learn it; return False, changing nothing, at features too great.

    Models are changed in place; `proba`, (n_rows, n_models), receives the probabilities. Unknown labels among `codes`,
    uint8 of shape (n_rows, n_models), are not learnt. Without `row_weights`, all are 1.
    """
    if not all_in_range(rows.values):
        return False
    for r in range(len(codes)):
        n, _ = load(rows, r, work.features)
        score_row(models, work.features, n, work.scores)
        weight = row_weights[r] if len(row_weights) else 1.0
        for k in range(len(work.scores)):
            score, code = work.scores[k], codes[r, k]
            proba[r, k] = sigmoid(score)
            slope = 0.0 if code == UNKNOWN else gradient(score, code, weight, step.clip)
            models.intercepts[k] -= step.intercept * slope
            work.steps[k] = step.weights * slope
        if weight > 0.0:
            move(models, work.features, n, work.steps)
    return True


@Direct
@njit(**LOOP)
def predict(models: Models, rows: Rows, work: Work, proba: Array) -> bool:
    """Write the probabilities of rows; return False at features too great."""
    if not all_in_range(rows.values):
        return False
    for r in range(len(proba)):
        n, _ = load(rows, r, work.features)
        score_row(models, work.features, n, work.scores)
        for k in range(len(work.scores)):
            proba[r, k] = sigmoid(work.scores[k])
    return True


def new_models(n_features: int, n_models: int) -> Models:
    """Make models that have learnt nothing."""
    return Models(np.zeros((n_features, n_models)), np.zeros(n_models))


def grow(models: Models, n_new: int) -> Models:
    """Return models with more that have learnt nothing; those that there were are copied."""
    weights = np.hstack([models.weights, np.zeros((len(models.weights), n_new))])
    return Models(weights, np.append(models.intercepts, np.zeros(n_new)))


def new_work(models: Models) -> Work:
    """Make working memory."""
    n_features, n_models = models.weights.shape
    return Work(Features(np.empty(n_features, np.int64), np.empty(n_features)), np.empty(n_models), np.empty(n_models))
