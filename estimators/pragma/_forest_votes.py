"""Votes of the trees of a forest that was grown from positions of classes, or from 0/1 labels."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.contract.validation import Features
from estimators.pragma._kernels.shrinking import add_shares, shrink


@dataclass(frozen=True)
class ForestVotes:
    """Votes of the trees of a forest, grown from positions of classes or from 0/1 labels, of one if it is bagged.

    `shrinkage` is the strength by which class shares of a leaf are shrunk towards the nodes above it. Under None, the
    vote of a tree goes to the most frequent class of its leaf.
    """

    forest: RandomForestClassifier | BaggingClassifier
    labels: bool
    shrinkage: float | None

    @property
    def _n_outputs(self) -> int:
        return 1 if isinstance(self.forest, BaggingClassifier) else int(self.forest.n_outputs_)

    def of_all_trees(self, X: Features) -> Array:
        """Sum the votes of all trees: (n_samples, n_classes), or (n_samples, n_labels, 2) against and for labels."""
        all_rows = np.arange(X.shape[0])
        return self._sum_votes(X, (all_rows for _ in self.forest.estimators_))

    def out_of_bag(self, X: Features, truth: Array) -> Array:  # noqa: ARG002 - all of it is known
        """Sum, for each training row, the votes of the trees that were grown without it."""
        return self._sum_votes(X, self._out_of_bag_rows(X.shape[0]))

    def _out_of_bag_rows(self, n_rows: int) -> Iterator[Array]:
        for in_bag in self.forest.estimators_samples_:
            out_of_bag = np.ones(n_rows, dtype=bool)
            out_of_bag[in_bag] = False
            yield np.flatnonzero(out_of_bag)

    def _sum_votes(self, X: Features, rows_of_trees: Iterable[Array]) -> Array:
        X = X.astype(np.float32)  # trees compare floats of this size
        shape = (self._n_outputs, 2) if self.labels else (int(self.forest.n_classes_),)
        votes = np.zeros((X.shape[0], int(np.prod(shape))))
        for tree, rows in zip(self.forest.estimators_, rows_of_trees, strict=True):
            leaves = tree.tree_.apply(X[rows])
            add_shares(self._votes_of_nodes(tree), leaves, rows, votes)
        return votes.reshape(-1, *shape)

    def _votes_of_nodes(self, tree: Any) -> Array:
        values, nodes = self._values(tree), tree.tree_
        if self.shrinkage is None:
            return _majority_votes(values)
        flat, weights = values.reshape(len(values), -1), nodes.weighted_n_node_samples
        return shrink(flat, weights, nodes.children_left, nodes.children_right, float(self.shrinkage))

    def _values(self, tree: Any) -> Array:
        """Return the shares of classes in each node, (n_nodes, n_outputs, n_classes)."""
        values = tree.tree_.value
        if not self.labels:
            return values
        # a label that never occurs, or always does, has one value only
        known = self.forest.classes_ if self._n_outputs > 1 else [self.forest.classes_]
        both = np.zeros((*values.shape[:2], 2))
        for j, occurring in enumerate(known):
            both[:, j, occurring.astype(int)] = values[:, j, : len(occurring)]
        return both


@dataclass(frozen=True)
class LabelForestsVotes:
    """Votes of a forest for each label, grown from the rows where the label is known; None casts no votes."""

    forests: list[RandomForestClassifier | BaggingClassifier | None]
    shrinkage: float | None

    def of_all_trees(self, X: Features) -> Array:
        """Sum the votes of all trees, (n_samples, n_labels, 2)."""
        votes = np.zeros((X.shape[0], len(self.forests), 2))
        for j, forest in enumerate(self.forests):
            if forest is not None:
                votes[:, [j]] = ForestVotes(forest, True, self.shrinkage).of_all_trees(X)
        return votes

    def out_of_bag(self, X: Features, truth: Array) -> Array:
        """Sum, for each training row, the votes of the trees that were grown without it, where its label is known."""
        votes = np.zeros((*truth.shape, 2))
        for j, forest in enumerate(self.forests):
            if forest is not None:
                rows = np.flatnonzero(truth[:, j] != UNKNOWN)
                of_label = ForestVotes(forest, True, self.shrinkage)
                votes[rows, j] = of_label.out_of_bag(X[rows], truth[rows, j])[:, 0]
        return votes


def _majority_votes(values: Array) -> Array:
    """Return, for each node, a vote of 1 for its most frequent class; ties go to the first class."""
    best = values.argmax(axis=-1)
    return (best[..., np.newaxis] == np.arange(values.shape[-1])).astype(np.float64).reshape(len(values), -1)
