"""Base of meta-estimators that choose the rows which the classifier inside them learns."""

from copy import copy
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Tags, get_tags

from estimators._typing import Array
from estimators.contract.base import StreamClassifier, check_precision
from estimators.contract.categories import placed
from estimators.contract.explanations import Terms, inner_terms
from estimators.contract.new_labels import OnNewLabels, grown
from estimators.contract.seeding import clone_with_seed
from estimators.contract.traits import Traits, traits_of
from estimators.contract.validation import Features


class OuterClassifier(MetaEstimatorMixin, StreamClassifier):
    """Base of meta-estimators that train `estimator_`, a copy of `estimator`, and predict as it does."""

    estimator: Any
    estimator_: StreamClassifier

    @property
    def _model(self) -> StreamClassifier:
        """The classifier of which `estimator_` is a copy; override it where `estimator` may be one to wrap."""
        model: StreamClassifier = self.estimator
        return model

    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt: as for the classifier inside."""
        return bool(getattr(self._model, "uses_task", False))

    @property
    def on_new_labels(self) -> OnNewLabels:
        """Treatment of labels that appear after the first call: the parameter of the classifier inside."""
        choice: OnNewLabels = self._model.on_new_labels
        return choice

    @property
    def _traits(self) -> Traits:
        inside = traits_of(self._model)
        return Traits(takes_codes=True, learns_unknown=inside.learns_unknown, fails_late=inside.fails_late)

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self._model)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.classifier_tags = copy(inner.classifier_tags)
        return tags

    def _can_grow(self) -> bool:
        return self._model._can_grow()

    def _grow(self, n_before: int) -> None:  # noqa: ARG002 - the classifier inside counts its own labels
        self.estimator_ = grown(self.estimator_, self.n_labels_)

    def _check_inside(self, X: Features) -> None:
        check_precision(self._model, X)

    def _predict_proba(self, X: Features) -> Array:
        return self.estimator_.predict_proba(X)

    def _explain(self, X: Features) -> Terms | None:
        return inner_terms(self.estimator_, X)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return predict_both(self.estimator_, X)


def predict_both(inner: StreamClassifier, X: Features) -> tuple[Array, Array]:
    """Return the labels that a classifier predicts, and their probabilities."""
    return inner.predict(X), inner.predict_proba(X)


def begin_inner(outer: "OuterClassifier", random_state: RandomState | None) -> StreamClassifier:
    """Return a copy of the classifier of `outer` at its start state for the same data, with new seeds unless None."""
    model = outer._model
    if not isinstance(model, StreamClassifier):
        raise TypeError(f"estimator must be a StreamClassifier. Got {model!r} instead.")
    X, labels = np.zeros((1, outer.n_features_in_)), np.zeros((1, outer.n_labels_), dtype=int)
    multilabel = outer._target.multilabel
    classes = outer.n_labels_ if multilabel else np.arange(len(outer.classes_))
    inner: StreamClassifier = clone_with_seed(placed(model, outer), random_state)
    return inner.begin(X, labels if multilabel else labels[:, 0], classes)
