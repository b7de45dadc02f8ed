"""The rule of decisions at the prevalence of labels, apart from any learner."""

from numbers import Real
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from estimators._kernels.prevalence import (
    choose_rows,
    choose_then_count,
    count_rows,
    decide,
    decide_then_count,
    late_shares_then_count,
)
from estimators._typing import Array
from estimators.contract.parameters import Rule, check_rules

Mask = npt.NDArray[np.bool_]

# The recent prevalence starts from so many rows of the usual one.
PRIOR_ROWS = 5.0
FOLLOW, MEMORY = 0.5, 20.0


class Prevalence(NamedTuple):
    """Weights of positive rows and of all rows that count, by label; never changed in place."""

    usual: Array  # (2, n_labels): over all rows so far
    late: Array  # (2, n_labels): over recent rows, older ones fading
    follow: float  # how far decisions follow the recent prevalence, from 0 to 1
    memory: float  # number of rows that count as recent

    @classmethod
    def start(cls, n_labels: int, follow: float = FOLLOW, memory: float = MEMORY) -> Self:
        """Start from no row."""
        zeros = np.zeros((2, n_labels))
        return cls(zeros, zeros, float(follow), float(memory))

    def widened(self, n_new: int) -> "Prevalence":
        """Return the same with more labels, of which no row has counted."""
        usual, late = (np.pad(part, ((0, 0), (0, n_new))) for part in (self.usual, self.late))
        return self._replace(usual=usual, late=late)

    @property
    def usual_shares(self) -> Array:
        """Return the share of positive rows of each label; 0 before any row."""
        positives, rows = self.usual
        return np.divide(positives, rows, out=np.zeros_like(rows), where=rows > 0)

    # ------------------------------------------------------------------ labels
    def learn(self, Y: Array, counted: Mask | None, weight: Array | None) -> "Prevalence":
        """Return the prevalence after some rows; by default all labels count, and rows have weight 1."""
        after = self._copied()
        weight = np.ones(len(Y)) if weight is None else _floats(weight)
        count_rows(_binary(Y), _counted(Y, counted), weight, *after[:2], self.memory)
        return after

    def decide(self, proba: Array, *, late: bool) -> Mask:
        """Decide rows whose labels are not known, by the usual prevalence, moved or not against that of late."""
        decided = np.zeros(proba.shape, dtype=np.bool_)
        decide(_floats(proba), self.usual_shares, self.late, self.follow if late else 0.0, PRIOR_ROWS, decided)
        return decided

    def thresholds(self, *, late: bool) -> Array:
        """Return the probabilities from which `decide` decides labels positive."""
        shares = self.usual_shares
        varies = (shares > 0) & (shares < 1)
        usual = logit(np.where(varies, shares, 0.5))
        follow = (self.late[1] > 0) * (self.follow if late else 0.0)
        moved = expit(usual - follow * (logit(self._held_late_shares) - usual))
        return np.where(varies, np.where(follow > 0, moved, shares), 2 - 3 * shares)

    def decide_then_learn(self, proba: Array, Y: Array, counted: Mask | None) -> tuple[Mask, "Prevalence"]:
        """Decide each row by the rows before it, then count its labels."""
        after, decided = self._copied(), np.zeros(proba.shape, dtype=np.bool_)
        settings = self.memory, self.follow, PRIOR_ROWS
        decide_then_count(_floats(proba), _binary(Y), _counted(Y, counted), *after[:2], *settings, decided)
        return decided, after

    def late_shares_before(self, Y: Array, counted: Mask | None) -> Array:
        """Return the prevalence of late before each of some rows, of shape (n_samples, n_labels)."""
        after, shares = self._copied(), np.zeros(Y.shape)
        late_shares_then_count(_binary(Y), _counted(Y, counted), *after[:2], self.memory, PRIOR_ROWS, shares)
        return shares

    @property
    def late_shares(self) -> Array:
        """Return the prevalence of late, as it is before the next row."""
        return (self.late[0] + PRIOR_ROWS * self.usual_shares) / (self.late[1] + PRIOR_ROWS)

    @property
    def _held_late_shares(self) -> Array:
        return self.late_shares.clip(1e-4, 1 - 1e-4)

    # ------------------------------------------------------- one class a row
    def choose(self, proba: Array, *, late: bool) -> Array:
        """Choose the classes of rows: the greatest probability over its prevalence."""
        chosen = np.zeros(len(proba), dtype=np.int64)
        choose_rows(_floats(proba), *self[:2], self.follow if late else 0.0, PRIOR_ROWS, chosen)
        return chosen

    def worths(self, *, late: bool) -> Array:
        """Return the factors of probabilities of which `choose` chooses the greatest: 0 for classes not seen."""
        shares = self.usual_shares
        seen = shares > 0
        usual = np.where(seen, shares, 1.0)
        recent = self._held_late_shares / usual
        return seen * recent ** (self.follow if late else 0.0) / usual

    def choose_then_learn(self, proba: Array, codes: Array) -> tuple[Array, "Prevalence"]:
        """Choose the class of each row by the rows before it, then count its class."""
        after, chosen = self._copied(), np.zeros(len(proba), dtype=np.int64)
        settings = self.memory, self.follow, PRIOR_ROWS
        Y = one_hot(codes, proba.shape[1])
        choose_then_count(_floats(proba), Y, _counted(Y, None), *after[:2], *settings, chosen)
        return chosen, after

    def _copied(self) -> "Prevalence":
        return self._replace(usual=self.usual.copy(), late=self.late.copy())


def one_hot(codes: Array, n_classes: int) -> Mask:
    """Return classes as columns."""
    return np.asarray(codes)[:, np.newaxis] == np.arange(n_classes)


def require_rule(follow: object, memory: object) -> None:
    """Raise an error unless the settings of the rule are valid."""
    rules: dict[str, Rule] = {
        "follow": (Real, lambda value: 0 <= value <= 1, "a number from 0 to 1"),
        "memory": (Real, lambda value: value >= 1, "a number, at least 1"),
    }
    check_rules({"follow": follow, "memory": memory}, rules)


def _binary(Y: Array) -> Mask:
    """Return which labels are 1, in the one type that the loops are compiled for."""
    return np.ascontiguousarray(Y == 1)


def _counted(Y: Array, counted: Mask | None) -> Mask:
    return np.ones(Y.shape, dtype=np.bool_) if counted is None else np.ascontiguousarray(counted)


def _floats(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)
