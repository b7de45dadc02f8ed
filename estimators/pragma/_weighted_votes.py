"""Base of classifiers that predict by weighted votes or probabilities."""

from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from estimators._typing import Array, Estimator, MatrixLike
from estimators.contract.known_labels import KnownLabelScore
from estimators.contract.locks import Locked, lock_of
from estimators.contract.new_labels import advise_growth
from estimators.contract.targets import ClassTarget, LabelTarget, Target
from estimators.contract.unknown_labels import Mask, rows_to_learn
from estimators.contract.validation import Features
from estimators.pragma._preferences import Preferences, check_vote_weights
from estimators.pragma._vote_search import SearchOptions
from estimators.pragma._vote_weights import FittedWeights, VoteWeighting


def rows_with_a_label(truth: Array) -> Mask | None:
    """Return which rows have a known label, or a class; None if all have."""
    return rows_to_learn(truth, None) if truth.ndim == 2 else None


def with_a_label(X: Features, truth: Array) -> tuple[Features, Array]:
    """Leave out the rows whose labels are all unknown; one must be left."""
    kept = rows_with_a_label(truth)
    if kept is None:
        return X, truth
    if not kept.any():
        raise ValueError("y must have a known label in at least one row. Got NaN in every cell instead.")
    return X[kept], truth[kept]


def _has_margins(estimator: Estimator) -> bool:
    # scikit-learn reads the sign of margins as a position in `classes_`, which no table of labels can be
    return isinstance(getattr(estimator, "_target", None), ClassTarget | None)


class WeightedVotes(Locked, KnownLabelScore, BaseEstimator):
    """Predict by shares of weighted votes; a subclass implements ``_shares(X)``."""

    _target: Target
    label_names_: list[Hashable]

    def predict(self, X: MatrixLike) -> Array:
        """Predict the class, or the labels, of each row by weighted votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Values of `classes_`, the first one on a tie; or 0/1 integers, 0 on a tie.
        """
        with lock_of(self):
            return self._decided(self._shares(X))

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the shares of the weighted votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples, n_labels)
            Shares that sum to 1 over the classes; of labels, the share for each, inside (0, 1).
        """
        with lock_of(self):
            return self._probabilities(self._shares(X))

    def predict_with_proba(self, X: MatrixLike) -> tuple[Array, Array]:
        """Predict classes, or labels, and return the shares of the votes, in one pass over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_labels)
            As `predict` returns.
        y_proba : ndarray of shape (n_samples, n_classes) or (n_samples, n_labels)
            As `predict_proba` returns.
        """
        with lock_of(self):
            share = self._shares(X)
            return self._decided(share), self._probabilities(share)

    @available_if(_has_margins)
    def decision_function(self, X: MatrixLike) -> Array:
        """Return the margins of the weighted votes, where every row has one class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, the share in favour of the second minus that of the first, in [-1, 1]; for more classes the
            shares.
        """
        with lock_of(self):
            share = self._shares(X)
        return share[:, 1] - share[:, 0] if share.shape[1] == 2 else share

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags

    def _shares(self, X: MatrixLike) -> Array:
        raise NotImplementedError

    def _decided(self, share: Array) -> Array:
        if isinstance(self._target, ClassTarget):
            return self.classes_[share.argmax(axis=1)]
        return (share > 0.5).astype(np.int64)

    def _probabilities(self, share: Array) -> Array:
        return share if isinstance(self._target, ClassTarget) else self._target.probabilities(share)

    def _take_target(self, target: Target) -> None:
        if isinstance(target, ClassTarget) and len(target.classes) < 2:
            raise ValueError(f"y must hold at least two classes. Got one class, {target.classes[0]!r}, instead.")
        self._target = target
        self.classes_ = target.classes
        if hasattr(self, "label_names_"):
            del self.label_names_
        if isinstance(target, LabelTarget) and target.names is not None:
            self.label_names_ = list(target.names)

    def _keys(self) -> list[Hashable]:
        """Return what preferences and weights go by: the classes, or the positions of labels."""
        target = self._target
        return target.classes.tolist() if isinstance(target, ClassTarget) else list(range(target.width))

    def _encode(self, y: MatrixLike) -> Array:
        """Return positions in `classes_`, or 0/1 labels."""
        if isinstance(self._target, ClassTarget):
            return self._target.codes(y)
        return self._target.encode(y, advise=partial(advise_growth, self))

    def _take_weights(self, fitted: FittedWeights) -> None:
        self.vote_weights_, self.pragma_, self.search_trace_ = fitted.weights, fitted.pragma, fitted.trace
        self.shortfall_ = float(fitted.lacking.sum())

    def _weighting(self, vote_weights: Any = None) -> VoteWeighting:
        names = self._keys()
        fixed = None if vote_weights is None else check_vote_weights(vote_weights, names)
        preferences = Preferences.from_options(
            self.importance,
            self.compromise,
            names,
            local=self.local,
            min_recall=self.min_recall,
            min_precision=self.min_precision,
        )
        return VoteWeighting(preferences, fixed, SearchOptions(self.search, self.n_restarts, self.n_moves, self.n_bags))
