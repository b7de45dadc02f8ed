"""Predictions by weighted votes, and how another weight of one class changes them.

A row is assigned to the class with the greatest product of weight and vote, the first one on a tie. Only votes other
than zero are stored, by row and by class. Scores are products of the same two numbers everywhere, and the objective is
computed from counts of rows, which are whole numbers: an update equals a full computation to the last bit.

Loops take arrays out of their tuples first: counting references to them costs more than the loop.
"""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import JIT, call_at, njit
from estimators._typing import Array

# a smaller gain, a smaller distance between two breakpoints (relative), or a smaller shortfall is rounding
TINY = 1e-12
# PRAGMA is in [0, 1]: below a floor any value is greater than any above it, and the shortfall outweighs PRAGMA
PENALTY, PENALTY_SLOPE = 1e3, 1e6


class Votes(NamedTuple):
    """Votes other than zero; entries `row_start[i]` to `row_start[i + 1]` are those of row i, likewise for classes."""

    row_start: Array
    row_class: Array
    row_vote: Array
    class_start: Array
    class_row: Array
    class_vote: Array
    truth: Array


class Losses(NamedTuple):
    """Per class: its share of PRAGMA (0: it does not count), slopes along recall and precision, rows it has, floors.

    `floors` (n_classes, 2) holds the least recall and precision; it is empty without floors. `surface` is the address
    of a loss of (recall, precision) in place of the planes; 0: the planes.
    """

    share: Array
    alpha: Array
    beta: Array
    n_true: Array
    floors: Array
    surface: int


class State(NamedTuple):
    """State for a vector of weights: the winner and its score in each row; hits and predictions of each class.

    `bound` is at least the score of any other class in the row, so that most rows need not be searched.
    """

    weights: Array
    winner: Array
    top_score: Array
    bound: Array
    hits: Array
    predicted: Array


@njit(**JIT)
def class_terms(losses: Losses, c: int, hits: int, predicted: int) -> tuple[float, float]:
    """Return the contribution of a class to PRAGMA, and what its recall and precision lack to their floors."""
    if losses.share[c] == 0.0:
        return 0.0, 0.0
    recall = hits / losses.n_true[c]
    precision = hits / predicted if predicted > 0 else 0.0
    if losses.surface == 0:
        loss = 1.0 + losses.alpha[c] * recall + losses.beta[c] * precision
    else:
        loss = call_at(losses.surface, recall, precision)
    shortfall = 0.0
    if len(losses.floors) > 0:
        shortfall = max(losses.floors[c, 0] - recall, 0.0) + max(losses.floors[c, 1] - precision, 0.0)
    return losses.share[c] * loss, shortfall


@njit(**JIT)
def totals(losses: Losses, state: State) -> tuple[float, float]:
    """Return PRAGMA, and the sum of what recalls and precisions lack to their floors, from the counts of a state."""
    total, lacking = 0.0, 0.0
    for c in range(len(state.hits)):
        loss, shortfall = class_terms(losses, c, state.hits[c], state.predicted[c])
        total += loss
        lacking += shortfall
    return total, lacking


@njit(**JIT)
def objective(value: float, shortfall: float) -> float:
    """Return the value to minimise: PRAGMA where all floors are reached, else more, by what is lacking first."""
    return value if shortfall <= TINY else value + PENALTY + PENALTY_SLOPE * shortfall


@njit(**JIT)
def decide(votes: Votes, weights: Array) -> State:
    """Compute the state for a vector of weights."""
    n, n_classes = len(votes.truth), len(weights)
    winner, top_score = np.empty(n, np.int32), np.empty(n)
    hits, predicted = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    row_start, row_class, row_vote, truth = votes.row_start, votes.row_class, votes.row_vote, votes.truth
    for i in range(n):
        p = best_entry(row_class, row_vote, row_start[i], row_start[i + 1], weights, -1)
        k = row_class[p]
        winner[i], top_score[i] = k, weights[k] * row_vote[p]
        predicted[k] += 1
        hits[k] += truth[i] == k
    return State(weights.copy(), winner, top_score, top_score.copy(), hits, predicted)


@njit(**JIT)
def best_entry(row_class: Array, row_vote: Array, begin: int, end: int, weights: Array, without: int) -> int:
    """Return the entry that wins a row, leaving out one class; -1 if no other has a vote."""
    found, most = -1, -1.0
    for p in range(begin, end):
        k = row_class[p]
        score = weights[k] * row_vote[p]
        if score > most and k != without:
            found, most = p, score
    return found


