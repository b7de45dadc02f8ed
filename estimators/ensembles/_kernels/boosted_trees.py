"""Coordinate boosting of Hoeffding trees: weak learner j of label l is tree l * n_models + j."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.ensembles._kernels.coordinate_boosting import Answers, Boosting, Votes, answer, new_votes, reweigh
from estimators.trees._kernels.hoeffding import (
    TreeParams,
    leaf_to_learn,
    predict_row,
    update,
)
from estimators.trees._kernels.leaf_learning import Row
from estimators.trees._kernels.tree_arrays import TreeArrays, grow, has_room
from estimators.trees._kernels.voting import Scratch, new_buffer, split_buffer

N_CLASSES = 2


class Params(NamedTuple):
    """Parameters of the trees, and whether sums follow the weights of rows, or those of MOA."""

    tree: TreeParams
    derived: bool


class Rows(NamedTuple):
    """Rows to predict and to learn: features, labels as int64, and weights; if these are empty, all are 1."""

    X: Array
    codes: Array
    weights: Array


class Places(NamedTuple):
    """Working memory: the leaf of a row in each tree of a label, and the class that naive Bayes guesses there."""

    leaves: Array
    guesses: Array


class Work(NamedTuple):
    """Working memory of all kinds."""

    votes: Votes
    places: Places
    buffer: Array


def learn(trees: TreeArrays, boosting: Boosting, rows: Rows, params: Params, answers: Answers) -> TreeArrays:
    """Predict each row from the rows before it, then learn it; return the weak learners to be used from now on.

    Trees and coefficients are changed in place, and trees extended when free places run out; `answers` receives the
    predictions. An unknown label is not learnt.
    """
    n_models, work = boosting.alphas.shape[1], new_work(trees, boosting)
    done, n_steps = 0, rows.codes.size
    while True:
        done = _learn_from(trees, boosting, rows, params, work, answers, done)
        if done == n_steps:
            return trees
        trees = grow(trees, N_CLASSES, n_models)


def predict(trees: TreeArrays, boosting: Boosting, X: Array, answers: Answers) -> None:
    """Predict rows."""
    _predict(trees, boosting, X, new_work(trees, boosting), answers)


@Direct
@njit(**LOOP)
def _learn_from(
    trees: TreeArrays, boosting: Boosting, rows: Rows, params: Params, work: Work, answers: Answers, done: int
) -> int:
    """Go on from step `done`, label by label; return the step before which places ran out, or the number of steps."""
    n_rows, n_labels = rows.codes.shape
    scratch = split_buffer(trees, work.buffer, N_CLASSES)
    n_models = len(work.votes.positive)
    for label in range(done // n_rows, n_labels):
        for r in range(done - label * n_rows if done > label * n_rows else 0, n_rows):
            if not has_room(trees, N_CLASSES, n_models):
                return label * n_rows + r
            _vote(trees, label, rows.X, r, scratch, work)
            answer(boosting, label, work.votes, answers, r)
            weight = rows.weights[r] if len(rows.weights) else 1.0
            code = rows.codes[r, label]
            if code != UNKNOWN and weight > 0.0:
                reweigh(boosting, label, code == 1, work.votes, params.derived)
                _meet_values(trees, label, rows.X, r, work)
                _train(trees, label, Row(code, weight, 0), params.tree, scratch, work)
    return n_rows * n_labels


@Direct
@njit(**LOOP)
def _predict(trees: TreeArrays, boosting: Boosting, X: Array, work: Work, answers: Answers) -> None:
    scratch = split_buffer(trees, work.buffer, N_CLASSES)
    for label in range(answers.proba.shape[1]):
        for r in range(len(X)):
            _vote(trees, label, X, r, scratch, work)
            answer(boosting, label, work.votes, answers, r)


@njit(**PART)
def _vote(trees: TreeArrays, label: int, X: Array, r: int, scratch: Scratch, work: Work) -> None:
    """Let the trees of a label vote, ties and empty trees for its absence, and keep what their update needs."""
    n_models = len(work.votes.positive)
    for j in range(n_models):
        leaf, guess = predict_row(trees, label * n_models + j, X, r, scratch, True)
        work.places.leaves[j], work.places.guesses[j] = leaf, guess
        work.votes.positive[j] = scratch.votes[1] > scratch.votes[0]


@njit(**PART)
def _meet_values(trees: TreeArrays, label: int, X: Array, r: int, work: Work) -> None:
    """Give values of nominal features that are new to a branch their leaves."""
    leaves, guesses = work.places.leaves, work.places.guesses
    for j in range(len(leaves)):
        found = Row(0, 0.0, guesses[j])
        leaves[j], found = leaf_to_learn(trees, label * len(leaves) + j, X, r, leaves[j], found)
        guesses[j] = found.guess


@njit(**PART)
def _train(trees: TreeArrays, label: int, row: Row, params: TreeParams, scratch: Scratch, work: Work) -> None:
    n_models = len(work.votes.positive)
    for j in range(n_models):
        weight = row.weight * work.votes.weights[j]
        if weight > 0.0:
            own = Row(row.code, weight, work.places.guesses[j])
            update(trees, label * n_models + j, work.places.leaves[j], scratch, own, params)


def new_work(trees: TreeArrays, boosting: Boosting) -> Work:
    """Make working memory."""
    n_models = boosting.alphas.shape[1]
    places = Places(np.empty(n_models, np.int64), np.empty(n_models, np.int64))
    return Work(new_votes(n_models), places, new_buffer(trees, N_CLASSES))
