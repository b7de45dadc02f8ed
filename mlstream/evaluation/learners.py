"""Learners with one interface: test-then-train, prediction and learning, whatever methods the estimator has."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.multioutput import MultiOutputClassifier

from estimators.contract.base import StreamClassifier
from estimators.contract.new_labels import grows
from estimators.contract.seeding import clone_with_seed
from estimators.contract.unknown_labels import refuse_unknown
from estimators.pipeline import with_categories
from mlstream._support.mapped import plain
from mlstream.evaluation.label_space import mask_rows, shows_task_at_prediction
from mlstream.evaluation.learner_base import (
    Given,
    Learner,
    forget,
    is_given_environment,
    routes_environment,
    takes,
    takes_task_to_predict,
)
from mlstream.evaluation.predictions import (
    Predictions,
    join_predictions,
    no_predictions,
    read_predictions,
    widen_predictions,
)
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.settings import Settings
from mlstream.evaluation.wrapping import with_label_budget, wrap
from mlstream.streams.keys import Keys
from mlstream.streams.label_values import filled, known
from mlstream.streams.stream import Dataset, Features, Index, Indicator, Mask, Stream


def fresh(
    estimator: object, seed: int, stream: Stream | Dataset | None = None, *, label_budget: float | None = None
) -> Any:
    """Clone an estimator without its learnt state, as a learner of labels, wrapped if needed, and seed it.

    The seed goes to every parameter called `random_state`, nested estimators included. A learner of a stream is told
    which features are categories, see `estimators.with_categories`. With a `label_budget` it learns that share of the
    labels. A TypeError is raised if it cannot learn labels from a stream, or not under a budget.
    """
    learner = with_label_budget(wrap(estimator), label_budget)
    if stream is not None and stream.feature_values:
        learner = with_categories(learner, stream.categorical_features)
    return clone_with_seed(learner, seed)


def model_size_bytes(estimator: object) -> int | None:
    """Return the size of an estimator: its `memory_bytes_`, or the size of a pickle of its attributes.

    None where it has neither (it holds an open file, for example, or an object of a local class).
    """
    if hasattr(estimator, "memory_bytes_"):
        return int(estimator.memory_bytes_)
    try:
        return len(pickle.dumps(vars(estimator), protocol=pickle.HIGHEST_PROTOCOL))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def adapt(
    estimator: Any,
    n_labels: int,
    meter: ResourceMeter,
    *,
    shows_task: bool = False,
    gives_environment: bool = False,
    settings: Settings | None = None,
) -> Learner:
    """Return the adapter of an estimator, which it changes: by chunks if it has `predict_then_fit`, else row by row.

    If the scenario shows the task at prediction (`shows_task`), an estimator that takes it there is called row by row:
    `predict_then_fit` has one mask, for learning. So is one that is given environments (`gives_environment`), which its
    `predict_then_fit` does not take.
    """
    by_row = shows_task and takes_task_to_predict(estimator)
    by_row |= gives_environment and not takes(estimator, "predict_then_fit", "environment")
    in_chunks = hasattr(estimator, "predict_then_fit") and not (by_row and hasattr(estimator, "partial_fit"))
    learner = (ChunkLearner if in_chunks else RowLearner)(estimator, n_labels, meter, settings)
    learner.gives_environment = gives_environment
    return learner


def adapt_to_stream(estimator: Any, stream: Stream, meter: ResourceMeter, settings: Settings | None = None) -> Learner:
    """Return the adapter of an estimator that learns a stream, see `adapt`.

    Where labels emerge, an estimator made with ``on_new_labels="grow"`` is given those that have emerged so far.
    """
    if labels_emerge(stream) and grows(estimator) and hasattr(estimator, "predict_then_fit"):
        return GrowingLearner(estimator, stream.n_labels, meter, settings)
    shown = {"shows_task": shows_task_at_prediction(stream)}
    shown["gives_environment"] = is_given_environment(estimator, stream.card)
    return adapt(estimator, stream.n_labels, meter, **shown, settings=settings)


class ChunkLearner(Learner):
    """An estimator with `predict_then_fit`; with `begin` as well, it predicts before it has learnt anything."""

    _is_wider = False

    def widen(self, n_labels: int) -> None:
        """Take more labels from now on."""
        super().widen(n_labels)
        self._is_wider = True

    def begin(self, X: Features, Y: Indicator) -> None:
        """Take the estimator's own start state, if it has one."""
        if hasattr(self.estimator, "begin"):
            self.estimator.begin(plain(X[:1]), plain(Y[:1]))
            self._can_predict = True

    def _wait_or_train(self, X: Features, Y: Indicator, given: Given) -> Predictions:
        if self.first_rows.wanted is None and self.first_rows.are_none:
            try:
                predictions = self._test_then_train(X, Y, given)
            except ValueError as error:
                # Ours are as they were, others may have learnt some of the rows.
                if not isinstance(self.estimator, StreamClassifier) or not self.first_rows.can_wait(error):
                    raise
            else:
                self.first_rows.close()
                return predictions
        return super()._wait_or_train(X, Y, given)

    def _wait_or_learn(self, X: Features, Y: Indicator, given: Given) -> None:
        self._wait_or_train(X, Y, given)

    def _read(self, decided: object, proba: object, n_samples: int) -> Predictions:
        # the estimator may have predicted before it met the labels that are new
        n_known = min(self._n_labels, self.estimator.n_labels_) if self._is_wider else self._n_labels
        if n_known == self._n_labels:
            return super()._read(decided, proba, n_samples)
        return widen_predictions(read_predictions(self._name, decided, proba, (n_samples, n_known)), self._n_labels)

    def _test_then_train(self, X: Features, Y: Indicator, given: Given) -> Predictions:
        # `predict_then_fit` has no mask for predictions
        with self._meter.block(), self._meter.phase("online"):
            decided, proba = self.estimator.predict_then_fit(X, Y, **self._visible(given), **_keys(given))
        self._can_predict = True
        return self._read(decided, proba, len(Y))

    def _predict_online(self, X: Features, given: Given) -> Predictions:
        if not self._can_predict:
            return no_predictions(X.shape[0], self._n_labels)
        decided: object
        proba: object
        with self._meter.block(), self._meter.phase("online"):
            if isinstance(self.estimator, StreamClassifier):
                # as rows of the stream, which `predict` does not know: thresholds that follow it may differ
                unknown = np.full((X.shape[0], self.estimator.n_labels_), np.nan)
                decided, proba = self.estimator.predict_then_fit(X, unknown, **_keys(given))
            else:
                decided, proba = self._call_predict(X, given.heads)
        return self._read(decided, proba, X.shape[0])

    def _learn(self, X: Features, Y: Indicator, given: Given) -> None:
        self._test_then_train(X, Y, given)

    def _learn_together(self, X: Features, Y: Indicator, given: Given) -> None:
        learn = getattr(self.estimator, "partial_fit", self.estimator.predict_then_fit)
        if given.environment is not None and not takes(self.estimator, "partial_fit", "environment"):
            learn = self.estimator.predict_then_fit
        with self._meter.block(), self._meter.phase("online"):
            learn(X, Y, **self._visible(given))
        self._can_predict = True


