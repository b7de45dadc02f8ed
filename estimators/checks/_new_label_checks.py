"""Laws of learning from a stream on which labels appear, for learners with the parameter `on_new_labels`."""

import pickle

import numpy as np

from estimators._typing import Array
from estimators.checks._check_data import (
    Rows,
    fresh,
    learners_inside,
    predictions,
    require,
    require_error,
    same,
    stream,
)
from estimators.contract.base import StreamClassifier
from estimators.contract.new_labels import set_choice

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
    is_single = any(getattr(learner, "_precision", None) == "float32" for learner in inside)
    return _ROUNDING[np.dtype(np.float32) if is_single else dtype]


def _alike(one: tuple[Array, ...], two: tuple[Array, ...], rounding: float) -> bool:
    """Return whether probabilities agree up to rounding, and decisions wherever these are not next to one half."""
    (decided, proba), (other, wanted) = one, two
    is_clear = np.abs(wanted - 0.5) > rounding
    return bool(np.allclose(proba, wanted, rtol=rounding, atol=rounding)) and np.array_equal(
        decided[is_clear], other[is_clear]
    )
