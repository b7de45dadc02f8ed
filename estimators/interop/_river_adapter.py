"""A learner of ours with the interface of River's multi-label classifiers."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from river import base
from sklearn.base import clone

from estimators._failed_calls import unchanged_on_error
from estimators._locks import Locked, lock_of
from estimators._new_labels import grows
from estimators._typing import Array
from estimators.base import StreamClassifier
from estimators.baselines import MeanLabelsClassifier
from estimators.interop._river_rows import RiverRows, positions_of, row_of


class RiverAdapter(RiverRows, Locked, base.MultiLabelClassifier):
    """See `estimators.interop.river.as_river`, which makes it.

    Parameters
    ----------
    estimator, features, labels, max_labels, max_features
        As there.
    """

    def __init__(
        self,
        estimator: Any,
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
        self.learner = clone(estimator)
        self._features = None if features is None else positions_of(features)
        self._labels = None if labels is None else positions_of(labels)
        self._width = max_labels
        self._grows = max_labels is None and grows(self.learner)
        self._has_learnt = False

    def learn_one(self, x: Mapping[Hashable, Any], y: Mapping[Hashable, Any]) -> None:
        """Learn a row.

        Parameters
        ----------
        x : mapping
            Features.
        y : mapping
            Labels, True or False; a label that is None, or lacking, is unknown.
        """
        with unchanged_on_error(self) as call:
            features = self._with_room_for_features(x)
            labels = self._with_room_for(y)
            width = self._width or len(labels)
            row, truth = row_of(x, features, "x", self.max_features or 0), _labels(y, labels, width)
            # our learners are unchanged if they fail; others may not be
            call.copy([] if isinstance(self.learner, StreamClassifier) else ["learner"])
            self.learner.partial_fit(row, truth, classes=width)
            self._features, self._labels, self._has_learnt = features, labels, True
            self._width = None if self._grows else width

    def predict_proba_one(
        self,
        x: Mapping[Hashable, Any],
        **kwargs: Any,  # noqa: ARG002 - River's signature
    ) -> dict[Hashable, dict[bool, float]]:
        """Estimate the probability of each label.

        Parameters
        ----------
        x : mapping
            Features.
        **kwargs
            Ignored.

        Returns
        -------
        dict
            {False: P, True: P} for each known label.
        """
        with lock_of(self):
            if not self._has_learnt:
                return {}
            proba = self.learner.predict_proba(self._known_row(x))[0].tolist()
            return {label: {False: 1 - proba[j], True: proba[j]} for label, j in (self._labels or {}).items()}

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Hashable, bool]:  # noqa: ARG002
        """Predict each label.

        Parameters
        ----------
        x : mapping
            Features.
        **kwargs
            Ignored.

        Returns
        -------
        dict
            Whether each known label is present.
        """
        with lock_of(self):
            if not self._has_learnt:
                return {}
            decided = self.learner.predict(self._known_row(x))[0].tolist()
            return {label: bool(decided[j]) for label, j in (self._labels or {}).items()}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        # what River's own checks make a model with
        yield {"estimator": MeanLabelsClassifier()}

    def _with_room_for(self, y: Mapping[Hashable, Any]) -> dict[Hashable, int]:
        known = self._labels or {}
        labels = known | {key: len(known) + i for i, key in enumerate(key for key in y if key not in known)}
        room = self._room(known, labels)
        if not labels:
            raise ValueError(
                "y must hold at least one label in the first row, or `labels` must be declared. Got no label instead."
            )
        if len(labels) > room:
            raise ValueError(
                f"y must hold labels that are known or have room. Got the new label {list(labels)[room]!r} instead, "
                f"where there is room for {room}; declare `labels`, or more room with `max_labels`."
            )
        return labels

    def _room(self, known: dict[Hashable, int], labels: dict[Hashable, int]) -> int:
        if self._width is not None:
            return self._width
        return len(labels if self._labels is None or self._grows else known)


def _labels(values: Mapping[Hashable, Any], positions: Mapping[Hashable, int], width: int) -> Array:
    """Return the labels as one row, NaN where they are missing or None."""
    known = {key: value for key, value in values.items() if value is not None}
    labels = row_of(known, positions, "y", width)
    unknown = np.ones(labels.shape[1], dtype=bool)
    unknown[[positions[key] for key in known]] = False
    labels[0, unknown] = np.nan
    return labels
