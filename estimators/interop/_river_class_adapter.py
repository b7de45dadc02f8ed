"""A learner of ours with the interface of River's classifiers of one class a row."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from river import base
from sklearn.base import clone

from estimators._failed_calls import unchanged_on_error
from estimators._locks import Locked, lock_of
from estimators.base import StreamClassifier
from estimators.baselines import NearestRowClassifier
from estimators.interop._river_rows import RiverRows, positions_of, row_of


class RiverClassAdapter(RiverRows, Locked, base.Classifier):
    """See `estimators.interop.river.as_river_classifier`, which makes it.

    Parameters
    ----------
    estimator, classes, features, max_features
        As there.
    """

    def __init__(
        self,
        estimator: Any,
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

    def learn_one(self, x: Mapping[Hashable, Any], y: Hashable) -> None:
        """Learn a row.

        Parameters
        ----------
        x : mapping
            Features.
        y : hashable
            One of the classes.
        """
        with unchanged_on_error(self) as call:
            if y not in self._codes:
                raise ValueError(f"y must be one of the classes {list(self._codes)}. Got {y!r} instead.")
            features = self._with_room_for_features(x)
            row = row_of(x, features, "x", self.max_features or 0)
            # our learners are unchanged if they fail; others may not be
            call.copy([] if isinstance(self.learner, StreamClassifier) else ["learner"])
            self.learner.partial_fit(row, np.array([self._codes[y]]), classes=np.arange(len(self._codes)))
            self._features, self._has_learnt = features, True

    def predict_proba_one(
        self,
        x: Mapping[Hashable, Any],
        **kwargs: Any,  # noqa: ARG002 - River's signature
    ) -> dict[Hashable, float]:
        """Estimate the probability of each class.

        Parameters
        ----------
        x : mapping
            Features.
        **kwargs
            Ignored.

        Returns
        -------
        dict
            P of each class; before any row is learnt, the same for all.
        """
        with lock_of(self):
            if not self._has_learnt:
                return dict.fromkeys(self._codes, 1 / len(self._codes))
            proba = self.learner.predict_proba(self._known_row(x))[0].tolist()
            return dict(zip(self._codes, proba, strict=True))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        # what River's own checks make a model with
        yield {"estimator": NearestRowClassifier(20), "max_features": 64}
