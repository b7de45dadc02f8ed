"""Bagging and boosting of logistic regressions whose members are watched by ADWIN: predict a row, then learn it.

Member m of label j is model j * n_models + m. A step changes the score of its own row by a known amount, so that a row
is scored once and the weights are moved once, however often a member learns it.
"""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.adwin import Windows, new_windows, reset, shows_change
from estimators._kernels.adwin_shares import drop_old_part, mean
from estimators._kernels.compile import HOT, LOOP, PART, Direct, njit
from estimators._kernels.extend import extend
from estimators._kernels.label_codes import UNKNOWN
from estimators._kernels.randomness import advance, uniform
from estimators._typing import Array
from estimators.linear._kernels.logistic import (
    Models,
    Step,
    gradient,
    grow,
    is_positive,
    move,
    new_models,
    score_row,
    sigmoid,
)
from estimators.linear._kernels.rows import Features, Rows, all_in_range, load

NONE = -1
# as in River, which adds it to weights before it divides them
SMALLEST = 1e-16
# with means of at most MOST_MEAN, fewer than one number in 1e100 would be greater
MOST_TIMES, MOST_MEAN = 1000, 100.0


@njit(**HOT)
def draw_poisson(states: Array, k: int, mean: float) -> int:
    """Draw a Poisson number by the state of member k, which steps on: the smallest whose share reaches the draw."""
    mean = min(mean, MOST_MEAN)
    states[k] = advance(states[k])
    u = uniform(states[k])
    times, probability = 0, math.exp(-mean)
    share = probability
    while u >= share and times < MOST_TIMES:
        times += 1
        probability *= mean / times
        share += probability
    return times


class Ensembles(NamedTuple):
    """One ensemble for each label."""

    models: Models
    windows: Windows  # over how each member does
    states: Array  # uint64, (n_members,): random state of each member
    right: Array  # (n_members,): weight of the rows that a boosted member has predicted rightly
    wrong: Array  # the same, wrongly
    n_replaced: Array  # int64, (n_members,): how often each member has been replaced


class Params(NamedTuple):
    """Parameters of the ensembles.

    Windows hold 1 for a right prediction with `river`, as there, or for a wrong one. Boosted members then learn a row
    as often as a bagged one does, and otherwise according to the row's weight.
    """

    n_models: int  # members of each ensemble
    step: Step
    delta: float  # confidence of the windows
    boosting: bool  # members are boosted, not bagged
    river: bool


class Work(NamedTuple):
    """Working memory for one row: features; score, step and mean of each member, and whether it is replaced."""

    features: Features
    scores: Array
    steps: Array
    means: Array
    replaced: Array


class Answers(NamedTuple):
    """Arrays that receive decisions and probabilities (n_rows, n_labels)."""

    decided: Array
    proba: Array


class Example(NamedTuple):
    """A row as one label learns it: its code, its weight, and how much a step of size 1 changes its score."""

    code: int
    weight: float
    change: float


@Direct
@njit(**LOOP)
def learn(
    ensembles: Ensembles, rows: Rows, codes: Array, row_weights: Array, params: Params, work: Work, answers: Answers
) -> bool:
    """Predict each row from the rows before it, then learn it; return False, changing nothing, at features too great.

    Ensembles are changed in place; `answers` receives the predictions. Unknown labels among `codes`, uint8 of shape
    (n_rows, n_labels), are not learnt. Without `row_weights`, all are 1.
    """
    if not all_in_range(rows.values):
        return False
    models, step = ensembles.models, params.step
    for r in range(len(codes)):
        n, squares = load(rows, r, work.features)
        score_row(models, work.features, n, work.scores)
        _vote(ensembles, work.scores, params, answers, r)
        weight = row_weights[r] if len(row_weights) else 1.0
        if weight > 0.0:
            change = step.weights * squares + step.intercept
            for label in range(codes.shape[1]):
                _learn_label(ensembles, label, Example(codes[r, label], weight, change), params, work)
            move(models, work.features, n, work.steps)
            for k in range(len(work.replaced)):
                if work.replaced[k]:
                    _restart(models, k)
    return True


@Direct
@njit(**LOOP)
def predict(ensembles: Ensembles, rows: Rows, params: Params, work: Work, answers: Answers) -> bool:
    """Predict rows; return False at features too great."""
    if not all_in_range(rows.values):
        return False
    for r in range(len(answers.proba)):
        n, _ = load(rows, r, work.features)
        score_row(ensembles.models, work.features, n, work.scores)
        _vote(ensembles, work.scores, params, answers, r)
    return True


@njit(**HOT)
def _vote(ensembles: Ensembles, scores: Array, params: Params, answers: Answers, r: int) -> None:
    """Write the decision and the probability of each label, from the scores of the members."""
    for label in range(answers.proba.shape[1]):
        absent = present = 0.0
        for k in range(label * params.n_models, (label + 1) * params.n_models):
            p = sigmoid(scores[k])
            vote = _vote_weight(ensembles.right[k], ensembles.wrong[k]) if params.boosting else 1.0
            absent += vote * (1.0 - p)
            present += vote * p
        total = absent + present
        answers.proba[r, label] = present / total if total > 0.0 else 0.5
        answers.decided[r, label] = present / total > absent / total if total > 0.0 else False


