"""Laws of learning from a stream whose labels are unknown in part: NaN in Y."""

import numpy as np

from estimators._typing import Array
from estimators.checks._check_data import Rows, fresh, learn, loop, predictions, require, same, stream
from estimators.contract.base import StreamClassifier


def check_float_labels_are_integers(estimator: StreamClassifier) -> None:
    """Check that labels as floats, none of them unknown, give the same estimator as integers, to the last bit."""
    A, _, test = stream().parts(40, 0)
    expected = predictions(learn(fresh(estimator), A), test)
    for kind in (np.float32, np.float64, np.uint8):
        learnt = learn(fresh(estimator), A._replace(Y=A.Y.astype(kind)))
        require(same(expected, predictions(learnt, test)), f"labels as {np.dtype(kind)} give another estimator")


def check_unknown_rows_change_nothing(estimator: StreamClassifier) -> None:
    """Check that rows of which no label is known change nothing wherever they stand, and are predicted."""
    A, _, test = stream().parts(40, 0)
    with_gaps, known = _with_unknown_rows(A)
    expected = predictions(learn(fresh(estimator), A), test)
    for size in (None, 7, 1):
        learnt = learn(fresh(estimator), with_gaps, size)
        require(same(expected, predictions(learnt, test)), "rows of which no label is known change what is learnt")
    learnt = fresh(estimator)
    expected = learnt.predict_then_fit(A.X, A.Y)
    learnt = fresh(estimator)
    predicted = learnt.predict_then_fit(with_gaps.X, with_gaps.Y)
    require(same(expected, tuple(part[known] for part in predicted)), "such rows change the predictions of others")
    last = with_gaps._replace(X=with_gaps.X[-1:])
    at_the_end = predictions(learnt, last)
    require(same(at_the_end, tuple(part[-1:] for part in predicted)), "such rows are not predicted as others are")


def check_unknown_labels_in_the_loop(estimator: StreamClassifier) -> None:
    """Check that ``predict_then_fit`` equals predicting and learning row by row where some labels are unknown."""
    A, B, test = stream().parts(20, 40)
    B, _ = _with_unknown_rows(_with_unknown_cells(B))
    _require_accepted(estimator, B)
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


def check_unknown_is_neither_value(estimator: StreamClassifier) -> None:
    """Check that an unknown label is taken neither for an absent one nor for a present one."""
    A, B, test = stream().parts(40, 40)
    unknown = _with_unknown_cells(B)
    _require_accepted(estimator, unknown)
    learnt = predictions(learn(learn(fresh(estimator), A), unknown), test)
    require(all(np.isfinite(part).all() for part in learnt), "predictions are not finite after unknown labels")
    for value, name in ((0, "absent"), (1, "present")):
        filled = B._replace(Y=np.nan_to_num(unknown.Y, nan=value).astype(B.Y.dtype))
        other = predictions(learn(learn(fresh(estimator), A), filled), test)
        require(not same(learnt, other), f"unknown labels are learnt as {name}")


def check_unknown_is_masked(estimator: StreamClassifier) -> None:
    """Check that an unknown label equals a label outside the mask, to the last bit, whatever its value would be."""
    A, _, test = stream().parts(60, 0)
    unknown = _with_unknown_cells(A)
    mask = ~np.isnan(unknown.Y)
    task = np.arange(A.Y.shape[1]) != 1
    mask[~(mask & task).any(axis=1)] = True
    unknown = A._replace(Y=np.where(mask, A.Y, np.nan))
    for label_mask, counted in ((None, mask), (task, mask & task)):
        one, two = fresh(estimator), fresh(estimator)
        of_nan = one.predict_then_fit(unknown.X, unknown.Y, label_mask=label_mask)
        of_mask = two.predict_then_fit(A.X, A.Y, label_mask=counted)
        require(same(of_nan, of_mask), "unknown labels are predicted differently from labels outside the mask")
        require(same(predictions(one, test), predictions(two, test)), "unknown labels are learnt in spite of the mask")


def _require_accepted(estimator: StreamClassifier, rows: Rows) -> None:
    try:
        learn(fresh(estimator), rows)
    except ValueError as error:
        raise AssertionError(f"unknown labels are refused: {error}") from error


def _with_unknown_cells(rows: Rows) -> Rows:
    """Return the rows with a third of their labels unknown, at least one label of each row known."""
    rng = np.random.default_rng(1)
    unknown = rng.random(rows.Y.shape) < 0.35
    unknown[unknown.all(axis=1), 0] = False
    return rows._replace(Y=np.where(unknown, np.nan, rows.Y))


def _with_unknown_rows(rows: Rows) -> tuple[Rows, Array]:
    """Return the rows with others between them, of which nothing is known, and which of all were there before.

    There are such rows before the first one, after the last one, and two in a row.
    """
    places = np.array([0, 0, 3, 11, 11, len(rows.Y)])
    rng = np.random.default_rng(2)
    known = np.insert(np.ones(len(rows.Y), dtype=bool), places, False)
    X = np.insert(rows.X, places, rng.random((len(places), rows.X.shape[1])), axis=0)
    return Rows(X, np.insert(rows.Y.astype(np.float64), places, np.nan, axis=0)), known
