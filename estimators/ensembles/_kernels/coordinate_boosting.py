"""Online coordinate boosting: the coefficients of weak learners, and the weight that each gives to a row."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, LOOP, PART, Direct, njit
from estimators._kernels.extend import extend
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.linear._kernels.logistic import Models, Step, Work, gradient, is_positive, move, score_row
from estimators.linear._kernels.rows import Rows, all_in_range, load

# bounds that rows in their thousands do not reach, so that no number leaves the range of doubles
LEAST_SUM, MOST_SUM, MOST_WEIGHT = 1e-100, 1e100, 1e50


class Boosting(NamedTuple):
    """Coefficients of the weak learners of each label.

    Two weak learners j and k <= j are both right, or both wrong, in approximate weights of rows, as j weights rows with
    the current coefficients.
    """

    alphas: Array  # (n_labels, n_models)
    changes: Array  # (n_labels, n_models): how much the last row has changed the coefficients
    both_right: Array  # (n_labels, n_models, n_models)
    both_wrong: Array  # (n_labels, n_models, n_models)


class Votes(NamedTuple):
    """Working memory of shape (n_models,) for one label and one row."""

    positive: Array  # the weak learner predicts the label
    right: Array  # it is right
    weights: Array  # weight of the row for each
    factors: Array  # exponentials of the changes


class Answers(NamedTuple):
    """Arrays that receive decisions and probabilities (n_rows, n_labels)."""

    decided: Array
    proba: Array


@njit(**PART)
def answer(boosting: Boosting, label: int, votes: Votes, answers: Answers, r: int) -> None:
    """Write the decision of the weighted votes of -1 and 1, and the probability that the exponential loss gives it."""
    total = 0.0
    for j in range(len(votes.positive)):
        total += boosting.alphas[label, j] if votes.positive[j] else -boosting.alphas[label, j]
    answers.decided[r, label] = total > 0.0
    answers.proba[r, label] = 1.0 / (1.0 + math.exp(-2.0 * total))


@njit(**PART)
def reweigh(boosting: Boosting, label: int, is_present: bool, votes: Votes, derived: bool) -> None:
    """Update the coefficients of a label by a row, and write the weight with which each weak learner learns it."""
    weight = 1.0
    for j in range(len(votes.positive)):
        votes.right[j] = votes.positive[j] == is_present
        sign = 1.0 if votes.right[j] else -1.0
        before = boosting.alphas[label, j]
        _add(boosting, label, j, weight, votes, derived)
        alpha = 0.5 * math.log(boosting.both_right[label, j, j] / boosting.both_wrong[label, j, j])
        boosting.alphas[label, j] = alpha
        boosting.changes[label, j] = alpha - before
        votes.factors[j] = math.exp(before - alpha)
        weight = min(weight * math.exp(-alpha * sign), MOST_WEIGHT)
        votes.weights[j] = weight


@njit(**HOT)
def _add(boosting: Boosting, label: int, j: int, weight: float, votes: Votes, derived: bool) -> None:
    """Add a row to the sums of weak learner j, after changing them as the learners before it have changed weights."""
    right, wrong = boosting.both_right, boosting.both_wrong
    grown_right = grown_wrong = 1.0
    for k in range(j):
        shrink = votes.factors[k]
        share = right[label, j, k] / right[label, j, j]
        grown_right *= share * shrink + (1.0 - share) / shrink
        share = wrong[label, j, k] / wrong[label, j, j]
        # learners that were wrong together: their rows weigh more as a coefficient grows, but not in MOA
        grown_wrong *= share / shrink + (1.0 - share) * shrink if derived else share * shrink + (1.0 - share) / shrink
    for k in range(j + 1):
        together = weight if votes.right[k] == votes.right[j] else 0.0
        added_right, added_wrong = (together, 0.0) if votes.right[j] else (0.0, together)
        right[label, j, k] = _held(right[label, j, k] * grown_right + added_right)
        wrong[label, j, k] = _held(wrong[label, j, k] * grown_wrong + added_wrong)


@njit(**HOT)
def _held(total: float) -> float:
    return min(max(total, LEAST_SUM), MOST_SUM)


def new_boosting(n_labels: int, n_models: int, smoothing: float) -> Boosting:
    """Make coefficients of 0."""
    pairs = n_labels, n_models, n_models
    zeros = np.zeros((n_labels, n_models)), np.zeros((n_labels, n_models))
    return Boosting(*zeros, np.full(pairs, smoothing), np.full(pairs, smoothing))


def grown(boosting: Boosting, n_new: int, smoothing: float) -> Boosting:
    """Return coefficients for more labels; those that there were are copied."""
    longer = Boosting(*(extend(part, n_new) for part in boosting))
    for sums in longer[2:]:
        sums[len(sums) - n_new :] = smoothing
    return longer


def new_votes(n_models: int) -> Votes:
    """Make working memory."""
    return Votes(np.empty(n_models, bool), np.empty(n_models, bool), np.empty(n_models), np.empty(n_models))


class Boosted(NamedTuple):
    """Weak learners and their coefficients."""

    models: Models
    boosting: Boosting


class Memory(NamedTuple):
    """Working memory."""

    work: Work
    votes: Votes


class Params(NamedTuple):
    """Sizes of the steps, and whether sums follow the weights of rows, or those of MOA."""

    step: Step
    derived: bool


class Example(NamedTuple):
    """The code of a row for a label, and its weight."""

    code: int
    weight: float


@Direct
@njit(**LOOP)
def learn(
    boosted: Boosted, rows: Rows, codes: Array, row_weights: Array, params: Params, memory: Memory, answers: Answers
) -> bool:
    """Predict each row from the rows before it, then learn it; return False, changing nothing, at features too great.

    Weak learners and their coefficients are changed in place; `answers` receives the predictions. Unknown labels among
    `codes`, uint8 of shape (n_rows, n_labels), are not learnt. Without `row_weights`, all are 1.
    """
    if not all_in_range(rows.values):
        return False
    work, votes = memory.work, memory.votes
    for r in range(len(codes)):
        n, _ = load(rows, r, work.features)
        score_row(boosted.models, work.features, n, work.scores)
        weight = row_weights[r] if len(row_weights) else 1.0
        for label in range(codes.shape[1]):
            _vote(boosted.boosting, label, work.scores, votes, answers, r)
            _learn_label(boosted, label, Example(codes[r, label], weight), params, memory)
        if weight > 0.0:
            move(boosted.models, work.features, n, work.steps)
    return True


@Direct
@njit(**LOOP)
def predict(boosted: Boosted, rows: Rows, memory: Memory, answers: Answers) -> bool:
    """Predict rows; return False at features too great."""
    if not all_in_range(rows.values):
        return False
    work, votes = memory.work, memory.votes
    for r in range(len(answers.proba)):
        n, _ = load(rows, r, work.features)
        score_row(boosted.models, work.features, n, work.scores)
        for label in range(answers.proba.shape[1]):
            _vote(boosted.boosting, label, work.scores, votes, answers, r)
    return True


@njit(**PART)
def _vote(boosting: Boosting, label: int, scores: Array, votes: Votes, answers: Answers, r: int) -> None:
    n_models = len(votes.positive)
    for j in range(n_models):
        votes.positive[j] = is_positive(scores[label * n_models + j])
    answer(boosting, label, votes, answers, r)


@njit(**PART)
def _learn_label(boosted: Boosted, label: int, row: Example, params: Params, memory: Memory) -> None:
    """Write the steps that the weak learners of a label take for a row, and update their coefficients."""
    work, votes = memory.work, memory.votes
    n_models = len(votes.positive)
    learning = row.code != UNKNOWN and row.weight > 0.0
    if learning:
        reweigh(boosted.boosting, label, row.code == 1, votes, params.derived)
    for j in range(n_models):
        k, slope = label * n_models + j, 0.0
        if learning:
            slope = gradient(work.scores[k], row.code, row.weight * votes.weights[j], params.step.clip)
        boosted.models.intercepts[k] -= params.step.intercept * slope
        work.steps[k] = params.step.weights * slope
