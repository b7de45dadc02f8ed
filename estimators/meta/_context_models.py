"""Classifiers fitted to the rows of a context: one for each label, one for all labels, or one of classes."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from estimators._typing import Array, Estimator
from estimators.contract.base import StreamClassifier
from estimators.contract.blas_threads import one_thread
from estimators.contract.failed_calls import DivergedError
from estimators.contract.row_codes import COUNTS
from estimators.contract.seeding import clone_with_seed
from estimators.contract.validation import Features
from estimators.meta._wrapped import in_threads, takes_sparse
from estimators.replay._kept_rows import KeptRows, take

Seed = Callable[[int], Any]
_TREES = "DecisionTreeClassifier", "ExtraTreesClassifier", "HistGradientBoostingClassifier", "RandomForestClassifier"
_ROW_BY_ROW = {f"sklearn.{name}" for name in (*_TREES, "DummyClassifier")} | {"lightgbm.LGBMClassifier"}
_SCALERS = {f"sklearn.{name}" for name in ("MaxAbsScaler", "MinMaxScaler", "StandardScaler")}


class Models(NamedTuple):
    """Frequencies of the values in a context, and classifiers where they vary."""

    shares: Array  # (n_columns,): of the rows in which each label is positive, or of each class
    fitted: tuple[tuple[Array, Estimator], ...] = ()  # the columns that a classifier predicts, and the classifier

    def predict_proba(self, X: Features) -> Array:
        """Return the probability of each column for each row: (n_samples, n_columns)."""
        proba = np.tile(self.shares, (X.shape[0], 1))
        if not X.shape[0]:
            return proba
        for columns, model in self.fitted:
            proba[:, columns] = _probabilities(model, X, len(columns))
        return proba

    def predict_proba_each(self, X: Features) -> Array:
        """Return what `predict_proba` does for each row alone, to the last bit."""
        alike = [(columns, _row_by_row(model)) for columns, model in self.fitted]
        if X.shape[0] < 2:
            return self.predict_proba(X)
        if all(model is not None for _, model in alike):
            return self._replace(fitted=tuple(alike)).predict_proba(X)
        return np.concatenate([self.predict_proba(X[i : i + 1]) for i in range(X.shape[0])])

    def widened(self, n_new: int) -> "Models":
        """Return the same with more labels, of which nothing is known."""
        return self._replace(shares=np.pad(self.shares, (0, n_new)))


class Fit(NamedTuple):
    """Options for learning a context."""

    estimator: Estimator
    native: bool  # one classifier predicts all labels
    min_count: int  # a label or class with fewer rows of a value is predicted by its frequency
    n_jobs: int | None
    seed: Seed  # returns the source of seeds of the classifier of a column

    def classes(self, rows: KeptRows, n_classes: int) -> Models:
        """Learn one class a row."""
        counts = np.bincount(rows.Y, minlength=n_classes)
        present = np.flatnonzero(counts >= self.min_count)
        kept = np.isin(rows.Y, present)
        shares = counts / len(rows.Y)
        if len(present) < 2:
            return Models(shares)
        return Models(shares * ~np.isin(np.arange(n_classes), present), ((present, self._fit(rows, rows.Y, kept, 0)),))

    def labels(self, rows: KeptRows) -> Models:
        """Learn labels, each from the rows where it counts."""
        counted, positive = rows.Y >= COUNTS, rows.Y == COUNTS + 1
        n_counted, n_positive = counted.sum(axis=0), positive.sum(axis=0)
        shares = np.divide(n_positive, n_counted, out=np.zeros(len(n_counted)), where=n_counted > 0)
        varied = np.flatnonzero(np.minimum(n_positive, n_counted - n_positive) >= self.min_count)
        if self.native and len(varied) > 1:
            Y = positive[:, varied].astype(np.int64)
            return Models(shares, ((varied, self._fit(rows, Y, slice(None), 0)),))

        def fit(j: int) -> tuple[Array, Estimator]:
            label = varied[j]
            target = positive[:, label].astype(np.int64)
            return varied[j : j + 1], self._fit(rows, target, counted[:, label], int(label))

        return Models(shares, tuple(in_threads(fit, len(varied), self.n_jobs)))

    def _fit(self, rows: KeptRows, targets: Array, kept: npt.NDArray[np.bool_] | slice, column: int) -> Estimator:
        part = rows if isinstance(kept, slice) or kept.all() else take(rows, kept)
        targets = targets[kept]
        weights = {} if (part.weight == 1).all() else {"sample_weight": part.weight}
        try:
            with _threads_for(self.estimator):
                model = clone_with_seed(self.estimator, self.seed(column))
                return model.fit(_as_taken(part.X, self.estimator), targets, **weights)
        except DivergedError as error:
            # the one that diverged is a new clone: those fitted before go on
            error.is_marked = True
            raise


def require_classifier(estimator: Estimator) -> None:
    """Refuse anything that is not a classifier to fit."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and is_classifier(estimator)):
        raise TypeError(f"estimator must be a classifier instance with fit and predict. Got {estimator!r} instead.")


