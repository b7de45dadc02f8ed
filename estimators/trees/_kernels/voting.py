"""What a leaf says of a row: its majority, or naive Bayes, whichever has been right more often in that leaf."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import HOT, njit
from estimators.trees._kernels.gaussian import log_likelihood
from estimators.trees._kernels.tree_arrays import NONE, Grove

Array = npt.NDArray[Any]


@njit(**HOT)
def find_leaf(grove: Grove, t: int, X: Array, r: int) -> int:
    """Go down a tree to the leaf of a row.

    Here and elsewhere, rows are given as a table and a position: a view of a row costs more than some of these loops.
    """
    i = grove.trees[t].root
    while grove.nodes[i].feature != NONE:
        node = grove.nodes[i]
        i = node.left if X[r, node.feature] <= node.threshold else node.right
    return i


@njit(**HOT)
def see(grove: Grove, i: int, X: Array, r: int, seen: Array) -> None:
    """Copy what the leaf observes of a row: all of it, or its subset of features."""
    if len(grove.subsets):
        for f in range(len(seen)):
            seen[f] = X[r, grove.subsets[i, f]]
    else:
        for f in range(len(seen)):
            seen[f] = X[r, f]


@njit(**HOT)
def bayes_scores(grove: Grove, i: int, x: Array, scores: Array) -> int:
    """Write how probable the classes are, in the order they came, and return the most probable class.

    What is written are joint log probabilities plus the log weight of the leaf, which changes neither their order nor
    their differences. A class of weight zero has probability one, as in River.
    """
    code, most = NONE, -np.inf
    s, k = grove.nodes[i].stats, 0
    while s != NONE:
        stat = grove.stats[s]
        score = stat.log_weight if stat.weight > 0.0 else math.log(grove.nodes[i].weight)
        if stat.weight > 0.0 and stat.observer != NONE:
            score += log_likelihood(grove, stat.observer, x)
        scores[k] = score
        if score > most:
            code, most = stat.code, score
        s, k = stat.next, k + 1
    return code


@njit(**HOT)
def vote(grove: Grove, i: int, scores: Array, votes: Array) -> None:
    """Write what the leaf votes for each class, given the scores of naive Bayes; zeros where it knows nothing."""
    for code in range(len(votes)):
        votes[code] = 0.0
    node = grove.nodes[i]
    if node.weight == 0.0:
        return
    if node.active and node.bayes_hits >= node.majority_hits and _vote_bayes(grove, i, scores, votes):
        return
    s = node.stats
    while s != NONE:
        votes[grove.stats[s].code] = grove.stats[s].weight / node.weight
        s = grove.stats[s].next


@njit(**HOT)
def _vote_bayes(grove: Grove, i: int, scores: Array, votes: Array) -> bool:
    """Write the votes of naive Bayes, unless squares past the greatest number leave it without any."""
    s, n, most = grove.nodes[i].stats, 0, -np.inf
    while s != NONE:
        most = max(most, scores[n])
        s, n = grove.stats[s].next, n + 1
    if not -np.inf < most < np.inf:
        return False
    total = 0.0
    for k in range(n):
        scores[k] = math.exp(scores[k] - most) if scores[k] != most else 1.0
        total += scores[k]
    if not total > 0.0:
        return False
    s = grove.nodes[i].stats
    for k in range(n):
        votes[grove.stats[s].code] = scores[k] / total
        s = grove.stats[s].next
    return True
