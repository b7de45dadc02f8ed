"""Weights of hits against false alarms, and the order of alarms that follows from them."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from estimators._typing import Array
from metrics.validation import shown


class Weights(NamedTuple):
    """The weight of a hit for each label; labels that come later have a weight by name, or 1.

    A gain, ``w * p - (1 - p)``, is ``(w + 1) * p - 1``. Its order is that of its worth, ``(w + 1) * p`` over the
    greatest ``w + 1``, which is inside (0, 1) and equals p if all weights are equal.
    """

    of_labels: Array
    given: Mapping[Hashable, float]
    default: float  # of labels that are not among `given`
    top: float  # the greatest
    factors: Array  # of probabilities, to their worth
    are_equal: bool

    @classmethod
    def of(cls, of_labels: Array, given: Mapping[Hashable, float], default: float) -> Self:
        """Return the weights of the labels known so far."""
        top = max([*of_labels.tolist(), *given.values(), default])
        return cls(of_labels, given, default, top, (of_labels + 1) / (top + 1), len(set(of_labels.tolist())) == 1)

    def widened(self, n_labels: int, names: Sequence[Hashable] | None) -> Self:
        """Return the weights of more labels."""
        new = range(len(self.of_labels), n_labels)
        more = [self.given.get(names[label] if names else label, self.default) for label in new]
        return self.of(np.append(self.of_labels, more), self.given, self.default)

    def log_odds(self, proba: Array) -> Array:
        """Return the log-odds of the worth of each probability."""
        return np.asarray(logit(proba * self.factors))

    def is_gain(self, proba: Array) -> Array:
        """Return which alarms lose nothing in the mean."""
        return np.asarray((self.of_labels + 1) * proba >= 1)

    def gain(self, log_odds: float) -> float:
        """Return the gain of an alarm whose worth has these log-odds; infinite log-odds stay."""
        return float((self.top + 1) * expit(log_odds) - 1) if math.isfinite(log_odds) else log_odds


def check_weights(weights: Any, n_labels: int, names: Sequence[Hashable] | None, *, grows: bool) -> Weights:
    """Return the weights of the labels of the first call."""
    if isinstance(weights, Mapping):
        given = {label: _positive(weight) for label, weight in weights.items()}
        known = range(n_labels) if names is None else names
        if not grows and (unknown := [label for label in given if label not in known]):
            raise ValueError(f"weights must be of labels: {shown([*known])}. Got one of {unknown[0]!r}.")
        return Weights.of(np.empty(0), given, 1.0).widened(n_labels, names)
    if np.ndim(weights) == 0:
        weight = _positive(weights)
        return Weights.of(np.full(n_labels, weight), {}, weight)
    return _of_array(weights, n_labels)


def _of_array(weights: npt.ArrayLike, n_labels: int) -> Weights:
    if np.shape(weights) != (n_labels,):
        raise ValueError(
            f"weights must be a number, a mapping, or one number for each of the {n_labels} labels of the first call. "
            f"Got shape {np.shape(weights)} instead."
        )
    values = [_positive(weight) for weight in np.asarray(weights).tolist()]
    return Weights.of(np.array(values), {}, 1.0)


def _positive(weight: Any) -> float:
    is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
    if not is_number or not 0 < weight < math.inf:
        raise ValueError(f"weights must be finite and greater than 0. Got {shown(weight)} instead.")
    return float(weight)
