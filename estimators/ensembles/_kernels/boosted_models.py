"""Coordinate boosting of logistic regressions: weak learner j of label l is model l * n_models + j."""

from typing import NamedTuple

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.ensembles._kernels.coordinate_boosting import Answers, Boosting, Votes, answer, reweigh
from estimators.linear._kernels.logistic import Models, Step, Work, gradient, is_positive, move, score_row
from estimators.linear._kernels.rows import Rows, all_in_range, load


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
