"""Votes of the trees of a scikit-learn forest that was grown from positions of classes, or from 0/1 labels."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier

from estimators._gate import Features

Array = npt.NDArray[Any]


def all_votes(forest: RandomForestClassifier, X: Features, *, labels: bool) -> Array:
    """Count the votes of all trees: (n_samples, n_classes), or (n_samples, n_labels, 2) against and for each label."""
    everyone = np.arange(X.shape[0])
    return _count(forest, X, (everyone for _ in forest.estimators_), labels=labels)


def out_of_bag_votes(forest: RandomForestClassifier, X: Features, *, labels: bool) -> Array:
    """Count, for the rows that a forest was grown from, the votes of the trees that have not seen the row."""
    return _count(forest, X, _unseen(forest, X.shape[0]), labels=labels)


def _unseen(forest: RandomForestClassifier, n_rows: int) -> Iterator[Array]:
    for seen in forest.estimators_samples_:
        unseen = np.ones(n_rows, dtype=bool)
        unseen[seen] = False
        yield np.flatnonzero(unseen)


def _count(forest: RandomForestClassifier, X: Features, asked: Iterator[Array], *, labels: bool) -> Array:
    X = X.astype(np.float32)  # what trees compare
    columns = np.arange(forest.n_outputs_)
    shape = (X.shape[0], forest.n_outputs_, 2) if labels else (X.shape[0], forest.n_classes_)
    votes = np.zeros(shape, np.int32)
    for tree, rows in zip(forest.estimators_, asked, strict=True):
        codes = _votes_of_nodes(forest, tree)[tree.apply(X[rows], check_input=False)]
        if labels:
            votes[rows[:, np.newaxis], columns, codes] += 1
        else:
            votes[rows, codes[:, 0]] += 1
    return votes


def _votes_of_nodes(forest: RandomForestClassifier, tree: Any) -> Array:
    """Return what each node of a tree votes for, (n_nodes, n_outputs)."""
    places = tree.tree_.value.argmax(axis=2)
    # a label that never occurs, or always, has one value only
    values = forest.classes_ if forest.n_outputs_ > 1 else [forest.classes_]
    return np.column_stack([known[places[:, j]] for j, known in enumerate(values)]).astype(np.int64)
