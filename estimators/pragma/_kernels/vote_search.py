"""Two searches for the weights of votes: annealing, and exact line searches along one weight after another."""

import math
from typing import Any

import numpy as np

from estimators._kernels.compile import JIT, njit
from estimators._typing import Array
from estimators.pragma._kernels.votes import (
    TINY,
    Losses,
    State,
    Votes,
    best_entry,
    class_terms,
    count,
    decide,
    objective,
    set_weight,
    totals,
    try_weight,
)


@njit(**JIT)
def anneal(votes: Votes, losses: Losses, start: Array, movers: Array, factors: Array, limits: Array) -> Any:
    """Multiply the weight of one class after another; keep a move if the objective rises by no more than its limit.

    Returns the best weights of the chain and PRAGMA after each move.
    """
    state, buffer = decide(votes, start), np.empty(2 * len(votes.truth), np.int64)
    pragma, shortfall = totals(losses, state)
    value = lowest = objective(pragma, shortfall)
    best, trace = start.copy(), np.empty(len(movers))
    for m in range(len(movers)):
        c, lost = movers[m], factors[m] < 1.0
        weight = state.weights[c] * factors[m]
        entries = try_weight(votes, state, c, weight, lost, buffer)
        moved_pragma, shortfall = totals(losses, state)
        moved = objective(moved_pragma, shortfall)
        if moved - value <= limits[m]:
            set_weight(votes, state, c, weight, entries, lost)
            pragma, value = moved_pragma, moved
            if value < lowest:
                lowest = value
                best[:] = state.weights
        else:
            count(votes, state, c, entries, lost, True)
        trace[m] = pragma
    return best, trace


@njit(**JIT)
def sweep(votes: Votes, losses: Losses, weights: Array, order: Array, reach: float) -> tuple[Array, Array, float]:
    """Search along the weight of one class after another.

    Returns the weights, PRAGMA after each, and the objective at the end.
    """
    state, buffer = decide(votes, weights), np.empty(2 * len(votes.truth), np.int64)
    trace, value = np.empty(len(order)), np.inf
    for step in range(len(order)):
        c = order[step]
        weight = search_line(votes, losses, state, c, reach)
        if weight != state.weights[c]:
            lost = weight < state.weights[c]
            entries = try_weight(votes, state, c, weight, lost, buffer)
            set_weight(votes, state, c, weight, entries, lost)
        trace[step], shortfall = totals(losses, state)
        value = objective(trace[step], shortfall)
    return state.weights, trace, value


@njit(**JIT)
def search_line(votes: Votes, losses: Losses, state: State, c: int, reach: float) -> float:
    """Return the best weight of a class, all others fixed; the current one where no other is better.

    The objective changes at breakpoints only: the class wins a row once its weight exceeds the best other score over
    its vote. Between two breakpoints the geometric mean is taken; of equally good intervals, the widest. Weights beyond
    `reach` times the current one, up or down, are not tried.
    """
    lowest_weight, highest_weight = state.weights[c] / reach, state.weights[c] * reach
    points, truths, rivals, hits, predicted = _breakpoints(votes, state, c, lowest_weight, highest_weight)
    rest, lacking = _totals_without(losses, c, hits, predicted)
    pragma, shortfall = totals(losses, state)
    lowest, widest, weight = objective(pragma, shortfall) - 2 * TINY, 0.0, state.weights[c]
    lower = lowest_weight
    for at in np.append(np.argsort(points), -1):
        upper = points[at] if at >= 0 else highest_weight
        if upper > lower * (1.0 + TINY):
            loss, shortfall = class_terms(losses, c, hits[c], predicted[c])
            value = objective(rest + loss, lacking + shortfall)
            width = upper / lower if lower > 0.0 else np.inf
            if value < lowest - TINY or (value < lowest + TINY and width > widest):
                lowest, widest, weight = value, width, _between(lower, upper)
        if at >= 0:
            k = rivals[at]
            loss, shortfall = class_terms(losses, k, hits[k], predicted[k])
            rest -= loss
            lacking -= shortfall
            _reassign(truths[at], k, c, hits, predicted)
            loss, shortfall = class_terms(losses, k, hits[k], predicted[k])
            rest += loss
            lacking += shortfall
            lower = upper
    return weight


@njit(**JIT)
def _breakpoints(
    votes: Votes, state: State, c: int, lowest_weight: float, highest_weight: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Return weights at which a class wins rows, their true classes and former winners, and counts at the lowest."""
    begin, end = votes.class_start[c], votes.class_start[c + 1]
    points, truths, rivals = np.empty(end - begin), np.empty(end - begin, np.int32), np.empty(end - begin, np.int32)
    hits, predicted, winner, weights = state.hits.copy(), state.predicted.copy(), state.winner, state.weights
    row_start, row_class, row_vote, truth = votes.row_start, votes.row_class, votes.row_vote, votes.truth
    class_row, class_vote, top_score, bound, n = votes.class_row, votes.class_vote, state.top_score, state.bound, 0
    for p in range(begin, end):
        i, vote = class_row[p], class_vote[p]
        k, score = winner[i], top_score[i]
        if k == c:
            if bound[i] <= lowest_weight * vote:
                continue
            q = best_entry(row_class, row_vote, row_start[i], row_start[i + 1], weights, c)
            if q < 0:
                continue
            k = row_class[q]
            score = weights[k] * row_vote[q]
            if score <= lowest_weight * vote:
                continue
            _reassign(truth[i], c, k, hits, predicted)
        elif score >= highest_weight * vote:
            continue
        points[n], truths[n], rivals[n] = score / vote, truth[i], k
        n += 1
    return points[:n], truths[:n], rivals[:n], hits, predicted


@njit(**JIT)
def _totals_without(losses: Losses, c: int, hits: Array, predicted: Array) -> tuple[float, float]:
    total, lacking = 0.0, 0.0
    for k in range(len(hits)):
        if k != c:
            loss, shortfall = class_terms(losses, k, hits[k], predicted[k])
            total += loss
            lacking += shortfall
    return total, lacking


@njit(**JIT)
def _reassign(truth: int, loser: int, winner_class: int, hits: Array, predicted: Array) -> None:
    predicted[loser] -= 1
    predicted[winner_class] += 1
    hits[loser] -= truth == loser
    hits[winner_class] += truth == winner_class


@njit(**JIT)
def _between(lower: float, upper: float) -> float:
    if lower == 0.0:
        return upper / 2.0
    return lower * 2.0 if upper == np.inf else math.sqrt(lower) * math.sqrt(upper)
