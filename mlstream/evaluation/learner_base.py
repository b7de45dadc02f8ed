"""The interface of learners: test-then-train, prediction and learning, measured, checked, and begun in good time."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object

from estimators.contract.failed_calls import DivergedError
from estimators.meta._wrapped import takes_sparse
from metrics.validation import positive_columns
from mlstream._support.mapped import plain
from mlstream.evaluation.label_space import mask_rows
from mlstream.evaluation.predictions import (
    Decisions,
    Predictions,
    join_predictions,
    make_decisions,
    no_predictions,
    read_predictions,
    widen_columns,
)
from mlstream.evaluation.resources import Phase, ResourceMeter
from mlstream.evaluation.settings import Settings
from mlstream.streams.card_model import StreamCard
from mlstream.streams.frames import Features
from mlstream.streams.keys import Keys, take_keys
from mlstream.streams.stream import Index, Indicator, Mask
from mlstream.streams.tables.arrays import join_rows

try:
    from sklearn.utils._param_validation import InvalidParameterError
except ImportError:  # not public: without it, a wrong parameter is tried with more rows, and raised in the end
    InvalidParameterError = DivergedError

# A learner that has refused so many rows will refuse more: its own error is raised then.
MAX_AUTOMATIC = 100


def uses_task(estimator: object) -> bool:
    """Return whether an estimator takes the label mask when it learns."""
    return bool(getattr(estimator, "uses_task", False))


def takes_task_to_predict(estimator: object) -> bool:
    """Return whether an estimator takes the labels of the task when it predicts, as one with a head per task does."""
    return any(takes(estimator, method, "label_mask") for method in ("predict", "predict_proba"))


def is_given_environment(estimator: object, card: StreamCard) -> bool:
    """Return whether an estimator is given the environment of each row when it learns.

    Tasks must be environments, as the scenario says, and the estimator must ask for them: by its `uses_environment`;
    without that, by a parameter `environment`, or by a request that scikit-learn routes to an estimator inside.
    """
    if card.scenario.name != "environments":
        return False
    if hasattr(estimator, "uses_environment"):
        return bool(estimator.uses_environment)
    named = any(takes(estimator, method, "environment") for method in ("partial_fit", "predict_then_fit"))
    return named or routes_environment(estimator)


def routes_environment(estimator: object) -> bool:
    """Return whether `partial_fit` of an estimator passes `environment` on to one inside it that requests it."""
    if not hasattr(estimator, "partial_fit") or takes(estimator, "partial_fit", "environment"):
        return False
    try:
        return bool(get_routing_for_object(estimator).consumes("partial_fit", ["environment"]))
    except NotImplementedError:  # scikit-learn's own, of what does not route
        return False


class Given(NamedTuple):
    """Values that an estimator is given with X and Y: labels to learn, labels to predict, environments, and keys."""

    mask: Mask
    heads: Mask | None = None
    environment: Index | None = None
    keys: Keys | None = None

    def take(self, rows: slice | Index | Mask) -> Given:
        """Return what is given of some of the rows."""
        heads = None if self.heads is None else mask_rows(self.heads, rows)
        environment = None if self.environment is None else self.environment[rows]
        return Given(mask_rows(self.mask, rows), heads, environment, take_keys(self.keys, rows))


class Learner(ABC):
    """An estimator, which this changes, its calls measured and its predictions checked.

    `settings` say how many rows it waits for before it first learns, and how predictions are decided.
    """

    # The phase that decisions by a rule cost.
    _deciding: ClassVar[Phase] = "online"
    # Whether the tasks of rows are their environments, which the estimator is given.
    gives_environment = False

    def __init__(self, estimator: Any, n_labels: int, meter: ResourceMeter, settings: Settings | None = None) -> None:
        settings = settings or Settings()
        self.estimator = estimator
        self.first_rows = FirstRows(settings.warm_up_rows)
        self._decisions = None if settings.decision == "own" else make_decisions(settings.decision, n_labels)
        self._also = [make_decisions(rule, n_labels) for rule in settings.also_decide]
        self._n_labels = n_labels
        self._meter = meter
        self._name = type(estimator).__name__
        self._uses_task = uses_task(estimator)
        self._with_heads = {name: takes(estimator, name, "label_mask") for name in ("predict", "predict_proba")}
        self._can_predict = False
        self._takes_sparse = takes_sparse(estimator)

    @abstractmethod
    def begin(self, X: Features, Y: Indicator) -> None:
        """Take the state before any learning; only the widths of X and Y are read."""

    def widen(self, n_labels: int) -> None:
        """Take more labels from now on; they do not count in rows that wait still."""
        self._n_labels = n_labels
        self.first_rows.widen(n_labels)

    def predict(self, X: Features, heads: Mask | None = None) -> Predictions:
        """Predict held-out rows; 0 with probability 0 if the estimator has learnt nothing and has no start state.

        `heads`, the labels of the rows' tasks, are passed to an estimator that takes them.
        """
        if not self._can_predict:
            nothing = no_predictions(X.shape[0], self._n_labels)
            return nothing._replace(also=(nothing.decided,) * len(self._also))
        X = self._as_taken(X)
        with self._meter.block(), self._meter.phase("evaluate"):
            predictions = self._call_predict(X, heads)
        read = self._read(*predictions, X.shape[0])
        return self._decide(lambda rule: rule.held_out(read), read, "evaluate")

    def test_then_train(
        self,
        X: Features,
        Y: Indicator,
        mask: Mask,
        heads: Mask | None = None,
        task_ids: Index | None = None,
        keys: Keys | None = None,
    ) -> Predictions:
        """Predict each row with what was learnt from the rows before it, then learn it.

        A row of which no label counts has nothing to learn: it is only predicted. `task_ids` are the tasks of the rows,
        for learners that are given environments, and `keys` their keys, for those that use them.
        """
        X, Y = self._as_taken(X), plain(Y)
        given = self._given(mask, heads, task_ids)
        if getattr(self.estimator, "uses_keys", False):
            given = given._replace(keys=keys)
        predictions = self._test_then_train_known(X, Y, given)
        return self._decide(lambda rule: rule.online(predictions, Y, mask), predictions, self._deciding)

    def _decide(self, decide: Callable[[Decisions], Predictions], own: Predictions, phase: Phase) -> Predictions:
        """Decide rows by the rule of the run, which is measured, and by further rules, which are not."""
        also = tuple(decide(rule).decided for rule in self._also)
        if self._decisions is None:
            return own._replace(also=also)
        with self._meter.block(), self._meter.phase(phase):
            return decide(self._decisions)._replace(also=also)

    def _test_then_train_known(self, X: Features, Y: Indicator, given: Given) -> Predictions:
        known = np.broadcast_to(given.mask.any(axis=-1), len(Y))
        if known.all():
            return self._wait_or_train(X, Y, given)
        cuts = [0, *np.flatnonzero(np.diff(known)) + 1, len(Y)]
        predictions = []
        for rows in (slice(start, stop) for start, stop in pairwise(cuts)):
            own = given.take(rows)
            if known[rows.start]:
                predictions.append(self._wait_or_train(X[rows], Y[rows], own))
            else:
                predictions.append(self._predict_online(X[rows], own))
        return join_predictions(predictions)

    def learn(self, X: Features, Y: Indicator, mask: Mask, task_ids: Index | None = None) -> None:
        """Learn rows one after the other, except those without a label that counts."""
        X, Y = self._as_taken(X), plain(Y)
        known = np.broadcast_to(mask.any(axis=-1), len(Y))
        given = self._given(mask, None, task_ids)
        if not known.all():
            X, Y, given = X[known], Y[known], given.take(known)
        if not len(Y):
            return
        self._wait_or_learn(X, Y, given)
        for rule in self._also:
            rule.learn(Y, given.mask)
        if self._decisions is not None:
            with self._meter.block(), self._meter.phase(self._deciding):
                self._decisions.learn(Y, given.mask)

    def _as_taken(self, X: Features) -> Features:
        """Return rows in memory; dense, if the estimator's tags say that it takes no other."""
        X = plain(X)
        return X.toarray() if issparse(X) and not self._takes_sparse else X

    def _given(self, mask: Mask, heads: Mask | None, task_ids: Index | None) -> Given:
        return Given(mask, heads, task_ids if self.gives_environment else None)

    def _wait_or_train(self, X: Features, Y: Indicator, given: Given) -> Predictions:
        """Predict rows and learn them; as long as the learner waits, rows are kept, then learnt in one call."""
        stop, predictions = 0, []
        for rows in self._waiting_rows(X, Y, given):
            predictions.append(self._predict_online(X[rows], given.take(rows)))
            stop = rows.stop
        if stop < len(Y):
            rows = slice(stop, None)
            predictions.append(self._test_then_train(X[rows], Y[rows], given.take(rows)))
        return join_predictions(predictions)

    def _wait_or_learn(self, X: Features, Y: Indicator, given: Given) -> None:
        """Learn rows; as long as the learner waits, they are kept, then learnt in one call."""
        stop = 0
        for rows in self._waiting_rows(X, Y, given):
            stop = rows.stop
        if stop < len(Y):
            rows = slice(stop, None)
            self._learn(X[rows], Y[rows], given.take(rows))

    def _waiting_rows(self, X: Features, Y: Indicator, given: Given) -> Iterator[slice]:
        """Yield rows to be predicted as long as the learner waits, and keep or learn them after that."""
        if self.first_rows.are_open:
            # Labels that cannot be learnt are refused before any row is.
            self._known_part(Y, given.mask)
        start = 0
        while self.first_rows.are_open and start < len(Y):
            rows = slice(start, start + self.first_rows.count_next(len(Y) - start))
            yield rows
            self._try_first_rows(X[rows], Y[rows], given.take(rows))
            start = rows.stop

    def _try_first_rows(self, X: Features, Y: Indicator, given: Given) -> None:
        Y, mask, learnt = self._known_part(Y, given.mask)
        rows = self.first_rows.add(X[learnt], Y[learnt], given._replace(mask=mask).take(learnt))
        if rows is None:
            return
        try:
            self._learn_together(*rows)
        except ValueError as error:
            if not self.first_rows.can_wait(error):
                raise
        else:
            self.first_rows.close()

    def _known_part(self, Y: Indicator, mask: Mask) -> tuple[Indicator, Mask, Index | Mask]:
        """Return labels and mask as the estimator takes them, and the rows that it learns."""
        return Y, mask, np.ones(len(Y), dtype=bool)

    @abstractmethod
    def _test_then_train(self, X: Features, Y: Indicator, given: Given) -> Predictions:
        """Predict rows and learn them, one after the other."""

    @abstractmethod
    def _learn_together(self, X: Features, Y: Indicator, given: Given) -> None:
        """Learn the first rows in one call."""

    @abstractmethod
    def _predict_online(self, X: Features, given: Given) -> Predictions:
        """Predict rows of the stream that are not learnt."""

    @abstractmethod
    def _learn(self, X: Features, Y: Indicator, given: Given) -> None:
        """Learn rows, one after the other."""

    def _call_predict(self, X: Features, heads: Mask | None) -> tuple[object, object]:
        if hasattr(self.estimator, "predict_with_proba") and (heads is None or not any(self._with_heads.values())):
            decided, proba = self.estimator.predict_with_proba(X)
            return decided, proba
        decided, proba = (
            getattr(self.estimator, name)(X, **({} if heads is None or not takes_heads else {"label_mask": heads}))
            if hasattr(self.estimator, name)
            else None
            for name, takes_heads in self._with_heads.items()
        )
        return decided, proba

    def _read(self, decided: object, proba: object, n_samples: int) -> Predictions:
        if isinstance(proba, list):
            # without `classes_`, the values that were announced
            proba = positive_columns(proba, getattr(self.estimator, "classes_", [(0, 1)] * len(proba)))
            # GaussianNB divides by variances, which are 0 after one row; it counts as in BinaryRelevance
            proba[np.isnan(proba)] = 0.0
        return read_predictions(self._name, decided, proba, (n_samples, self._n_labels))

    def _visible(self, given: Given) -> dict[str, Mask | Index]:
        shown: dict[str, Mask | Index] = {"label_mask": given.mask} if self._uses_task else {}
        return shown if given.environment is None else {**shown, "environment": given.environment}


