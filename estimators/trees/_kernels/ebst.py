"""Search trees that observe a feature: at each value met, how the targets of rows up to it are distributed (E-BST).

The order of additions and subtractions is River's, for the same last bits.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, HOT, PART, njit
from estimators._kernels.extend import extend
from estimators.trees._kernels.tree_arrays import NONE

Array = npt.NDArray[Any]

MIN_SAMPLES = 5.0
# what is next at a value on the path of pruning; the last two: nothing is on the right, or the value was added aside
LEFT, RIGHT, ALONE, ADDED = range(4)

# one value of one feature in one leaf; rows at most this value came by here, unless they branched off before
SPOT = np.dtype([("key", "f8"), ("weight", "f8"), ("left", "i4"), ("right", "i4")], align=True)


class Spots(NamedTuple):
    """Values of features in leaves, taken or free; `free` holds the head and the length of the list of free places."""

    places: Array
    mean: Array
    squares: Array
    free: Array


class Sums(NamedTuple):
    """Weight, means and sums of squared deviations of all targets; weight -1: nothing was ever added."""

    weight: Array
    mean: Array
    squares: Array


class Room(NamedTuple):
    """Where distributions are computed: beside the path, on the left, on the right, and of the best split so far."""

    aside: Sums
    left: Sums
    right: Sums
    best_left: Sums
    best_right: Sums


def new_spots(n_places: int, n_targets: int) -> Spots:
    """Make room for values."""
    bare = Spots(np.zeros(0, SPOT), np.zeros((0, n_targets)), np.zeros((0, n_targets)), np.array([NONE, 0]))
    return longer_spots(bare, n_places)


def longer_spots(spots: Spots, n_more: int) -> Spots:
    """Make more room."""
    n, places = len(spots.places), extend(spots.places, n_more)
    places["left"][n:] = np.arange(n + 1, len(places) + 1)
    places["left"][-1] = spots.free[0]
    free = np.array([n, spots.free[1] + n_more])
    return Spots(places, extend(spots.mean, n_more), extend(spots.squares, n_more), free)


def new_room(n_targets: int) -> Room:
    """Make room for computing."""
    return Room(*(Sums(np.zeros(1), np.zeros(n_targets), np.zeros(n_targets)) for _ in Room._fields))


# ------------------------------------------------------------------ observing
@njit(**PART)
def add_value(spots: Spots, root: int, key: float, y: Array, weight: float) -> int:
    """Add a row to a search tree, and return the root."""
    if root == NONE:
        return _take(spots, key, y, weight)
    i = root
    while True:
        place = spots.places[i]
        if key <= place.key:
            place.weight = learn_targets(spots.mean[i], spots.squares[i], place.weight, y, weight)
        if key == place.key:
            return root
        after = place.left if key < place.key else place.right
        if after == NONE:
            break
        i = after
    taken = _take(spots, key, y, weight)
    if key < spots.places[i].key:
        spots.places[i].left = taken
    else:
        spots.places[i].right = taken
    return root


@njit(**HOT)
def learn_targets(mean: Array, squares: Array, total: float, y: Array, weight: float) -> float:
    """Add one row to means and sums of squares (Welford), and return the new weight."""
    total += weight
    share = weight / total
    for j in range(len(y)):
        distance = y[j] - mean[j]
        centre = mean[j] + share * distance
        squares[j] += weight * distance * (y[j] - centre)
        mean[j] = centre
    return total


@njit(**PART)
def _take(spots: Spots, key: float, y: Array, weight: float) -> int:
    i = spots.free[0]
    place = spots.places[i]
    spots.free[0] = place.left
    spots.free[1] -= 1
    place.key, place.left, place.right = key, NONE, NONE
    for j in range(len(y)):
        spots.mean[i, j] = spots.squares[i, j] = 0.0
    place.weight = learn_targets(spots.mean[i], spots.squares[i], 0.0, y, weight)
    return i


@njit(**PART)
def give_back(spots: Spots, i: int) -> None:
    """Put a place on the list of free ones."""
    spots.places[i].left = spots.free[0]
    spots.free[0] = i
    spots.free[1] += 1


@njit(**BUILD)
def drop_all(spots: Spots, root: int) -> None:
    """Give back a whole search tree."""
    waiting = np.empty(len(spots.places) + 1, np.int64)
    waiting[0], n = root, 1
    while n:
        n -= 1
        i = waiting[n]
        if i != NONE:
            waiting[n], waiting[n + 1] = spots.places[i].left, spots.places[i].right
            n += 2
            give_back(spots, i)


# -------------------------------------------------------------------- merging
@njit(**HOT)
def copy_sums(to: Sums, weight: float, mean: Array, squares: Array) -> None:
    """Overwrite sums."""
    to.weight[0] = weight
    for j in range(len(mean)):
        to.mean[j], to.squares[j] = mean[j], squares[j]


@njit(**HOT)
def _add(to: Sums, weight: float, mean: Array, squares: Array) -> None:
    if to.weight[0] < 0.0:
        copy_sums(to, weight, mean, squares)
        return
    n = to.weight[0]
    for j in range(len(mean)):
        gap = to.mean[j] - mean[j]
        to.squares[j] = to.squares[j] + squares[j] + gap * gap * n * weight / (n + weight)
        to.mean[j] = (n * to.mean[j] + weight * mean[j]) / (n + weight)
    to.weight[0] = n + weight


@njit(**HOT)
def _subtract(to: Sums, weight: float, mean: Array, squares: Array) -> None:
    n, rest = to.weight[0], to.weight[0] - weight
    for j in range(len(mean)):
        to.mean[j] = (n * to.mean[j] - weight * mean[j]) / rest if rest > 0.0 else 0.0
        gap = to.mean[j] - mean[j]
        to.squares[j] = to.squares[j] - squares[j] - gap * gap * max(rest, 0.0) * weight / (max(rest, 0.0) + weight)
    to.weight[0] = max(rest, 0.0)


@njit(**HOT)
def mean_variance(sums: Sums) -> float:
    """Average the variances of the targets."""
    total = 0.0
    if sums.weight[0] > 1.0:
        for j in range(len(sums.mean)):
            total += sums.squares[j] / (sums.weight[0] - 1.0)
    return total / len(sums.mean)


@njit(**PART)
def _merit_at(spots: Spots, i: int, before: Sums, room: Room) -> float:
    """Compute how much variance a split at a value takes away, leaving both sides in the room."""
    copy_sums(room.left, spots.places[i].weight, spots.mean[i], spots.squares[i])
    if room.aside.weight[0] >= 0.0:
        _add(room.left, room.aside.weight[0], room.aside.mean, room.aside.squares)
    copy_sums(room.right, before.weight[0], before.mean, before.squares)
    _subtract(room.right, room.left.weight[0], room.left.mean, room.left.squares)
    if room.left.weight[0] < MIN_SAMPLES or room.right.weight[0] < MIN_SAMPLES:
        return 0.0
    merit = mean_variance(before)
    merit -= room.left.weight[0] / before.weight[0] * mean_variance(room.left)
    merit -= room.right.weight[0] / before.weight[0] * mean_variance(room.right)
    return merit


# ------------------------------------------------------------------ searching
@njit(**BUILD)
def best_value(spots: Spots, root: int, before: Sums, room: Room, least: float) -> tuple[float, float]:
    """Find the first value of greatest merit in order, and leave its sides in the room if it is at least `least`."""
    best, key = -np.inf, 0.0
    room.aside.weight[0] = -1.0
    path, been_here = np.empty(len(spots.places), np.int64), np.empty(len(spots.places), np.bool_)
    height, i = 0, np.int64(root)
    while i != NONE or height:
        if i != NONE:
            path[height], been_here[height] = i, False
            height, i = height + 1, np.int64(spots.places[i].left)
            continue
        at = path[height - 1]
        place = spots.places[at]
        if been_here[height - 1]:
            if place.right != NONE:
                _subtract(room.aside, place.weight, spots.mean[at], spots.squares[at])
            height -= 1
            continue
        been_here[height - 1] = True
        merit = _merit_at(spots, at, before, room)
        if merit > best:
            best, key = merit, place.key
            if merit >= least:
                _keep(room)
        i = np.int64(place.right)
        if i != NONE:
            _add(room.aside, place.weight, spots.mean[at], spots.squares[at])
    return best, key


@njit(**PART)
def _keep(room: Room) -> None:
    copy_sums(room.best_left, room.left.weight[0], room.left.mean, room.left.squares)
    copy_sums(room.best_right, room.right.weight[0], room.right.mean, room.right.squares)


@njit(**BUILD)
def prune(spots: Spots, root: int, before: Sums, room: Room, best: float, least: float) -> int:
    """Remove values whose share of the best merit is under `least`, and so of all under them; return the root.

    What is under a value is looked at on the left first, and on the right only if all on the left is gone.
    """
    room.aside.weight[0] = -1.0
    if root == NONE:
        return root
    path, phase = np.empty(len(spots.places) + 1, np.int64), np.empty(len(spots.places) + 1, np.int64)
    path[0], phase[0], height, gone = root, LEFT, 1, False
    while height:
        at, now = path[height - 1], phase[height - 1]
        place = spots.places[at]
        after = NONE
        if now == LEFT:
            phase[height - 1], after = RIGHT, place.left
            gone = after == NONE
        elif now == RIGHT and gone:
            phase[height - 1], after = ALONE if place.right == NONE else ADDED, place.right
            gone = after == NONE
            if not gone:
                _add(room.aside, place.weight, spots.mean[at], spots.squares[at])
        else:
            height -= 1
            if now == ADDED:
                _subtract(room.aside, place.weight, spots.mean[at], spots.squares[at])
            gone = gone and _merit_at(spots, at, before, room) / best < least
            root = _cut(spots, root, path[height - 1] if height else NONE, at) if gone else root
        if after != NONE:
            path[height], phase[height] = after, LEFT
            height += 1
    return root


@njit(**PART)
def _cut(spots: Spots, root: int, parent: int, i: int) -> int:
    if parent == NONE:
        root = NONE
    elif spots.places[parent].left == i:
        spots.places[parent].left = NONE
    else:
        spots.places[parent].right = NONE
    give_back(spots, i)
    return root
