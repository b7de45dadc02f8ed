"""Several Hoeffding trees in shared flat arrays: nodes, class weights, observers, and lists of free places."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, LOOP, PART, njit
from estimators._kernels.extend import extend
from estimators._kernels.randomness import draw_subset
from estimators._typing import Array
from estimators.trees._kernels.categories import (
    ALL_NUMBERS,
    NO_CATEGORIES,
    Categories,
    clear_counts,
    extended,
    has_categories,
    new_categories,
    next_child,
)

NONE = -1
MEAN, SQUARES, PRECISION, LOWEST, HIGHEST = range(5)

# a leaf is a node without a feature; `left` of a free place is the next free one
NODE = np.dtype(
    [
        ("feature", "i4"),
        ("left", "i4"),
        ("right", "i4"),
        ("depth", "i4"),
        ("stats", "i4"),
        ("last_stat", "i4"),
        ("observers", "i4"),
        ("last_observer", "i4"),
        ("active", "i4"),
        ("threshold", "f8"),
        ("weight", "f8"),
        ("last_attempt", "f8"),
        ("majority_hits", "f8"),
        ("bayes_hits", "f8"),
    ],
    align=True,
)
# weight of one class in one node, chained in the order in which the classes were first seen
STAT = np.dtype(
    [("code", "i4"), ("next", "i4"), ("observer", "i4"), ("weight", "f8"), ("log_weight", "f8")], align=True
)
# distribution of the features of one class in one leaf; the vectors are in `moments`
OBSERVER = np.dtype([("code", "i4"), ("next", "i4"), ("weight", "f8"), ("log_norm", "f8")], align=True)
TREE = np.dtype(
    [
        ("root", "i4"),
        ("n_features", "i4"),
        ("n_nodes", "i4"),
        ("n_stats", "i4"),
        ("n_observers", "i4"),
        ("n_inactive", "i4"),
        ("random", "u8"),
    ],
    align=True,
)
FREE = np.dtype(
    [("node", "i4"), ("stat", "i4"), ("observer", "i4"), ("n_nodes", "i4"), ("n_stats", "i4"), ("n_observers", "i4")],
    align=True,
)


class TreeArrays(NamedTuple):
    """Trees over the same features and classes that share arrays.

    Leaves of random trees observe a subset of features.
    """

    nodes: Array  # places of type `NODE`, in use or free
    stats: Array  # of type `STAT`
    observers: Array  # of type `OBSERVER`
    moments: Array  # (n_places, 5, width): mean, squared deviations, 1 / (2 * variance), minimum, maximum
    subsets: Array  # (n_places, width): features that each leaf observes; (0, width): all features
    trees: Array  # a `TREE` each
    free: Array  # (1,): heads and lengths of the lists of free places
    categories: Categories = NO_CATEGORIES


def new_trees(
    n_trees: int,
    n_features: int,
    *,
    width: int | None = None,
    seeds: Array | None = None,
    nominal: Array = ALL_NUMBERS,
) -> TreeArrays:
    """Make untrained trees, each one empty leaf, with few free places.

    A leaf draws `width` features to observe; under None it observes all and draws nothing. `seeds`, (n_trees,), are
    states of the random numbers. The features in `nominal` are.
    """
    trees = np.zeros(n_trees, TREE)
    trees["n_features"] = n_features
    if seeds is not None:
        trees["random"] = seeds
    n_observed = n_features if width is None else width
    free = np.zeros(1, FREE)
    for name in ("node", "stat", "observer"):
        free[name] = NONE
    bare = TreeArrays(
        nodes=np.zeros(0, NODE),
        stats=np.zeros(0, STAT),
        observers=np.zeros(0, OBSERVER),
        moments=np.zeros((0, 5, n_observed)),
        subsets=np.zeros((0, n_observed), dtype=np.int32),
        trees=trees,
        free=free,
        categories=new_categories(n_features, nominal),
    )
    # places for the first split of a tree of two classes
    n_nodes, n_stats = n_trees + 2, 4 * n_trees + 2 * 2 + 1
    arrays = _extended(bare, n_nodes, n_stats, 4 * n_trees, random=width is not None)
    _add_roots(arrays)
    return arrays


def _add_roots(arrays: TreeArrays) -> None:
    """Make each of some trees, whose arrays have free places only, one empty leaf."""
    n_trees = len(arrays.trees)
    arrays.trees["root"] = np.arange(n_trees)
    arrays.trees["n_nodes"] = 1
    arrays.free["node"] = n_trees
    arrays.free["n_nodes"] -= n_trees
    roots = arrays.nodes[:n_trees]
    for link in ("feature", "left", "right", "stats", "last_stat", "observers", "last_observer"):
        roots[link] = NONE
    roots["active"] = 1
    if len(arrays.subsets):
        _draw_subsets(arrays.trees["random"], int(arrays.trees["n_features"][0]), arrays.subsets)


@njit(**LOOP)
def _draw_subsets(states: Array, n_features: int, subsets: Array) -> None:
    """Draw a subset of features for each of the first places, by the random state of a tree, which steps on."""
    for t in range(len(states)):
        states[t] = draw_subset(states[t], n_features, subsets[t])


def grow(arrays: TreeArrays, n_classes: int, n_rows: int = 1) -> TreeArrays:
    """Double the arrays that are too short for `n_rows` rows, each of which may split a leaf and bring a new class."""
    free = arrays.free[0]
    n_children = max(2, arrays.categories.counts.shape[2])
    n_nodes, n_stats = n_rows * n_children, n_rows * (n_children * n_classes + 1)
    return _extended(
        arrays,
        max(len(arrays.nodes), n_nodes) if free["n_nodes"] < n_nodes else 0,
        max(len(arrays.stats), n_stats) if free["n_stats"] < n_stats else 0,
        max(len(arrays.observers), n_rows) if free["n_observers"] < n_rows else 0,
        random=len(arrays.subsets) > 0,
    )


def size_bytes(arrays: TreeArrays) -> int:
    """Sum the sizes of the arrays."""
    return sum(array.nbytes for array in (*arrays[:-1], *arrays.categories))


def _extended(arrays: TreeArrays, n_nodes: int, n_stats: int, n_observers: int, *, random: bool) -> TreeArrays:
    free = arrays.free.copy()
    nodes = _extended_places(arrays.nodes, n_nodes, free, "node", "left")
    stats = _extended_places(arrays.stats, n_stats, free, "stat", "next")
    observers = _extended_places(arrays.observers, n_observers, free, "observer", "next")
    moments, subsets = extend(arrays.moments, n_observers), extend(arrays.subsets, n_nodes if random else 0)
    categories = extended(arrays.categories, n_observers, n_nodes)
    return TreeArrays(nodes, stats, observers, moments, subsets, arrays.trees, free, categories)


def _extended_places(places: Array, n_more: int, free: Array, name: str, link: str) -> Array:
    if n_more == 0:
        return places
    longer = extend(places, n_more)
    longer[link][len(places) :] = np.arange(len(places) + 1, len(longer) + 1)
    longer[link][-1] = free[name][0]
    free[name] = len(places)
    free[f"n_{name}s"] += n_more
    return longer


# ------------------------------------------------------------------- places
@njit(**HOT)
def has_room(arrays: TreeArrays, n_classes: int, n_rows: int = 1) -> bool:
    """Return whether any `n_rows` rows can be learnt without more places.

    A row adds the statistics of its own class, and those of the new leaves of a split.
    """
    free, n_children = arrays.free[0], max(2, arrays.categories.counts.shape[2])
    has_stats = free.n_stats >= n_rows * (n_children * n_classes + 1)
    return has_stats and free.n_nodes >= n_rows * n_children and free.n_observers >= n_rows


@njit(**HOT)
def feature_of(arrays: TreeArrays, i: int, f: int) -> int:
    """Return the feature that a leaf observes at a place."""
    return arrays.subsets[i, f] if len(arrays.subsets) else f


@njit(**PART)
def new_root(arrays: TreeArrays, t: int) -> None:
    """Make tree t one empty leaf."""
    arrays.trees[t].root = take_leaf(arrays, t, 0)


@njit(**PART)
def take_leaf(arrays: TreeArrays, t: int, depth: int) -> int:
    """Take a free node for an empty leaf of tree t."""
    free = arrays.free[0]
    i = free.node
    node = arrays.nodes[i]
    free.node = node.left
    free.n_nodes -= 1
    arrays.trees[t].n_nodes += 1
    node.feature = node.left = node.right = NONE
    node.stats = node.last_stat = node.observers = node.last_observer = NONE
    node.depth = depth
    node.active = 1
    node.threshold = node.weight = node.last_attempt = node.majority_hits = node.bayes_hits = 0.0
    if len(arrays.subsets):
        arrays.trees[t].random = draw_subset(arrays.trees[t].random, arrays.trees[t].n_features, arrays.subsets[i])
    return i


@njit(**PART)
def add_stat(arrays: TreeArrays, t: int, i: int, code: int) -> int:
    """Append a class of weight 0 to a node."""
    free = arrays.free[0]
    s = free.stat
    stat = arrays.stats[s]
    free.stat = stat.next
    free.n_stats -= 1
    arrays.trees[t].n_stats += 1
    stat.code, stat.next, stat.observer, stat.weight, stat.log_weight = code, NONE, NONE, 0.0, -np.inf
    node = arrays.nodes[i]
    if node.stats == NONE:
        node.stats = s
    else:
        arrays.stats[node.last_stat].next = s
    node.last_stat = s
    return s


@njit(**PART)
def add_observer(arrays: TreeArrays, t: int, i: int, code: int) -> int:
    """Append an empty observer of a class to a leaf."""
    free = arrays.free[0]
    o = free.observer
    observer = arrays.observers[o]
    free.observer = observer.next
    free.n_observers -= 1
    arrays.trees[t].n_observers += 1
    observer.code, observer.next, observer.weight, observer.log_norm = code, NONE, 0.0, 0.0
    for f in range(arrays.moments.shape[2]):
        arrays.moments[o, MEAN, f] = arrays.moments[o, SQUARES, f] = arrays.moments[o, PRECISION, f] = 0.0
        arrays.moments[o, LOWEST, f] = np.inf
        arrays.moments[o, HIGHEST, f] = -np.inf
    if has_categories(arrays):
        clear_counts(arrays, o)
    node = arrays.nodes[i]
    if node.observers == NONE:
        node.observers = o
    else:
        arrays.observers[node.last_observer].next = o
    node.last_observer = o
    return o


@njit(**PART)
def drop_observers(arrays: TreeArrays, t: int, i: int) -> None:
    """Free the observers of a leaf; its class weights stay."""
    node = arrays.nodes[i]
    free = arrays.free[0]
    o = node.observers
    while o != NONE:
        after = arrays.observers[o].next
        arrays.observers[o].next = free.observer
        free.observer = o
        free.n_observers += 1
        arrays.trees[t].n_observers -= 1
        o = after
    node.observers = node.last_observer = NONE
    s = node.stats
    while s != NONE:
        arrays.stats[s].observer = NONE
        s = arrays.stats[s].next


@njit(**PART)
def free_tree(arrays: TreeArrays, t: int) -> None:
    """Free all places of a tree, which then has no root."""
    tree = arrays.trees[t]
    if tree.root != NONE:
        free_nodes(arrays, t, tree.root)
        tree.root = NONE


@njit(**PART)
def free_nodes(arrays: TreeArrays, t: int, root: int) -> None:
    """Free the places of a node and of all nodes below it; those that wait are chained by `last_stat`."""
    tree, free = arrays.trees[t], arrays.free[0]
    arrays.nodes[root].last_stat = NONE
    waiting = root
    while waiting != NONE:
        i = waiting
        node = arrays.nodes[i]
        waiting = node.last_stat
        if node.feature != NONE:
            child = node.left
            while child != NONE:
                arrays.nodes[child].last_stat, waiting = waiting, child
                child = next_child(arrays, i, child)
        else:
            tree.n_inactive -= 1 - node.active
        drop_observers(arrays, t, i)
        s = node.stats
        while s != NONE:
            after = arrays.stats[s].next
            arrays.stats[s].next = free.stat
            free.stat = s
            free.n_stats += 1
            tree.n_stats -= 1
            s = after
        node.left = free.node
        free.node = i
        free.n_nodes += 1
        tree.n_nodes -= 1
