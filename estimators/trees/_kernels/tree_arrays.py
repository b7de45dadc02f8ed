"""Several Hoeffding trees in shared flat arrays: nodes, weights of classes, observers, and lists of free places."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import HOT, LOOP, PART, njit
from estimators._kernels.extend import extend
from estimators._kernels.randomness import draw_subset

Array = npt.NDArray[Any]

NONE = -1
NODES_PER_ROW = 2
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
# weight of one class in one node, chained in the order in which classes came; `observer`: its observer, if any
STAT = np.dtype(
    [("code", "i4"), ("next", "i4"), ("observer", "i4"), ("weight", "f8"), ("log_weight", "f8")], align=True
)
# one class in one leaf: how the features are distributed; the vectors themselves are `moments`
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


class Grove(NamedTuple):
    """Trees over the same features and classes, sharing arrays; leaves of random ones see a subset of the features.

    Attributes
    ----------
    nodes, stats, observers : structured ndarray
        Places of `NODE`, `STAT` and `OBSERVER`, taken or free.
    moments : ndarray of shape (n_places, 5, width)
        Of each observer and feature: mean, sum of squared deviations, inverse of twice the variance, minimum, maximum.
    subsets : ndarray of shape (n_places, width) or (0, width)
        Features that a leaf observes; no rows: every leaf observes all.
    trees : structured ndarray
        One `TREE` each.
    free : structured ndarray of shape (1,)
        Heads and lengths of the lists of free places.
    """

    nodes: Array
    stats: Array
    observers: Array
    moments: Array
    subsets: Array
    trees: Array
    free: Array


def plant(n_trees: int, n_features: int, *, width: int | None = None, seeds: Array | None = None) -> Grove:
    """Make trees that know nothing: each is one empty leaf.

    Parameters
    ----------
    n_trees, n_features : int
        Sizes.
    width : int, optional
        Number of features that a leaf draws to observe; None: all of them, nothing is drawn.
    seeds : ndarray of shape (n_trees,), optional
        State of each tree's random numbers.

    Returns
    -------
    Grove
        The trees, with little room.
    """
    trees = np.zeros(n_trees, TREE)
    trees["n_features"] = n_features
    if seeds is not None:
        trees["random"] = seeds
    n_observed = n_features if width is None else width
    free = np.zeros(1, FREE)
    for name in ("node", "stat", "observer"):
        free[name] = NONE
    bare = Grove(
        nodes=np.zeros(0, NODE),
        stats=np.zeros(0, STAT),
        observers=np.zeros(0, OBSERVER),
        moments=np.zeros((0, 5, n_observed)),
        subsets=np.zeros((0, n_observed), dtype=np.int32),
        trees=trees,
        free=free,
    )
    # room for the first split of a tree of two classes
    n_nodes, n_stats = n_trees + NODES_PER_ROW, 4 * n_trees + _stats_per_row(2)
    grove = _extended(bare, n_nodes, n_stats, 4 * n_trees, random=width is not None)
    _root_all(grove)
    return grove


def grow(grove: Grove, n_classes: int, n_rows: int = 1) -> Grove:
    """Double what runs short, so that each of so many rows can split a leaf and bring a class."""
    free = grove.free[0]
    n_nodes, n_stats = n_rows * NODES_PER_ROW, n_rows * _stats_per_row(n_classes)
    return _extended(
        grove,
        max(len(grove.nodes), n_nodes) if free["n_nodes"] < n_nodes else 0,
        max(len(grove.stats), n_stats) if free["n_stats"] < n_stats else 0,
        max(len(grove.observers), n_rows) if free["n_observers"] < n_rows else 0,
        random=len(grove.subsets) > 0,
    )


def size_bytes(grove: Grove) -> int:
    """Sum the sizes of the arrays."""
    return sum(array.nbytes for array in grove)


def _extended(grove: Grove, n_nodes: int, n_stats: int, n_observers: int, *, random: bool) -> Grove:
    free = grove.free.copy()
    nodes = _longer(grove.nodes, n_nodes, free, "node", "left")
    stats = _longer(grove.stats, n_stats, free, "stat", "next")
    observers = _longer(grove.observers, n_observers, free, "observer", "next")
    moments, subsets = extend(grove.moments, n_observers), extend(grove.subsets, n_nodes if random else 0)
    return Grove(nodes, stats, observers, moments, subsets, grove.trees, free)


def _longer(places: Array, n_more: int, free: Array, name: str, link: str) -> Array:
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
def has_room(grove: Grove, n_classes: int, n_rows: int = 1) -> bool:
    """Tell whether any so many rows can be learnt without more places."""
    free = grove.free[0]
    return (
        free.n_nodes >= n_rows * NODES_PER_ROW
        and free.n_stats >= n_rows * _stats_per_row(n_classes)
        and free.n_observers >= n_rows
    )


@njit(**LOOP)
def _stats_per_row(n_classes: int) -> int:
    """Bound the statistics that one row can bring: its own class, and those of two new leaves."""
    return 2 * n_classes + 1


@njit(**LOOP)
def _root_all(grove: Grove) -> None:
    for t in range(len(grove.trees)):
        new_root(grove, t)


@njit(**LOOP)
def new_root(grove: Grove, t: int) -> None:
    """Make tree t one empty leaf."""
    grove.trees[t].root = take_leaf(grove, t, 0)


@njit(**PART)
def take_leaf(grove: Grove, t: int, depth: int) -> int:
    """Take a free node for an empty leaf of tree t."""
    free = grove.free[0]
    i = free.node
    node = grove.nodes[i]
    free.node = node.left
    free.n_nodes -= 1
    grove.trees[t].n_nodes += 1
    node.feature = node.left = node.right = NONE
    node.stats = node.last_stat = node.observers = node.last_observer = NONE
    node.depth = depth
    node.active = 1
    node.threshold = node.weight = node.last_attempt = node.majority_hits = node.bayes_hits = 0.0
    if len(grove.subsets):
        grove.trees[t].random = draw_subset(grove.trees[t].random, grove.trees[t].n_features, grove.subsets[i])
    return i


@njit(**PART)
def add_stat(grove: Grove, t: int, i: int, code: int) -> int:
    """Add a class without weight, as the last one, to a node."""
    free = grove.free[0]
    s = free.stat
    stat = grove.stats[s]
    free.stat = stat.next
    free.n_stats -= 1
    grove.trees[t].n_stats += 1
    stat.code, stat.next, stat.observer, stat.weight, stat.log_weight = code, NONE, NONE, 0.0, -np.inf
    node = grove.nodes[i]
    if node.stats == NONE:
        node.stats = s
    else:
        grove.stats[node.last_stat].next = s
    node.last_stat = s
    return s


@njit(**PART)
def add_observer(grove: Grove, t: int, i: int, code: int) -> int:
    """Add an empty observer of a class, as the last one, to a leaf."""
    free = grove.free[0]
    o = free.observer
    observer = grove.observers[o]
    free.observer = observer.next
    free.n_observers -= 1
    grove.trees[t].n_observers += 1
    observer.code, observer.next, observer.weight, observer.log_norm = code, NONE, 0.0, 0.0
    for f in range(grove.moments.shape[2]):
        grove.moments[o, MEAN, f] = grove.moments[o, SQUARES, f] = grove.moments[o, PRECISION, f] = 0.0
        grove.moments[o, LOWEST, f] = np.inf
        grove.moments[o, HIGHEST, f] = -np.inf
    node = grove.nodes[i]
    if node.observers == NONE:
        node.observers = o
    else:
        grove.observers[node.last_observer].next = o
    node.last_observer = o
    return o


@njit(**LOOP)
def drop_observers(grove: Grove, t: int, i: int) -> None:
    """Give back the observers of a leaf; its weights stay."""
    node = grove.nodes[i]
    free = grove.free[0]
    o = node.observers
    while o != NONE:
        after = grove.observers[o].next
        grove.observers[o].next = free.observer
        free.observer = o
        free.n_observers += 1
        grove.trees[t].n_observers -= 1
        o = after
    node.observers = node.last_observer = NONE
    s = node.stats
    while s != NONE:
        grove.stats[s].observer = NONE
        s = grove.stats[s].next
