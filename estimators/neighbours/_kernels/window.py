"""A window of rows in arrays of fixed size: their order in time, distances, labels that vote, and errors."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array

# smaller ranges of a feature, whose reciprocal overflows, count as none
TINY = float(np.finfo(np.float64).tiny)


class Window(NamedTuple):
    """Rows, each at a place of the arrays that it keeps for as long as it is there.

    Attributes
    ----------
    size : int64 ndarray of shape (1,)
        Number of rows.
    places : int64 ndarray of shape (capacity,)
        Places of the rows, oldest first, then the free places.
    marks : int64 ndarray of shape (capacity,)
        Lines of `votes` of the rows, in the same order.
    X, Y, weights, errors : ndarrays of shape (capacity, ...)
        Features, labels (0, 1 or `UNKNOWN`), weights, and errors so far of the row at each place.
    votes : uint8 ndarray of shape (capacity, n_labels)
        Whether a row votes for a label.
    distances : ndarray of shape (capacity, capacity)
        From the row at one place to the row at another one that is older, taken when it arrived.
    low, high, scales : ndarrays of shape (n_features,)
        Least and greatest value so far, 0 at first, and 1 / (high - low), or 0 where these are equal.
    """

    size: Array
    places: Array
    marks: Array
    X: Array
    Y: Array
    weights: Array
    errors: Array
    votes: Array
    distances: Array
    low: Array
    high: Array
    scales: Array


class Order(NamedTuple):
    """Room for the rows nearest to one: their positions in the window and distances, nearest first, and how many."""

    positions: Array
    distances: Array
    size: Array


@njit(fastmath={"reassoc", "nsz"}, **PART)
def measure(window: Window, x: Array, scaled: Array, found: Array) -> None:
    """Write the distances of a row to all rows of the window, each at the place of that row."""
    X, scales, width = window.X, window.scales, len(x)
    for f in range(width):
        scaled[f] = x[f] * scales[f]
    for p in range(window.size[0]):
        place, total = window.places[p], 0.0
        for f in range(width):
            difference = X[place, f] * scales[f] - scaled[f]
            total += difference * difference
        found[place] = np.sqrt(total)


@njit(**PART)
def widen_ranges(window: Window, x: Array) -> bool:
    """Extend the ranges of features to a row, and return whether any has changed."""
    changed = False
    for f in range(len(x)):
        if window.low[f] <= x[f] <= window.high[f]:
            continue
        window.low[f], window.high[f] = min(window.low[f], x[f]), max(window.high[f], x[f])
        span = window.high[f] - window.low[f]
        window.scales[f] = 1.0 / span if span >= TINY else 0.0
        changed = True
    return changed


@njit(**PART)
def sort_nearest(window: Window, found: Array, begin: int, end: int, n: int, younger: bool, order: Order) -> None:
    """Write the n rows nearest among positions begin to end - 1; of equal ones the younger first, or the older."""
    positions, distances, places = order.positions, order.distances, window.places
    size = 0
    for step in range(end - begin):
        p = end - 1 - step if younger else begin + step
        distance = found[places[p]]
        if size < n:
            q = size
            size += 1
        elif distance < distances[n - 1]:
            q = n - 1
        else:
            continue
        while q > 0 and distance < distances[q - 1]:
            distances[q], positions[q] = distances[q - 1], positions[q - 1]
            q -= 1
        distances[q], positions[q] = distance, p
    order.size[0] = size


@njit(**HOT)
def reaches(window: Window, found: Array, begin: int, end: int, younger: bool, order: Order, t: int) -> bool:
    """Return whether there is a t-th nearest row, counted from 0; sort more rows if need be."""
    if t < order.size[0]:
        return True
    if t >= end - begin:
        return False
    sort_nearest(window, found, begin, end, min(end - begin, 4 * (t + 1)), younger, order)
    return True


@njit(**HOT)
def count_votes(
    window: Window, found: Array, begin: int, end: int, younger: bool, order: Order, label: int, k: int
) -> tuple[float, float, int]:
    """Return the weight of the k nearest rows that vote and have the label, of all k, and how many there are."""
    positive, total, count, t = 0.0, 0.0, 0, 0
    while count < k and reaches(window, found, begin, end, younger, order, t):
        p = order.positions[t]
        place = window.places[p]
        t += 1
        value = window.Y[place, label]
        if value == UNKNOWN or window.votes[window.marks[p], label] == 0:
            continue
        count += 1
        total += window.weights[place]
        if value == 1:
            positive += window.weights[place]
    return positive, total, count


@njit(**PART)
def append(window: Window, x: Array, y: Array, weight: float, scaled: Array, found: Array) -> None:
    """Add a row, whose distances to the others are `found` unless it widens the ranges."""
    p = window.size[0]
    place = window.places[p]
    if widen_ranges(window, x):
        measure(window, x, scaled, found)
    for q in range(p):
        other = window.places[q]
        window.distances[place, other] = found[other]
    for f in range(len(x)):
        window.X[place, f] = x[f]
    for label in range(len(y)):
        window.Y[place, label] = y[label]
        window.votes[window.marks[p], label] = 1
    window.weights[place], window.errors[place] = weight, 0.0
    window.size[0] = p + 1


@njit(**PART)
def remove(window: Window, p: int, faithful: bool) -> None:
    """Remove the row at a position."""
    size, places, marks = window.size[0], window.places, window.marks
    place, mark = places[p], marks[p]
    if faithful:
        _misplace(window, p)
    for q in range(p, size - 1):
        places[q], marks[q] = places[q + 1], marks[q + 1]
    places[size - 1] = place
    if not faithful:
        marks[size - 1] = mark
    window.size[0] = size - 1


@njit(**PART)
def _misplace(window: Window, p: int) -> None:
    """Leave every later row with the distances to rows before p that belong to the row before it."""
    for later in range(window.size[0] - 2, p - 1, -1):
        one, next_one = window.places[later], window.places[later + 1]
        for q in range(p):
            window.distances[next_one, window.places[q]] = window.distances[one, window.places[q]]


@njit(**PART)
def remove_oldest(window: Window, n: int, faithful: bool, room: Array) -> None:
    """Remove the n oldest rows; `room` holds as many integers as there are rows."""
    size = window.size[0]
    _rotate(window.places, size, n, room, False)
    _rotate(window.marks, size, n, room, faithful)
    window.size[0] = size - n


@njit(**PART)
def _rotate(values: Array, size: int, n: int, room: Array, leaves: bool) -> None:
    """Move values to the front by n; the first n become the last, unless the last are left as they are."""
    for q in range(n):
        room[q] = values[q]
    for q in range(n, size):
        values[q - n] = values[q]
    if not leaves:
        for q in range(n):
            values[size - n + q] = room[q]
