"""Labels that appear after the first call, for learners made with ``on_new_labels="grow"``."""

from collections.abc import Hashable
from copy import deepcopy
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.random import RandomState
from sklearn.utils import check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import AnyEstimator, Array, Classes, MaskLike, MatrixLike
from estimators.contract.targets import LabelTarget, Target, as_codes, as_table, make_target
from metrics.validation import require_choice

OnNewLabels = Literal["error", "grow"]


class PlacedLabels(NamedTuple):
    """A chunk of labels, in the columns of the learner."""

    target: LabelTarget  # the labels of the learner, new ones last
    Y: MatrixLike  # (n_samples, n_labels), NaN for a label that the chunk does not name
    label_mask: MaskLike


def check_choice(estimator: object) -> None:
    """Check the parameter `on_new_labels` of an estimator, if it has it."""
    require_known_choice(getattr(estimator, "on_new_labels", "error"))


def require_known_choice(choice: object) -> None:
    """Raise an error unless a value of the parameter `on_new_labels` is one of its choices."""
    require_choice(choice, "on_new_labels", get_args(OnNewLabels))


def set_choice(estimator: AnyEstimator, choice: OnNewLabels) -> AnyEstimator:
    """Set the parameter `on_new_labels` of an estimator, and of all estimators inside, and return the estimator."""
    names = [name for name in estimator.get_params() if name.rpartition("__")[2] == "on_new_labels"]
    return estimator.set_params(**dict.fromkeys(names, choice))


def grows(estimator: object) -> bool:
    """Return whether an estimator takes in labels that appear after the first call."""
    return getattr(estimator, "on_new_labels", "error") == "grow"


def can_grow(estimator: object) -> bool:
    """Return whether an estimator takes in new labels, if it, or the one inside, is made to."""
    return hasattr(estimator, "_can_grow") and estimator._can_grow()


def advise_growth(estimator: Any, way_out: str) -> str:
    """Return an advice for labels that appear later, with what the estimator can do, or the part that cannot."""
    if can_grow(estimator):
        return f"{way_out}, or make the learner with on_new_labels='grow'"
    return f"{_part_that_cannot_grow(estimator)} cannot take in new labels: {way_out}"


def refuse_classes(estimator: Any) -> ValueError:
    """Return the error of `classes` other than those of the first call."""
    way_out = advise_growth(estimator, "announce labels that come later at the first call")
    return ValueError(f"classes must be those of the first call, or None. Got others instead; {way_out}.")


def _part_that_cannot_grow(estimator: Any) -> str:
    """Return the class of an estimator, or of one inside that it must follow."""
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    if hasattr(type(estimator), "on_new_labels") or "on_new_labels" in params:
        inside = [name for name, value in params.items() if hasattr(value, "predict") and not can_grow(value)]
        if inside:
            return _part_that_cannot_grow(params[min(inside, key=lambda name: name.count("__"))])
    return type(estimator).__name__


def grown(inner: Any, n_labels: int) -> Any:
    """Return a copy of a learner with `n_labels` labels, old and new; the two share nothing.

    The learner is inside another one, and its labels have no names.
    """
    copy = deepcopy(inner)
    n_before = copy.n_labels_
    copy._announce(LabelTarget(n_labels, announced=True))
    copy._grow(n_before)
    return copy


def place_labels(target: Target, Y: MatrixLike, classes: Classes, label_mask: MaskLike) -> PlacedLabels | None:
    """Return a chunk in the columns of a learner that may grow; None if it has them already, or cannot grow.

    `classes` holds the names of the columns of Y, some of them new, or their number. Under None, columns are those of
    the calls before, and new ones follow. Only targets with one class a row cannot grow. Raises ValueError if names are
    required and missing, or fit neither Y nor the names of the calls before.
    """
    if not isinstance(target, LabelTarget):
        return None
    given = None if classes is None else make_target(Y, classes)
    if isinstance(given, LabelTarget) and given.names is not None:
        return _place_by_name(target, as_codes(Y), given.names, label_mask)
    shape: tuple[int, ...] = getattr(Y, "shape", ())
    n_columns = int(shape[1]) if len(shape) == 2 else as_codes(Y).shape[1]
    width = max(n_columns, 0 if given is None else given.width)
    if width <= target.width:
        return None
    if target.names is not None:
        raise ValueError(
            f"classes must name the columns of Y, since the labels of the first call have names. Got {width} columns "
            f"for {target.width} labels; pass classes=[...] with a name for each column."
        )
    return PlacedLabels(LabelTarget(width, announced=target.announced or given is not None), Y, label_mask)


def growth_state(estimator: Any, n_before: int) -> RandomState:
    """Return the source of randomness for new labels: with a seed, it depends on the seed and `n_before` only."""
    seed = estimator.random_state
    if seed is None or isinstance(seed, RandomState):
        return check_random_state(seed)
    return RandomState([int(seed), n_before])


def _place_by_name(target: LabelTarget, codes: Array, names: list[Hashable], label_mask: MaskLike) -> PlacedLabels:
    if target.names is None:
        raise ValueError(
            f"classes must be a number, or None, since the labels of the first call have no names. Got {names[:8]} "
            f"instead; pass classes=[...] from the first call on."
        )
    if codes.shape[1] != len(names):
        raise ValueError(f"Y must have one column for each of the {len(names)} classes. Got {codes.shape[1]} instead.")
    all_names = [*target.names, *(name for name in names if name not in target.names)]
    place = {name: column for column, name in enumerate(all_names)}
    columns = [place[name] for name in names]
    placed = np.full((len(codes), len(all_names)), UNKNOWN, dtype=np.uint8)
    placed[:, columns] = codes
    grown = LabelTarget(len(all_names), announced=True, names=all_names)
    return PlacedLabels(grown, as_table(placed), _place_mask(label_mask, columns, len(all_names)))


def _place_mask(label_mask: MaskLike, columns: list[int], width: int) -> Array | None:
    if label_mask is None:
        return None
    mask = np.asarray(label_mask)
    if mask.ndim not in {1, 2} or mask.shape[-1] != len(columns):
        raise ValueError(f"label_mask must have one column for each of the {len(columns)} classes. Got {mask.shape}.")
    placed = np.zeros((*mask.shape[:-1], width), dtype=mask.dtype)
    placed[..., columns] = mask
    return placed
