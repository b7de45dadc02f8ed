"""Contributions of features to the votes of trees and forests: along the path of a row, and in its leaf."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from estimators._typing import Array
from estimators.contract.batching import blocks, dense
from estimators.contract.explanations import Terms
from estimators.contract.validation import Features
from estimators.trees._adaptive_bank import AdaptiveTreeBank
from estimators.trees._forest_bank import ForestBank
from estimators.trees._graphviz import list_children
from estimators.trees._importances import weights_in_nodes
from estimators.trees._kernels.adaptive_arrays import AdaptiveTrees
from estimators.trees._kernels.categories import UNWEIGHED, Tree
from estimators.trees._kernels.leaf_terms import Room, new_room
from estimators.trees._kernels.multilabel_arrays import MultilabelTree
from estimators.trees._kernels.multilabel_paths import explain_label_tree, fill_label_shares
from estimators.trees._kernels.paths import add_path, explain_adaptive, explain_tree, fill_shares
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays
from estimators.trees._sparse_bank import SparseTreeBank
from estimators.trees._tree_bank import TreeBank

# what leaves add that belongs to no feature, as a total; less is rounding
_LEAVES, _ROUNDING = "leaves", 1e-10


class TreePaths:
    """Trees that share arrays, with the shares of the classes in the nodes of those that were asked for."""

    def __init__(self, arrays: TreeArrays, n_classes: int, *, is_sparse: bool = False) -> None:
        n_places = len(arrays.nodes)
        self.arrays, self.is_sparse = arrays, is_sparse
        self.shares, self.weights = np.empty((n_places, n_classes)), np.empty((n_places, n_classes))
        self.order = np.empty(n_places, np.int64)
        self.room: Room = new_room(n_classes, arrays.moments.shape[2])

    def base(self, t: int) -> Array | None:
        """Return the shares of classes in a tree, or None if it has no row."""
        fill_shares(self.arrays, t, self.weights, self.order, self.shares)
        base: Array = self.shares[self.arrays.trees[t]["root"]]
        return None if np.isnan(base).any() else base.copy()

    def add(self, t: int, X: Array, weight: float, empty: Array, added: Array) -> None:
        """Add what features add in a tree whose base was asked for."""
        explain_tree(self.arrays, t, X, self.shares, weight, self.is_sparse, empty, self.room, added)

    def add_adaptive(self, trees: AdaptiveTrees, t: int, X: Array, empty: Array, added: Array) -> None:
        """Add what features add in an adaptive tree whose base was asked for."""
        explain_adaptive(trees, t, X, self.shares, self.order, empty, self.room, added)


def explain_bank(bank: TreeBank, X: Features, *, of_classes: bool) -> Terms:
    """Return the terms of the probabilities of trees: of all classes of one tree, or of the second class of each."""
    votes = bank.predict(X)
    scores = _probabilities(votes[:, 0]) if of_classes else np.ascontiguousarray(votes[:, :, 1])
    base, added = np.zeros(scores.shape[1]), np.zeros((*scores.shape, bank.n_features))
    rows = bank.bins.of(X, learning=False)
    paths: dict[int, TreePaths] = {}
    for t in range(bank.n_trees):
        arrays, place = bank.find(t)
        if id(arrays) not in paths:
            paths[id(arrays)] = TreePaths(arrays, bank.n_classes, is_sparse=isinstance(bank, SparseTreeBank))
        own, columns = paths[id(arrays)], slice(None) if of_classes else slice(t, t + 1)
        shares, n_columns = own.base(place), bank.n_classes if of_classes else 1
        # a tree without rows votes for nothing, which are equal shares of classes
        nothing = 1.0 / bank.n_classes if of_classes else 0.0
        base[columns] = nothing if shares is None else shares[-n_columns:]
        if shares is not None:
            _add_tree(bank, t, own, rows, np.full((X.shape[0], n_columns), nothing), added[:, columns])
    return with_rest(base, added, scores)


def _add_tree(bank: TreeBank, t: int, paths: TreePaths, X: Features, empty: Array, added: Array) -> None:
    _, place = bank.find(t)
    for rows in blocks(X):
        block, part = dense(X[rows]), np.zeros((rows.stop - rows.start, *added.shape[1:]))
        if isinstance(bank, AdaptiveTreeBank):
            trees = next(trees for trees in bank.tree_arrays if trees.arrays is paths.arrays)
            paths.add_adaptive(cast("AdaptiveTrees", trees), place, block, empty[rows], part)
        else:
            paths.add(place, block, 1.0, empty[rows], part)
        added[rows] += part


def explain_forest(forest: ForestBank, X: Features, *, of_classes: bool) -> Terms:
    """Return the terms of the probabilities of forests: of all classes of one, or of the second class of each.

    A tree that does not vote counts as if it voted as the others do together.
    """
    votes = forest.predict(X)
    proba = np.stack([_probabilities(votes[:, target], of_classes=of_classes) for target in range(forest.n_targets)], 1)
    n_outputs = forest.n_classes if of_classes else 1
    scores = proba[:, 0] if of_classes else proba[:, :, 1]
    base, added = np.zeros(scores.shape[1]), np.zeros((*scores.shape, forest.n_features))
    rows = forest.bins.of(X, learning=False)
    accuracies, total = _accuracies(forest), np.zeros(forest.n_targets)
    for trees, member in _voting_trees(forest):
        target = member // forest.n_models
        columns = slice(None) if of_classes else slice(target, target + 1)
        paths, t = trees
        if (shares := paths.base(t)) is None:
            continue
        weight = accuracies[member]
        total[target] += weight
        base[columns] += weight * shares[-n_outputs:]
        empty = np.ascontiguousarray(scores[:, columns])
        for block in blocks(X):
            part = np.zeros((block.stop - block.start, n_outputs, forest.n_features))
            paths.add(t, dense(rows[block]), weight, empty[block], part)
            added[block, columns] += part
    divisor = np.repeat(total, scores.shape[1] // forest.n_targets)
    voted = divisor > 0
    base = np.divide(base, divisor, out=np.full_like(base, 1.0 / n_outputs if of_classes else 0.0), where=voted)
    added /= np.where(voted, divisor, 1.0)[:, np.newaxis]
    return with_rest(base, added, np.ascontiguousarray(scores))


def explain_label_trees(
    trees: Sequence[tuple[MultilabelTree, Array | None]], weights: Array, X: Features, votes: Array
) -> Terms:
    """Return the terms of the weighted mean over trees of all labels, each with the features that it uses, if not all.

    `votes` (n_rows, n_labels, 2) are theirs. A tree that does not vote on a label counts as if it voted as the others
    do together.
    """
    scores = np.ascontiguousarray(_probabilities(votes, of_classes=False)[:, :, 1])
    base, added = np.zeros(scores.shape[1]), np.zeros((*scores.shape, X.shape[1]))
    total = np.zeros(scores.shape[1])
    for (tree, features), weight in zip(trees, weights.tolist(), strict=True):
        own = np.arange(X.shape[1]) if features is None else features
        shares = np.empty(tree.weights.shape[:2])
        fill_label_shares(tree, np.empty(tree.weights.shape), shares)
        known = ~np.isnan(shares[0])
        base[known] += weight * shares[0, known]
        total += weight * known
        for rows in blocks(X):
            block, part = dense(X[rows]), np.zeros((rows.stop - rows.start, len(known), len(own)))
            block = block if features is None else np.ascontiguousarray(block[:, features])
            explain_label_tree(tree, block, shares, weight, scores[rows], np.empty(len(own)), part)
            added[rows, :, own] += part * known[:, np.newaxis]
    voted = total > 0
    divisor = np.where(voted, total, 1.0)
    return with_rest(base / divisor, added / divisor[:, np.newaxis], scores)


def explain_path(tree: Tree, root: int, leaf_weights: Callable[[int], Array], X: Features, scores: Array) -> Terms:
    """Return the terms of probabilities by the path alone: leaves, whatever predicts in them, are an interaction.

    `leaf_weights` are those of both values of each label in a leaf, (n_labels, 2).
    """
    values, weights = np.full((len(tree.nodes), scores.shape[1]), np.nan), np.full(len(tree.nodes), UNWEIGHED)
    nodes = weights_in_nodes(tree, root, leaf_weights)
    for i, own in nodes.items():
        total = own.sum(axis=1)
        np.divide(own[:, 1], total, out=values[i], where=total > 0)
        weights[i] = total.mean() if tree.nodes[i]["feature"] == NONE else UNWEIGHED
    values[root] = np.nan_to_num(values[root])
    for i in reversed(nodes):
        for child in list_children(tree, i) if tree.nodes[i]["feature"] != NONE else ():
            # without rows nothing is known that the branch does not know
            values[child] = np.where(np.isnan(values[child]), values[i], values[child])
    added = np.zeros((*scores.shape, X.shape[1]))
    for rows in blocks(X):
        add_path(tree, root, dense(X[rows]), values, weights, added[rows])
    return with_rest(values[root].copy(), added, scores)


def _voting_trees(forest: ForestBank) -> Any:
    """Return the tree by which each member votes, and the place of the member."""
    member = 0
    for part in forest.forests:
        paths = TreePaths(part.arrays, forest.n_classes)
        for own, side in enumerate(part.members["side"].tolist()):
            yield (paths, 2 * own + side), member
            member += 1


def _accuracies(forest: ForestBank) -> Array:
    members = forest.members.ravel()
    right, tried = members["n_right"], members["n_tried"]
    return np.divide(right, tried, out=np.ones(len(members)), where=right > 0)


def with_rest(base: Array, added: Array, scores: Array) -> Terms:
    """Return terms with what neither splits nor features of leaves add, where there is any."""
    rest = scores - base - added.sum(axis=2)
    if np.abs(rest).max(initial=0.0) <= _ROUNDING:
        return Terms("probability", base, added, scores)
    return Terms("probability", base, added, scores, rest[:, :, np.newaxis], totals=(_LEAVES,))


def _probabilities(votes: Array, *, of_classes: bool = True) -> Array:
    """Return votes (..., n_classes) divided by their sum; without any, equal shares of classes, or no label."""
    total = votes.sum(axis=-1, keepdims=True)
    nothing = np.full(votes.shape, 1.0 / votes.shape[-1] if of_classes else 0.0)
    return np.divide(votes, total, out=nothing, where=total > 0)
