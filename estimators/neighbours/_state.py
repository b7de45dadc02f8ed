"""The state of learners with a window that adjusts its own size: made, and made larger."""

import numpy as np

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.neighbours._kernels.punishment import N_KS, Choice
from estimators.neighbours._kernels.self_adjusting import Room, State
from estimators.neighbours._kernels.sizes import FREE, Histories
from estimators.neighbours._kernels.window import N_NEAR, Order, Window


def new_state(n_features: int, n_labels: int, *, k: int, n_hits: int, n_candidates: int) -> State:
    """Return the state of a learner that has learnt nothing, without room for rows.

    `k` is the number of neighbours of each label at first, `n_hits` how many rows the choice of others looks back on,
    and `n_candidates` how many windows are compared.
    """
    window = Window(
        size=np.zeros(1, np.int64),
        places=np.arange(0),
        positions=np.arange(0),
        marks=np.arange(0),
        X=np.zeros((0, n_features)),
        Y=np.zeros((0, n_labels), np.uint8),
        weights=np.zeros(0),
        errors=np.zeros(0),
        n_known=np.zeros(0, np.int64),
        votes=np.ones((0, n_labels), np.uint8),
        distances=np.zeros((0, 0)),
        near=np.zeros((0, N_NEAR), np.int32),
        low=np.zeros(n_features),
        high=np.zeros(n_features),
        scales=np.zeros(n_features),
    )
    hits = np.zeros((n_labels, N_KS, n_hits), np.float32)
    choice = Choice(np.full(n_labels, k), hits, np.zeros((n_labels, N_KS)), np.zeros(n_labels, np.int64))
    histories = Histories(np.full(n_candidates, FREE), np.zeros(n_candidates, np.int64), np.zeros((n_candidates, 0)))
    return State(window, choice, histories)


def new_room(state: State) -> Room:
    """Return work space."""
    capacity, n_features = state.window.X.shape
    order = Order(np.empty(capacity), np.empty(capacity, np.int64), np.empty(capacity), np.zeros(1, np.int64))
    return Room(np.empty(n_features), order)


def with_room(state: State, n_rows: int, max_window: int) -> State:
    """Return a state with room for rows, as far as a window can grow; the same one if there is room."""
    window = state.window
    capacity = len(window.places)
    needed = min(int(window.size[0]) + n_rows, max_window)
    if needed <= capacity:
        return state
    n = min(max(needed, 2 * capacity), max_window) - capacity
    new = np.arange(capacity, capacity + n)
    window = window._replace(
        places=np.append(window.places, new),
        positions=np.append(window.positions, new),
        marks=np.append(window.marks, new),
        X=_longer(window.X, n),
        Y=_longer(window.Y, n),
        weights=_longer(window.weights, n),
        errors=_longer(window.errors, n),
        n_known=_longer(window.n_known, n),
        votes=_longer(window.votes, n, 1),
        distances=_wider(_longer(window.distances, n), n),
        near=_longer(window.near, n),
    )
    return state._replace(window=window, histories=state.histories._replace(scores=_wider(state.histories.scores, n)))


def with_more_labels(state: State, n: int, k: int) -> State:
    """Return a state with new labels, unknown in all rows, whose number of neighbours is k."""
    window, choice = state.window, state.choice
    return state._replace(
        window=window._replace(Y=_wider(window.Y, n, UNKNOWN), votes=_wider(window.votes, n, 1)),
        choice=Choice(*(_longer(part, n, k if part is choice.ks else 0) for part in choice)),
    )


def _longer(array: Array, n: int, value: float = 0) -> Array:
    return np.concatenate([array, np.full((n, *array.shape[1:]), value, array.dtype)])


def _wider(array: Array, n: int, value: float = 0) -> Array:
    return np.concatenate([array, np.full((len(array), n), value, array.dtype)], axis=1)
