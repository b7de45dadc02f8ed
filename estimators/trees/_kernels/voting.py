"""Votes of a leaf for a row: by majority or by naive Bayes, whichever has been right more often in that leaf."""

import math

import numpy as np

from estimators._kernels.compile import HOT, njit
from estimators._typing import Array
from estimators.trees._kernels.gaussian import log_likelihood
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays


@njit(**HOT)
def find_leaf(arrays: TreeArrays, t: int, X: Array, r: int) -> int:
    """Return the leaf of a tree that a row falls into.

    Here and elsewhere a row is passed as a table and an index: a view of a row costs more than some of these loops.
    """
    i = arrays.trees[t].root
    while arrays.nodes[i].feature != NONE:
        node = arrays.nodes[i]
        i = node.left if X[r, node.feature] <= node.threshold else node.right
    return i


@njit(**HOT)
def gather(arrays: TreeArrays, i: int, X: Array, r: int, x: Array) -> None:
    """Copy the features of a row that a leaf observes: all of them, or its subset."""
    if len(arrays.subsets):
        for f in range(len(x)):
            x[f] = X[r, arrays.subsets[i, f]]
    else:
        for f in range(len(x)):
            x[f] = X[r, f]


@njit(**HOT)
def bayes_scores(arrays: TreeArrays, i: int, x: Array, scores: Array) -> int:
    """Write the scores of the classes, in the order in which they were first seen, and return the most probable class.

    The scores are joint log probabilities plus the log weight of the leaf, which changes neither their order nor their
    differences. A class of weight zero has probability one, as in River.
    """
    code, most = NONE, -np.inf
    s, k = arrays.nodes[i].stats, 0
    while s != NONE:
        stat = arrays.stats[s]
        score = stat.log_weight if stat.weight > 0.0 else math.log(arrays.nodes[i].weight)
        if stat.weight > 0.0 and stat.observer != NONE:
            score += log_likelihood(arrays, stat.observer, x)
        scores[k] = score
        if score > most:
            code, most = stat.code, score
        s, k = stat.next, k + 1
    return code


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