def _keys(given: Given) -> dict[str, Keys]:
    return {} if given.keys is None else {"keys": given.keys}


class GrowingLearner(ChunkLearner):
    """An estimator that takes in new labels: it is given those of the masks so far, in the order of emergence.

    Before any label has emerged, and for labels that have not, it is recorded as predicting 0 with probability 0.
    """

    def __init__(self, estimator: Any, n_labels: int, meter: ResourceMeter, settings: Settings | None = None) -> None:
        super().__init__(estimator, n_labels, meter, settings)
        self._emerged = EmergedLabels(n_labels)

    def begin(self, X: Features, Y: Indicator) -> None:
        """Do nothing: no label has emerged yet."""

    def _test_then_train(self, X: Features, Y: Indicator, given: Given) -> Predictions:
        return super()._test_then_train(X, *self._emerged_part(Y, given))

    def _learn_together(self, X: Features, Y: Indicator, given: Given) -> None:
        super()._learn_together(X, *self._emerged_part(Y, given))

    def _emerged_part(self, Y: Indicator, given: Given) -> tuple[Indicator, Given]:
        self._emerged.update(given.mask)
        return self._emerged.take(Y), given._replace(mask=self._emerged.take(given.mask))

    def _read(self, decided: object, proba: object, n_samples: int) -> Predictions:
        return self._emerged.place(read_predictions(self._name, decided, proba, (n_samples, len(self._emerged))))


