"""Paths of rows through Hoeffding trees: contributions of splits and of leaves to the shares of classes."""

import numpy as np

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.trees._kernels.adaptive_arrays import AdaptiveTrees
from estimators.trees._kernels.categories import Tree, child_of, heaviest_of, next_child, push_children
from estimators.trees._kernels.leaf_terms import Room, add_leaf_terms, leaf_shares
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays
from estimators.trees._kernels.voting import node_after


@Direct
@njit(**LOOP)
def fill_shares(arrays: TreeArrays, t: int, weights: Array, order: Array, shares: Array) -> None:
    """Fill in the shares of classes (n_places, n_classes) in the nodes of a tree; those without a row are NaN.

    The shares of a branch are those in the leaves below it. `weights` (n_places, n_classes) and `order` (n_places,) are
    room to work in.
    """
    n_nodes, height = 0, 1
    # places from the last one on wait
    order[len(order) - 1] = arrays.trees[t].root
    stack = order[::-1]
    while height:
        height -= 1
        i = stack[height]
        order[n_nodes] = i
        n_nodes += 1
        if arrays.nodes[i].feature != NONE:
            height = push_children(arrays, i, stack, height)
    for k in range(n_nodes - 1, -1, -1):
        add_up(arrays, order[k], weights, shares)


@njit(**PART)
def add_up(arrays: TreeArrays, i: int, weights: Array, shares: Array) -> None:
    """Fill in the weights and shares of a node, those of the nodes below it being known."""
    for code in range(weights.shape[1]):
        weights[i, code] = 0.0
    if arrays.nodes[i].feature == NONE:
        leaf_shares(arrays, i, shares[i])
        s = arrays.nodes[i].stats
        while s != NONE:
            weights[i, arrays.stats[s].code] = arrays.stats[s].weight
            s = arrays.stats[s].next
        return
    child = int(arrays.nodes[i].left)
    while child != NONE:
        for code in range(weights.shape[1]):
            weights[i, code] += weights[child, code]
        child = int(next_child(arrays, i, child))
    total = weights[i].sum()
    for code in range(weights.shape[1]):
        shares[i, code] = weights[i, code] / total if total > 0.0 else np.nan


@njit(**PART)
def add_step(  # noqa: PLR0913, PLR0917 - numbers and arrays in, arrays out
    shares: Array, before: int, after: int, r: int, weight: float, empty: Array, added: Array, feature: int
) -> None:
    """Add the change of shares from one node to another to a feature; a node without rows has those of `empty`."""
    first = shares.shape[1] - added.shape[1]
    for output in range(added.shape[1]):
        old, new = shares[before, first + output], shares[after, first + output]
        old = empty[r, output] if np.isnan(old) else old
        added[r, output, feature] += weight * ((empty[r, output] if np.isnan(new) else new) - old)


@Direct
@njit(**LOOP)
def explain_tree(  # noqa: PLR0913, PLR0917 - numbers and arrays in, arrays out
    arrays: TreeArrays,
    t: int,
    X: Array,
    shares: Array,
    weight: float,
    is_sparse: bool,
    empty: Array,
    room: Room,
    added: Array,
) -> None:
    """Add what each feature adds in a tree, times a weight, to `added` (n_rows, n_outputs, n_features).

    Outputs are the last classes. `shares` are as `fill_shares` fills them in; `empty` (n_rows, n_outputs) is what the
    tree is taken to predict where a row ends in a leaf without rows.
    """
    for r in range(len(X)):
        i = int(arrays.trees[t].root)
        while arrays.nodes[i].feature != NONE:
            feature = int(arrays.nodes[i].feature)
            child = int(node_after(arrays, i, X[r, feature]))
            add_step(shares, i, child, r, weight, empty, added, feature)
            i = child
        add_leaf_terms(arrays, i, X, r, weight, is_sparse, room, added)


@njit(**PART)
def vote_weight(trees: AdaptiveTrees, i: int) -> float:
    """Return the weight of the votes of a leaf in an adaptive tree; one without rows does not vote."""
    error = trees.monitors[i].error
    if trees.arrays.nodes[i].weight == 0.0:
        return 0.0
    return 1.0 / (error * error) if error * error > 0.0 else 1.0


@Direct
@njit(**LOOP)
def explain_adaptive(  # noqa: PLR0913, PLR0917 - numbers and arrays in, arrays out
    trees: AdaptiveTrees, t: int, X: Array, shares: Array, path: Array, empty: Array, room: Room, added: Array
) -> None:
    """Add what each feature adds in an adaptive tree, as `explain_tree`; that of alternate leaves as such is left out.

    An alternate leaf has a share of the votes: so much less counts the path below its branch. `path` (n_places,) is
    room to work in.
    """
    arrays = trees.arrays
    for r in range(len(X)):
        i, n_above, total = int(arrays.trees[t].root), 0, 0.0
        while arrays.nodes[i].feature != NONE:
            path[n_above], n_above = i, n_above + 1
            alternate = trees.monitors[i].alternate
            total += vote_weight(trees, alternate) if alternate != NONE else 0.0
            i = int(node_after(arrays, i, X[r, int(arrays.nodes[i].feature)]))
        path[n_above], left = i, 1.0
        total += vote_weight(trees, i)
        for k in range(n_above):
            alternate = int(trees.monitors[path[k]].alternate)
            if alternate != NONE and total > 0.0:
                share = vote_weight(trees, alternate) / total
                add_leaf_terms(arrays, alternate, X, r, share, False, room, added)
                left -= share
            add_step(shares, path[k], path[k + 1], r, left, empty, added, int(arrays.nodes[path[k]].feature))
        add_leaf_terms(arrays, i, X, r, left, False, room, added)


@njit(**LOOP)
def add_path(tree: Tree, root: int, X: Array, values: Array, weights: Array, added: Array) -> None:
    """Add the change of values (n_places, n_labels) at each branch to its feature, for a tree of any kind.

    `weights` are those of the leaves; `UNWEIGHED` nodes have the weight of their children.
    """
    for r in range(len(X)):
        i = root
        while tree.nodes[i].feature != NONE:
            feature = int(tree.nodes[i].feature)
            child = int(child_of(tree, i, X[r, feature]))
            child = int(heaviest_of(tree, i, weights)) if child == NONE else child
            for j in range(values.shape[1]):
                added[r, j, feature] += values[child, j] - values[i, j]
            i = child