def takes(estimator: object, method: str, parameter: str) -> bool:
    """Return whether an estimator has a method with a parameter."""
    call = getattr(estimator, method, None)
    return call is not None and parameter in inspect.signature(call).parameters


class Rows(NamedTuple):
    """Rows to learn, with what is given of each."""

    X: Features
    Y: Indicator
    given: Given


class FirstRows:
    """Rows that wait for the first call of a learner.

    `wanted` None waits for as few as the learner accepts, at most a hundred. `are_open` is whether the learner still
    waits, and `n_together` the number of rows that were learnt in one call, 0 if it did not wait.
    """

    def __init__(self, wanted: int | None) -> None:
        self.wanted = None if wanted is None else max(wanted, 1)
        self.are_open = True
        self.n_together = 0
        self._error: ValueError | None = None
        self._parts: list[Rows] = []
        self._n_rows = 0

    def count_next(self, n_rows: int) -> int:
        """Return how many of the next rows to add before the learner is tried."""
        return 1 if self.wanted is None else min(n_rows, self.wanted - self._n_rows)

    def add(self, X: Features, Y: Indicator, given: Given) -> Rows | None:
        """Add rows, and return all rows so far if they are enough to try the learner with."""
        if not len(Y):
            return None
        self._parts.append(Rows(X, Y, given._replace(mask=np.broadcast_to(given.mask, Y.shape))))
        self._n_rows += len(Y)
        if self._n_rows < (self.wanted or 1):
            return None
        if len(self._parts) == 1 and self._n_rows == 1:
            return Rows(X, Y, given)
        X_parts, Y_parts, parts = zip(*self._parts, strict=True)
        environment = None if given.environment is None else np.concatenate([part.environment for part in parts])
        joined = Given(np.concatenate([part.mask for part in parts]), environment=environment)
        return Rows(join_rows(X_parts), np.concatenate(Y_parts), joined)

    def widen(self, n_labels: int) -> None:
        """Take more labels, which do not count in the rows so far."""
        self._parts = [
            Rows(X, widen_columns(Y, n_labels), given._replace(mask=widen_columns(given.mask, n_labels)))
            for X, Y, given in self._parts
        ]

    def close(self) -> None:
        """Note that the learner has learnt the rows."""
        self.n_together = self._n_rows if self._n_rows > 1 else 0
        self.are_open = False
        self._parts = []

    def can_wait(self, error: ValueError) -> bool:
        """Return whether more rows may help a learner that failed with this error."""
        self._error = error
        never_helped = isinstance(error, InvalidParameterError | DivergedError)
        return self.wanted is None and not never_helped and self._n_rows < MAX_AUTOMATIC

    def require_closed(self) -> None:
        """Raise an error if rows wait still at the end of a stream: that of the learner, if it has failed."""
        if not self.are_open or not self._n_rows:
            return
        if self._error is not None:
            raise self._error
        raise ValueError(
            f"warm_up_rows must be at most {self._n_rows}, the number of rows to learn. Got {self.wanted} instead."
        )

    @property
    def are_none(self) -> bool:
        """Whether no row waits."""
        return not self._n_rows


def forget(estimator: object) -> None:
    """Put an estimator back, in place, to what it was before it learnt anything."""
    untrained = vars(clone(estimator))
    vars(estimator).clear()
    vars(estimator).update(untrained)
