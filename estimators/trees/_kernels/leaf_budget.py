"""Bounded memory of a Hoeffding tree: the least promising leaves stop observing, as in VFDT."""

import numpy as np

from estimators._kernels.compile import BUILD, PART, njit
from estimators._kernels.sorting import order_descending
from estimators._typing import Array
from estimators.trees._kernels.categories import push_children
from estimators.trees._kernels.tree_arrays import NODE, NONE, OBSERVER, STAT, TreeArrays, drop_observers

NODE_BYTES = NODE.itemsize
STAT_BYTES = STAT.itemsize
OBSERVER_BYTES = OBSERVER.itemsize


@njit(**PART)
def observers_allowed(arrays: TreeArrays, t: int, max_bytes: float) -> float:
    """Return how many observers a tree may have besides its nodes and class weights."""
    tree = arrays.trees[t]
    rest = max_bytes - tree.n_nodes * NODE_BYTES - tree.n_stats * STAT_BYTES
    of_counts = 8 * arrays.categories.counts.shape[1] * arrays.categories.counts.shape[2]
    return rest / (OBSERVER_BYTES + 8 * arrays.moments.shape[1] * arrays.moments.shape[2] + of_counts)


@njit(**BUILD)
def keep_promising(arrays: TreeArrays, t: int, max_bytes: float, max_depth: int) -> None:
    """Let only the most promising leaves observe, as many as fit into memory beside the branches that observe.

    The promise of a leaf is the weight of all its classes but the heaviest. Does nothing while memory suffices for all.
    """
    tree = arrays.trees[t]
    allowed = observers_allowed(arrays, t, max_bytes)
    if tree.n_inactive == 0 and tree.n_observers <= allowed:
        return
    leaves = np.empty(np.int64(tree.n_nodes), np.int64)
    n, n_elsewhere = _list_leaves(arrays, t, leaves)
    keep_most_promising(arrays, t, leaves[:n], allowed - n_elsewhere, max_depth)


@njit(**BUILD)
def keep_most_promising(arrays: TreeArrays, t: int, leaves: Array, allowed: float, max_depth: int) -> None:
    """Let some leaves observe, by promise, as many as a number of observers is for; a leaf too deep is not started."""
    promises, order = np.empty(len(leaves), np.float64), np.empty(len(leaves), np.int64)
    for k in range(len(leaves)):
        promises[k] = _promise(arrays, leaves[k])
    order_descending(promises, order)
    needed = 0
    for k in range(len(leaves)):
        i = leaves[order[k]]
        node = arrays.nodes[i]
        needed += _n_classes(arrays, i)
        fits = needed <= allowed
        if node.active and not fits:
            deactivate(arrays, t, i)
        elif fits and not node.active and node.depth < max_depth:
            node.active = 1
            arrays.trees[t].n_inactive -= 1


@njit(**PART)
def deactivate(arrays: TreeArrays, t: int, i: int) -> None:
    """Stop observing in a leaf."""
    drop_observers(arrays, t, i)
    arrays.nodes[i].active = 0
    arrays.trees[t].n_inactive += 1


@njit(**BUILD)
def _list_leaves(arrays: TreeArrays, t: int, leaves: Array) -> tuple[int, int]:
    """Write the leaves; return their number, and the number of observers that are not in leaves."""
    stack = np.empty(len(leaves), np.int64)
    stack[0] = arrays.trees[t].root
    height, n, n_elsewhere = 1, 0, 0
    while height:
        height -= 1
        i = stack[height]
        if arrays.nodes[i].feature == NONE:
            leaves[n] = i
            n += 1
        else:
            n_elsewhere += _n_observers(arrays, i)
            height = push_children(arrays, i, stack, height)
    return n, n_elsewhere


@njit(**PART)
def _promise(arrays: TreeArrays, i: int) -> float:
    total, most = 0.0, 0.0
    s = arrays.nodes[i].stats
    while s != NONE:
        total += arrays.stats[s].weight
        most = max(most, arrays.stats[s].weight)
        s = arrays.stats[s].next
    return total - most


@njit(**PART)
def _n_observers(arrays: TreeArrays, i: int) -> int:
    n, o = 0, arrays.nodes[i].observers
    while o != NONE:
        n, o = n + 1, arrays.observers[o].next
    return n


@njit(**PART)
def _n_classes(arrays: TreeArrays, i: int) -> int:
    n, s = 0, arrays.nodes[i].stats
    while s != NONE:
        n, s = n + 1, arrays.stats[s].next
    return n
