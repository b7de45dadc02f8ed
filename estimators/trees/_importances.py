"""Importance of features in trees that grow: how much their splits separate the classes."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from estimators._typing import Array
from estimators.trees._graphviz import class_weights, list_children
from estimators.trees._kernels.categories import NO_CATEGORIES, Categories, Tree
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays
from estimators.trees._tree_bank import TreeBank


class BinaryTree(NamedTuple):
    """The nodes of a tree whose branches have two children each, whatever their test."""

    nodes: Array
    categories: Categories = NO_CATEGORIES


def importances(trees: Iterable[Array]) -> Array:
    """Return the mean of the importances in each tree, which sum to 1; trees without a split are left out."""
    total = np.sum([tree / tree.sum() if tree.any() else tree for tree in trees], axis=0)
    return np.asarray(total / total.sum() if total.any() else total)


def importances_of_trees(bank: TreeBank) -> Iterator[Array]:
    """Return the decrease of entropy by the splits of each feature, for each tree of a bank."""
    return (importances_in(*bank.find(tree), n_classes=bank.n_classes) for tree in range(bank.n_trees))


def importances_in(arrays: TreeArrays, place: int, *, n_classes: int) -> Array:
    """Return the decrease of entropy by the splits of each feature in one tree."""

    def weights(i: int) -> Array:
        found = np.zeros(n_classes)
        for code, weight in class_weights(arrays, i):
            found[code] = weight
        return found

    tree = arrays.trees[place]
    return decreases(arrays, int(tree["root"]), int(tree["n_features"]), weights)


def entropy(weights: Array) -> float:
    """Return the entropy of classes, on the last axis, times their weight; of several labels, the sum."""
    share = np.divide(weights, weights.sum(axis=-1, keepdims=True), out=np.ones_like(weights), where=weights > 0)
    return -float((weights * np.log2(share)).sum())


def gini(weights: Array) -> float:
    """Return the Gini impurity of classes, of a label twice its variance, times their weight."""
    total = weights.sum(axis=-1, keepdims=True)
    share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return float((weights * (1 - share)).sum())


def weights_in_nodes(tree: Tree, root: int, leaf_weights: Callable[[int], Array]) -> dict[int, Array]:
    """Return the weights of the classes in all nodes, children before their branch: those of the leaves below it."""
    order, waiting = [], [root]
    weights: dict[int, Array] = {}
    while waiting:
        order.append(waiting.pop())
        waiting += [] if tree.nodes[order[-1]]["feature"] == NONE else list_children(tree, order[-1])
    for i in reversed(order):
        below = [] if tree.nodes[i]["feature"] == NONE else [weights[child] for child in list_children(tree, i)]
        weights[i] = np.sum(below, axis=0) if below else leaf_weights(i)
    return weights


def decreases(
    tree: Tree,
    root: int,
    n_features: int,
    leaf_weights: Callable[[int], Array],
    impurity: Callable[[Array], float] = entropy,
) -> Array:
    """Return the decrease of impurity by feature; the classes of a branch are those of the leaves below it."""
    found, weights = np.zeros(n_features), weights_in_nodes(tree, root, leaf_weights)
    for i, own in weights.items():
        if tree.nodes[i]["feature"] != NONE:
            decrease = impurity(own) - sum(impurity(weights[child]) for child in list_children(tree, i))
            found[tree.nodes[i]["feature"]] += max(decrease, 0.0)
    return found
