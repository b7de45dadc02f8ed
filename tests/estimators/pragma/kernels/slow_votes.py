"""Predictions by weighted votes, and PRAGMA of them, from lists of rows; and tables of votes with many ties."""

import numpy as np
from hypothesis import strategies as st

from estimators.pragma._kernels.votes import PENALTY, PENALTY_SLOPE, TINY, Losses
from estimators.pragma._vote_search import store
from tests.scattered import tables


def predict(votes, weights):
    """Return the class of the greatest product of weight and vote in each row, the first of equal ones."""
    scores = [[w * vote for w, vote in zip(weights, row, strict=True)] for row in votes]
    return [row.index(max(row)) for row in scores]


def rates(truth, predicted, c):
    """Return recall and precision of a class, precision 0 where it is never predicted."""
    hits = sum(t == p == c for t, p in zip(truth, predicted, strict=True))
    return hits / truth.count(c), hits / max(predicted.count(c), 1)


def objective(truth, predicted, losses):
    """Return PRAGMA, and the objective: it is greater by what recalls and precisions lack to their floors."""
    total = lacking = 0.0
    for c in range(len(losses.share)):
        if losses.share[c]:
            recall, precision = rates(truth, predicted, c)
            total += float(losses.share[c] * (1 + losses.alpha[c] * recall + losses.beta[c] * precision))
            for floor, rate in zip(losses.floors[c] if len(losses.floors) else (), (recall, precision), strict=False):
                lacking += max(float(floor) - rate, 0.0)
    return total, total if lacking <= TINY else total + PENALTY + PENALTY_SLOPE * lacking


@st.composite
def problems(draw, least_vote=0.0):
    """Draw votes (n_rows, n_classes), at least one in each row, true classes, and losses; some classes do not occur."""
    n, n_classes = draw(st.integers(1, 8)), draw(st.integers(2, 4))
    votes = draw(tables((n, n_classes), (least_vote, 1.0, 2.0, least_vote, 3.0)))
    votes[votes.max(axis=1) == 0, 0] = 1.0
    truth = draw(tables((n,), tuple(range(n_classes)), np.int64))
    n_true = np.bincount(truth, minlength=n_classes)
    theta = np.where(n_true > 0, draw(tables((n_classes,), (1.0, 5.0))), 0.0)
    slopes = draw(tables((2, n_classes), (-0.5, -0.3, 0.0, -0.1)))
    floors = draw(tables((n_classes, 2), (0.0, 0.5, 0.9))) if draw(st.booleans()) else np.zeros((0, 2))
    losses = Losses(theta / theta.sum(), *slopes, n_true, floors, 0)
    return votes.tolist(), truth.tolist(), store(votes, truth), losses
