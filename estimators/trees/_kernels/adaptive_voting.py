"""Votes of Hoeffding adaptive trees: of the leaf of a row, and of the alternate leaves of the branches above."""

from estimators._kernels.compile import HOT, PART, njit
from estimators._typing import Array
from estimators.trees._kernels.adaptive_arrays import AdaptiveTrees
from estimators.trees._kernels.hoeffding import Scratch
from estimators.trees._kernels.tree_arrays import NONE, TreeArrays
from estimators.trees._kernels.voting import bayes_scores, gather, vote


@njit(**HOT)
def predict_row(
    trees: AdaptiveTrees, t: int, X: Array, r: int, scratch: Scratch, votes: Array, column: int
) -> tuple[int, int, int]:
    """Return the leaf of a row, the class that naive Bayes guesses there, and the number of branches above.

    Unless the column is `NONE`, write the votes: those of the leaf, and of the alternate leaves of branches above.
    """
    arrays, voting = trees.arrays, column != NONE
    if voting:
        for code in range(votes.shape[2]):
            votes[r, column, code] = 0.0
    i, n_above = arrays.trees[t].root, 0
    gather(arrays, i, X, r, scratch.x)
    while arrays.nodes[i].feature != NONE:
        alternate = trees.monitors[i].alternate
        if voting and alternate != NONE:
            _let_alternate_vote(trees, alternate, scratch, votes, r, column)
        i, n_above = child_of(arrays, i, scratch.x), n_above + 1
    guess = guess_class(arrays, i, scratch)
    if voting:
        _add_votes(trees, i, scratch, votes, r, column)
        _normalise(votes, r, column)
    return i, guess, n_above


@njit(**PART)
def _let_alternate_vote(trees: AdaptiveTrees, i: int, scratch: Scratch, votes: Array, r: int, column: int) -> None:
    guess_class(trees.arrays, i, scratch)
    _add_votes(trees, i, scratch, votes, r, column)


@njit(**HOT)
def child_of(arrays: TreeArrays, i: int, x: Array) -> int:
    node = arrays.nodes[i]
    return node.left if x[node.feature] <= node.threshold else node.right


@njit(**HOT)
def guess_class(arrays: TreeArrays, i: int, scratch: Scratch) -> int:
    """Score the classes by naive Bayes, and return the most probable one, or `NONE` where a leaf cannot tell."""
    if arrays.nodes[i].active and arrays.nodes[i].weight > 0.0:
        return bayes_scores(arrays, i, scratch.x, scratch.scores)
    return NONE


@njit(**HOT)
def _add_votes(trees: AdaptiveTrees, i: int, scratch: Scratch, votes: Array, r: int, column: int) -> None:
    """Add the votes of a leaf, divided by the square of its mean error unless that is zero."""
    vote(trees.arrays, i, scratch.scores, scratch.votes)
    total, error = 0.0, trees.monitors[i].error
    for code in range(len(scratch.votes)):
        total += scratch.votes[code]
    factor = total * error * error
    scale = 1.0 / factor if factor > 0.0 else 1.0
    for code in range(len(scratch.votes)):
        votes[r, column, code] += scratch.votes[code] * scale


@njit(**HOT)
def _normalise(votes: Array, r: int, column: int) -> None:
    total = 0.0
    for code in range(votes.shape[2]):
        total += votes[r, column, code]
    if total > 0.0:
        for code in range(votes.shape[2]):
            votes[r, column, code] *= 1.0 / total
