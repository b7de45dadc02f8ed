"""Votes of the trees of a forest that was grown from positions of classes, or from 0/1 labels."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier

from estimators._typing import Array
from estimators._validation import Features
from estimators.pragma._kernels.shrinking import add_shares, shrink


@dataclass(frozen=True)
class Voters:
    """The trees of a forest, and how they vote.

    Parameters
    ----------
    forest : RandomForestClassifier, or BaggingClassifier of PragmaTreeClassifier
        Grown from positions of classes, or (the first only) from 0/1 labels.
    labels : bool
        Whether it was grown from labels.
    shrinkage : float or None
        Strength by which shares of a leaf are drawn towards the nodes above it; None: a tree gives all of its vote to
        the first class of its leaf.
    """

    forest: RandomForestClassifier | BaggingClassifier
    labels: bool
    shrinkage: float | None

    def ask_all(self, X: Features) -> Array:
        """Add the votes of all trees: (n_samples, n_classes), or (n_samples, n_labels, 2) against and for labels."""
        everyone = np.arange(X.shape[0])
        return self._ask(X, (everyone for _ in self.forest.estimators_))

    def ask_unseen(self, X: Features) -> Array:
        """Add, for the rows that the forest was grown from, the votes of the trees that have not seen the row."""
        return self._ask(X, self._unseen(X.shape[0]))

    def _unseen(self, n_rows: int) -> Iterator[Array]:
        for seen in self.forest.estimators_samples_:
            unseen = np.ones(n_rows, dtype=bool)
            unseen[seen] = False
            yield np.flatnonzero(unseen)

    def _ask(self, X: Features, asked: Iterable[Array]) -> Array:
        X = X.astype(np.float32)  # what trees compare
        shape = (self.forest.n_outputs_, 2) if self.labels else (int(self.forest.n_classes_),)
        votes = np.zeros((X.shape[0], int(np.prod(shape))))
        for tree, rows in zip(self.forest.estimators_, asked, strict=True):
            leaves = tree.tree_.apply(X[rows])
            add_shares(self._votes_of_nodes(tree), leaves, rows, votes)
        return votes.reshape(-1, *shape)

    def _votes_of_nodes(self, tree: Any) -> Array:
        values, nodes = self._values(tree), tree.tree_
        if self.shrinkage is None:
            return _choices(values)
        flat, weights = values.reshape(len(values), -1), nodes.weighted_n_node_samples
        return shrink(flat, weights, nodes.children_left, nodes.children_right, float(self.shrinkage))

    def _values(self, tree: Any) -> Array:
        """Return the shares of classes in each node, (n_nodes, n_outputs, n_classes)."""
        values = tree.tree_.value
        if not self.labels:
            return values
        # a label that never occurs, or always, has one value only
        known = self.forest.classes_ if self.forest.n_outputs_ > 1 else [self.forest.classes_]
        both = np.zeros((*values.shape[:2], 2))
        for j, found in enumerate(known):
            both[:, j, found.astype(int)] = values[:, j, : len(found)]
        return both


def _choices(values: Array) -> Array:
    """Return, for each node, a vote of 1 for the class that is most frequent, the first of equals."""
    best = values.argmax(axis=-1)
    return (best[..., np.newaxis] == np.arange(values.shape[-1])).astype(np.float64).reshape(len(values), -1)
