"""Learners as the protocol meets them: test-then-train, prediction and learning, whatever the estimator offers."""

from __future__ import annotations

import inspect
import pickle
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.multioutput import MultiOutputClassifier

from estimators._seeding import clone_with_seed
from mlstream.evaluation.compile_lock import take_turns
from mlstream.evaluation.predictions import Answers, join_answers, no_answers, read_answers
from mlstream.evaluation.resources import ResourceMeter
from mlstream.stream import Features, Indicator, Mask, Stream

_WARM_UP_ROWS = 2


def fresh(estimator: Any, seed: int) -> Any:
    """Clone an estimator, learnt state left behind, and seed it.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn estimator with `partial_fit`; never changed.
    seed : int
        What every parameter called `random_state` becomes, those of nested estimators too.

    Returns
    -------
    estimator
        The clone.

    Raises
    ------
    TypeError
        If it is not an estimator that can learn from a stream.
    """
    learns = hasattr(estimator, "partial_fit") or hasattr(estimator, "predict_then_fit")
    if isinstance(estimator, type) or not learns or not hasattr(estimator, "get_params"):
        raise TypeError(f"estimator must be a scikit-learn estimator with partial_fit. Got {estimator!r} instead.")
    return clone_with_seed(estimator, seed)


def uses_task(estimator: Any) -> bool:
    """Tell whether an estimator wants the label mask when it learns."""
    return bool(getattr(estimator, "uses_task", False))


def model_size_bytes(estimator: Any) -> int | None:
    """Give the size of an estimator: what it says of itself, or what a pickle of its attributes takes.

    Returns
    -------
    int or None
        None where it says nothing and cannot be pickled (it holds an open file, say, or an object of a local class).
    """
    if hasattr(estimator, "memory_bytes_"):
        return int(estimator.memory_bytes_)
    try:
        return len(pickle.dumps(vars(estimator), protocol=pickle.HIGHEST_PROTOCOL))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def adapt(estimator: Any, n_labels: int, meter: ResourceMeter) -> Learner:
    """Give the adapter that fits: by chunks where the estimator can test-then-train them, else row by row."""
    adapter = ChunkLearner if hasattr(estimator, "predict_then_fit") else RowLearner
    return adapter(estimator, n_labels, meter)


def warm_up(estimator: Any, stream: Stream) -> None:
    """Let an estimator import and compile what it needs, by a few rows that a clone learns and forgets.

    Processes of a machine do this one after the other: those that come later load what the first one compiled.

    Parameters
    ----------
    estimator : estimator
        The estimator; never changed.
    stream : Stream
        Where the rows come from: compiled code depends on their types.
    """
    first, held_out, rows = stream.experiences[0], stream.evaluation_sets[0], slice(0, _WARM_UP_ROWS)
    learner = adapt(fresh(estimator, 0), stream.n_labels, ResourceMeter("none"))
    mask = first.label_mask
    with take_turns(f"compiles {type(estimator).__qualname__}"):
        learner.test_then_train(first.X[rows], first.Y[rows], mask[rows] if mask.ndim == 2 else mask)
        learner.predict(held_out.X[rows])


class Learner(ABC):
    """An estimator, its calls measured and its answers checked.

    Parameters
    ----------
    estimator : estimator
        The estimator, which this changes.
    n_labels : int
        Number of labels of the stream.
    meter : ResourceMeter
        What measures its calls.
    """

    def __init__(self, estimator: Any, n_labels: int, meter: ResourceMeter) -> None:
        self.estimator = estimator
        self._n_labels = n_labels
        self._meter = meter
        self._name = type(estimator).__name__
        self._uses_task = uses_task(estimator)
        self._can_answer = False

    @abstractmethod
    def begin(self, X: Features, Y: Indicator) -> None:
        """Take the state before any learning; the widths of X and Y are read, and no row is learnt."""

    def predict(self, X: Features) -> Answers:
        """Answer about held-out rows; 0 with probability 0 if the estimator has learnt nothing and has no start."""
        if not self._can_answer:
            return no_answers(X.shape[0], self._n_labels)
        X = _plain(X)
        with self._meter.block(), self._meter.phase("evaluate"):
            answers = self._ask(X)
        return self._read(*answers, X.shape[0])

    def test_then_train(self, X: Features, Y: Indicator, mask: Mask) -> Answers:
        """Answer about each row with what was learnt from the rows before it, then learn it.

        A row of which no label counts says nothing about labels: it is answered and not learnt.
        """
        known = np.broadcast_to(mask.any(axis=-1), len(Y))
        if known.all():
            return self._meet(X, Y, mask)
        cuts = [0, *np.flatnonzero(np.diff(known)) + 1, len(Y)]
        pieces = [slice(start, stop) for start, stop in pairwise(cuts)]
        return join_answers(
            [self._meet(X[rows], Y[rows], mask[rows]) if known[rows.start] else self._look(X[rows]) for rows in pieces]
        )

    def learn(self, X: Features, Y: Indicator, mask: Mask) -> None:
        """Learn rows one after the other, those without a label that counts left out."""
        known = np.broadcast_to(mask.any(axis=-1), len(Y))
        if known.all():
            self._teach(X, Y, mask)
        elif known.any():
            self._teach(X[known], Y[known], mask[known])

    @abstractmethod
    def _meet(self, X: Features, Y: Indicator, mask: Mask) -> Answers:
        """Answer about rows and learn them, one after the other."""

    @abstractmethod
    def _look(self, X: Features) -> Answers:
        """Answer about rows of the stream that are not learnt."""

    @abstractmethod
    def _teach(self, X: Features, Y: Indicator, mask: Mask) -> None:
        """Learn rows, one after the other."""

    def _ask(self, X: Features) -> tuple[Any, Any]:
        estimator = self.estimator
        decided = estimator.predict(X) if hasattr(estimator, "predict") else None
        proba = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
        return decided, proba

    def _read(self, decided: Any, proba: Any, n_samples: int) -> Answers:
        if isinstance(proba, list):
            proba = self._positive_columns(proba)
        return read_answers(self._name, decided, proba, (n_samples, self._n_labels))

    def _positive_columns(self, proba: list[Any]) -> Any:
        # scikit-learn's multi-output classifiers: per label, one column per class; those announced unless they say.
        announced = [np.array([0, 1])] * self._n_labels
        classes = getattr(self.estimator, "classes_", announced)
        columns = [part[:, np.asarray(values) == 1].sum(axis=1) for part, values in zip(proba, classes, strict=True)]
        return np.column_stack(columns)

    def _told(self, mask: Mask) -> dict[str, Mask]:
        return {"label_mask": mask} if self._uses_task else {}


