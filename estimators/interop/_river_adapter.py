"""A learner, and a detector, of ours with the interfaces of River's."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from river import base
from sklearn.base import clone

from estimators._typing import Array, Estimator
from estimators.baselines import MeanLabelsClassifier
from estimators.contract.failed_calls import unchanged_on_error
from estimators.contract.locks import Locked, lock_of
from estimators.contract.new_labels import can_grow, grows, set_choice
from estimators.drift.adwin import ADWIN
from estimators.drift.base import DriftDetector
from estimators.interop._river_rows import (
    Frame,
    RiverRows,
    Row,
    as_rows,
    keys_of,
    padded,
    positions_of,
    room_for,
    table_of,
    to_frame,
)


class RiverAdapter(RiverRows, Locked, base.MultiLabelClassifier):
    """A multi-label classifier of River; `estimators.interop.river.as_river` makes it."""

    def __init__(
        self,
        estimator: Estimator,
        features: Sequence[Hashable] | None = None,
        labels: Sequence[Hashable] | None = None,
        max_labels: int | None = None,
        max_features: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.labels = labels
        self.max_labels = max_labels
        self.max_features = max_features
        self._has_open_labels = labels is None and max_labels is None
        self.learner = self._new_learner()
        # labels declared do not keep a learner that was told to grow from growing
        self._grows = max_labels is None and grows(self.learner)
        self._labels = None if labels is None else positions_of(labels)
        self._declare_features(features)

    def learn_one(self, x: Row, y: Row) -> None:
        """Learn a row; a label that is None, or missing from y, is unknown."""
        if not isinstance(y, Mapping):
            raise TypeError(f"y must be a dictionary: as_river_classifier takes one class. Got {y!r} instead.")
        self._learn_labels(x, y)

    def learn_many(self, X: Frame, Y: Frame) -> None:
        """Learn the rows of a data frame that narwhals knows, in order, as `learn_one` does one after the other.

        A cell of Y without a value is an unknown label.
        """
        X, Y = as_rows(X), as_rows(Y)
        if len(X) != len(Y):
            raise ValueError(f"X and Y must have the same number of rows. Got {len(X)} and {len(Y)} instead.")
        if len(X):
            self._learn_labels(X, Y)

    def predict_proba_one(
        self,
        x: Row,
        **kwargs: object,  # noqa: ARG002 - River's signature
    ) -> dict[Hashable, dict[bool, float]]:
        """Estimate the probability of each known label."""
        with lock_of(self):
            if not self._has_learnt:
                return {}
            proba = self.learner.predict_proba(self._known_rows(x))[0].tolist()
            return {label: {False: 1 - proba[j], True: proba[j]} for label, j in (self._labels or {}).items()}

    def predict_one(self, x: Row, **kwargs: object) -> dict[Hashable, bool]:  # noqa: ARG002
        """Predict whether each known label is present."""
        with lock_of(self):
            if not self._has_learnt:
                return {}
            decided = self.learner.predict(self._known_rows(x))[0].tolist()
            return {label: bool(decided[j]) for label, j in (self._labels or {}).items()}

    def predict_proba_many(self, X: Frame) -> Frame:
        """Estimate P(True) of each known label: a frame of the same library, a column each, with the index of X."""
        X = as_rows(X)
        with lock_of(self):
            return self._columns(X, self.learner.predict_proba, float)

    def predict_many(self, X: Frame) -> Frame:
        """Predict each known label: a data frame of the same library, a column each, with the index of X."""
        X = as_rows(X)
        with lock_of(self):
            return self._columns(X, self.learner.predict, bool)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        # what River's own checks make a model with
        yield {"estimator": MeanLabelsClassifier()}

    def _new_learner(self) -> Any:
        learner = clone(self.estimator)
        return set_choice(learner, "grow") if self._has_open_labels and can_grow(learner) else learner

    def _learn_labels(self, x: Row | Frame, y: Frame) -> None:
        with unchanged_on_error(self) as call:
            labels = self._with_room_for(keys_of(y))
            if self._grows:
                room = self._target_room = len(labels)
            elif self._has_open_labels:
                room = room_for(len(labels), self._target_room)
            else:
                room = self.max_labels or len(labels)
            target, stores = table_of(y, labels, "y", missing=np.nan), self._has_open_labels and not self._grows
            self._learn(call, x, target, room, stores=stores)
            self._labels = labels

    def _fit_chunk(self, rows: Array, target: Array, room: int, target_room: int) -> None:
        self.learner.partial_fit(padded(rows, room), padded(target, target_room, np.nan), classes=target_room)

    def _columns(self, X: Frame, predict: Callable[[Array], Array], kind: type) -> Frame:
        labels = (self._labels or {}) if self._has_learnt else {}
        table = predict(self._known_rows(X)) if labels and len(X) else np.empty((len(X), len(labels)))
        return to_frame(table.astype(kind), labels, X)

    def _with_room_for(self, keys: Iterable[Hashable]) -> dict[Hashable, int]:
        known = self._labels or {}
        labels = known | {key: len(known) + i for i, key in enumerate(key for key in keys if key not in known)}
        if not labels:
            raise ValueError(
                "y must hold at least one label in the first row, or `labels` must be declared. Got no label instead."
            )
        room = len(labels) if self._grows or self._has_open_labels else self.max_labels or len(known)
        if len(labels) > room:
            raise ValueError(
                f"y must hold labels that are known or have room. Got the new label {list(labels)[room]!r} instead, "
                f"where there is room for {room}; declare `labels`, or more room with `max_labels`."
            )
        return labels


class RiverDetector(base.DriftDetector):
    """A drift detector of River; `estimators.interop.river.as_river_detector` makes it."""

    def __init__(self, detector: DriftDetector) -> None:
        super().__init__()
        self.detector = detector
        self._watching: Any = clone(detector)

    def update(self, x: float) -> None:
        """Pass a value; after a drift, the detector has seen none."""
        self._drift_detected = self._watching.update(x)

    def _reset(self) -> None:
        super()._reset()
        self._watching.reset()

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        # what River's own checks make a detector with
        yield {"detector": ADWIN()}


class RiverWarningDetector(RiverDetector, base.DriftAndWarningDetector):
    """A drift detector of River that warns, too."""

    def update(self, x: float) -> None:
        """Pass a value; after a drift, the detector has seen none."""
        super().update(x)
        self._warning_detected = self._watching.warning_
