"""PRAGMA: recall and precision of each class, weighted by the preferences of a user."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from metrics._means import divide
from metrics._typing import Array, Floats, LabelMatrix
from metrics.counts import label_counts
from metrics.validation import check_classes, check_finite, check_number, shown

T = TypeVar("T")


def pragma(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    importance: float | Mapping[Any, float] = 1.0,
    compromise: tuple[float, float] | Mapping[Any, tuple[float, float]] = (0.5, 0.5),
    labels: Collection[Hashable] | None = None,
    local: Callable[[float, float], float] | None = None,
    label_mask: ArrayLike | None = None,
) -> float:
    """Weight recall and precision of each class by the preferences of a user; lower is better.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,), or array-like or CSR of shape (n_samples, n_labels)
        Classes of a multi-class target, or true and predicted labels, 0 or 1; of the latter, NaN in y_true where one is
        unknown.
    importance : float or mapping, default=1.0
        Weight of every class, or of each one (of each column for a multi-label target); greater than 0.
    compromise : (float, float) or mapping, default=(0.5, 0.5)
        (x, y): to reach a recall of 1 a precision of x is accepted, to reach a precision of 1 a recall of y. For every
        class, or for each one; both in [0, 1).
    labels : collection, optional
        Classes (columns) that take part; all by default. One that never occurs is left out like any other.
    local : callable, optional
        Loss of a class from its (recall, precision), in place of the plane that `compromise` defines.
    label_mask : array-like of bool, shape (n_labels,) or (n_samples, n_labels), optional
        Cells that count; for multi-label targets only.

    Returns
    -------
    float
        In [0, 1], 0 for a perfect prediction. NaN if no class takes part.

    Raises
    ------
    ValueError
        If targets differ in shape or kind or are empty, if an importance or a compromise is out of range (the class is
        named) or missing for a class.

    Notes
    -----
    sum over classes i of theta_i f_i(r_i, p_i) / sum of theta_i, with f(r, p) = 1 + alpha r + beta p and (alpha, beta)
    from `pragma_plane`. A class that is never predicted has precision 0; a class that never occurs in y_true is left
    out, in both sums.

    References
    ----------
    J. Thomas, P.-E. Jouve, N. Nicoloyannis, "Mesure non symétrique pour l'évaluation de modèles, utilisation pour les
    jeux de données déséquilibrés", EGC 2007.

    Examples
    --------
    >>> round(pragma(["a", "a", "b", "b"], ["a", "b", "b", "b"]), 3)
    0.208
    >>> wanted = {"a": (0.1, 0.9), "b": (0.5, 0.5)}
    >>> round(pragma(["a", "a", "b", "b"], ["a", "b", "b", "b"], compromise=wanted), 3)
    0.308
    """
    theta = _per_class(importance, "importance", _check_importance)
    plane = _per_class(compromise, "compromise", _plane_of)
    classes, recall, precision = _rates(y_true, y_pred, label_mask)
    wanted = set(classes if labels is None else labels)
    total = weight = 0.0
    for name, r, p in zip(classes, recall.tolist(), precision.tolist(), strict=True):
        if name not in wanted or math.isnan(r):
            continue
        if local is None:
            # 1 + alpha r + beta p, written so that rounding cannot leave [0, 1]
            alpha, beta = plane(name)
            loss = min(1.0, -alpha * (1.0 - r) - beta * (1.0 - p))
        else:
            loss = check_number(local(r, p), "local(r, p)")
        total += theta(name) * loss
        weight += theta(name)
    return total / weight if weight else float("nan")


def pragma_plane(x: float, y: float) -> tuple[float, float]:
    """Slopes of the plane for which recall 1 at precision x is worth as much as precision 1 at recall y.

    Parameters
    ----------
    x : float
        Precision accepted for a recall of 1, in [0, 1).
    y : float
        Recall accepted for a precision of 1, in [0, 1).

    Returns
    -------
    alpha, beta : float
        Slopes along recall and precision, both in (-1, 0).

    Raises
    ------
    ValueError
        If x or y is outside [0, 1).

    Notes
    -----
    alpha = -1 / (1 + (1 - y) / (1 - x)) and beta = -1 - alpha, so that f(r, p) = 1 + alpha r + beta p has f(0, 0) = 1,
    f(1, 1) = 0 and f(1, x) = f(y, 1). alpha / beta > 1 prefers recall.

    References
    ----------
    J. Thomas, P.-E. Jouve, N. Nicoloyannis, "Mesure non symétrique pour l'évaluation de modèles, utilisation pour les
    jeux de données déséquilibrés", EGC 2007.

    Examples
    --------
    >>> pragma_plane(0.5, 0.5)
    (-0.5, -0.5)
    >>> alpha, beta = pragma_plane(0.1, 0.9)
    >>> round(alpha, 3), round(beta, 3)
    (-0.9, -0.1)
    """
    x, y = _check_share(x, "x"), _check_share(y, "y")
    span = (1.0 - x) + (1.0 - y)
    return -(1.0 - x) / span, -(1.0 - y) / span


def _rates(
    y_true: LabelMatrix, y_pred: LabelMatrix, label_mask: ArrayLike | None
) -> tuple[list[Hashable], Floats, Floats]:
    """Recall (NaN for a class that does not occur) and precision (0 for one never predicted) of each class."""
    if sparse.issparse(y_true) or np.ndim(y_true) != 1:
        counts = label_counts(y_true, y_pred, label_mask=label_mask)
        classes: list[Hashable] = list(range(len(counts.tp)))
        hits, n_true, n_pred = counts.tp, counts.tp + counts.fn, counts.tp + counts.fp
    else:
        if label_mask is not None:
            raise ValueError("label_mask must be None for a 1-D target. Got a mask instead.")
        classes, hits, n_true, n_pred = _class_counts(check_classes(y_true, "y_true"), check_classes(y_pred, "y_pred"))
    return classes, divide(hits, n_true), divide(hits, n_pred, zero_division=0.0)


def _class_counts(y_true: Array, y_pred: Array) -> tuple[list[Hashable], Array, Array, Array]:
    if y_true.shape != y_pred.shape or y_true.size == 0:
        raise ValueError(
            f"y_true and y_pred must have the same shape and not be empty. "
            f"Got {y_true.shape} and {y_pred.shape} instead."
        )
    if (y_true.dtype.kind in "biuf") != (y_pred.dtype.kind in "biuf"):
        raise ValueError(
            f"y_true and y_pred must hold classes of one kind. Got dtypes {y_true.dtype} and {y_pred.dtype} instead."
        )
    for name, target in (("y_true", y_true), ("y_pred", y_pred)):
        if target.dtype.kind == "f":
            check_finite(target[:, None], name)
    classes, codes = np.unique(np.concatenate([y_true, y_pred]), return_inverse=True)
    true, pred = codes[: len(y_true)], codes[len(y_true) :]
    n_true, n_pred = (np.bincount(side, minlength=len(classes)) for side in (true, pred))
    return classes.tolist(), np.bincount(true[true == pred], minlength=len(classes)), n_true, n_pred


def _per_class(value: object, option: str, check: Callable[[Any, str], T]) -> Callable[[Hashable], T]:
    """Return a look-up of checked values; a mapping is checked as a whole, so that no mistake goes unnoticed."""
    if not isinstance(value, Mapping):
        common = check(value, "")
        return lambda _name: common
    own = {key: check(item, f" for class {key!r}") for key, item in value.items()}

    def look_up(name: Hashable) -> T:
        if name not in own:
            raise ValueError(f"{option} must have a value for every class. Got no value for class {name!r} instead.")
        return own[name]

    return look_up


def _check_importance(value: object, whose: str) -> float:
    if not isinstance(value, int | float | np.number) or not np.isfinite(value) or value <= 0:
        raise ValueError(f"importance must be a finite number greater than 0. Got {shown(value)}{whose} instead.")
    return float(value)


def _plane_of(value: Any, whose: str) -> tuple[float, float]:
    if np.shape(value) != (2,):
        raise ValueError(f"compromise must be a pair (x, y). Got {shown(value)}{whose} instead.")
    return pragma_plane(_check_share(value[0], "x", whose), _check_share(value[1], "y", whose))


def _check_share(value: object, name: str, whose: str = "") -> float:
    if not isinstance(value, int | float | np.number) or not 0 <= value < 1:
        raise ValueError(f"{name} must be in [0, 1). Got {shown(value)}{whose} instead.")
    return float(value)
