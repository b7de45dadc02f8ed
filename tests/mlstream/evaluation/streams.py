"""Streams of a few rows made by hand, and learners of a few lines to run on them."""

from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mlstream.cards.description import describe_stream
from mlstream.streams.card_model import GeneratorCard, ScenarioCard
from mlstream.streams.stream import Dataset, EvaluationSet, Experience, Stream, StreamParts, Task

SIGNATURES = np.array([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 1]], dtype=bool)
VISITS = ((0,), (1,), (0, 2), (1,))
SIZES = (23, 17, 29, 11)
HELD_OUT = 31


def make_stream(visits=VISITS, sizes=SIZES, *, identity="training", as_sparse=False, name="tiny"):
    """Make a stream of three tasks that share labels; an experience of two tasks mixes them by row."""
    rng = np.random.default_rng(5)
    n_rows = sum(sizes) + len(SIGNATURES) * HELD_OUT
    X = rng.normal(size=(n_rows, 4))
    wanted = X @ rng.normal(size=(4, 5)) + 0.3 * rng.normal(size=(n_rows, 5)) > 0.2
    owners = [
        np.asarray(tasks)[np.sort(rng.integers(len(tasks), size=n))] for tasks, n in zip(visits, sizes, strict=True)
    ]
    for owner, tasks in zip(owners, visits, strict=True):
        owner[: len(tasks)] = tasks
    owners += [np.full(HELD_OUT, task) for task in range(len(SIGNATURES))]
    owner = np.concatenate(owners)
    Y = (wanted & SIGNATURES[owner]).astype(np.uint8)
    table = sparse.csr_array(X) if as_sparse else X
    starts = np.cumsum([0, *map(len, owners)])
    rows = [np.arange(start, stop) for start, stop in pairwise(starts)]
    masks = [SIGNATURES[mine[0] if len(tasks) == 1 else mine] for tasks, mine in zip(visits, owners, strict=False)]
    experiences = tuple(
        Experience(table[part], Y[part], owner[part], mask, part)
        for part, mask in zip(rows[: len(visits)], masks, strict=True)
    )
    held_out = tuple(
        EvaluationSet(table[part], Y[part], task, SIGNATURES[task], part)
        for task, part in enumerate(rows[len(visits) :])
    )
    tasks = tuple(Task(f"task {task}", signature) for task, signature in enumerate(SIGNATURES))
    return as_stream(
        StreamParts(tasks, experiences, held_out), Dataset(table, Y, tuple("abcd"), tuple("vwxyz"), name), identity
    )


def as_stream(parts, dataset, identity="training"):
    """Give parts a card."""
    card = describe_stream(
        dataset,
        parts,
        name=dataset.name,
        description="Made by hand.",
        generator=GeneratorCard(name="by hand", parameters={}, seed=0),
        scenario=ScenarioCard(name="by hand", boundary="abrupt", task_identity=identity),
    )
    return Stream(parts, card)


class Online(BaseEstimator):
    """Logistic regression by gradient steps, in scikit-learn's manner and nothing more."""

    def __init__(self, step=0.5, random_state=None):
        self.step = step
        self.random_state = random_state

    def partial_fit(self, X, Y, label_mask=None):
        X = np.asarray(X.todense()) if sparse.issparse(X) else X
        if not hasattr(self, "coef_"):
            start = np.random.default_rng(self.random_state)
            self.coef_ = 0.1 * start.normal(size=(X.shape[1], Y.shape[1]))
        for x, y in zip(X, Y, strict=True):
            error = 1 / (1 + np.exp(-x @ self.coef_)) - y
            self.coef_ -= self.step * np.outer(x, error if label_mask is None else error * label_mask)
        return self

    def predict_proba(self, X):
        X = np.asarray(X.todense()) if sparse.issparse(X) else X
        return 1 / (1 + np.exp(-X @ self.coef_))

    def predict(self, X):
        # Decisions of its own: not the probabilities cut at one half.
        return (self.predict_proba(X) >= 0.4).astype(int)


class Targeted(Online):
    """The same, told the task."""

    @property
    def uses_task(self):
        return True

    def partial_fit(self, X, Y, label_mask=None):
        assert label_mask is not None
        return super().partial_fit(X, Y, np.asarray(label_mask).reshape(-1, Y.shape[1])[0])
