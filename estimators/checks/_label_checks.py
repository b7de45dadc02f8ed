"""Laws of learning from a stream on which labels appear, or whose labels are unknown in part: NaN in Y."""

import pickle

import numpy as np

from estimators._typing import Array
from estimators.checks._check_data import (
    Rows,
    fresh,
    learn,
    learners_inside,
    predictions,
    require,
    require_error,
    require_loop_however_cut,
    same,
    stream,
)
from estimators.contract.base import StreamClassifier
from estimators.contract.new_labels import set_choice
from estimators.contract.traits import traits_of

# numbers of labels as they appear: with them, rows of the stream
_WIDTHS = (2, 3, 4)
_ROWS = 30
# sums over more labels may round otherwise, and a mean over more labels changes the steps of Adam by as much
_ROUNDING = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-9}


def check_new_labels_were_unknown(estimator: StreamClassifier) -> None:
    """Check that a label that appears is learnt as one that was known by name from the start, and else unknown."""
    (first, *later), test = _parts()
    late, early = _growing(estimator), _growing(estimator)
    for learner in (late, early):
        learner.partial_fit(first.X, first.Y)
    for width in _WIDTHS[1:]:
        early.partial_fit(first.X[:1], np.full((1, width), np.nan))
    rounding = _rounding(late, predictions(late, test)[1].dtype)
    for rows in (first, *later):
        width = rows.Y.shape[1]
        with_unknown = np.pad(rows.Y.astype(float), ((0, 0), (0, _WIDTHS[-1] - width)), constant_values=np.nan)
        grown = late.predict_then_fit(rows.X, rows.Y)
        known = early.predict_then_fit(rows.X, with_unknown)
        require(grown[0].shape == grown[1].shape == rows.Y.shape, "predictions do not have a column for each label")
        narrow = tuple(part[:, :width] for part in known)
        require(_alike(grown, narrow, rounding), "a label that appears changes predictions")
    alike = _alike(predictions(late, test), predictions(early, test), rounding)
    require(alike, "labels that appear are learnt differently")


def check_refused_new_labels_leave_nothing(estimator: StreamClassifier) -> None:
    """Check that a call that brings new labels and fails leaves the estimator as it was, with the labels it had."""
    (first, second, _), test = _parts()
    learner = _growing(estimator).partial_fit(first.X, first.Y)
    before = predictions(learner, test)
    wrong = second.Y.astype(np.float64)
    wrong[-1, -1] = 0.5
    require_error(lambda: learner.partial_fit(second.X, wrong), "labels other than 0, 1 and NaN are accepted")
    require_error(lambda: learner.predict_then_fit(second.X[1:], second.Y), "fewer rows in X than in Y are accepted")
    require(same(before, predictions(learner, test)), "a failed call left labels, or changed predictions")
    twin = _growing(estimator).partial_fit(first.X, first.Y)
    for one in (learner, twin):
        one.partial_fit(second.X, second.Y)
    require(same(predictions(twin, test), predictions(learner, test)), "a failed call changes what is learnt later")


def check_grown_is_saved(estimator: StreamClassifier) -> None:
    """Check that an estimator saved after labels have appeared, and loaded, continues bit for bit, and grows."""
    (first, second, third), test = _parts()
    learner = _growing(estimator).partial_fit(first.X, first.Y).partial_fit(second.X, second.Y)
    loaded = pickle.loads(pickle.dumps(learner))  # noqa: S301 - our own bytes
    for one in (learner, loaded):
        one.partial_fit(third.X, third.Y)
    require(same(predictions(learner, test), predictions(loaded, test)), "the loaded estimator continues differently")


def _growing(estimator: StreamClassifier) -> StreamClassifier:
    return set_choice(fresh(estimator), "grow")


def _parts() -> tuple[list[Rows], Rows]:
    """Return rows with more and more labels, and rows to predict."""
    rows = stream()
    cuts = [slice(i * _ROWS, (i + 1) * _ROWS) for i in range(len(_WIDTHS))]
    parts = [Rows(rows.X[cut], rows.Y[cut, :width]) for cut, width in zip(cuts, _WIDTHS, strict=True)]
    return parts, Rows(rows.X[len(_WIDTHS) * _ROWS :], rows.Y[len(_WIDTHS) * _ROWS :])


def _rounding(estimator: StreamClassifier, dtype: np.dtype) -> float:
    """Return the rounding of probabilities of a type, or of the least precise learner inside."""
    inside = [estimator.get_params()[name] for name in learners_inside(estimator)]
    is_single = any(traits_of(learner).precision == "float32" for learner in inside)
    return _ROUNDING[np.dtype(np.float32) if is_single else dtype]


def _alike(one: tuple[Array, ...], two: tuple[Array, ...], rounding: float) -> bool:
    """Return whether probabilities agree up to rounding, and decisions wherever these are not next to one half."""
    (decided, proba), (other, wanted) = one, two
    is_clear = np.abs(wanted - 0.5) > rounding
    return bool(np.allclose(proba, wanted, rtol=rounding, atol=rounding)) and np.array_equal(
        decided[is_clear], other[is_clear]
    )


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
    require_loop_however_cut(estimator, A, B, test)


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
