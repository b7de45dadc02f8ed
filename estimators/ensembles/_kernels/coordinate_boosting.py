"""Online coordinate boosting: the coefficients of weak learners, and the weight that each gives to a row."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.extend import extend
from estimators._typing import Array

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
