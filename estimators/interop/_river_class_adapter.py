"""A learner of ours with the interface of River's classifiers of one class a row."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from river import base
from sklearn.base import clone

from estimators._typing import Array, Estimator
from estimators.baselines import NearestRowClassifier
from estimators.contract.failed_calls import unchanged_on_error
from estimators.contract.locks import Locked, lock_of
from estimators.interop._river_rows import Frame, RiverRows, Row, as_rows, positions_of, to_frame, to_series


class RiverClassAdapter(RiverRows, Locked, base.MiniBatchClassifier):
    """A River classifier with one class a row; `estimators.interop.river.as_river_classifier` makes it."""

    def __init__(
        self,
        estimator: Estimator,
        classes: Sequence[Hashable] = (False, True),
        features: Sequence[Hashable] | None = None,
        max_features: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.classes = classes
        self.features = features
        self.max_features = max_features
        self.learner = clone(estimator)
        self._codes = positions_of(classes)
        self._features = None if features is None else positions_of(features)
        self._has_learnt = False

    @property
    def _multiclass(self) -> bool:
        return len(self._codes) > 2

    def learn_one(self, x: Row, y: Hashable) -> None:
        """Learn a row."""
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
            if not self._has_learnt:
                return dict.fromkeys(self._codes, 1 / len(self._codes))
            proba = self.learner.predict_proba(self._known_rows(x))[0].tolist()
            return dict(zip(self._codes, proba, strict=True))

    def predict_proba_many(self, X: Frame) -> Frame:
        """Estimate the probability of each class: a frame of the same library, a column each, with the index of X."""
        X = as_rows(X)
        return to_frame(self._probabilities(X), self._codes, X)

    def predict_many(self, X: Frame) -> Frame:
        """Predict the class of the rows of a data frame: a series of the same library, with the index of X."""
        X, classes = as_rows(X), list(self._codes)
        return to_series([classes[code] for code in self._probabilities(X).argmax(axis=1)], X)

    def _learn_classes(self, x: Row | Frame, classes: Sequence[Hashable]) -> None:
        with unchanged_on_error(self) as call:
            for one in classes:
                if one not in self._codes:
                    raise ValueError(f"y must be one of the classes {list(self._codes)}. Got {one!r} instead.")
            codes = np.array([self._codes[one] for one in classes])
            self._learn(call, x, codes, np.arange(len(self._codes)))

    def _probabilities(self, X: Frame) -> Array:
        with lock_of(self):
            if not self._has_learnt or not len(X):
                return np.full((len(X), len(self._codes)), 1 / len(self._codes))
            return np.asarray(self.learner.predict_proba(self._known_rows(X)))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        # what River's own checks make a model with
        yield {"estimator": NearestRowClassifier(20), "max_features": 64}
