"""Extended binary search trees (E-BST), which observe a feature: the targets of the rows up to each of its values.

Of nominal features the same places hold the targets of the rows with each bin; those of other bins are not added.

The order of additions and subtractions is River's, so that the bits are the same.
"""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._kernels.extend import extend
from estimators._typing import Array
from estimators.trees._kernels.target_sums import (
    Sums,
    add_sums,
    copy_sums,
    learn_targets,
    subtract_sums,
    variance_reduction,
)
from estimators.trees._kernels.tree_arrays import NONE

# next step at a value on the path of pruning; the last two: no right child, or the value has been added to `aside`
LEFT, RIGHT, ALONE, ADDED = range(4)

# one value of one feature in one leaf, with the rows up to this value that did not branch off before it
VALUE = np.dtype([("key", "f8"), ("left", "i4"), ("right", "i4")], align=True)


class SearchTrees(NamedTuple):
    """Search trees in shared flat arrays of values; `free` holds the head and the length of the list of free places.

    `weights` (n_places, 1) are of rows; (n_places, n_targets), of the known cells of each target.
    """

    places: Array
    weights: Array
    mean: Array
    squares: Array
    free: Array


# places of sums in working memory: of all rows of a leaf, beside the path, of both sides of a split, and of both sides
# of the best split so far
BEFORE, ASIDE, LEFT_SIDE, RIGHT_SIDE, BEST_LEFT, BEST_RIGHT = range(6)


def new_search_trees(n_places: int, n_targets: int) -> SearchTrees:
    """Make empty search trees with free places."""
    empty = np.zeros((0, n_targets))
    bare = SearchTrees(np.zeros(0, VALUE), np.zeros((0, 1)), empty, empty, np.array([NONE, 0]))
    return extend_search_trees(bare, n_places)


def extend_search_trees(search: SearchTrees, n_more: int) -> SearchTrees:
    """Add free places."""
    n, places = len(search.places), extend(search.places, n_more)
    places["left"][n:] = np.arange(n + 1, len(places) + 1)
    places["left"][-1] = search.free[0]
    free = np.array([n, search.free[1] + n_more])
    weights, mean, squares = (extend(table, n_more) for table in (search.weights, search.mean, search.squares))
    return SearchTrees(places, weights, mean, squares, free)


def new_split_scratch(n_weights: int, n_targets: int) -> Sums:
    """Make working memory."""
    return Sums(np.zeros((6, n_weights)), np.zeros((6, n_targets)), np.zeros((6, n_targets)))


@njit(**HOT)
def sums_of(search: SearchTrees) -> Sums:
    """Return the sums of the values of search trees."""
    return Sums(search.weights, search.mean, search.squares)


# ------------------------------------------------------------------ observing
@njit(**PART)
def add_value(search: SearchTrees, root: int, key: float, y: Array, weight: float, alone: bool) -> int:
    """Add a row to a search tree, or to the sums of its own value alone, and return the root."""
    if root == NONE:
        return _take(search, key, y, weight)
    i = root
    while True:
        place = search.places[i]
        if key == place.key or (key < place.key and not alone):
            learn_targets(sums_of(search), i, y, weight)
        if key == place.key:
            return root
        after = place.left if key < place.key else place.right
        if after == NONE:
            break
        i = after
    taken = _take(search, key, y, weight)
    if key < search.places[i].key:
        search.places[i].left = taken
    else:
        search.places[i].right = taken
    return root


@njit(**HOT)
def find_value(search: SearchTrees, root: int, key: float) -> int:
    """Return the place of a value in a search tree, or `NONE`."""
    i = root
    while i != NONE and search.places[i].key != key:
        place = search.places[i]
        i = place.left if key < place.key else place.right
    return i


@njit(**PART)
def _take(search: SearchTrees, key: float, y: Array, weight: float) -> int:
    i = search.free[0]
    place = search.places[i]
    search.free[0] = place.left
    search.free[1] -= 1
    place.key, place.left, place.right = key, NONE, NONE
    for k in range(search.weights.shape[1]):
        search.weights[i, k] = 0.0
    for j in range(len(y)):
        search.mean[i, j] = search.squares[i, j] = 0.0
    learn_targets(sums_of(search), i, y, weight)
    return i