class RowLearner(Learner):
    """Any estimator with `partial_fit` and `predict` or `predict_proba`, called row by row.

    scikit-learn needs the classes at the first call: `MultiOutputClassifier` as a list with the values of each
    label, and others that learn an indicator matrix (`MLPClassifier`) as the numbers of the labels.

    Rows of which no label is known are predicted only. Where other labels are unknown, estimators that take no label
    mask raise ValueError: they would refuse NaN, or take it for a value.
    """

    _deciding = "predict"

    def __init__(self, estimator: Any, n_labels: int, meter: ResourceMeter, settings: Settings | None = None) -> None:
        super().__init__(estimator, n_labels, meter, settings)
        self._announced = _classes(estimator, n_labels)
        self._partial_fit = estimator.partial_fit
        if routes_environment(estimator):
            # scikit-learn routes nothing by default
            self._partial_fit = config_context(enable_metadata_routing=True)(self._partial_fit)
        self._predicting, self._learning = meter.phase("predict"), meter.phase("learn")

    def begin(self, X: Features, Y: Indicator) -> None:
        """Do nothing: in scikit-learn's contract there is no prediction before the first row is learnt."""

    def _test_then_train(self, X: Features, Y: Indicator, given: Given) -> Predictions:
        predictions = []
        Y, mask, learnt = self._known_part(Y, given.mask)
        given = given._replace(mask=mask)
        with self._meter.block():
            for row in _single_rows(len(Y)):
                predictions.append(self._test(X, row, given.heads))
                if learnt[row].all():
                    self._train(X[row], Y[row], given.take(row))
        return join_predictions(predictions)

    def _predict_online(self, X: Features, given: Given) -> Predictions:
        with self._meter.block():
            return join_predictions([self._test(X, row, given.heads) for row in _single_rows(X.shape[0])])

    def _learn(self, X: Features, Y: Indicator, given: Given) -> None:
        Y, mask, learnt = self._known_part(Y, given.mask)
        given = given._replace(mask=mask)
        with self._meter.block():
            for row in _single_rows(len(Y)):
                if learnt[row].all():
                    self._train(X[row], Y[row], given.take(row))

    def _test(self, X: Features, row: slice, heads: Mask | None) -> Predictions:
        if not self._can_predict:
            return no_predictions(1, self._n_labels)
        own = None if heads is None else mask_rows(heads, row)
        with self._predicting:
            predictions = self._call_predict(X[row], own)
        return self._read(*predictions, 1)

    def _train(self, row: Features, labels: Indicator, given: Given) -> None:
        with self._learning:
            self._partial_fit(row, labels, **self._visible(given))

    def _learn_together(self, X: Features, Y: Indicator, given: Given) -> None:
        try:
            with self._meter.block(), self._learning:
                self._partial_fit(X, Y, **self._announced, **self._visible(given))
        except ValueError:
            forget(self.estimator)
            raise
        self._can_predict = True

    def _known_part(self, Y: Indicator, mask: Mask) -> tuple[Indicator, Mask, Index | Mask]:
        return known_part(self.estimator, Y, mask, uses_task=self._uses_task)


def _classes(estimator: Any, n_labels: int) -> dict[str, Any]:
    if "classes" not in inspect.signature(estimator.partial_fit).parameters:
        return {}
    if isinstance(estimator, MultiOutputClassifier):
        return {"classes": [np.array([0, 1])] * n_labels}
    return {"classes": np.arange(n_labels)}


def _single_rows(n_rows: int) -> Iterator[slice]:
    return (slice(i, i + 1) for i in range(n_rows))


def labels_emerge(stream: Stream) -> bool:
    """Return whether labels emerge one after another, and masks hold those that have."""
    return stream.card.scenario.emergence is not None


class EmergedLabels:
    """The columns that a learner knows, in the order in which their labels emerged."""

    def __init__(self, n_labels: int) -> None:
        self._n_labels = n_labels
        self._columns: Index = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._columns)

    def update(self, mask: Mask) -> None:
        """Add the labels of a mask, (n_labels,) or (n_samples, n_labels), that have not emerged before."""
        emerged = np.flatnonzero(mask.reshape(-1, self._n_labels).any(axis=0))
        self._columns = np.append(self._columns, np.setdiff1d(emerged, self._columns))

    def take(self, table: np.ndarray) -> np.ndarray:
        """Return the columns of the labels that have emerged."""
        return table[..., self._columns]

    def place(self, found: Predictions) -> Predictions:
        """Return predictions of all labels; those that have not emerged are 0 with probability 0."""
        placed = no_predictions(len(found.decided), self._n_labels)
        placed.decided[:, self._columns], placed.proba[:, self._columns] = found.decided, found.proba
        return placed


def known_part(estimator: object, Y: Indicator, mask: Mask, *, uses_task: bool) -> tuple[Indicator, Mask, Mask]:
    """Return labels and mask without unknown labels, and which rows have a label to learn.

    Unknown labels in `Y` are NaN; `mask` is (n_labels,) or (n_samples, n_labels). Both are returned themselves where
    every label is known. If the learner takes the mask (`uses_task`), unknown labels are outside it; otherwise a row of
    which only some labels are known raises a ValueError.
    """
    cells = known(Y)
    if cells is None:
        return Y, mask, np.ones(len(Y), dtype=bool)
    if uses_task:
        mask = mask & cells
        return filled(Y), mask, np.asarray(mask.any(axis=1))
    learnt: Mask = np.asarray(cells.any(axis=1))
    # Binary relevance takes the place of a multi-output estimator.
    inner = estimator.estimator if isinstance(estimator, MultiOutputClassifier) else estimator
    try:
        refuse_unknown(~cells & learnt[:, np.newaxis], type(estimator).__name__, type(inner).__name__)
    except ValueError as error:
        way_out = "uses_task = True, a learner of all labels is given their mask in partial_fit(X, Y, label_mask=None)"
        raise ValueError(f"{str(error).rstrip('.')}. With the attribute {way_out}.") from None
    return Y, mask, learnt
