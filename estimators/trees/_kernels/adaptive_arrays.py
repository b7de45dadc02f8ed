"""Hoeffding adaptive trees in shared flat arrays: those of Hoeffding trees, and a monitor of errors for each node."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.adwin import HEAD, MAX_BUCKETS, N_LEVELS, Windows, add_levels, new_windows, reset
from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._kernels.extend import extend
from estimators._typing import Array
from estimators.trees._kernels.categories import ALL_NUMBERS, next_child, push_children, replace_child
from estimators.trees._kernels.leaf_budget import keep_most_promising, observers_allowed
from estimators.trees._kernels.tree_arrays import (
    NONE,
    TreeArrays,
    free_nodes,
    grow,
    new_trees,
    size_bytes,
    take_leaf,
)
from estimators.trees._kernels.twister import seeded

# number and mean of the errors of a node since they last changed; the alternate leaf of a branch; for the row that is
# learnt, the branch above, and the branch that was replaced before this one
MONITOR = np.dtype(
    [("n_rows", "f8"), ("error", "f8"), ("alternate", "i4"), ("above", "i4"), ("replaced_before", "i4")], align=True
)
HISTORY = np.dtype(
    [("n_alternate", "i8"), ("n_pruned", "i8"), ("n_switched", "i8"), ("last_replaced", "i4"), ("n_levels", "i4")],
    align=True,
)
MONITOR_BYTES = MONITOR.itemsize + HEAD.itemsize
LEVEL_BYTES = 1 + 8 * (MAX_BUCKETS + 1)
# windows get room for so many levels of buckets at a time, each of which holds twice as many rows as the one before
LEVELS_AT_ONCE = 2


class AdaptiveTrees(NamedTuple):
    """Hoeffding trees whose branches may have an alternate leaf, which learns beside the nodes under the branch.

    A `HISTORY` holds numbers of alternate leaves that were begun, given up, and put in the place of their branch; the
    branch that was replaced last; the greatest number of levels of a window.
    """

    arrays: TreeArrays  # an alternate leaf is a node that no branch has as its child
    windows: Windows  # the recent errors of each node
    monitors: Array  # a `MONITOR` for each node
    histories: Array  # a `HISTORY` for each tree
    random: Array  # uint32, (n_trees, N_STATE): random state of each tree; without rows, every row is learnt once


def new_adaptive_trees(n_trees: int, n_features: int, seeds: list[int], nominal: Array = ALL_NUMBERS) -> AdaptiveTrees:
    """Make untrained trees, each of which is one empty leaf; without seeds, every row is learnt once."""
    arrays = new_trees(n_trees, n_features, nominal=nominal)
    n_nodes = len(arrays.nodes)
    monitors, histories = np.zeros(n_nodes, MONITOR), np.zeros(n_trees, HISTORY)
    monitors["alternate"] = NONE
    histories["last_replaced"] = NONE
    return AdaptiveTrees(arrays, new_windows(n_nodes, 2 * LEVELS_AT_ONCE), monitors, histories, seeded(seeds))


def grow_adaptive(trees: AdaptiveTrees, n_classes: int, n_rows: int) -> AdaptiveTrees:
    """Double the arrays that are too short for `n_rows` rows, each of which may split a leaf and bring a new class."""
    arrays, windows = grow(trees.arrays, n_classes, n_rows), trees.windows
    n_more, n_levels = len(arrays.nodes) - len(trees.monitors), windows.counts.shape[1]
    if trees.histories["n_levels"].max() == n_levels:
        windows = add_levels(windows, min(LEVELS_AT_ONCE, N_LEVELS - n_levels))
    windows = Windows(*(extend(array, n_more) for array in windows))
    return trees._replace(arrays=arrays, windows=windows, monitors=extend(trees.monitors, n_more))


def adaptive_bytes(trees: AdaptiveTrees) -> int:
    """Sum the sizes of the arrays."""
    others = (*trees.windows, trees.monitors, trees.histories, trees.random)
    return size_bytes(trees.arrays) + sum(array.nbytes for array in others)


@njit(**HOT)
def has_levels(trees: AdaptiveTrees, t: int) -> bool:
    """Return whether the windows of a tree can take in a row without room for more levels."""
    n_levels = trees.windows.counts.shape[1]
    return trees.histories[t].n_levels < n_levels or n_levels == N_LEVELS


# -------------------------------------------------------------------- nodes
@njit(**HOT)
def restart_error(trees: AdaptiveTrees, i: int) -> None:
    """Forget the mean error of a node; its window stays."""
    trees.monitors[i].n_rows = trees.monitors[i].error = 0.0


@njit(**PART)
def start_monitor(trees: AdaptiveTrees, i: int) -> None:
    """Start the monitor of a new leaf, or of a leaf that has become a branch."""
    restart_error(trees, i)
    trees.monitors[i].alternate = NONE
    reset(trees.windows, i)


@njit(**BUILD)
def begin_alternate(trees: AdaptiveTrees, t: int, i: int) -> None:
    """Give a branch a new alternate leaf in the place of any that it has."""
    free_alternate(trees, t, i)
    leaf = take_leaf(trees.arrays, t, trees.arrays.nodes[i].depth)
    start_monitor(trees, leaf)
    trees.monitors[i].alternate = leaf
    trees.histories[t].n_alternate += 1


@njit(**BUILD)
def free_alternate(trees: AdaptiveTrees, t: int, i: int) -> bool:
    """Free the alternate leaf of a branch; return whether it has one."""
    monitor = trees.monitors[i]
    if monitor.alternate == NONE:
        return False
    free_nodes(trees.arrays, t, monitor.alternate)
    monitor.alternate = NONE
    return True


@njit(**BUILD)
def free_alternates_below(trees: AdaptiveTrees, t: int, i: int) -> int:
    """Free the alternate leaves of all branches under a branch, and return how many there were."""
    branches, n_freed = np.empty(np.int64(trees.arrays.trees[t].n_nodes), np.int64), 0
    for k in range(1, _list_branches(trees.arrays, i, branches)):
        n_freed += free_alternate(trees, t, branches[k])
    return n_freed


@njit(**PART)
def put_in_place(trees: AdaptiveTrees, t: int, i: int, by: int) -> None:
    """Put a node in the place of a branch, which is freed once the row is learnt: until then it goes on learning."""
    arrays, above, history = trees.arrays, trees.monitors[i].above, trees.histories[t]
    if above == NONE:
        arrays.trees[t].root = by
    else:
        replace_child(arrays, above, i, by)
    trees.monitors[i].replaced_before = history.last_replaced
    history.last_replaced = i


@njit(**BUILD)
def free_replaced(trees: AdaptiveTrees, t: int) -> None:
    """Free the branches that were replaced, and all that is under them."""
    i = trees.histories[t].last_replaced
    while i != NONE:
        before = trees.monitors[i].replaced_before
        free_alternate(trees, t, i)
        free_alternates_below(trees, t, i)
        free_nodes(trees.arrays, t, i)
        i = before
    trees.histories[t].last_replaced = NONE


@njit(**BUILD)
def _list_branches(arrays: TreeArrays, top: int, branches: Array) -> int:
    """Write a branch and the branches under it, left before right, and return their number."""
    stack = np.empty(len(branches), np.int64)
    stack[0], height, n = top, 1, 0
    while height:
        height -= 1
        i = stack[height]
        if arrays.nodes[i].feature != NONE:
            branches[n] = i
            n += 1
            height = push_children(arrays, i, stack, height)
    return n


# ------------------------------------------------------------------- memory
@njit(**HOT)
def bytes_left(trees: AdaptiveTrees, t: int, max_bytes: float) -> float:
    """Return what a bound of memory leaves beside the monitors."""
    return max_bytes - trees.arrays.trees[t].n_nodes * (MONITOR_BYTES + trees.windows.counts.shape[1] * LEVEL_BYTES)


@njit(**BUILD)
def keep_promising_leaves(trees: AdaptiveTrees, t: int, max_bytes: float, max_depth: int) -> None:
    """Let leaves observe that are not too deep, the most promising of them only if memory does not suffice for all.

    As in River, the alternate leaf of the root, once it has stopped, is not among those that are tried again.
    """
    arrays = trees.arrays
    allowed = observers_allowed(arrays, t, bytes_left(trees, t, max_bytes))
    if arrays.trees[t].n_inactive or arrays.trees[t].n_observers > allowed:
        leaves = np.empty(np.int64(arrays.trees[t].n_nodes), np.int64)
        n = _list_leaves(trees, t, leaves)
        keep_most_promising(arrays, t, leaves[:n], allowed, max_depth)


@njit(**BUILD)
def _list_leaves(trees: AdaptiveTrees, t: int, leaves: Array) -> int:
    """Write the leaves, alternate ones too, but for that of the root if it has stopped; return their number."""
    arrays, root = trees.arrays, trees.arrays.trees[t].root
    branches, n = np.empty(len(leaves), np.int64), 0
    for b in range(_list_branches(arrays, root, branches)):
        i = branches[b]
        alternate = trees.monitors[i].alternate
        if alternate != NONE and (i != root or arrays.nodes[alternate].active):
            leaves[n] = alternate
            n += 1
        child = arrays.nodes[i].left
        while child != NONE:
            if arrays.nodes[child].feature == NONE:
                leaves[n] = child
                n += 1
            child = next_child(arrays, i, child)
    if arrays.nodes[root].feature == NONE:
        leaves[n] = root
        n += 1
    return n