@njit(**PART)
def _free_place(search: SearchTrees, i: int) -> None:
    """Add a place to the list of free ones."""
    search.places[i].left = search.free[0]
    search.free[0] = i
    search.free[1] += 1


@njit(**BUILD)
def free_search_tree(search: SearchTrees, root: int) -> None:
    """Free a whole search tree."""
    waiting = np.empty(len(search.places) + 1, np.int64)
    waiting[0], n = root, 1
    while n:
        n -= 1
        i = waiting[n]
        if i != NONE:
            waiting[n], waiting[n + 1] = search.places[i].left, search.places[i].right
            n += 2
            _free_place(search, i)


# -------------------------------------------------------------------- merging
@njit(**PART)
def merit_at(values: Sums, i: int, scratch: Sums) -> float:
    """Return the reduction of variance by a split at a value, and leave both sides in the working memory."""
    copy_sums(scratch, LEFT_SIDE, values, i)
    if scratch.weights[ASIDE, 0] >= 0.0:
        add_sums(scratch, LEFT_SIDE, scratch, ASIDE)
    copy_sums(scratch, RIGHT_SIDE, scratch, BEFORE)
    subtract_sums(scratch, RIGHT_SIDE, scratch, LEFT_SIDE)
    return variance_reduction(scratch, BEFORE, LEFT_SIDE, RIGHT_SIDE)


# ------------------------------------------------------------------ searching
@njit(**BUILD)
def best_value(search: SearchTrees, root: int, scratch: Sums, minimum: float) -> tuple[float, float]:
    """Find the first value of greatest merit, and keep the sides of its split if the merit reaches `minimum`."""
    best, key, values = -np.inf, 0.0, sums_of(search)
    scratch.weights[ASIDE, 0] = -1.0
    path, visited = np.empty(len(search.places), np.int64), np.empty(len(search.places), np.int64)
    height, i = 0, np.int64(root)
    while i != NONE or height:
        if i != NONE:
            path[height], visited[height] = i, 0
            height, i = height + 1, np.int64(search.places[i].left)
            continue
        at = path[height - 1]
        place = search.places[at]
        if visited[height - 1]:
            if place.right != NONE:
                subtract_sums(scratch, ASIDE, values, at)
            height -= 1
            continue
        visited[height - 1] = 1
        merit = merit_at(values, at, scratch)
        if merit > best:
            best, key = merit, place.key
            if merit >= minimum:
                copy_sums(scratch, BEST_LEFT, scratch, LEFT_SIDE)
                copy_sums(scratch, BEST_RIGHT, scratch, RIGHT_SIDE)
        i = np.int64(place.right)
        if i != NONE:
            add_sums(scratch, ASIDE, values, at)
    return best, key


@njit(**BUILD)
def prune(search: SearchTrees, root: int, scratch: Sums, best: float, minimum: float) -> int:
    """Remove subtrees in which every value has less than the share `minimum` of the best merit; return the root.

    The right subtree of a value is visited only if its left subtree has been removed.
    """
    scratch.weights[ASIDE, 0] = -1.0
    if root == NONE:
        return root
    values = sums_of(search)
    path, phase = np.empty(len(search.places) + 1, np.int64), np.empty(len(search.places) + 1, np.int64)
    path[0], phase[0], height, gone = root, LEFT, 1, False
    while height:
        at, now = path[height - 1], phase[height - 1]
        place = search.places[at]
        after = NONE
        if now == LEFT:
            phase[height - 1], after = RIGHT, place.left
            gone = after == NONE
        elif now == RIGHT and gone:
            phase[height - 1], after = ALONE if place.right == NONE else ADDED, place.right
            gone = after == NONE
            if not gone:
                add_sums(scratch, ASIDE, values, at)
        else:
            height -= 1
            if now == ADDED:
                subtract_sums(scratch, ASIDE, values, at)
            gone = gone and merit_at(values, at, scratch) / best < minimum
            root = _cut(search, root, path[height - 1] if height else NONE, at) if gone else root
        if after != NONE:
            path[height], phase[height] = after, LEFT
            height += 1
    return root


@njit(**PART)
def _cut(search: SearchTrees, root: int, parent: int, i: int) -> int:
    if parent == NONE:
        root = NONE
    elif search.places[parent].left == i:
        search.places[parent].left = NONE
    else:
        search.places[parent].right = NONE
    _free_place(search, i)
    return root
