"""Loops over rows of learners with a window that adjusts its own size."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import LOOP, PART, Direct, njit
from estimators._typing import Array
from estimators.neighbours._kernels.punishment import Choice, punish_neighbours, punish_votes
from estimators.neighbours._kernels.sizes import (
    Histories,
    Options,
    choose_size,
    cut_histories,
    forget_row,
)
from estimators.neighbours._kernels.window import (
    Order,
    Part,
    Window,
    append,
    count_votes,
    measure,
    remove,
    remove_oldest,
    sort_nearest,
)

# rows sorted at first; more are, where many of them do not vote
N_SORTED = 16


class State(NamedTuple):
    """The state of a learner."""

    window: Window
    choice: Choice
    histories: Histories


class Room(NamedTuple):
    """Work space: a row in scaled features, and the rows of the window in the order of their distances to it."""

    scaled: Array
    order: Order


@njit(**PART)
def vote(state: State, options: Options, room: Room, x: Array, proba: Array) -> None:
    """Predict a row: for each label the share of its k nearest voters that have it; NaN without a vote."""
    window, ks, order = state.window, state.choice.ks, room.order
    part = Part(0, window.size[0], options.adaptive)
    measure(window, x, room.scaled, order.found)
    sort_nearest(window, order, part, N_SORTED)
    for label in range(len(ks)):
        positive, total, count = count_votes(window, order, part, label, ks[label])
        # the authors' code has no prediction where a label lacks voters
        enough = count == ks[label] if options.adaptive and options.faithful else count > 0
        proba[label] = positive / total if enough else np.nan


@njit(**PART)
def punish(state: State, options: Options, room: Room, y: Array, weight: float) -> None:
    """Learn which neighbours of the row that `vote` was called for were wrong."""
    if options.adaptive:
        punish_votes(state.window, state.choice, room.order, y, weight, options.faithful)
    else:
        punish_neighbours(state.window, state.choice.ks, room.order, y)


@njit(**PART)
def keep(state: State, options: Options, room: Room, x: Array, y: Array, weight: float) -> None:
    """Add the row that `vote` was called for, remove rows that were wrong too often, and adjust the size."""
    window, histories = state.window, state.histories
    append(window, x, y, weight if options.adaptive else 1.0, room.scaled, room.order)
    p = 0
    while p < window.size[0]:
        place = window.places[p]
        if window.errors[place] <= options.penalty * window.n_known[place]:
            p += 1
            continue
        remove(window, p, options.faithful)
        if not options.faithful:
            forget_row(histories, p)
    size = choose_size(window, state.choice.ks, histories, options, room.order)
    n_surplus = window.size[0] - size
    if n_surplus > 0:
        cut_histories(histories, n_surplus)
        remove_oldest(window, n_surplus, options.faithful, room.order.positions)
    if size == options.max_window:
        remove_oldest(window, 1, options.faithful, room.order.positions)
        if not options.faithful:
            forget_row(histories, 0)


@Direct
@njit(**LOOP)
def predict_rows(state: State, options: Options, room: Room, X: Array, proba: Array) -> None:
    """Predict rows, changing work space only."""
    for i in range(len(X)):
        vote(state, options, room, X[i], proba[i])


@Direct
@njit(**LOOP)
def predict_then_learn_rows(
    state: State, options: Options, room: Room, X: Array, Y: Array, weights: Array, proba: Array
) -> None:
    """Predict each row, then learn it unless its weight is 0."""
    for i in range(len(X)):
        vote(state, options, room, X[i], proba[i])
        if weights[i] > 0.0:
            punish(state, options, room, Y[i], weights[i])
            keep(state, options, room, X[i], Y[i], weights[i])