def vote_weights(ensembles: Ensembles, params: Params) -> Array:
    """Return the weight of the vote of each member."""
    if not params.boosting:
        return np.ones(len(ensembles.right))
    error = (ensembles.wrong + SMALLEST) / (ensembles.right + ensembles.wrong + SMALLEST)
    return np.where(error > 0.5, 1.0, np.log((1.0 - np.minimum(error, 0.5)) / np.minimum(error, 0.5)))


@njit(**HOT)
def _vote_weight(right: float, wrong: float) -> float:
    """Return the weight of a boosted member's vote: its log-odds of being right, or 1 if it is more often wrong."""
    error = (wrong + SMALLEST) / (right + wrong + SMALLEST)
    return 1.0 if error > 0.5 else math.log((1.0 - error) / error)


@njit(**PART)
def _learn_label(ensembles: Ensembles, label: int, row: Example, params: Params, work: Work) -> None:
    """Let the members of a label learn a row, write their steps, and choose a member to replace if one has changed."""
    first, stop = label * params.n_models, (label + 1) * params.n_models
    for k in range(first, stop):
        work.steps[k] = 0.0
        work.replaced[k] = False
    if row.code == UNKNOWN:
        return
    row_weight, changed = 1.0, False
    for k in range(first, stop):
        often = row_weight if params.boosting and not params.river else 1.0
        right = _train(ensembles, k, draw_poisson(ensembles.states, k, often), row, params, work)
        if params.boosting:
            row_weight = _count(ensembles, k, right, row_weight)
        changed |= _watch(ensembles.windows, k, right == params.river, params.delta, work.means)
    if changed:
        k = _greatest(work.means, first, stop)
        work.replaced[k] = True
        reset(ensembles.windows, k)
        ensembles.right[k] = ensembles.wrong[k] = 0.0
        ensembles.n_replaced[k] += 1


@njit(**HOT)
def _train(ensembles: Ensembles, k: int, times: int, row: Example, params: Params, work: Work) -> bool:
    """Learn a row some times, and return whether the member predicts it rightly then."""
    score, slopes = work.scores[k], 0.0
    for _ in range(times):
        slope = gradient(score, row.code, row.weight, params.step.clip)
        score -= row.change * slope
        slopes += slope
    ensembles.models.intercepts[k] -= params.step.intercept * slopes
    work.steps[k] = params.step.weights * slopes
    return is_positive(score) == (row.code == 1)


@njit(**HOT)
def _count(ensembles: Ensembles, k: int, right: bool, row_weight: float) -> float:
    """Count the weight of a row for a member, and return the weight that the next member gives to it."""
    counts = ensembles.right if right else ensembles.wrong
    counts[k] += row_weight
    return row_weight * (ensembles.right[k] + ensembles.wrong[k]) / (2.0 * counts[k])


@njit(**HOT)
def _watch(windows: Windows, k: int, value: bool, delta: float, means: Array) -> bool:
    """Add a value to the window of a member, write its mean, and return whether this has changed and risen."""
    before = mean(windows, k)
    changed = shows_change(windows, k, 1.0 if value else 0.0, delta)
    if changed:
        drop_old_part(windows, k, delta)
    means[k] = mean(windows, k)
    if changed:
        reset(windows, k)
    return changed and means[k] > before


@njit(**HOT)
def _greatest(means: Array, first: int, stop: int) -> int:
    """Return the member with the greatest mean, the first of equals."""
    best = first
    for k in range(first + 1, stop):
        if means[k] > means[best]:
            best = k
    return best


@njit(**PART)
def _restart(models: Models, k: int) -> None:
    models.intercepts[k] = 0.0
    for f in range(len(models.weights)):
        models.weights[f, k] = 0.0


def new_ensembles(n_features: int, seeds: Array) -> Ensembles:
    """Make members that have learnt nothing, one for each random state."""
    n = len(seeds)
    counters = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    return Ensembles(new_models(n_features, n), new_windows(n), seeds.copy(), *counters)


def grown(ensembles: Ensembles, seeds: Array) -> Ensembles:
    """Return ensembles with members for new labels; those that there were are copied, and keep their states."""
    n_new = len(seeds) - len(ensembles.states)
    states = np.append(ensembles.states, seeds[len(ensembles.states) :])
    windows = Windows(*(extend(part, n_new) for part in ensembles.windows))
    counters = (extend(part, n_new) for part in (ensembles.right, ensembles.wrong, ensembles.n_replaced))
    return Ensembles(grow(ensembles.models, n_new), windows, states, *counters)


def new_work(models: Models) -> Work:
    """Make working memory."""
    n_features, n_members = models.weights.shape
    features = Features(np.empty(n_features, np.int64), np.empty(n_features))
    scores, steps, means = np.empty((3, n_members))
    return Work(features, scores, steps, means, np.empty(n_members, np.bool_))
