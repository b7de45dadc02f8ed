"""One Hoeffding tree for all labels, in flat arrays: nodes, weights of the labels in each node, and observers."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._kernels.extend import extend
from estimators._kernels.sorting import order_descending
from estimators._typing import Array
from estimators.trees._kernels.categories import (
    ALL_NUMBERS,
    NO_CATEGORIES,
    Categories,
    clear_counts,
    extended,
    has_categories,
    new_categories,
)
from estimators.trees._kernels.tree_arrays import HIGHEST, LOWEST, NONE, OBSERVER

# a leaf is a node without a feature; `slot` is the place of its observers, if it has any
NODE = np.dtype(
    [
        ("feature", "i4"),
        ("left", "i4"),
        ("right", "i4"),
        ("depth", "i4"),
        ("slot", "i4"),
        ("active", "i4"),
        ("threshold", "f8"),
        ("last_attempt", "f8"),
    ],
    align=True,
)
# `slot` is the head of the list of free slots, which `links` chains
COUNT = np.dtype([("n_nodes", "i4"), ("n_inactive", "i4"), ("slot", "i4"), ("n_slots", "i4"), ("n_free", "i4")])

# weights, hits and ranks of both values of a label in a node
NODE_BYTES = NODE.itemsize
LABEL_BYTES = 34.0
OBSERVER_BYTES = OBSERVER.itemsize + 1.0


class MultilabelTree(NamedTuple):
    """A tree whose nodes count all labels; the values of a label are 0 and 1."""

    nodes: Array  # places of type `NODE`
    weights: Array  # (n_places, n_labels, 2): of each value
    hits: Array  # (n_places, n_labels, 2): weight of the rows that the majority, and naive Bayes, guessed right
    seen_rank: Array  # int8, (n_places, n_labels, 2): a value was seen first (1), second (2) or never (0)
    observed_rank: Array  # int8, (n_slots, n_labels, 2): the same of a value that was observed
    observers: Array  # (n_slots * n_labels * 2,): an `OBSERVER` for each value of each label in each slot
    moments: Array  # (n_slots * n_labels * 2, 5, n_features): of each observer, as in `TreeArrays`
    links: Array  # (n_slots,): the next free slot
    counts: Array  # (1,): a `COUNT`
    categories: Categories = NO_CATEGORIES


def new_tree(n_features: int, n_labels: int, nominal: Array = ALL_NUMBERS) -> MultilabelTree:
    """Make an untrained tree of one leaf."""
    counts = np.zeros(1, COUNT)
    counts["slot"] = NONE
    bare = MultilabelTree(
        np.zeros(0, NODE),
        np.zeros((0, n_labels, 2)),
        np.zeros((0, n_labels, 2)),
        np.zeros((0, n_labels, 2), np.int8),
        np.zeros((0, n_labels, 2), np.int8),
        np.zeros(0, OBSERVER),
        np.zeros((0, 5, n_features)),
        np.zeros(0, np.int32),
        counts,
        new_categories(n_features, nominal),
    )
    tree = _extended(bare, 3, 1)
    tree.counts["n_nodes"] = 1
    for link in ("feature", "left", "right", "slot"):
        tree.nodes[link][0] = NONE
    tree.nodes["active"][0] = 1
    return tree


def grow(tree: MultilabelTree) -> MultilabelTree:
    """Double the arrays that are too short for a row that splits a leaf or starts to observe in one."""
    counts, n_children = tree.counts[0], max(2, tree.categories.counts.shape[2])
    n_nodes = max(len(tree.nodes), n_children) if counts["n_nodes"] + n_children > len(tree.nodes) else 0
    return _extended(tree, n_nodes, len(tree.links) if counts["n_free"] < 1 else 0)


def size_bytes(tree: MultilabelTree) -> int:
    """Sum the sizes of the arrays."""
    return sum(array.nbytes for array in (*tree[:-1], *tree.categories))


def _extended(tree: MultilabelTree, n_nodes: int, n_slots: int) -> MultilabelTree:
    n_observers = n_slots * tree.weights.shape[1] * 2
    counts, links = tree.counts.copy(), extend(tree.links, n_slots)
    if n_slots:
        links[-n_slots:] = np.arange(len(tree.links) + 1, len(links) + 1)
        links[-1] = counts["slot"][0]
        counts["slot"] = len(tree.links)
        counts["n_free"] += n_slots
    return MultilabelTree(
        extend(tree.nodes, n_nodes),
        extend(tree.weights, n_nodes),
        extend(tree.hits, n_nodes),
        extend(tree.seen_rank, n_nodes),
        extend(tree.observed_rank, n_slots),
        extend(tree.observers, n_observers),
        extend(tree.moments, n_observers),
        links,
        counts,
        extended(tree.categories, n_observers, n_nodes),
    )


# ------------------------------------------------------------------- places
@njit(**HOT)
def has_room(tree: MultilabelTree) -> bool:
    """Return whether any row can be learnt without more places."""
    counts = tree.counts[0]
    return counts.n_nodes + max(2, tree.categories.counts.shape[2]) <= len(tree.nodes) and counts.n_free >= 1


@njit(**PART)
def take_node(tree: MultilabelTree, depth: int) -> int:
    """Take a free node for an empty leaf."""
    i = tree.counts[0].n_nodes
    tree.counts[0].n_nodes += 1
    node = tree.nodes[i]
    node.feature = node.left = node.right = node.slot = NONE
    node.depth, node.active = depth, 1
    return i


@njit(**PART)
def take_slot(tree: MultilabelTree, i: int) -> None:
    """Take a free slot for the observers of a leaf."""
    counts = tree.counts[0]
    slot = counts.slot
    counts.slot = tree.links[slot]
    counts.n_free -= 1
    counts.n_slots += 1
    tree.nodes[i].slot = slot
    for j in range(tree.observed_rank.shape[1]):
        tree.observed_rank[slot, j, 0] = tree.observed_rank[slot, j, 1] = 0


@njit(**PART)
def drop_slot(tree: MultilabelTree, i: int) -> None:
    """Free the slot of a leaf; its weights stay."""
    node, counts = tree.nodes[i], tree.counts[0]
    if node.slot != NONE:
        tree.links[node.slot] = counts.slot
        counts.slot = node.slot
        counts.n_free += 1
        counts.n_slots -= 1
        node.slot = NONE


@njit(**HOT)
def observer_of(tree: MultilabelTree, slot: int, j: int, value: int) -> int:
    """Return the place of the observer of a value of a label."""
    return (slot * tree.observed_rank.shape[1] + j) * 2 + value


@njit(**HOT)
def start_observer(tree: MultilabelTree, slot: int, j: int, value: int) -> int:
    """Return the place of an observer, emptied if the value has not been observed in its slot."""
    o = observer_of(tree, slot, j, value)
    if tree.observed_rank[slot, j, value] == 0:
        tree.observed_rank[slot, j, value] = 1 if tree.observed_rank[slot, j, 1 - value] == 0 else 2
        tree.observers[o].weight = tree.observers[o].log_norm = 0.0
        for f in range(tree.moments.shape[2]):
            for moment in range(LOWEST):
                tree.moments[o, moment, f] = 0.0
            tree.moments[o, LOWEST, f] = np.inf
            tree.moments[o, HIGHEST, f] = -np.inf
        if has_categories(tree):
            clear_counts(tree, o)
    return o


@njit(**HOT)
def total_weight(tree: MultilabelTree, i: int) -> float:
    """Return the weight of a node, averaged over the labels."""
    total = 0.0
    for j in range(tree.weights.shape[1]):
        total += tree.weights[i, j, 0] + tree.weights[i, j, 1]
    return total / tree.weights.shape[1]


@njit(**HOT)
def value_of_rank(ranks: Array, i: int, j: int, rank: int) -> int:
    """Return the value of a label that has a rank, or `NONE`."""
    if ranks[i, j, 0] == rank:
        return 0
    return 1 if ranks[i, j, 1] == rank else NONE


# ------------------------------------------------------------------- memory
@njit(**PART)
def slots_allowed(tree: MultilabelTree, max_bytes: float) -> float:
    """Return how many leaves may observe, besides all nodes and their weights."""
    n_labels, n_features = tree.weights.shape[1], tree.moments.shape[2]
    of_node = NODE_BYTES + LABEL_BYTES * n_labels
    of_counts = 8.0 * tree.categories.counts.shape[1] * tree.categories.counts.shape[2]
    of_slot = 2.0 * n_labels * (OBSERVER_BYTES + 8.0 * tree.moments.shape[1] * n_features + of_counts)
    return (max_bytes - tree.counts[0].n_nodes * of_node) / of_slot


@njit(**PART)
def deactivate(tree: MultilabelTree, i: int) -> None:
    """Stop observing in a leaf."""
    drop_slot(tree, i)
    tree.nodes[i].active = 0
    tree.counts[0].n_inactive += 1


@njit(**BUILD)
def keep_promising(tree: MultilabelTree, max_bytes: float, max_depth: int) -> None:
    """Let only the most promising leaves observe, as many as fit into memory.

    The promise of a leaf is the weight of the rarer value, summed over the labels. Does nothing while memory suffices
    for all leaves.
    """
    counts = tree.counts[0]
    allowed = slots_allowed(tree, max_bytes)
    if counts.n_inactive == 0 and counts.n_slots <= allowed:
        return
    promises = np.empty(np.int64(counts.n_nodes), np.float64)
    for i in range(len(promises)):
        promises[i] = 0.0
        for j in range(tree.weights.shape[1]):
            promises[i] += min(tree.weights[i, j, 0], tree.weights[i, j, 1])
    counts.n_inactive, needed = 0, 0
    order = np.empty(len(promises), np.int64)
    order_descending(promises, order)
    for k in range(len(order)):
        i = order[k]
        node = tree.nodes[i]
        if node.feature == NONE:
            needed += 1
            fits = needed <= allowed and node.depth < max_depth
            if not fits:
                drop_slot(tree, i)
            node.active = 1 if fits else 0
            counts.n_inactive += 0 if fits else 1
