"""Distributions of features and functions for labels, one class per kind."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream.generators._parameters import require_count
from mlstream.streams.stream import Index

Floats: TypeAlias = npt.NDArray[np.float64]
Kind = Literal["hyperplane", "tree", "rbf", "categorical", "interactions"]

KINDS: tuple[Kind, ...] = ("hyperplane", "tree", "rbf", "categorical", "interactions")

_DEPTH = 5
_N_CENTRES = 32
_SPREAD = 0.1
_SAMPLE = 65536
_CATEGORIES = 2, 20
_MEAN_CATEGORIES = 8
_PAIR_SHARE = 0.3


class ConceptFunctions(Protocol):
    """A distribution of features with a place, and scores of labels: weighted sums over a description of each row."""

    feature_names: tuple[str, ...]
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
        self.feature_names = _number(n_features)
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
        self.feature_names = _number(n_features)
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


class Interactions(Hyperplane):
    """Uniform features; scores are linear in whether just one feature of a pair is above the middle."""

    def __init__(self, n_features: int, rng: np.random.Generator) -> None:
        super().__init__(n_features)
        self._pairs = _draw_pairs(n_features, n_features // 2, rng)
        self.shares = np.ones(len(self._pairs))

    def draw(
        self, n_rows: int, before: Floats, after: Floats, progress: Floats | float, rng: np.random.Generator
    ) -> Floats:
        """Draw features from [0, 1], on either side of the middle alike wherever they are."""
        X = super().draw(n_rows, before, after, progress, rng)
        X *= rng.choice([-0.5, 0.5], X.shape)
        X += 0.5
        return X

    def score(self, X: Floats, weights: Floats) -> Floats:
        """Weigh 1 for each pair whose features are on different sides of the middle, -1 for each other pair."""
        above = X > 0.5
        differ = above[:, self._pairs[:, 0]] != above[:, self._pairs[:, 1]]
        return np.asarray(np.where(differ, 1.0, -1.0) @ weights)


class Categorical(Hyperplane):
    """Independent categories as 0/1 columns; scores are sums of effects of categories, and of pairs of them.

    Parts of a description are functions of the categories of two features, with mean 0, and uncorrelated.
    """

    def __init__(self, n_features: int, rng: np.random.Generator) -> None:
        sizes = rng.permutation(np.rint(np.geomspace(*_CATEGORIES, n_features)).astype(np.int64))
        super().__init__(sizes.sum())
        self.feature_names = one_hot_names(_number(n_features), sizes)
        self.place = rng.uniform(-1, 1, self.place.shape)
        self._sizes, ends = sizes, np.cumsum(sizes)
        self._columns = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        self._pairs = _draw_pairs(n_features, ceil(n_features / 4), rng)
        self._parts = [self._describe(*pair) for pair in self._pairs]
        self.shares = np.concatenate([shares for _, shares in self._parts])

    def move(self, magnitude: float, rng: np.random.Generator) -> Floats:
        """Draw other logits of the categories."""
        return np.asarray(self.place + super().move(magnitude, rng))

    def draw(
        self, n_rows: int, before: Floats, after: Floats, progress: Floats | float, rng: np.random.Generator
    ) -> Floats:
        """Draw categories, each feature by itself."""
        odds = np.atleast_2d(np.exp(before + progress * (after - before)))
        u = rng.random((n_rows, len(self._sizes)))
        codes = np.empty(u.shape, dtype=np.int64)
        for feature, columns in enumerate(self._columns):
            below = np.cumsum(odds[:, columns], axis=1)
            codes[:, feature] = (u[:, [feature]] * below[:, -1:] >= below[:, :-1]).sum(axis=1)
        return one_hot(codes, self._sizes)

    def score(self, X: Floats, weights: Floats) -> Floats:
        """Look up the scores of each row's pairs of categories."""
        score = np.zeros((len(X), weights.shape[1]))
        first = 0
        for (a, b), (functions, shares) in zip(self._pairs, self._parts, strict=True):
            table = functions @ weights[first : first + len(shares)]
            first += len(shares)
            one, two = (X[:, self._columns[feature]].argmax(axis=1) for feature in (a, b))
            score += table[one * self._sizes[b] + two]
        return score

    def _describe(self, a: int, b: int) -> tuple[Floats, Floats]:
        """Return the functions of a pair, (categories of a * categories of b, parts), and their mean squares."""
        one, two = (self._effects(feature) for feature in (a, b))
        # The first of either is constant: what it is multiplied with is an effect of the other feature alone.
        shares = np.full((one.shape[1], two.shape[1]), _PAIR_SHARE / ((len(one) - 1) * (len(two) - 1)))
        shares[1:, 0] = (1 - _PAIR_SHARE) / (2 * (len(one) - 1))
        shares[0, 1:] = (1 - _PAIR_SHARE) / (2 * (len(two) - 1))
        flat = shares.ravel()[1:]
        return np.kron(one, two)[:, 1:] * np.sqrt(flat), flat

    def _effects(self, feature: int) -> Floats:
        """Return functions of a category that are uncorrelated, with mean square 1; the first is constant."""
        odds = np.exp(self.place[self._columns[feature]])
        root = np.sqrt(odds / odds.sum())[:, np.newaxis]
        return np.asarray(np.linalg.qr(np.hstack([root, np.eye(len(root))[:, 1:]]))[0] / root)


def make_functions(kind: Kind, n_features: int, rng: np.random.Generator) -> ConceptFunctions:
    """Make the functions of a kind."""
    if kind == "hyperplane":
        return Hyperplane(n_features)
    if kind == "tree":
        return RandomTree(n_features, rng)
    if kind == "rbf":
        return RandomRBF(n_features, rng)
    require_count(n_features, f"n_features of kind {kind!r}, whose labels depend on pairs,", minimum=2)
    return Categorical(n_features, rng) if kind == "categorical" else Interactions(n_features, rng)


def count_columns(kind: Kind, n_features: int) -> int:
    """Return about how many columns the features of a kind take."""
    return n_features * (_MEAN_CATEGORIES if kind == "categorical" else 1)


def _number(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{feature}" for feature in range(n_features))


def _draw_pairs(n_features: int, n_pairs: int, rng: np.random.Generator) -> Index:
    """Draw pairs of features, none of which is in two pairs."""
    return rng.permutation(n_features)[: 2 * n_pairs].reshape(-1, 2)


def one_hot(codes: npt.NDArray[np.int64], sizes: Iterable[int]) -> npt.NDArray[np.float64]:
    """Make a column of each category of each feature, from codes of shape (n_rows, n_features)."""
    return np.hstack([np.eye(size)[column] for column, size in zip(codes.T, sizes, strict=True)])


def one_hot_names(names: Iterable[str], sizes: Iterable[int]) -> tuple[str, ...]:
    """Name these columns."""
    return tuple(f"{name}={value}" for name, size in zip(names, sizes, strict=True) for value in range(size))
