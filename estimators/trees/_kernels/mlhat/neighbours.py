"""Votes of the nearest rows in the window of a leaf, as label sets."""

import math

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import has_categories
from estimators.trees._kernels.label_sets import MOST_OF_LEAF, key_of, place_of
from estimators.trees._kernels.mlhat.arrays import AdaptiveTree
from estimators.trees._kernels.mlhat.scratch import Scratch


@njit(**PART)
def vote_of_neighbours(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch, votes: Array) -> None:
    """Write the votes of the nearest rows of a slot, by inverse distances, or of one at no distance alone."""
    n_found = _find_nearest(tree, s, x, scratch)
    distances, places = scratch.distances, scratch.places
    for j in range(len(votes)):
        votes[j, 0] = votes[j, 1] = 0.0
    if n_found and distances[0] == 0.0:
        n_found, distances[0] = 1, 1.0
    for a in range(n_found):
        distances[a] = 1.0 / distances[a]
    # votes of equal label sets are added, then all in the order in which the leaf saw the sets first: rounding decides
    # ties, and must not depend on anything else
    n_found = _merge_equal_sets(tree, s, scratch, n_found)
    total = 0.0
    for a in range(n_found):
        total += distances[a]
    if not total > 0.0:
        return
    for a in range(n_found):
        labels, share = tree.labels[s, places[a]], distances[a] / total
        for j in range(len(votes)):
            votes[j, labels[j]] += share


@njit(**PART)
def _find_nearest(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch) -> int:
    """Write the distances and places of the nearest rows, of equals the oldest first, and return how many there are."""
    distances, places = scratch.distances, scratch.places
    window, most = tree.rows.shape[1], len(scratch.places) - 1
    n_rows, n_found = tree.slots[s].n_rows, 0
    for r in range(max(n_rows - window, 0), n_rows):
        limit = distances[most - 1] if n_found == most else np.inf
        if has_categories(tree):
            distance = math.sqrt(_squared_overlap(tree.rows[s, r % window], x, tree.categories.places))
        else:
            distance = math.sqrt(_squared_distance(tree.rows[s, r % window], x, limit * limit * (1.0 + 1e-12)))
        if not distance < limit:
            continue
        a = min(n_found, most - 1)
        n_found = min(n_found + 1, most)
        while a > 0 and distances[a - 1] > distance:
            distances[a], places[a] = distances[a - 1], places[a - 1]
            a -= 1
        distances[a], places[a] = distance, r % window
    return n_found


@njit(**HOT)
def _squared_distance(a: Array, b: Array, limit: float) -> float:
    """Return the squared distance, or infinity once it cannot be less than the limit."""
    lane0 = lane1 = lane2 = lane3 = 0.0
    whole = len(a) - len(a) % 4
    for k in range(0, whole, 4):
        lane0 += (a[k] - b[k]) * (a[k] - b[k])
        lane1 += (a[k + 1] - b[k + 1]) * (a[k + 1] - b[k + 1])
        lane2 += (a[k + 2] - b[k + 2]) * (a[k + 2] - b[k + 2])
        lane3 += (a[k + 3] - b[k + 3]) * (a[k + 3] - b[k + 3])
        if k % 64 == 60 and (lane0 + lane1) + (lane2 + lane3) > limit:
            return np.inf
    for k in range(whole, len(a)):
        lane0 += (a[k] - b[k]) * (a[k] - b[k])
    return (lane0 + lane1) + (lane2 + lane3)


@njit(**HOT)
def _squared_overlap(a: Array, b: Array, places: Array) -> float:
    """Return the squared distance of rows with nominal features, whose values are 1 apart where they differ."""
    total = 0.0
    for f in range(len(a)):
        total += (a[f] - b[f]) * (a[f] - b[f]) if places[f] < 0 else 1.0 * (a[f] != b[f])
    return total


@njit(**PART)
def _merge_equal_sets(tree: AdaptiveTree, s: int, scratch: Scratch, n_found: int) -> int:
    """Add the votes of rows of one label set, and sort by the rank of the set; return how many sets are left."""
    votes, places, n = scratch.distances, scratch.places, 0
    for a in range(n_found):
        vote, place = votes[a], places[a]
        rank = tree.ranks[s, place]
        b = 0
        while b < n and tree.ranks[s, places[b]] < rank:
            b += 1
        if b < n and tree.ranks[s, places[b]] == rank and _are_equal(tree.labels[s, places[b]], tree.labels[s, place]):
            votes[b] += vote
            continue
        for c in range(n, b, -1):
            votes[c], places[c] = votes[c - 1], places[c - 1]
        votes[b], places[b] = vote, place
        n += 1
    return n


@njit(**HOT)
def _are_equal(a: Array, b: Array) -> bool:
    n_other = 0
    for j in range(len(a)):
        n_other += a[j] != b[j]
    return n_other == 0


@njit(**PART)
def keep_row(tree: AdaptiveTree, s: int, x: Array, y: Array) -> None:
    """Add a row to the window of a slot, and its label set to those seen."""
    slot, window = tree.slots[s], tree.rows.shape[1]
    r = slot.n_rows % window
    for f in range(len(x)):
        tree.rows[s, r, f] = x[f]
    for j in range(len(y)):
        tree.labels[s, r, j] = y[j]
        if slot.n_sets == 0:
            tree.labels[s, window, j] = y[j]
    tree.ranks[s, r] = _rank(tree, s, y)
    slot.n_rows += 1


@njit(**HOT)
def _rank(tree: AdaptiveTree, s: int, y: Array) -> int:
    slot, sets = tree.slots[s], tree.sets
    key = key_of(slot.owner, y)
    place = place_of(sets, key)
    if sets[place].key == key:
        return sets[place].rank
    rank = slot.n_sets
    if rank < MOST_OF_LEAF:
        sets[place].key, sets[place].owner, sets[place].rank = key, slot.owner, rank
        tree.state[0].n_sets += 1
        slot.n_sets += 1
    return rank