@njit(**JIT)
def _rows_won(votes: Votes, state: State, c: int, weight: float, entries: Array) -> int:
    """List, as entries of the class, the rows that it wins from others with a greater weight."""
    class_row, class_vote, winner, top_score = votes.class_row, votes.class_vote, state.winner, state.top_score
    n = 0
    for p in range(votes.class_start[c], votes.class_start[c + 1]):
        i = class_row[p]
        score = weight * class_vote[p]
        if score >= top_score[i] and winner[i] != c and (score > top_score[i] or c < winner[i]):
            entries[n] = p
            n += 1
    return n


@njit(**JIT)
def _rows_lost(votes: Votes, state: State, c: int, weight: float, entries: Array) -> int:
    """List, as entries of the row, the winners of rows that the class loses with a smaller weight."""
    class_row, class_vote, winner = votes.class_row, votes.class_vote, state.winner
    row_class, row_vote, row_start = votes.row_class, votes.row_vote, votes.row_start
    weights, bound, n = state.weights, state.bound, 0
    for p in range(votes.class_start[c], votes.class_start[c + 1]):
        i = class_row[p]
        mine = weight * class_vote[p]
        if mine > bound[i] or winner[i] != c:
            continue
        found, most = -1, mine
        for q in range(row_start[i], row_start[i + 1]):
            k = row_class[q]
            score = weights[k] * row_vote[q]
            if k != c and (score > most or (score == most and found < 0 and k < c)):
                found, most = q, score
        if found >= 0:
            entries[n], entries[n + 1] = i, found
            n += 2
        else:
            bound[i] = mine
    return n


@njit(**JIT)
def _count_won(votes: Votes, state: State, c: int, entries: Array, back: bool) -> None:
    """Count the listed rows for the class that won them, or back for their former winners."""
    class_row, truth, winner = votes.class_row, votes.truth, state.winner
    hits, predicted, step = state.hits, state.predicted, -1 if back else 1
    predicted[c] += step * len(entries)
    for p in entries:
        i = class_row[p]
        k, t = winner[i], truth[i]
        predicted[k] -= step
        hits[t] += step * (int(t == c) - int(t == k))


@njit(**JIT)
def _count_lost(votes: Votes, state: State, c: int, entries: Array, back: bool) -> None:
    """Count the listed rows for their new winners, or back for the class that lost them."""
    row_class, truth = votes.row_class, votes.truth
    hits, predicted, step = state.hits, state.predicted, -1 if back else 1
    predicted[c] -= step * (len(entries) // 2)
    for e in range(0, len(entries), 2):
        k, t = row_class[entries[e + 1]], truth[entries[e]]
        predicted[k] += step
        hits[t] += step * (int(t == k) - int(t == c))


@njit(**JIT)
def count(votes: Votes, state: State, c: int, entries: Array, lost: bool, back: bool) -> None:
    """Count the listed rows, won or lost by a class, or take the count back."""
    if lost:
        _count_lost(votes, state, c, entries, back)
    else:
        _count_won(votes, state, c, entries, back)


@njit(**JIT)
def try_weight(votes: Votes, state: State, c: int, weight: float, lost: bool, buffer: Array) -> Array:
    """Update the counts for another weight of a class, and list the rows that it changes."""
    n = _rows_lost(votes, state, c, weight, buffer) if lost else _rows_won(votes, state, c, weight, buffer)
    count(votes, state, c, buffer[:n], lost, False)
    return buffer[:n]


@njit(**JIT)
def set_weight(votes: Votes, state: State, c: int, weight: float, entries: Array, lost: bool) -> None:
    """Apply the change of a weight whose rows have been counted to the state."""
    winner, top_score, bound, weights = state.winner, state.top_score, state.bound, state.weights
    class_row, class_vote, row_class, row_vote = votes.class_row, votes.class_vote, votes.row_class, votes.row_vote
    weights[c] = weight
    for e in range(0, len(entries), 2 if lost else 1):
        i = entries[e] if lost else class_row[entries[e]]
        if lost:
            winner[i] = row_class[entries[e + 1]]
            top_score[i] = weights[winner[i]] * row_vote[entries[e + 1]]
        else:
            winner[i] = c
        bound[i] = top_score[i]
    for p in range(votes.class_start[c], votes.class_start[c + 1]):
        i, score = class_row[p], weight * class_vote[p]
        if winner[i] == c:
            top_score[i] = score
        elif not lost:
            bound[i] = max(bound[i], score)
