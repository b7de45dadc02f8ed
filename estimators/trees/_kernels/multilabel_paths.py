"""Paths of rows through trees of all labels: contributions of splits and of leaves to the shares of labels."""

import math

import numpy as np

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import next_child
from estimators.trees._kernels.leaf_terms import LEAST_DIFFERENCE, observed_term
from estimators.trees._kernels.multilabel_arrays import MultilabelTree, observer_of
from estimators.trees._kernels.multilabel_learning import node_after
from estimators.trees._kernels.tree_arrays import NONE


@Direct
@njit(**LOOP)
def fill_label_shares(tree: MultilabelTree, weights: Array, shares: Array) -> None:
    """Fill in the share of each label (n_places, n_labels) in the nodes; NaN where it was never known.

    The shares of a branch are those in the leaves below it. `weights` (n_places, n_labels, 2) is room to work in.
    """
    for i in range(tree.counts[0].n_nodes - 1, -1, -1):
        # the nodes below come after a branch
        for j in range(shares.shape[1]):
            if tree.nodes[i].feature == NONE:
                weights[i, j, 0], weights[i, j, 1] = tree.weights[i, j, 0], tree.weights[i, j, 1]
                shares[i, j] = leaf_share(tree, i, j)
            else:
                shares[i, j] = share_below(tree, i, j, weights)


@njit(**PART)
def share_below(tree: MultilabelTree, i: int, j: int, weights: Array) -> float:
    """Add up the weights of a label in the nodes below a branch, and return its share."""
    weights[i, j, 0] = weights[i, j, 1] = 0.0
    child = int(tree.nodes[i].left)
    while child != NONE:
        weights[i, j, 0] += weights[child, j, 0]
        weights[i, j, 1] += weights[child, j, 1]
        child = int(next_child(tree, i, child))
    total = weights[i, j, 0] + weights[i, j, 1]
    return weights[i, j, 1] / total if total > 0.0 else np.nan


@njit(**PART)
def uses_bayes(tree: MultilabelTree, i: int, j: int) -> bool:
    """Return whether a leaf votes on a label by naive Bayes."""
    return tree.nodes[i].active == 1 and tree.hits[i, j, 1] >= tree.hits[i, j, 0]


@njit(**PART)
def leaf_share(tree: MultilabelTree, i: int, j: int) -> float:
    """Return the share of a label in a leaf before any feature is looked at, NaN if it was never known there.

    To naive Bayes a value that was seen, of weight zero, is as heavy as all.
    """
    zeros, ones = tree.weights[i, j, 0], tree.weights[i, j, 1]
    total = zeros + ones
    if total == 0.0:
        return np.nan
    if uses_bayes(tree, i, j):
        zeros = total if zeros <= 0.0 and tree.seen_rank[i, j, 0] != 0 else zeros
        ones = total if ones <= 0.0 and tree.seen_rank[i, j, 1] != 0 else ones
    return ones / (zeros + ones)


@njit(**PART)
def log_density(tree: MultilabelTree, i: int, j: int, value: int, f: int, x: float) -> float:
    """Return the log density of a value of a feature where a label has a value."""
    slot = tree.nodes[i].slot
    if slot == NONE or tree.observed_rank[slot, j, value] == 0 or tree.weights[i, j, value] <= 0.0:
        return 0.0
    return float(observed_term(tree, observer_of(tree, slot, j, value), f, f, x, False))


@njit(**PART)
def fill_ratios(tree: MultilabelTree, i: int, j: int, x: Array, share: float, ratios: Array) -> float:
    """Fill in the log likelihood ratio of each feature; return what a unit of them adds to the share of a label."""
    ratio = 0.0
    for f in range(len(ratios)):
        ratios[f] = log_density(tree, i, j, 1, f, x[f]) - log_density(tree, i, j, 0, f, x[f])
        ratio += ratios[f]
    if not -np.inf < ratio < np.inf:
        return 0.0
    if abs(ratio) < LEAST_DIFFERENCE:
        return share * (1.0 - share)
    odds = ratio + math.log(share) - math.log(1.0 - share)
    after = 1.0 / (1.0 + math.exp(-odds)) if odds > 0.0 else math.exp(odds) / (1.0 + math.exp(odds))
    return (after - share) / ratio


@Direct
@njit(**LOOP)
def explain_label_tree(
    tree: MultilabelTree, X: Array, shares: Array, weight: float, empty: Array, ratios: Array, added: Array
) -> None:
    """Add what each feature adds in a tree, times a weight, to `added` (n_rows, n_labels, n_features).

    `shares` are as `fill_label_shares` fills them in; `empty` (n_rows, n_labels) is what the tree is taken to predict
    where a label was never known; `ratios` (n_features,) is room to work in.
    """
    for r in range(len(X)):
        i = 0
        while tree.nodes[i].feature != NONE:
            feature = int(tree.nodes[i].feature)
            child = int(node_after(tree, i, X[r, feature]))
            for j in range(shares.shape[1]):
                old, new = shares[i, j], shares[child, j]
                old = empty[r, j] if np.isnan(old) else old
                added[r, j, feature] += weight * ((empty[r, j] if np.isnan(new) else new) - old)
            i = child
        for j in range(shares.shape[1]):
            # NaN is not
            if 0.0 < shares[i, j] < 1.0 and uses_bayes(tree, i, j):
                unit = weight * fill_ratios(tree, i, j, X[r], shares[i, j], ratios)
                for f in range(len(ratios)):
                    added[r, j, f] += unit * ratios[f]
