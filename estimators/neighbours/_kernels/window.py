"""A window of rows in arrays of fixed size: their order in time, distances, labels that vote, and errors."""

from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array

# smaller ranges of a feature, whose reciprocal overflows, count as none
TINY = float(np.finfo(np.float64).tiny)


# earlier rows that each row remembers as its nearest: with more, fewer searches go on to the whole window
N_NEAR = 48


class Window(NamedTuple):
    """Rows, each at a place of the arrays that it keeps for as long as it is there."""

    size: Array  # int64, (1,): number of rows
    places: Array  # int64, (capacity,): places of the rows, oldest first, then the free places
    positions: Array  # int64, (capacity,): for each place, where `places` names it
    marks: Array  # int64, (capacity,): lines of `votes` of the rows, in the same order
    X: Array  # (capacity, n_features), by place
    Y: Array  # (capacity, n_labels), by place: 0, 1 or `UNKNOWN`
    weights: Array  # (capacity,), by place
    errors: Array  # (capacity,), by place: errors so far
    n_known: Array  # (capacity,), by place: number of labels that are known
    votes: Array  # uint8, (capacity, n_labels): whether a row votes for a label
    distances: Array  # (capacity, capacity): from the row at a place to an older one, taken when it arrived
    near: Array  # int32, (capacity, N_NEAR): places of the rows nearest when it arrived, nearest first, then -1
    low: Array  # (n_features,): least value so far, 0 at first
    high: Array  # (n_features,): greatest value so far, 0 at first
    scales: Array  # (n_features,): 1 / (high - low), or 0 where these are equal


class Order(NamedTuple):
    """The rows of a window in the order of their distances to one row, as far as they are sorted."""

    found: Array  # (capacity,): distance of the row at each place
    positions: Array  # (capacity,): in the window, nearest first
    distances: Array  # (capacity,): in the same order
    size: Array  # int64, (1,): number of rows that are sorted


class Part(NamedTuple):
    """Positions begin to end - 1 of a window, and whether the younger of equally distant rows comes first."""

    begin: int
    end: int
    younger: bool


@njit(**PART, fastmath={"reassoc", "nsz"})
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
        if x[f] < window.low[f]:
            window.low[f] = x[f]
        else:
            window.high[f] = x[f]
        span = window.high[f] - window.low[f]
        window.scales[f] = 1.0 / span if span >= TINY else 0.0
        changed = True
    return changed


@njit(**PART)
def sort_nearest(window: Window, order: Order, part: Part, n: int) -> None:
    """Sort the n nearest rows of a part of the window, or all if there are fewer."""
    found, positions, distances, places = order.found, order.positions, order.distances, window.places
    n, size = n if n < part.end - part.begin else part.end - part.begin, 0
    for step in range(part.end - part.begin):
        p = part.end - 1 - step if part.younger else part.begin + step
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


@njit(**PART)
def recall_nearest(window: Window, order: Order, part: Part, n: int) -> None:
    """Do what `sort_nearest` does for the row behind a part, the older of equal ones first, from what it remembers.

    Fewer than n rows are found where the row does not remember enough of those in the part. Places of rows that are
    gone are free, or those of younger rows, and so behind the part.
    """
    near, size, i = window.near[window.places[part.end]], 0, 0
    while size < n and i < N_NEAR and near[i] >= 0:
        p = window.positions[near[i]]
        i += 1
        if part.begin <= p < part.end:
            order.positions[size] = p
            size += 1
    order.size[0] = size


@njit(**HOT)
def reaches(window: Window, order: Order, part: Part, t: int) -> bool:
    """Return whether there is a t-th nearest row, counted from 0; sort more rows if need be."""
    if t < order.size[0]:
        return True
    if t >= part.end - part.begin:
        return False
    sort_nearest(window, order, part, 4 * (t + 1))
    return True


@njit(**HOT)
def count_votes(window: Window, order: Order, part: Part, label: int, k: int) -> tuple[float, float, int]:
    """Return the weight of the k nearest rows that vote and have the label, of all k, and how many there are."""
    positive, total, count, t = 0.0, 0.0, 0, 0
    while count < k and reaches(window, order, part, t):
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
def append(window: Window, x: Array, y: Array, weight: float, scaled: Array, order: Order) -> None:
    """Add a row, whose distances to the others are those of `order` unless it widens the ranges."""
    p = window.size[0]
    place = window.places[p]
    if widen_ranges(window, x):
        measure(window, x, scaled, order.found)
    for q in range(p):
        other = window.places[q]
        window.distances[place, other] = order.found[other]
    sort_nearest(window, order, Part(0, p, False), N_NEAR)
    for i in range(N_NEAR):
        window.near[place, i] = window.places[order.positions[i]] if i < order.size[0] else -1
    for f in range(len(x)):
        window.X[place, f] = x[f]
    window.n_known[place] = 0
    for label in range(len(y)):
        window.Y[place, label] = y[label]
        window.n_known[place] += y[label] != UNKNOWN
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
    _number(window, p, size)
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
    _number(window, 0, size)
    window.size[0] = size - n


@njit(**HOT)
def _number(window: Window, begin: int, end: int) -> None:
    """Write for the places of positions begin to end - 1 which these are."""
    for q in range(begin, end):
        window.positions[window.places[q]] = q


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
