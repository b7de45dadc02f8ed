"""Votes of a leaf for a row: by majority or by naive Bayes, whichever has been right more often in that leaf."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import BUILD, HOT, njit
from estimators._typing import Array
from estimators.trees._kernels.categories import (
    CLOSE,
    UNWEIGHED,
    child_of,
    has_categories,
    has_numbers,
    heaviest_of,
    log_shares,
    push_children,
    side_of,
)
from estimators.trees._kernels.gaussian import log_likelihood
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays, feature_of


class Scratch(NamedTuple):
    """Working memory: the features of a row that its leaf observes, the scores of the classes, and the votes.

    Nominal features are 0 in `x`, which Gaussian observers do not notice, and bins in `values`.
    """

    x: Array
    values: Array
    scores: Array
    votes: Array


def new_buffer(arrays: TreeArrays, n_classes: int) -> Array:
    """Make the array that `split_buffer` divides: one array is passed faster than several."""
    width = arrays.moments.shape[2]
    return np.empty((2 * width if len(arrays.categories.places) else width) + 2 * n_classes)


@njit(**HOT)
def split_buffer(arrays: TreeArrays, buffer: Array, n_classes: int) -> Scratch:
    """Divide a buffer into its parts; where all features are numbers, those that are not are the same."""
    width, stop = arrays.moments.shape[2], len(buffer) - 2 * n_classes
    return Scratch(
        buffer[:width], buffer[stop - width : stop], buffer[stop : stop + n_classes], buffer[stop + n_classes :]
    )


@njit(**HOT)
def find_leaf(arrays: TreeArrays, t: int, X: Array, r: int) -> int:
    """Return the leaf of a tree that a row falls into.

    Here and elsewhere a row is passed as a table and an index: a view of a row costs more than some of these loops.
    """
    i = arrays.trees[t].root
    while arrays.nodes[i].feature != NONE:
        i = node_after(arrays, i, X[r, arrays.nodes[i].feature])
    return i


@njit(**HOT)
def node_after(arrays: TreeArrays, i: int, value: float) -> int:
    """Return the child to which a value leads; as in River, a value without a child goes to the heaviest one."""
    if not has_categories(arrays):
        return side_of(arrays, i, value)
    child = child_of(arrays, i, value)
    return child if child != NONE else heaviest_child(arrays, i)


@njit(**BUILD)
def heaviest_child(arrays: TreeArrays, i: int) -> int:
    """Return the child with most weight in its leaves, or in itself if it observes; ties: the first."""
    # many trees may share the arrays: only what is below is looked at
    weights, stack = np.empty(len(arrays.nodes)), np.empty(len(arrays.nodes), np.int64)
    height = push_children(arrays, i, stack, 0)
    while height:
        height -= 1
        at = stack[height]
        if arrays.nodes[at].feature == NONE or arrays.nodes[at].observers != NONE:
            weights[at] = arrays.nodes[at].weight
        else:
            weights[at] = UNWEIGHED
            height = push_children(arrays, at, stack, height)
    return heaviest_of(arrays, i, weights)


@njit(**HOT)
def gather(arrays: TreeArrays, i: int, X: Array, r: int, scratch: Scratch) -> None:
    """Copy the features of a row that a leaf observes: all of them, or its subset."""
    x = scratch.x
    if has_categories(arrays):
        for f in range(len(x)):
            feature = feature_of(arrays, i, f)
            scratch.values[f] = X[r, feature]
            x[f] = X[r, feature] if arrays.categories.places[feature] == NONE else 0.0
    elif len(arrays.subsets):
        for f in range(len(x)):
            x[f] = X[r, arrays.subsets[i, f]]
    else:
        for f in range(len(x)):
            x[f] = X[r, f]


@njit(**HOT)
def bayes_scores(arrays: TreeArrays, i: int, scratch: Scratch) -> int:
    """Write the scores of the classes, in the order in which they were first seen, and return the most probable class.

    The scores are joint log probabilities plus the log weight of the leaf, which changes neither their order nor their
    differences. A class of weight zero has probability one, as in River.
    """
    if has_categories(arrays):
        return _bayes_scores_of_values(arrays, i, scratch)
    code, most = NONE, -np.inf
    s, k = arrays.nodes[i].stats, 0
    while s != NONE:
        stat = arrays.stats[s]
        score = stat.log_weight if stat.weight > 0.0 else math.log(arrays.nodes[i].weight)
        if stat.weight > 0.0 and stat.observer != NONE:
            score += log_likelihood(arrays, stat.observer, scratch.x)
        scratch.scores[k] = score
        if score > most:
            code, most = stat.code, score
        s, k = stat.next, k + 1
    return code


@njit(**HOT)
def _bayes_scores_of_values(arrays: TreeArrays, i: int, scratch: Scratch) -> int:
    """Do the same with nominal features; scores are joint log probabilities."""
    code, gap = NONE, 0.0
    for exactly in range(2):
        if gap < CLOSE:
            code, gap = _score_all(arrays, i, scratch, exactly == 1)
    return code


@njit(**HOT)
def _score_all(arrays: TreeArrays, i: int, scratch: Scratch, exactly: bool) -> tuple[int, float]:
    """Write the scores of the classes; return the most probable class, and how much more it has than the next."""
    subset = arrays.subsets[i] if len(arrays.subsets) else arrays.categories.places[:0]
    code, most, second = NONE, -np.inf, -np.inf
    s, k = arrays.nodes[i].stats, 0
    while s != NONE:
        stat, score = arrays.stats[s], 0.0
        if stat.weight > 0.0:
            share = stat.weight / arrays.nodes[i].weight
            if stat.observer == NONE:
                score = math.log(share)
            else:
                score = log_shares(arrays, stat.observer, subset, scratch.values, share, exactly)
                score += log_likelihood(arrays, stat.observer, scratch.x) if has_numbers(arrays) else 0.0
        scratch.scores[k] = score
        if score > most:
            code, most, second = stat.code, score, most
        elif score > second:
            second = score
        s, k = stat.next, k + 1
    return code, most - second


@njit(**HOT)
def vote(arrays: TreeArrays, i: int, scores: Array, votes: Array) -> None:
    """Write the votes of a leaf for each class, given the scores of naive Bayes; zeros from an empty leaf."""
    for code in range(len(votes)):
        votes[code] = 0.0
    node = arrays.nodes[i]
    if node.weight == 0.0:
        return
    if node.active and node.bayes_hits >= node.majority_hits and _vote_bayes(arrays, i, scores, votes):
        return
    s = node.stats
    while s != NONE:
        votes[arrays.stats[s].code] = arrays.stats[s].weight / node.weight
        s = arrays.stats[s].next


@njit(**HOT)
def _vote_bayes(arrays: TreeArrays, i: int, scores: Array, votes: Array) -> bool:
    """Write the votes of naive Bayes and return True, or return False if the scores have overflowed."""
    s, n, most = arrays.nodes[i].stats, 0, -np.inf
    while s != NONE:
        most = max(most, scores[n])
        s, n = arrays.stats[s].next, n + 1
    if not -np.inf < most < np.inf:
        return False
    total = 0.0
    for k in range(n):
        scores[k] = math.exp(scores[k] - most) if scores[k] != most else 1.0
        total += scores[k]
    if not total > 0.0:
        return False
    s = arrays.nodes[i].stats
    for k in range(n):
        votes[arrays.stats[s].code] = scores[k] / total
        s = arrays.stats[s].next
    return True
