"""Weights of votes, fitted to one class a row or to each label of a set, and the shares of weighted votes."""

import warnings
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.pragma._kernels.shrinking import keep_greatest
from estimators.pragma._preferences import Preferences
from estimators.pragma._vote_search import SearchOptions, find_weights, measure, store

# number of votes of a row that the search reads
MAX_VOTES = 3


@dataclass(frozen=True)
class FittedWeights:
    """Weights of the classes or labels, their PRAGMA, and the PRAGMA after each step of the search.

    `lacking` (n_classes, 2) is what recall and precision of each lack to their floors.
    """

    weights: Array
    pragma: float
    trace: Array | list[Array]
    lacking: Array


@dataclass(frozen=True)
class LabelWeight:
    """The weight of a label, that of its absence being 1; the rest as in `FittedWeights`."""

    weight: float
    pragma: float
    trace: Array
    lacking: Array


@dataclass(frozen=True)
class VoteWeighting:
    """The objective of the weights and the options of the search; weights set by the user are evaluated only."""

    preferences: Preferences
    fixed: Array | None
    options: SearchOptions

    def fit(self, votes: Array, truth: Array, rng: np.random.RandomState) -> FittedWeights:
        """Find weights for votes (n_samples, n_classes) of classes, or (n_samples, n_labels, 2) of labels.

        Rows without a vote are left out. If no row is left, all weights are 1 and PRAGMA is NaN.
        """
        voted = votes.reshape(len(votes), -1).any(axis=1)
        if not voted.any():
            equal = np.ones(len(self.preferences.importance)) if self.fixed is None else self.fixed
            return FittedWeights(equal, float("nan"), np.empty(0), np.zeros((len(equal), 2)))
        if not voted.all():
            votes, truth = votes[voted], truth[voted]
        fit = self._fit_classes if votes.ndim == 2 else self._fit_labels
        with self.preferences.surface.raising():
            return fit(votes, truth, rng)

    def _fit_classes(self, votes: Array, codes: Array, rng: np.random.RandomState) -> FittedWeights:
        stored, losses = store(votes, codes), self.preferences.losses(codes)
        if self.fixed is None:
            found = find_weights(stored, losses, self.options, rng)
            pragma, lacking = measure(stored, losses, found.weights)
            return FittedWeights(found.weights, pragma, found.trace, lacking)
        pragma, lacking = measure(stored, losses, self.fixed)
        return FittedWeights(self.fixed, pragma, np.array([pragma]), lacking)

    def _fit_labels(self, votes: Array, Y: Array, rng: np.random.RandomState) -> FittedWeights:
        """Search each label separately: PRAGMA is a mean over labels, and a weight affects its own label only."""
        found = [self._fit_known(j, votes[:, j], Y[:, j], rng) for j in range(Y.shape[1])]
        theta = self.preferences.importance * (Y == 1).any(axis=0)
        values = np.array([one.pragma for one in found])
        pragma = float(values @ theta / theta.sum()) if theta.any() else float("nan")
        weights, lacking = np.array([one.weight for one in found]), np.array([one.lacking for one in found])
        return FittedWeights(weights, pragma, [one.trace for one in found], lacking)

    def _fit_known(self, j: int, votes: Array, truth: Array, rng: np.random.RandomState) -> LabelWeight:
        """Find the weight of a label on the rows where it is known; without any, it stays 1."""
        known = truth != UNKNOWN
        if known.any():
            return self._fit_label(j, votes[known], truth[known], rng)
        return LabelWeight(1.0 if self.fixed is None else self.fixed[j], 0.0, np.empty(0), np.zeros(2))

    def fit_label(self, j: int, votes: Array, positive: Array, rng: np.random.RandomState) -> LabelWeight:
        """Find the weight of a label; every row must have a vote."""
        with self.preferences.surface.raising():
            return self._fit_label(j, votes, positive, rng)

    def _fit_label(self, j: int, votes: Array, positive: Array, rng: np.random.RandomState) -> LabelWeight:
        stored, losses = store(votes, positive), self.preferences.losses_of_label(j, positive)
        if self.fixed is None:
            found = find_weights(stored, losses, self.options, rng)
            weights, trace = found.weights / found.weights[0], found.trace
        else:
            weights, trace = np.array([1.0, self.fixed[j]]), np.empty(0)
        pragma, lacking = measure(stored, losses, weights)
        return LabelWeight(float(weights[1]), pragma, trace if len(trace) else np.array([pragma]), lacking[1])


def usable_votes(votes: Array, unvoted: Array) -> Array:
    """Remove votes for unvoted classes, and all but the `MAX_VOTES` greatest votes of a row."""
    if votes.ndim == 3:
        return np.where(np.stack([np.zeros_like(unvoted), unvoted], axis=-1), 0.0, votes)
    kept = np.where(unvoted, 0.0, votes) if unvoted.any() else votes.copy()
    if kept.shape[1] > MAX_VOTES:
        keep_greatest(kept, MAX_VOTES)
    return kept


def unvoted_classes(votes: Array, truth: Array) -> Array:
    """Return which classes, or labels, get no vote in any of their rows: no weight can raise their recall."""
    if votes.ndim == 2:
        voted_for = truth[votes[np.arange(len(truth)), truth] > 0]
        return np.bincount(voted_for, minlength=votes.shape[1]) == 0
    return np.logical_not(((votes[..., 1] > 0) & (truth == 1)).any(axis=0))


def warn_of_unvoted(unvoted: Array, classes: list[Hashable], kind: str) -> None:
    """Warn about classes, or labels, that get no vote in any of their rows."""
    names = [name for name, is_unvoted in zip(classes, unvoted.tolist(), strict=True) if is_unvoted]
    if names:
        warnings.warn(
            f"No {kind} vote is for class {', '.join(map(repr, names))}: its weight cannot be fitted and stays 1.",
            UserWarning,
            stacklevel=4,
        )


def warn_of_floors(lacking: Array, floors: Array, classes: list[Hashable], kind: str) -> None:
    """Warn about classes, or labels, whose recall or precision is below its floor."""
    unmet = [
        f"{name}={floors[c, k]:g} of class {classes[c]!r} (it is {floors[c, k] - lacking[c, k]:.3g})"
        for c, k in np.argwhere(lacking > 0).tolist()
        for name in [("min_recall", "min_precision")[k]]
    ]
    if unmet:
        warnings.warn(
            f"No weights were found that reach {', '.join(unmet)} on {kind}: the nearest are used. "
            "Lower the floors, or search longer (search='both', n_restarts).",
            UserWarning,
            stacklevel=4,
        )


def shares(votes: Array, weights: Array) -> Array:
    """Return shares of weighted votes that sum to 1: (n_samples, n_classes), or (n_samples, n_labels) for each label.

    A row without any vote has equal shares.
    """
    if votes.ndim == 3:
        weighted = votes * np.stack([np.ones_like(weights), weights], axis=-1)
        return _normalised(weighted)[..., 1]
    return _normalised(votes * weights)


def _normalised(weighted: Array) -> Array:
    total = weighted.sum(axis=-1, keepdims=True)
    equal = np.full(weighted.shape, 1.0 / weighted.shape[-1])
    return np.divide(weighted, total, out=equal, where=total > 0)
