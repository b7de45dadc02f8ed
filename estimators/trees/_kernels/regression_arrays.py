"""One regression tree for all targets, in flat arrays: nodes, linear models of leaves, and search trees of values."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.extend import extend
from estimators._typing import Array
from estimators.trees._kernels.categories import ALL_NUMBERS, NO_CATEGORIES, Categories, extended, new_categories
from estimators.trees._kernels.ebst import SearchTrees, extend_search_trees, new_search_trees
from estimators.trees._kernels.tree_arrays import NONE

# free places for the values of each feature in a new tree
VALUES_RESERVED_PER_FEATURE = 16

# a leaf is a node without a feature; `leaf` is the place of its models and search trees
NODE = np.dtype(
    [
        ("feature", "i4"),
        ("left", "i4"),
        ("right", "i4"),
        ("leaf", "i4"),
        ("active", "i4"),
        ("threshold", "f8"),
        ("last_attempt", "f8"),
    ],
    align=True,
)


class RegressionTree(NamedTuple):
    """A tree in flat arrays."""

    nodes: Array  # places of type `NODE`
    # (n_places, 1) of the rows learnt, or, once a cell was unknown, (n_places, n_targets) of the known cells
    weights: Array
    mean: Array  # (n_places, n_targets)
    squares: Array  # (n_places, n_targets): sum of squared deviations
    coefs: Array  # (n_leaves, n_targets, n_features + 1): linear models, intercept last
    errors: Array  # (n_leaves, n_targets, 2): faded squared errors of the mean and of the linear model
    roots: Array  # (n_leaves, n_features): of the search trees, or of the trees of the bins of a nominal feature
    search: SearchTrees
    counts: Array  # (2,): nodes and leaves in use
    categories: Categories = NO_CATEGORIES  # without counts of values: `search` holds what leaves observe


def new_tree(n_features: int, n_targets: int, nominal: Array = ALL_NUMBERS) -> RegressionTree:
    """Make an untrained tree of one leaf; `nominal` lists the nominal features."""
    tree = RegressionTree(
        np.zeros(0, NODE),
        np.zeros((0, 1)),
        np.zeros((0, n_targets)),
        np.zeros((0, n_targets)),
        np.zeros((0, n_targets, n_features + 1)),
        np.zeros((0, n_targets, 2)),
        np.zeros((0, n_features), dtype=np.int64),
        new_search_trees(VALUES_RESERVED_PER_FEATURE * n_features, n_targets),
        np.zeros(2, dtype=np.int64),
        new_categories(n_features, nominal),
    )
    tree = _extended(tree, 3, 2, 0)
    tree.counts[:] = 1
    tree.nodes[0] = (NONE, NONE, NONE, 0, 1, 0.0, 0.0)
    return tree


def grow(tree: RegressionTree) -> RegressionTree:
    """Double the arrays that are too short for a row that splits a leaf and brings a new value of every feature."""
    (n_nodes, n_leaves), n_features = tree.counts, tree.roots.shape[1]
    n_children = max(2, tree.categories.counts.shape[2])
    return _extended(
        tree,
        len(tree.nodes) + n_children if n_nodes + n_children > len(tree.nodes) else 0,
        len(tree.coefs) + n_children - 1 if n_leaves + n_children - 1 > len(tree.coefs) else 0,
        max(len(tree.search.places), n_features) if tree.search.free[1] < n_features else 0,
    )


def with_weights_of_targets(tree: RegressionTree) -> RegressionTree:
    """Count the known cells of each target from now on: so far all rows were known."""
    n_targets = tree.mean.shape[1]
    weights, values = (np.repeat(table, n_targets, axis=1) for table in (tree.weights, tree.search.weights))
    return tree._replace(weights=weights, search=tree.search._replace(weights=values))


def size_bytes(tree: RegressionTree) -> int:
    """Sum the sizes of the arrays."""
    arrays = [*tree[:-3], *tree.search, tree.counts, *tree.categories]
    return sum(array.nbytes for array in arrays)


def _extended(tree: RegressionTree, n_nodes: int, n_leaves: int, n_values: int) -> RegressionTree:
    roots = extend(tree.roots, n_leaves)
    roots[len(tree.roots) :] = NONE
    return RegressionTree(
        extend(tree.nodes, n_nodes),
        extend(tree.weights, n_nodes),
        extend(tree.mean, n_nodes),
        extend(tree.squares, n_nodes),
        extend(tree.coefs, n_leaves),
        extend(tree.errors, n_leaves),
        roots,
        extend_search_trees(tree.search, n_values) if n_values else tree.search,
        tree.counts,
        extended(tree.categories, 0, n_nodes),
    )


@njit(**HOT)
def total_weight(tree: RegressionTree, i: int) -> float:
    """Return the weight of a node, averaged over the targets."""
    total = 0.0
    for k in range(tree.weights.shape[1]):
        total += tree.weights[i, k]
    return total / tree.weights.shape[1]


@njit(**PART)
def take_leaf(tree: RegressionTree, leaf: int) -> int:
    """Make an empty leaf, with the models and search trees of a place, or with new ones under `NONE`."""
    i = tree.counts[0]
    tree.counts[0] += 1
    if leaf == NONE:
        leaf = tree.counts[1]
        tree.counts[1] += 1
    node = tree.nodes[i]
    node.feature, node.left, node.right, node.leaf, node.active = NONE, NONE, NONE, leaf, 1
    return i


@njit(**HOT)
def has_room(tree: RegressionTree) -> bool:
    """Return whether any row can be learnt without more places."""
    nodes_left, leaves_left = len(tree.nodes) - tree.counts[0], len(tree.coefs) - tree.counts[1]
    n_children = max(2, tree.categories.counts.shape[2])
    has_places = nodes_left >= n_children and leaves_left >= n_children - 1
    return has_places and tree.search.free[1] >= tree.roots.shape[1]
