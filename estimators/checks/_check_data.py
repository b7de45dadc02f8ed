"""A small stream for the laws of learning, and functions that learn, predict and compare."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from estimators._typing import AnyEstimator, AnyStreamEstimator, Array, Estimator, StreamEstimator
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.seeding import clone_with_seed
from estimators.contract.validation import Features

# features of the stream are below 1; a value far greater than the rest remains so after scaling
REFUSED, LIMIT = 1e7, 4.0


class Rows(NamedTuple):
    """Rows of a stream: features, and 0/1 labels."""

    X: Any
    Y: Array

    def parts(self, a: int, b: int) -> "tuple[Rows, Rows, Rows]":
        """Cut the rows into the first a, the next b, and the rest."""
        cuts = slice(0, a), slice(a, a + b), slice(a + b, None)
        first, second, rest = (Rows(self.X[cut], self.Y[cut]) for cut in cuts)
        return first, second, rest


class Fragile(StreamClassifier):
    """Learn label frequencies; refuse, changing nothing, a positive row whose first feature exceeds `LIMIT`."""

    def _start(self) -> None:
        self.counts_ = np.ones((2, self.n_labels_))

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        large = np.ravel(X[:, [0]].max(axis=1).toarray() if isinstance(X, sparse.csr_array) else X[:, 0]) > LIMIT
        if (large & Y.any(axis=1)).any():
            raise ValueError("X must be small where there is a label. Got a large value instead.")
        weights = np.ones(len(Y)) if weight is None else weight
        self.counts_ = self.counts_ + [[weights.sum()], [0]] + [[0], [1]] * (weights @ Y)

    def _predict_proba(self, X: Features) -> Array:
        return np.tile(self.counts_[1] / self.counts_[0], (X.shape[0], 1))


def with_fragile_parts(estimator: AnyEstimator) -> AnyEstimator:
    """Return a clone in which every learner inside is a `Fragile`."""
    return fresh(estimator).set_params(**{name: Fragile() for name in learners_inside(estimator)})


def learners_inside(estimator: Estimator) -> list[str]:
    """Return the parameters, or the steps, that are classifiers with ``partial_fit``."""
    own = {name: value for name, value in estimator.get_params().items() if "__" not in name}
    return [name for name, value in own.items() if hasattr(value, "partial_fit") and hasattr(value, "predict")]


def spoilt(rows: Rows) -> Rows:
    """Return the rows with one in the middle that has the last label only, and that `Fragile` refuses."""
    X, Y, middle = rows.X.copy(), rows.Y.copy(), len(rows.Y) // 2
    X[middle, 0], Y[middle] = REFUSED, np.arange(Y.shape[1]) == Y.shape[1] - 1
    return Rows(X, Y)


def stream() -> Rows:
    """Draw 110 rows of 6 features, a third of them zero, and 4 learnable labels."""
    rng = np.random.default_rng(0)
    X = rng.random((110, 6)) * (rng.random((110, 6)) < 0.7)
    scores = X @ rng.normal(size=(6, 4)) + 0.1 * rng.normal(size=(110, 4))
    return Rows(X, (scores > np.median(scores, axis=0)).astype(np.int64))


def fresh(estimator: AnyEstimator) -> AnyEstimator:
    """Clone an estimator and seed it where it has no seed."""
    return clone_with_seed(estimator, 0, only_unset=True)


def learn(estimator: AnyStreamEstimator, rows: Rows, size: int | None = None) -> AnyStreamEstimator:
    """Learn rows in chunks of a size, all at once by default, and return the estimator."""
    n = rows.X.shape[0]
    size = size or n
    # Estimators of other packages may need the classes at their first call, as scikit-learn's do.
    parameters = inspect.signature(estimator.partial_fit).parameters
    takes_classes = "classes" in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    is_ours = hasattr(estimator, "predict_then_fit")
    first = {"classes": np.arange(rows.Y.shape[1])} if takes_classes and not is_ours else {}
    for i in range(0, n, size):
        estimator.partial_fit(rows.X[i : i + size], rows.Y[i : i + size], **first)
    return estimator


def predictions(estimator: Estimator, rows: Rows) -> tuple[Array, ...]:
    """Return predictions, and probabilities if the estimator has any."""
    methods = [name for name in ("predict", "predict_proba") if hasattr(estimator, name)]
    return tuple(np.asarray(getattr(estimator, name)(rows.X)) for name in methods)


def loop(estimator: StreamEstimator, rows: Rows) -> tuple[Array, ...]:
    """Predict and learn row by row, as `predict_then_fit` is defined, and return the predictions."""
    rows_predicted = []
    for i in range(len(rows.X)):
        row = Rows(rows.X[i : i + 1], rows.Y[i : i + 1])
        rows_predicted.append(predictions(estimator, row))
        learn(estimator, row)
    return tuple(np.concatenate(part) for part in zip(*rows_predicted, strict=True))


def failed_first_call(estimator: AnyStreamEstimator, X: Array, Y: Array) -> AnyStreamEstimator:
    """Return an estimator whose very first call was refused."""
    refused = fresh(estimator)
    require_error(lambda: refused.partial_fit(X, Y), "NaN in the first X is accepted")
    return refused


def same(one: tuple[Array, ...], two: tuple[Array, ...]) -> bool:
    """Return whether two predictions agree to the last bit."""
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def require_same(one: tuple[Array, ...], two: tuple[Array, ...], otherwise: str) -> None:
    """Fail with a message, and the first row that differs, unless two predictions agree to the last bit."""
    rows = [np.flatnonzero((a != b).reshape(len(a), -1).any(axis=1)) for a, b in zip(one, two, strict=True)]
    first = min((int(part[0]) for part in rows if len(part)), default=None)
    require(first is None, f"{otherwise}, first in row {first}")


def require(holds: bool, otherwise: str) -> None:
    """Fail with a message unless the statement holds."""
    if not holds:
        raise AssertionError(otherwise)


def require_loop_however_cut(estimator: StreamClassifier, A: Rows, B: Rows, test: Rows) -> None:
    """Raise unless ``predict_then_fit`` on B, after A, equals the loop over its rows, in chunks of any size."""
    looped = learn(fresh(estimator), A)
    expected = loop(looped, B)
    n_rows = len(B.Y)
    for size in (1, 7, n_rows):
        learnt = learn(fresh(estimator), A)
        parts = [learnt.predict_then_fit(B.X[i : i + size], B.Y[i : i + size]) for i in range(0, n_rows, size)]
        predicted = tuple(np.concatenate(part) for part in zip(*parts, strict=True))
        require(same(expected, predicted), f"chunks of {size} rows are predicted differently from the loop")
        require(
            same(predictions(looped, test), predictions(learnt, test)), f"chunks of {size} rows leave another state"
        )


def require_error(call: Callable[[], object], otherwise: str) -> None:
    """Fail with a message unless the call raises ValueError."""
    try:
        call()
    except ValueError:
        return
    raise AssertionError(otherwise)
