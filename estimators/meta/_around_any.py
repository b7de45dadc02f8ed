"""Base of meta-estimators around any classifier, ours or of another package."""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np

from estimators._typing import Array, MatrixLike
from estimators.contract.base import Mask, StreamClassifier, _take_metadata
from estimators.contract.environments import EnvironmentClassifier
from estimators.contract.failed_calls import check_not_diverged, unchanged_on_error, unchanged_or_marked
from estimators.contract.prevalence import one_hot
from estimators.contract.targets import as_table
from estimators.contract.traits import Traits, traits_of
from estimators.contract.validation import Features
from estimators.meta.binary_relevance import BinaryRelevance
from estimators.replay._meta_base import OuterClassifier

_ALL, _ALIKE = np.empty((0, 0), dtype=np.bool_), np.empty(0)
# Checked rows: features, labels, which of them count, and which rows have a label to learn, None being all.
Rows = tuple[Features, Array, Mask | None, Mask | None]


class AroundAnyClassifier(EnvironmentClassifier, OuterClassifier):
    """Train one of our classifiers, or binary relevance around one of another package, and pass environments on."""

    @property
    def _model(self) -> StreamClassifier:
        estimator = self.estimator
        return estimator if isinstance(estimator, StreamClassifier) else BinaryRelevance(estimator)

    @property
    def uses_environment(self) -> bool:
        """Whether the environment of a row changes what is learnt: that of the classifier inside."""
        return self._model.uses_environment

    @property
    def _traits(self) -> Traits:
        return super()._traits._replace(row_metadata=self._model._traits.row_metadata)

    @property
    def _n_columns(self) -> int:
        """Number of columns of probabilities."""
        return self.n_labels_ if self._target.multilabel else len(self.classes_)

    def _check_estimator(self) -> None:
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(f"estimator must have predict_proba, for probabilities. Got {self.estimator!r} instead.")

    def _check_labels_inside(self) -> None:
        """Refuse a classifier inside that has learnt other labels by itself: tables here have no place for them."""
        # as the parameter of another estimator it has none yet
        inner = getattr(self, "estimator_", None)
        if inner is not None and inner.n_labels_ != self.n_labels_:
            raise ValueError(
                f"estimator_ must have the {self.n_labels_} labels of the {type(self).__name__} around it. "
                f"Got {inner.n_labels_} instead; put NovelLabels outermost, and name its groups there."
            )

    def _check_inside(self, X: Features) -> None:
        super()._check_inside(X)
        self._check_labels_inside()

    def _check_features(self, X: MatrixLike) -> Features:
        features = super()._check_features(X)
        self._check_labels_inside()
        return features

    def _can_grow(self) -> bool:
        # the binary relevance put around others has no parameter that could be set
        return isinstance(self.estimator, StreamClassifier) and super()._can_grow()

    def _infer_each(self, X: Features) -> tuple[Array, Array]:
        return self.estimator_._infer_each(X)

    def _takes_checked(self) -> bool:
        """Return whether the classifier inside reads rows and labels as they have been checked here."""
        return self._target.multilabel and self.estimator_._nominal is None

    def _predict_then_learn_inside(self, rows: Rows, passed: Mapping[str, Array]) -> tuple[Array, Array]:
        """Predict and learn checked rows: the classifier would check them again, as long as all else takes for one."""
        inner = self.estimator_
        check_not_diverged(inner)
        with unchanged_or_marked(inner) as inside:
            return inner._predict_then_learn_checked(inside, rows, passed)


class AroundProbabilities(AroundAnyClassifier):
    """Learn from the probabilities of each row before the classifier inside learns its labels."""

    @abstractmethod
    def _read_probabilities(self, X: Features, proba: Array) -> Array:
        """Return what is known of rows by their probabilities."""

    @abstractmethod
    def _learn_probabilities(self, proba: Array, rows: Rows, weight: Array | None) -> Array:
        """Learn rows of known probabilities, one after the other; return what was known of each before."""

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None, **metadata: Array) -> tuple[Array, Array]:
        # the classifier's part: `_learn_then_return` has the probabilities of all rows of the call
        return self.estimator_.predict_then_fit(X, as_table(Y), label_mask=mask, **metadata)

    def _predict_then_learn_checked(
        self, call: unchanged_on_error, rows: Rows, passed: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        return self._learn_then_return(call, rows, passed)[1:]

    def _learn_then_return(
        self, call: unchanged_on_error, rows: Rows, passed: Mapping[str, Array]
    ) -> tuple[Array, Array, Array]:
        """Return what is known of checked rows, and decisions and probabilities of the classifier; then learn them."""
        if self._takes_checked():
            decided, proba = self._predict_then_learn_inside(rows, passed)
        else:
            decided, proba = super()._predict_then_learn_checked(call, rows, passed)
        learnt = rows[3]
        if learnt is not None and not learnt.any():
            return self._read_probabilities(rows[0], proba), decided, proba
        return self._learn_probabilities(proba, rows, None), decided, proba

    def _at_risk(self, n_rows: int, *, testing: bool) -> list[str]:
        # rows with weights are learnt one by one
        return ["estimator_"] if n_rows > 1 and not testing and traits_of(self._model).fails_late else []

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, **metadata: Array) -> None:
        if weight is None or (weight == 1.0).all():
            proba = self.estimator_.predict_then_fit(X, as_table(Y), label_mask=mask, **metadata)[1]
        else:
            rows = [slice(row, row + 1) for row in range(len(Y))]
            parts = [
                (X[row], Y[row], None if mask is None else mask[row], weight[row], _take_metadata(metadata, row))
                for row in rows
            ]
            proba = np.vstack([self._learn_weighted(*part) for part in parts])
        self._learn_probabilities(proba, (X, Y, mask, None), weight)

    def _learn_weighted(
        self, X: Features, Y: Array, mask: Mask | None, weight: Array, metadata: Mapping[str, Array]
    ) -> Array:
        """Learn one row with its weight, and return its probabilities before."""
        inner = self.estimator_
        proba = inner._target.probabilities(inner._infer_each(X)[1])
        inner.partial_fit(X, as_table(Y), label_mask=mask, sample_weight=weight, **metadata)
        return proba


def as_cells(rows: Rows, weight: Array | None, n_columns: int) -> tuple[Array, Array, Array]:
    """Return labels, those that count and weights of rows as kernels read them: empty where all count, or are alike."""
    _, Y, mask, _ = rows
    labels = one_hot(Y, n_columns).astype(np.uint8) if Y.ndim == 1 else np.ascontiguousarray(Y)
    counted = _ALL if mask is None else np.ascontiguousarray(mask)
    return labels, counted, _ALIKE if weight is None else weight


def as_floats(proba: Array) -> Array:
    """Return probabilities as kernels read them."""
    return np.ascontiguousarray(proba, dtype=np.float64)


def refusal_of(proba: Array) -> str:
    """Say which number is not a probability."""
    row, label = np.argwhere(~((proba >= 0) & (proba <= 1)))[0]
    return f"estimator must return probabilities in [0, 1]. Got {proba[row, label]} in row {row}, label {label}."
