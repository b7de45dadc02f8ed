"""Distributions of features and functions for labels: hyperplanes, random trees and random RBFs."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream.streams.stream import Index

Floats: TypeAlias = npt.NDArray[np.float64]
Kind = Literal["hyperplane", "tree", "rbf"]

KINDS: tuple[Kind, ...] = ("hyperplane", "tree", "rbf")

_DEPTH = 5
_N_CENTRES = 32
_SPREAD = 0.1
_SAMPLE = 65536


class ConceptFunctions(Protocol):
    """A distribution of features with a place, and scores of labels: weighted sums over a description of each row."""

    place: Floats  # initial parameters of the distribution of the features
    shares: Floats  # (n_parts,): mean square there of each part of a description; parts are uncorrelated
    partitions: bool  # the description of a row is the one region that it lies in

    def move(self, magnitude: float, rng: np.random.Generator) -> Floats:
        """Draw another place, the farther the greater the magnitude."""

    def draw(
        self, n_rows: int, before: Floats, after: Floats, progress: Floats | float, rng: np.random.Generator
    ) -> Floats:
        """Draw features on the way from one place to another."""

    def score(self, X: Floats, weights: Floats) -> Floats:
        """Weigh the description of each row."""


class Hyperplane:
    """Uniform features; scores are linear."""

    partitions = False

    def __init__(self, n_features: int) -> None:
        self.place: Floats = np.zeros(n_features)
        self.shares: Floats = np.full(n_features, 1 / 12)

    def move(self, magnitude: float, rng: np.random.Generator) -> Floats:
        """Draw logarithms of the powers of uniform numbers that features are: 0 is uniform."""
        return np.asarray(magnitude * rng.choice([-1.0, 1.0], self.place.shape) * rng.uniform(0.5, 1, self.place.shape))

    def draw(
        self, n_rows: int, before: Floats, after: Floats, progress: Floats | float, rng: np.random.Generator
    ) -> Floats:
        """Draw features from [0, 1]."""
        X = rng.random((n_rows, len(before)))
        if before.any() or after is not before:
            X **= np.exp(before + progress * (after - before))
        return X

    def score(self, X: Floats, weights: Floats) -> Floats:
        """Return the signed distances from one hyperplane per label through the middle of the cube."""
        return np.asarray((X - 0.5) @ weights)


class RandomTree(Hyperplane):
    """Uniform features; a score belongs to a leaf of a tree with random splits."""

    partitions = True

    def __init__(self, n_features: int, rng: np.random.Generator) -> None:
        super().__init__(n_features)
        low, high = [np.zeros(n_features)], [np.ones(n_features)]
        self._feature = rng.integers(n_features, size=2**_DEPTH - 1)
        self._split = np.empty(len(self._feature))
        # Nodes in the order of a heap: the children of node i are 2 i + 1 and 2 i + 2.
        for node, feature in enumerate(self._feature):
            edges = low[node][feature], high[node][feature]
            self._split[node] = edges[0] + rng.uniform(0.25, 0.75) * (edges[1] - edges[0])
            below, above = high[node].copy(), low[node].copy()
            below[feature] = above[feature] = self._split[node]
            low += [low[node], above]
            high += [below, high[node]]
        volumes = np.prod(np.array(high) - np.array(low), axis=1)
        self.shares = np.asarray(volumes[-(2**_DEPTH) :])

    def score(self, X: Floats, weights: Floats) -> Floats:
        """Look up the scores of each row's leaf."""
        values, first = X.ravel(), np.arange(len(X)) * X.shape[1]
        node = np.zeros(len(X), dtype=np.int64)
        for _ in range(_DEPTH):
            right = values.take(first + self._feature.take(node)) > self._split.take(node)
            node = 2 * node + 1 + right
        return np.asarray(weights[node - len(self._split)])


class RandomRBF:
    """Gaussian clusters of features; a score belongs to the region around the place where a cluster began."""

    partitions = True

    def __init__(self, n_features: int, rng: np.random.Generator) -> None:
        self.place: Floats = rng.random((_N_CENTRES, n_features))
        rows = self._region(self.draw(_SAMPLE, self.place, self.place, 0.0, rng))
        self.shares: Floats = np.bincount(rows, minlength=_N_CENTRES) / len(rows)

    def move(self, magnitude: float, rng: np.random.Generator) -> Floats:
        """Draw centres elsewhere."""
        return np.asarray(self.place + magnitude * (rng.random(self.place.shape) - self.place))

    def draw(
        self, n_rows: int, before: Floats, after: Floats, progress: Floats | float, rng: np.random.Generator
    ) -> Floats:
        """Draw features around centres, all of which are equally frequent."""
        cluster = rng.integers(len(before), size=n_rows)
        X = rng.standard_normal((n_rows, before.shape[1]))
        X *= _SPREAD
        X += before[cluster]
        if after is not before:
            X += progress * (after - before)[cluster]
        return X

    def score(self, X: Floats, weights: Floats) -> Floats:
        """Look up the scores of each row's region."""
        return np.asarray(weights[self._region(X)])

    def _region(self, X: Floats) -> Index:
        # The greater, the nearer: half the squared distance, turned round, up to what all centres share.
        nearness = X @ self.place.T
        nearness -= (self.place**2).sum(axis=1) / 2
        return np.asarray(nearness.argmax(axis=1))


def make_functions(kind: Kind, n_features: int, rng: np.random.Generator) -> ConceptFunctions:
    """Make the functions of a kind."""
    if kind == "hyperplane":
        return Hyperplane(n_features)
    return RandomTree(n_features, rng) if kind == "tree" else RandomRBF(n_features, rng)
