"""Leaves of the multi-label Hoeffding adaptive tree: votes of few rows by neighbours, of many by logistic regressions."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.randomness import advance, uniform
from estimators._typing import Array
from estimators.trees._kernels.label_sets import MOST_OF_LEAF, key_of, place_of
from estimators.trees._kernels.mlhat_arrays import NONE, AdaptiveTree
from estimators.trees._kernels.mlhat_splits import entropy, observe

# logits beyond these bounds are treated as in River
FLAT_GRADIENT, FLAT_SIGMOID = 18.0, 30.0


class LeafParams(NamedTuple):
    """When a leaf has many rows, and how fast its regressions learn."""

    cardinality: float
    entropy: float
    learning_rate: float
    intercept_rate: float


class Scratch(NamedTuple):
    """Room for the work on a row, so that compiled loops own no arrays.

    Attributes
    ----------
    votes : ndarray of shape (n_kept, n_labels, 2)
        Votes of the leaves that were asked last for the row at hand.
    owners : ndarray of shape (n_kept + 1,)
        Their nodes, and how many leaves were asked.
    logits : ndarray of shape (n_models * n_labels,)
        Logits, then gradients, of all regressions of a leaf.
    filled : ndarray of shape (n_features + 1,)
        Columns of the row that are not 0, and last their number.
    distances, places : ndarray of shape (n_neighbors + 1,)
        The nearest rows so far.
    repeats : ndarray of shape (n_models,)
        How often each regression learns the row.
    sides : ndarray of shape (2, n_labels + 2)
        Weights on both sides of a threshold.
    """

    votes: Array
    owners: Array
    logits: Array
    filled: Array
    distances: Array
    places: Array
    repeats: Array
    sides: Array


@njit(**HOT)
def poisson(state: int, limit: float) -> tuple[int, int]:
    """Draw from Poisson(-log(limit)) by Knuth's product of uniform numbers; return the draw and the new state."""
    k, product = 0, 1.0
    while product > limit:
        state = advance(state)
        product *= uniform(state)
        k += 1
    return k - 1, state


@njit(**HOT)
def begin_row(scratch: Scratch, x: Array) -> None:
    """Forget the votes for the row before, and list the columns of the new row that are not 0."""
    scratch.owners[-1] = 0
    n = 0
    for f in range(len(x)):
        scratch.filled[n] = f
        n += x[f] != 0.0
    scratch.filled[-1] = n


# ------------------------------------------------------------------- voting
@njit(**PART)
def votes_of(tree: AdaptiveTree, i: int, x: Array, scratch: Scratch, params: LeafParams) -> int:
    """Return the place in `scratch.votes` of the votes of a leaf, absent and present; `NONE` if it is empty."""
    if tree.slots[tree.nodes[i].slot].n_sets == 0:
        return NONE
    n_kept, n_asked = len(scratch.votes), scratch.owners[-1]
    for k in range(min(n_asked, n_kept)):
        if scratch.owners[k] == i:
            return k
    k = n_asked % n_kept
    scratch.owners[k] = i
    scratch.owners[-1] += 1
    _vote(tree, i, x, scratch, scratch.votes[k], params)
    return k


@njit(**PART)
def _vote(tree: AdaptiveTree, i: int, x: Array, scratch: Scratch, votes: Array, params: LeafParams) -> None:
    s = tree.nodes[i].slot
    if tree.slots[s].n_sets == 1:
        first = tree.labels[s, tree.rows.shape[1]]
        for j in range(len(votes)):
            votes[j, 0], votes[j, 1] = 1.0 - first[j], 1.0 * first[j]
    elif tree.nodes[i].weight < params.cardinality or entropy(tree.counts[i]) < params.entropy:
        vote_of_neighbours(tree, s, x, scratch, votes)
    else:
        vote_of_regressions(tree, s, x, scratch, votes)


@njit(**PART)
def vote_of_neighbours(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch, votes: Array) -> None:
    """Write the votes of the nearest rows of a slot, by inverse distances, or of one at no distance alone."""
    n_found = _find_nearest(tree, s, x, scratch)
    distances, places = scratch.distances, scratch.places
    votes[:] = 0.0
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
    for j in range(len(a)):
        if a[j] != b[j]:
            return False
    return True


