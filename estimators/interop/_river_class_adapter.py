"""A learner of ours with the interface of River's classifiers of one class a row."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from river import base
from sklearn.base import clone

from estimators._typing import Array, Estimator
from estimators.baselines import NearestRowClassifier
from estimators.contract.failed_calls import unchanged_on_error
from estimators.contract.locks import Locked, lock_of
from estimators.interop._river_rows import (
    Frame,
    RiverRows,
    Row,
    as_rows,
    padded,
    positions_of,
    room_for,
    to_frame,
    to_series,
)


class RiverClassAdapter(RiverRows, Locked, base.MiniBatchClassifier):
    """A River classifier with one class a row; `estimators.interop.river.as_river_classifier` makes it."""

    def __init__(
        self,
        estimator: Estimator,
        classes: Sequence[Hashable] | None = None,
        features: Sequence[Hashable] | None = None,
        max_features: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.classes = classes
        self.features = features
        self.max_features = max_features
        self.learner = clone(estimator)
        self._codes = positions_of(classes or ())
        self._declare_features(features)

    @property
    def _multiclass(self) -> bool:
        return self.classes is None or len(self.classes) > 2

    def learn_one(self, x: Row, y: Hashable) -> None:
        """Learn a row."""
        if isinstance(y, Mapping):
            raise TypeError(f"y must be one class: as_river takes a dictionary of labels. Got {y!r} instead.")
        self._learn_classes(x, [y])

    def learn_many(self, X: Frame, y: Frame) -> None:
        """Learn the rows of a data frame that narwhals knows, in order, as `learn_one` does one after the other."""
        X, classes = as_rows(X), list(y)
        if len(X) != len(classes):
            raise ValueError(f"X and y must have the same number of rows. Got {len(X)} and {len(classes)} instead.")
        if classes:
            self._learn_classes(X, classes)

    def predict_proba_one(
        self,
        x: Row,
        **kwargs: object,  # noqa: ARG002 - River's signature
    ) -> dict[Hashable, float]:
        """Estimate the probability of each class: the same for all before any row is learnt."""
        with lock_of(self):
            return dict(zip(self._codes, self._probabilities(x, 1)[0].tolist(), strict=True))

    def predict_proba_many(self, X: Frame) -> Frame:
        """Estimate the probability of each class: a frame of the same library, a column each, with the index of X."""
        X = as_rows(X)
        with lock_of(self):
            return to_frame(self._probabilities(X, len(X)), self._codes, X)

    def predict_many(self, X: Frame) -> Frame:
        """Predict the class of the rows of a data frame: a series of the same library, with the index of X."""
        X = as_rows(X)
        with lock_of(self):
            classes = list(self._codes)
            codes = self._probabilities(X, len(X)).argmax(axis=1) if classes else ()
            return to_series([classes[code] for code in codes] or [None] * len(X), X)

    def _learn_classes(self, x: Row | Frame, classes: Sequence[Hashable]) -> None:
        with unchanged_on_error(self) as call:
            known = self._codes
            new = [one for one in dict.fromkeys(classes) if one not in known]
            if new and self.classes is not None:
                raise ValueError(f"y must be one of the classes {list(known)}. Got {new[0]!r} instead.")
            codes = known | {one: len(known) + i for i, one in enumerate(new)}
            room = len(codes) if self.classes is not None else room_for(len(codes), self._target_room or 2)
            target = np.array([codes[one] for one in classes])
            self._learn(call, x, target, room, stores=self.classes is None)
            self._codes = codes

    def _fit_chunk(self, rows: Array, target: Array, room: int, target_room: int) -> None:
        self.learner.partial_fit(padded(rows, room), target, classes=np.arange(target_room))

    def _probabilities(self, x: Row | Frame, n_rows: int) -> Array:
        n_classes = len(self._codes)
        if not self._has_learnt or not n_rows:
            return np.full((n_rows, n_classes), 1 / max(n_classes, 1))
        given = np.asarray(self.learner.predict_proba(self._known_rows(x)))
        proba = given.astype(np.float64)
        if n_classes == self._target_room and given.dtype == proba.dtype:
            return proba
        # what the learner gives to classes that have not occurred is shared by the others; float32 sums to 1 roughly
        known = proba[:, :n_classes]
        total = known.sum(axis=1, keepdims=True)
        return np.divide(known, total, out=np.full_like(known, 1 / n_classes), where=total > 0)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        # what River's own checks make a model with
        yield {"estimator": NearestRowClassifier(20)}