class ChunkLearner(Learner):
    """An estimator with `predict_then_fit`; one with `begin` as well answers before it has learnt anything."""

    def begin(self, X: Features, Y: Indicator) -> None:
        """Take the estimator's own start state, if it has one."""
        if hasattr(self.estimator, "begin"):
            self.estimator.begin(_plain(X)[:1], Y[:1])
            self._can_answer = True

    def _meet(self, X: Features, Y: Indicator, mask: Mask) -> Answers:
        X = _plain(X)
        with self._meter.block(), self._meter.phase("online"):
            decided, proba = self.estimator.predict_then_fit(X, Y, **self._told(mask))
        self._can_answer = True
        return self._read(decided, proba, len(Y))

    def _look(self, X: Features) -> Answers:
        if not self._can_answer:
            return no_answers(X.shape[0], self._n_labels)
        X = _plain(X)
        with self._meter.block(), self._meter.phase("online"):
            answers = self._ask(X)
        return self._read(*answers, X.shape[0])

    def _teach(self, X: Features, Y: Indicator, mask: Mask) -> None:
        self._meet(X, Y, mask)


class RowLearner(Learner):
    """Any estimator with `partial_fit` and `predict` or `predict_proba`, called row by row.

    scikit-learn wants to know the classes at the first call: `MultiOutputClassifier` as a list with the values of each
    label, and others that learn an indicator matrix (`MLPClassifier`) as the numbers of the labels.
    """

    def __init__(self, estimator: Any, n_labels: int, meter: ResourceMeter) -> None:
        super().__init__(estimator, n_labels, meter)
        self._announced = _classes(estimator, n_labels)
        self._predicting, self._learning = meter.phase("predict"), meter.phase("learn")

    def begin(self, X: Features, Y: Indicator) -> None:
        """Do nothing: in scikit-learn's contract there is no answer before the first row is learnt."""

    def _meet(self, X: Features, Y: Indicator, mask: Mask) -> Answers:
        X, answers = _plain(X), []
        with self._meter.block():
            for i in range(len(Y)):
                answers.append(self._test(X[i : i + 1]))
                self._train(X[i : i + 1], Y[i : i + 1], mask[i : i + 1] if mask.ndim == 2 else mask)
        return join_answers(answers)

    def _look(self, X: Features) -> Answers:
        X = _plain(X)
        with self._meter.block():
            return join_answers([self._test(X[i : i + 1]) for i in range(X.shape[0])])

    def _teach(self, X: Features, Y: Indicator, mask: Mask) -> None:
        X = _plain(X)
        with self._meter.block():
            for i in range(len(Y)):
                self._train(X[i : i + 1], Y[i : i + 1], mask[i : i + 1] if mask.ndim == 2 else mask)

    def _test(self, row: Features) -> Answers:
        if not self._can_answer:
            return no_answers(1, self._n_labels)
        with self._predicting:
            answers = self._ask(row)
        return self._read(*answers, 1)

    def _train(self, row: Features, labels: Indicator, mask: Mask) -> None:
        announced = {} if self._can_answer else self._announced
        with self._learning:
            self.estimator.partial_fit(row, labels, **announced, **self._told(mask))
        self._can_answer = True


def _classes(estimator: Any, n_labels: int) -> dict[str, Any]:
    if "classes" not in inspect.signature(estimator.partial_fit).parameters:
        return {}
    if isinstance(estimator, MultiOutputClassifier):
        return {"classes": [np.array([0, 1])] * n_labels}
    return {"classes": np.arange(n_labels)}


def _plain(X: Features) -> Features:
    """Give a memory-mapped array as the array it is: validation and compiled code are slower on subclasses."""
    return X if sparse.issparse(X) else np.asarray(X)
