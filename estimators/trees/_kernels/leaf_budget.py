"""Bounded memory of a Hoeffding tree: leaves of little promise stop observing, as in VFDT."""

from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, PART, njit
from estimators.trees._kernels.tree_arrays import NODE, NONE, OBSERVER, STAT, Grove, drop_observers

Array = npt.NDArray[Any]

NODE_BYTES = NODE.itemsize
STAT_BYTES = STAT.itemsize
OBSERVER_BYTES = OBSERVER.itemsize


@njit(**PART)
def observers_allowed(grove: Grove, t: int, max_bytes: float) -> float:
    """Compute how many observers a tree may have beside its nodes and the weights of its classes."""
    tree = grove.trees[t]
    rest = max_bytes - tree.n_nodes * NODE_BYTES - tree.n_stats * STAT_BYTES
    return rest / (OBSERVER_BYTES + 8 * grove.moments.shape[1] * grove.moments.shape[2])


@njit(**BUILD)
def keep_promising(grove: Grove, t: int, max_bytes: float, max_depth: int) -> None:
    """Let the leaves of most promise observe, as many as there is memory for, and no other.

    The promise of a leaf is the weight of its minorities. Does nothing while memory suffices for all.
    """
    tree = grove.trees[t]
    allowed = observers_allowed(grove, t, max_bytes)
    if tree.n_inactive == 0 and tree.n_observers <= allowed:
        return
    leaves, promises = _leaves(grove, t)
    tree.n_inactive = 0
    needed = 0
    for k in np.argsort(-promises, kind="mergesort"):
        node = grove.nodes[leaves[k]]
        needed += _n_classes(grove, leaves[k])
        fits = needed <= allowed and node.depth < max_depth
        if node.active and not fits:
            drop_observers(grove, t, leaves[k])
        node.active = 1 if fits else 0
        tree.n_inactive += 0 if fits else 1


@njit(**PART)
def deactivate(grove: Grove, t: int, i: int) -> None:
    """Let a leaf stop observing."""
    drop_observers(grove, t, i)
    grove.nodes[i].active = 0
    grove.trees[t].n_inactive += 1


@njit(**BUILD)
def _leaves(grove: Grove, t: int) -> tuple[Array, Array]:
    stack = np.empty(grove.trees[t].n_nodes, np.int64)
    leaves = np.empty(grove.trees[t].n_nodes, np.int64)
    promises = np.empty(grove.trees[t].n_nodes, np.float64)
    stack[0] = grove.trees[t].root
    height, n = 1, 0
    while height:
        height -= 1
        i = stack[height]
        if grove.nodes[i].feature == NONE:
            leaves[n], promises[n] = i, _promise(grove, i)
            n += 1
        else:
            # the left child comes out first
            stack[height], stack[height + 1] = grove.nodes[i].right, grove.nodes[i].left
            height += 2
    return leaves[:n], promises[:n]


@njit(**PART)
def _promise(grove: Grove, i: int) -> float:
    total, most = 0.0, 0.0
    s = grove.nodes[i].stats
    while s != NONE:
        total += grove.stats[s].weight
        most = max(most, grove.stats[s].weight)
        s = grove.stats[s].next
    return total - most


@njit(**PART)
def _n_classes(grove: Grove, i: int) -> int:
    n, s = 0, grove.nodes[i].stats
    while s != NONE:
        n, s = n + 1, grove.stats[s].next
    return n