def require_weights(estimator: Estimator, weight: Array) -> None:
    """Refuse weights that a classifier does not take."""
    if not has_fit_parameter(estimator, "sample_weight") and not np.isin(weight, (0, 1)).all():
        raise ValueError(f"sample_weight must be None, 0 or 1: {type(estimator).__name__} does not learn weights.")


def _probabilities(model: Any, X: Features, n_columns: int) -> Array:
    """Return the probability of each of a model's columns: a label, several labels, or classes."""
    X = _as_taken(X, model)
    if not hasattr(model, "predict_proba"):
        proba = _one_hot(np.asarray(model.predict(X)), model.classes_, n_columns)
    else:
        given = model.predict_proba(X)
        if isinstance(given, list):  # scikit-learn's form for several labels
            proba = np.column_stack([one[:, 1] for one in given])
        else:
            proba = np.asarray(given, dtype=np.float64)
    proba = proba[:, 1:] if proba.shape[1] == n_columns + 1 else proba
    return np.where(np.isnan(proba), 0.0, proba)


def _one_hot(decided: Array, classes: Array, n_columns: int) -> Array:
    if decided.ndim == 2:
        return decided.astype(np.float64)
    positions = np.searchsorted(classes, decided)
    return np.eye(max(n_columns, len(classes)))[positions]


def _threads_for(estimator: Any) -> AbstractContextManager[None]:
    """Let BLAS use one thread where many small products would wait for the others."""
    last = estimator[-1] if _name(type(estimator)) == "sklearn.Pipeline" else estimator
    return one_thread() if _name(type(last)) == "sklearn.LogisticRegression" else nullcontext()


def _name(kind: type) -> str:
    """Return the package and the name of a class, of modules that take long to import."""
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _as_taken(X: Features, estimator: Estimator) -> Any:
    """Return CSR rows as a classifier takes them: dense, or, as LightGBM asks for, as a matrix of SciPy."""
    if not issparse(X):
        return X
    return csr_matrix(X) if takes_sparse(estimator) else X.toarray()


def _row_by_row(model: Any) -> Any:
    """Return a model whose predictions do not depend on the rows predicted with them, to the last bit; or None.

    Its predictions are those of the given model for one row.
    """
    kind = _name(type(model))
    if isinstance(model, StreamClassifier) or not _ROW_BY_ROW.isdisjoint(map(_name, type(model).__mro__)):
        return model
    if kind == "sklearn.LogisticRegression":
        alike = copy(model)
        alike.decision_function = partial(_scores_of_each, model)
        return alike
    if kind == "sklearn.Pipeline" and all(_name(type(step)) in _SCALERS for step in model[:-1]):
        last = _row_by_row(model[-1])
        return None if last is None else type(model)([*model.steps[:-1], (model.steps[-1][0], last)])
    return None


def _scores_of_each(model: Any, X: Features) -> Array:
    """Return the scores of a linear model; BLAS multiplies each dense row by itself, as rows together change bits."""
    scores = X @ model.coef_.T if issparse(X) else np.matmul(X[:, np.newaxis], model.coef_.T)[:, 0]
    scores = scores + model.intercept_
    return scores.ravel() if scores.shape[1] == 1 else scores
