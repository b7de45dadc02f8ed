"""Laws of calls with one row: they are those of chunks of one row, to the last bit."""

import pickle
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from estimators._typing import Array, MaskLike
from estimators.checks._check_data import Rows, fresh, learn, predictions, require, require_error, same, stream
from estimators.contract.base import StreamClassifier


def check_one_row_is_a_chunk_of_one(estimator: StreamClassifier) -> None:
    """Check that ``predict_then_fit_one``, from the first row on, equals ``predict_then_fit`` in chunks of one row."""
    A, _, test = stream().parts(60, 0)
    one, chunk = fresh(estimator), fresh(estimator)
    for i, (x, y) in enumerate(zip(A.X, A.Y, strict=True)):
        _require_equal(one, chunk, x, y, None)
        if i == 30:
            one = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own bytes
    require(same(predictions(chunk, test), predictions(one, test)), "rows one by one leave another state")


def check_one_row_mixes_with_chunks(estimator: StreamClassifier) -> None:
    """Check that calls with one row, calls with chunks and predictions can take turns."""
    A, B, test = stream().parts(20, 40)
    mixed, chunks = learn(fresh(estimator), A), learn(fresh(estimator), A)
    for i in range(0, 40, 4):
        for row in (i, i + 1):
            _require_equal(mixed, chunks, B.X[row], B.Y[row], None)
        require(same(predictions(chunks, test), predictions(mixed, test)), f"another state after row {i + 1}")
        for learner in (mixed, chunks):
            learn(learner, Rows(B.X[i + 2 : i + 4], B.Y[i + 2 : i + 4]))
    require(same(predictions(chunks, test), predictions(mixed, test)), "calls in turns leave another state")


def check_one_row_in_other_forms(estimator: StreamClassifier) -> None:
    """Check that lists, float32, booleans, unknown labels and masks give what chunks of one row give, or their error.

    Masks are tried where the estimator takes them, and a row of a sparse matrix where sparse chunks are learnt.
    """
    A, B, test = stream().parts(20, 40)
    one, chunk = learn(fresh(estimator), A), learn(fresh(estimator), A)
    mask = np.arange(A.Y.shape[1]) != 1
    unknown = np.where(mask, B.Y, np.nan)
    forms: list[tuple[Any, Any, Any]] = [
        (B.X[0].tolist(), B.Y[0].tolist(), None),
        (B.X[1].astype(np.float32), B.Y[1].astype(bool), None),
        (B.X[2], B.Y[2].astype(float), mask),
        (B.X[3], unknown[3], None),
        (B.X[4], unknown[4], mask),
        (B.X[5], np.full(len(mask), np.nan), None),
        (B.X[6:8, :][0], B.Y[6], mask.astype(int)),
        (np.asfortranarray(B.X)[7], np.asfortranarray(B.Y)[7], None),
    ]
    takes_mask = "label_mask" in signature(estimator.predict_then_fit_one).parameters
    for x, y, label_mask in forms:
        if label_mask is None or takes_mask:
            _require_equal(one, chunk, x, y, label_mask)
    _require_equal(one, chunk, sparse.csr_array(B.X[8:9]), B.Y[8], None)
    require(same(predictions(chunk, test), predictions(one, test)), "other forms of a row leave another state")


def check_learning_one_row_is_a_chunk_of_one(estimator: StreamClassifier) -> None:
    """Check that ``partial_fit_one`` equals ``partial_fit`` with chunks of one row, unknown labels among them."""
    A, _, test = stream().parts(60, 0)
    Y = np.where(np.arange(len(A.Y))[:, np.newaxis] % 7 == 3, np.nan, A.Y)
    one, chunk = fresh(estimator), fresh(estimator)
    for x, y in zip(A.X, Y, strict=True):
        one.partial_fit_one(x, y)
        chunk.partial_fit(x[np.newaxis], y[np.newaxis])
    require(same(predictions(chunk, test), predictions(one, test)), "rows learnt one by one leave another state")


def check_wrong_row_changes_nothing(estimator: StreamClassifier) -> None:
    """Check that a wrong row is refused, and leaves the estimator as it was."""
    A, B, test = stream().parts(40, 40)
    learnt, twin = learn(fresh(estimator), A), learn(fresh(estimator), A)
    x, y = B.X[0], B.Y[0]
    spoilt = np.where(np.arange(len(x)) == 2, np.nan, x)
    wrong = [
        (spoilt, y, "NaN in x"),
        (np.where(np.isnan(spoilt), np.inf, x), y, "infinity in x"),
        (x[:-1], y, "one feature less"),
        (x, np.append(y, [0, 0]), "two more labels"),
        (x, y + 2, "labels that are neither 0 nor 1"),
        (x, None, "no labels"),
        (B.X[:2], B.Y[:2], "two rows"),
        (x[0], y, "a number as a row"),
    ]
    for bad_x, bad_y, name in wrong:
        if name == "two more labels" and getattr(learnt, "on_new_labels", "error") == "grow":
            continue
        require_error(partial(learnt.predict_then_fit_one, bad_x, bad_y), f"{name} is accepted")
        if hasattr(learnt, "partial_fit_one"):
            require_error(partial(learnt.partial_fit_one, bad_x, bad_y), f"{name} is learnt")
    require_error(lambda: fresh(estimator).predict_then_fit_one(spoilt, y), "NaN in the first row is accepted")
    require(same(predictions(twin, test), predictions(learnt, test)), "a refused row changed the predictions")
    after = predictions(learn(learnt, B), test)
    require(same(predictions(learn(twin, B), test), after), "a refused row changed what is learnt later")


def _require_equal(one: StreamClassifier, chunk: Any, x: Any, y: Any, mask: MaskLike) -> None:
    """Let one learn a row, and the other learn it as a chunk; compare what they return, or their errors."""
    masked = {} if mask is None else {"label_mask": mask}
    X, Y = (
        part if sparse.issparse(part) else part[np.newaxis] if isinstance(part, np.ndarray) else [part]
        for part in (x, y)
    )
    as_one = _outcome(lambda: one.predict_then_fit_one(x, y, **masked))
    as_chunk = _outcome(lambda: tuple(part[0] for part in chunk.predict_then_fit(X, Y, **masked)))
    if isinstance(as_one, str) or isinstance(as_chunk, str):
        require(as_one == as_chunk, f"one row: {as_one}; a chunk of one row: {as_chunk}")
    else:
        require(same(as_chunk, as_one), "a row is predicted differently from a chunk of one row")


def _outcome(call: Callable[[], tuple[Array, ...]]) -> tuple[Array, ...] | str:
    try:
        return call()
    except (ValueError, TypeError) as error:
        return str(error)