@njit(**PART)
def vote_of_regressions(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch, votes: Array) -> None:
    """Write the mean probabilities of the regressions of each label; those without a number vote for both values."""
    write_logits(tree, s, x, scratch, 0, len(scratch.logits))
    votes[:] = 0.0
    for c in range(len(scratch.logits)):
        j = c % len(votes)
        p = _sigmoid(scratch.logits[c])
        votes[j, 0] += 1.0 - p
        votes[j, 1] += p
    for j in range(len(votes)):
        total = votes[j, 0] + votes[j, 1]
        votes[j, 0] /= total
        votes[j, 1] /= total


@njit(**HOT)
def _sigmoid(logit: float) -> float:
    if logit < -FLAT_SIGMOID:
        return 0.0
    if logit > FLAT_SIGMOID:
        return 1.0
    return 1.0 / (1.0 + math.exp(-logit)) if logit == logit else 0.5  # noqa: PLR0124 - not NaN


@njit(**HOT)
def write_logits(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch, begin: int, end: int) -> None:
    """Write the logits of the regressions from `begin` to before `end`."""
    logits, coefs = scratch.logits, tree.coefs[s]
    for c in range(begin, end):
        logits[c] = 0.0
    for a in range(scratch.filled[-1]):
        f = scratch.filled[a]
        for c in range(begin, end):
            logits[c] += coefs[f, c] * x[f]
    for c in range(begin, end):
        logits[c] += coefs[len(x), c]


# ----------------------------------------------------------------- learning
@njit(**HOT)
def count_labels(tree: AdaptiveTree, i: int, y: Array, weight: float) -> None:
    """Add a row to the counts of a node."""
    counts, n_labels, is_empty = tree.counts[i], len(y), True
    for j in range(n_labels):
        if y[j]:
            is_empty = False
            counts[j] = max(counts[j], 0.0) + weight
    if is_empty:
        counts[n_labels] = max(counts[n_labels], 0.0) + weight
    counts[n_labels + 1] = max(counts[n_labels + 1], 0.0) + weight


@njit(**PART)
def observe_labels(tree: AdaptiveTree, s: int, x: Array, y: Array, weight: float) -> None:
    """Add a row to the observers of its labels, or of rows without one, and of all rows."""
    is_empty = True
    for j in range(len(y)):
        if y[j]:
            is_empty = False
            observe(tree, s, j, x, weight)
    if is_empty:
        observe(tree, s, len(y), x, weight)
    observe(tree, s, len(y) + 1, x, weight)


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


@njit(**PART)
def learn_regressions(tree: AdaptiveTree, s: int, x: Array, y: Array, scratch: Scratch, params: LeafParams) -> None:
    """Learn a row with each regression as often as a draw from Poisson(1) says, the same for all labels."""
    slot, n_labels, repeats = tree.slots[s], len(y), scratch.repeats
    state = slot.draws
    for m in range(len(repeats)):
        repeats[m], state = poisson(state, math.exp(-1.0))
    slot.draws = state
    write_logits(tree, s, x, scratch, 0, len(scratch.logits))
    for m in range(len(repeats)):
        for j in range(n_labels):
            c = m * n_labels + j
            scratch.logits[c] = _gradient(y[j], scratch.logits[c]) if repeats[m] > 0 else 0.0
    _descend(tree, s, x, scratch, 0, len(scratch.logits), params)
    for m in range(len(repeats)):
        begin, end = m * n_labels, (m + 1) * n_labels
        for _ in range(1, repeats[m]):
            write_logits(tree, s, x, scratch, begin, end)
            for c in range(begin, end):
                scratch.logits[c] = _gradient(y[c - begin], scratch.logits[c])
            _descend(tree, s, x, scratch, begin, end, params)


@njit(**HOT)
def _gradient(present: int, logit: float) -> float:
    """Return the slope of the logistic loss; 0 where numbers left their range."""
    sign = 1.0 if present else -1.0
    z = logit * sign
    if z > FLAT_GRADIENT:
        return math.exp(-z) * -sign
    if z < -FLAT_GRADIENT:
        return -sign
    return -sign / (math.exp(z) + 1.0) if z == z else 0.0  # noqa: PLR0124 - not NaN


@njit(**HOT)
def _descend(tree: AdaptiveTree, s: int, x: Array, scratch: Scratch, begin: int, end: int, params: LeafParams) -> None:
    coefs, slopes = tree.coefs[s], scratch.logits
    for c in range(begin, end):
        coefs[len(x), c] -= params.intercept_rate * slopes[c]
    for a in range(scratch.filled[-1]):
        f = scratch.filled[a]
        for c in range(begin, end):
            coefs[f, c] -= params.learning_rate * (slopes[c] * x[f])
