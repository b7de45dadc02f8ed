"""Weights of votes for one class a row, or for each label of a set, and what weighted votes say."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from estimators._typing import Array
from estimators.pragma._kernels.shrinking import keep_greatest
from estimators.pragma._preferences import Wishes
from estimators.pragma._vote_search import Effort, Found, evaluate, find_weights, store

# votes of a row that the search sees
GREATEST = 3


@dataclass(frozen=True)
class Weighed:
    """Weights of the classes (of the labels), the PRAGMA that they reach, and what was reached step by step."""

    weights: Array
    pragma: float
    trace: Array | list[Array]


@dataclass(frozen=True)
class Scales:
    """What weights are judged by, and how they are looked for: given weights are judged only."""

    wishes: Wishes
    given: Array | None
    effort: Effort

    def weigh(self, votes: Array, truth: Array, rng: np.random.RandomState) -> Weighed:
        """Find weights for votes (n_samples, n_classes) of classes, or (n_samples, n_labels, 2) of labels.

        Rows without a vote say nothing. Without any row at all, votes weigh alike and nothing is known about PRAGMA.
        """
        voted = votes.reshape(len(votes), -1).any(axis=1)
        if not voted.any():
            alike = np.ones(len(self.wishes.importance)) if self.given is None else self.given
            return Weighed(alike, float("nan"), np.empty(0))
        if not voted.all():
            votes, truth = votes[voted], truth[voted]
        weigh = self._weigh_classes if votes.ndim == 2 else self._weigh_labels
        return weigh(votes, truth, rng)

    def _weigh_classes(self, votes: Array, codes: Array, rng: np.random.RandomState) -> Weighed:
        stored, losses = store(votes, codes), self.wishes.losses(codes)
        if self.given is None:
            found = find_weights(stored, losses, self.effort, rng)
            return Weighed(found.weights, found.value, found.trace)
        value = evaluate(stored, losses, self.given)
        return Weighed(self.given, value, np.array([value]))

    def _weigh_labels(self, votes: Array, Y: Array, rng: np.random.RandomState) -> Weighed:
        """Search each label alone: PRAGMA is a mean over labels, and a weight decides about its own label only."""
        found = [self.weigh_label(j, votes[:, j], Y[:, j], rng) for j in range(Y.shape[1])]
        theta = self.wishes.importance * Y.any(axis=0)
        values = np.array([one.value for one in found])
        pragma = float(values @ theta / theta.sum()) if theta.any() else float("nan")
        return Weighed(np.array([one.weights[1] for one in found]), pragma, [one.trace for one in found])

    def weigh_label(self, j: int, votes: Array, positive: Array, rng: np.random.RandomState) -> Found:
        """Find weights of the absence of a label, which is 1, and of the label; every row must have a vote."""
        stored, losses = store(votes, positive), self.wishes.losses_of_label(j, positive)
        if self.given is None:
            found = find_weights(stored, losses, self.effort, rng)
            weights, trace = found.weights / found.weights[0], found.trace
        else:
            weights, trace = np.array([1.0, self.given[j]]), np.empty(0)
        value = evaluate(stored, losses, weights)
        return Found(weights, value, trace if len(trace) else np.array([value]))


def heard(votes: Array, silent: Array) -> Array:
    """Take away votes for silent classes, and of many votes in a row the small ones."""
    if votes.ndim == 3:
        return np.where(np.stack([np.zeros_like(silent), silent], axis=-1), 0.0, votes)
    kept = np.where(silent, 0.0, votes) if silent.any() else votes.copy()
    if kept.shape[1] > GREATEST:
        keep_greatest(kept, GREATEST)
    return kept


def silent_classes(votes: Array, truth: Array) -> Array:
    """Tell the classes, or labels, that no row of theirs has a vote for: no weight can make their recall rise."""
    if votes.ndim == 2:
        voted_for = truth[votes[np.arange(len(truth)), truth] > 0]
        return np.bincount(voted_for, minlength=votes.shape[1]) == 0
    return np.logical_not(((votes[..., 1] > 0) & (truth > 0)).any(axis=0))


def warn_of_silence(silent: Array, classes: list[Any], kind: str) -> None:
    """Warn of silent classes, or labels."""
    names = [name for name, is_silent in zip(classes, silent.tolist(), strict=True) if is_silent]
    if names:
        warnings.warn(
            f"No {kind} vote is for class {', '.join(map(repr, names))}: its weight cannot be searched and stays 1.",
            UserWarning,
            stacklevel=4,
        )


def shares(votes: Array, weights: Array) -> Array:
    """Weigh votes and make them sum to 1: (n_samples, n_classes), or (n_samples, n_labels), the share for each label.

    A row without any vote is shared alike.
    """
    if votes.ndim == 3:
        weighted = votes * np.stack([np.ones_like(weights), weights], axis=-1)
        return _normalised(weighted)[..., 1]
    return _normalised(votes * weights)


def _normalised(weighted: Array) -> Array:
    total = weighted.sum(axis=-1, keepdims=True)
    alike = np.full(weighted.shape, 1.0 / weighted.shape[-1])
    return np.divide(weighted, total, out=alike, where=total > 0)
