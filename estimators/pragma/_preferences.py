"""Preferences of a user for each class or label, checked once: importance, compromise, floors, weights of votes."""

import ctypes
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from estimators._typing import Array
from estimators.pragma._kernels.votes import Losses
from metrics import pragma_plane
from metrics.validation import check_number

# one value for all classes or labels, or a value for each, by its name
Weights: TypeAlias = float | Mapping[Any, float]
Floors: TypeAlias = float | Mapping[Any, float] | None
Pair: TypeAlias = tuple[float, float]
Pairs: TypeAlias = Pair | Mapping[Any, Pair]

_TWO_DOUBLES = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


class Surface:
    """The loss of a class by its (recall, precision), at an address; it must outlive the loops that call it.

    Without `local`, it is the plane of each class, which has the address 0.
    """

    def __init__(self, local: Callable[[float, float], float] | None) -> None:
        if local is not None and not callable(local):
            raise ValueError(f"local must be a function of (recall, precision) or None. Got {local!r} instead.")
        self._local = local
        self._error: BaseException | None = None
        self._entry = None if local is None else _TWO_DOUBLES(self._call)

    @property
    def address(self) -> int:
        """Address of a function that takes two doubles and returns one."""
        return 0 if self._entry is None else ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Raise at the end what the function raised on the way: no exception passes through compiled loops."""
        self._error = None
        yield
        if self._error is not None:
            raise self._error

    def _call(self, recall: float, precision: float) -> float:
        if self._error is not None or self._local is None:
            return nan
        try:
            loss: Any = self._local(recall, precision)
            return loss if type(loss) is float and isfinite(loss) else check_number(loss, "local(r, p)")
        except BaseException as error:
            self._error = error
            return nan


@dataclass(frozen=True)
class Preferences:
    """Importance of each class, the slopes of its loss along recall and precision or another loss, and floors.

    `floors` (n_classes, 2) holds the least recall and precision of each class; it is empty without floors.
    """

    importance: Array
    alpha: Array
    beta: Array
    surface: Surface
    floors: Array

    @classmethod
    def from_options(
        cls,
        importance: Weights,
        compromise: Pairs,
        classes: list[Hashable],
        *,
        local: Callable[[float, float], float] | None = None,
        min_recall: Floors = None,
        min_precision: Floors = None,
    ) -> Self:
        """Check the options, one value for all classes or a mapping, against the classes of the data."""
        theta = [_positive(value, "importance", c) for c, value in _by_class(importance, "importance", classes)]
        planes = [_plane(pair, c) for c, pair in _by_class(compromise, "compromise", classes)]
        alpha, beta = np.array(planes).T.copy()  # contiguous rows, so that kernels are compiled once
        floors = np.column_stack(
            [_floors(min_recall, "min_recall", classes), _floors(min_precision, "min_precision", classes)]
        )
        return cls(np.array(theta), alpha, beta, Surface(local), floors if floors.any() else floors[:0])

    def losses(self, truth: Array) -> Losses:
        """Build the objective for rows of these classes; a class that does not occur is left out."""
        n_true = np.bincount(truth, minlength=len(self.importance))
        theta = np.where(n_true > 0, self.importance, 0.0)
        return Losses(theta / theta.sum(), self.alpha, self.beta, n_true, self.floors, self.surface.address)

    def losses_of_label(self, j: int, positive: Array) -> Losses:
        """Build the objective of one label; predicting its absence correctly does not count."""
        n_true = np.bincount(positive, minlength=2)
        share = np.array([0.0, float(n_true[1] > 0)])
        alpha, beta, floors = (np.repeat(one[j : j + 1], 2, axis=0) for one in (self.alpha, self.beta, self.floors))
        return Losses(share, alpha, beta, n_true, floors, self.surface.address)


def check_vote_weights(given: npt.ArrayLike | Mapping[Any, float], classes: list[Hashable]) -> Array:
    """Return the weights that a user sets, in the order of the classes."""
    if not isinstance(given, Mapping):
        if np.shape(given) != (len(classes),):
            raise ValueError(
                f"vote_weights must hold one weight for each of {len(classes)} classes. Got {given!r} instead."
            )
        given = dict(zip(classes, np.asarray(given).tolist(), strict=True))
    return np.array([_positive(value, "vote_weights", c) for c, value in _by_class(given, "vote_weights", classes)])


def _floors(given: Floors, option: str, classes: list[Hashable]) -> Array:
    """Return the least rate of each class, 0 for one without any; a mapping may leave classes out."""
    floors = dict.fromkeys(classes, 0.0)
    if given is not None:
        floors |= {c: _rate(value, option, c) for c, value in _by_class(given, option, classes, partial=True)}
    return np.array(list(floors.values()))


def _by_class(
    given: object, option: str, classes: list[Hashable], *, partial: bool = False
) -> list[tuple[Hashable, Any]]:
    if not isinstance(given, Mapping):
        return [(c, given) for c in classes]
    unknown = [key for key in given if key not in classes]
    missing = [c for c in classes if c not in given]
    if unknown:
        raise ValueError(f"{option} must name classes of the data only. Got class {unknown[0]!r} instead.")
    if partial:
        return list(given.items())
    if missing:
        raise ValueError(
            f"{option} must have a value for every class. Got no value for class {missing[0]!r} instead; "
            f"set_params({option}=...) can add it."
        )
    return [(c, given[c]) for c in classes]


def _positive(value: object, option: str, whose: object) -> float:
    if not isinstance(value, int | float | np.number) or not np.isfinite(value) or value <= 0:
        raise ValueError(f"{option} must be a finite number greater than 0. Got {value!r} for class {whose!r} instead.")
    return float(value)


def _rate(value: object, option: str, whose: object) -> float:
    if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not 0 <= value <= 1:
        raise ValueError(f"{option} must be in [0, 1]. Got {value!r} for class {whose!r} instead.")
    return float(value)


def _plane(pair: Any, whose: object) -> tuple[float, float]:
    if np.shape(pair) != (2,):
        raise ValueError(f"compromise must be a pair (x, y). Got {pair!r} for class {whose!r} instead.")
    try:
        return pragma_plane(*pair)
    except ValueError as error:
        raise ValueError(f"compromise of class {whose!r} must be valid: {error}") from None
