"""Errors and votes of the neighbours of a row whose labels have become known, and the k of each label."""

import math
from typing import NamedTuple

import numpy as np

from estimators._kernels.compile import HOT, PART, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.neighbours._kernels.window import Order, Part, Window, reaches

# the numbers of neighbours that a label may have: 1, 3, 5 and 7
N_KS = 4


class Choice(NamedTuple):
    """The k of each label, and how well each k that it may have has predicted."""

    ks: Array  # int64, (n_labels,): number of neighbours
    hits: Array  # float32, (n_labels, N_KS, n_rows): weight of a row where a k was right, else 0; a ring
    sums: Array  # (n_labels, N_KS): of `hits`
    n_seen: Array  # int64, (n_labels,): rows so far in which the label was known


@njit(**PART)
def punish_neighbours(window: Window, ks: Array, order: Order, y: Array) -> None:
    """Count an error of a neighbour for every label in which it differs from a row."""
    part = Part(0, window.size[0], False)
    for label in range(len(y)):
        count = t = 0
        while y[label] != UNKNOWN and count < ks[label] and reaches(window, order, part, t):
            place = window.places[order.positions[t]]
            t += 1
            value = window.Y[place, label]
            if value != UNKNOWN:
                count += 1
                window.errors[place] += 1.0 if value != y[label] else 0.0


@njit(**PART)
def punish_votes(window: Window, choice: Choice, order: Order, y: Array, weight: float, faithful: bool) -> None:
    """Take the votes of neighbours that were wrong about a row, give them back to those that would be right.

    Every k is tried on the way, and the best one so far becomes that of the label.
    """
    for label in range(len(y)):
        if y[label] != UNKNOWN:
            count, decided = _try_neighbours(window, choice, order, label, y[label], weight, faithful)
            for i in range((count + 1) // 2, N_KS):
                _record(choice, label, i, weight if (decided and not faithful) == (y[label] == 1) else 0.0)
            choice.n_seen[label] += 1
            best = 0
            for i in range(1, N_KS):
                if choice.sums[label, i] > choice.sums[label, best]:
                    best = i
            choice.ks[label] = 2 * best + 1


@njit(**PART)
def _try_neighbours(
    window: Window, choice: Choice, order: Order, label: int, y: int, weight: float, faithful: bool
) -> tuple[int, bool]:
    """Walk over neighbours until as many have voted as the largest k wants; return how many have, and what they say."""
    part, count, t, within_k = Part(0, window.size[0], True), 0, 0, True
    positive = total = 0.0
    while count < 2 * N_KS - 1 and reaches(window, order, part, t):
        p = order.positions[t]
        place, mark = window.places[p], window.marks[p]
        t += 1
        value = window.Y[place, label]
        if value == UNKNOWN:
            continue
        if window.votes[mark, label] == 0:
            if within_k and value == y:
                window.votes[mark, label] = 1
            continue
        count += 1
        total += window.weights[place]
        positive += window.weights[place] * value
        if within_k and value != y:
            window.votes[mark, label] = 0
            errors = window.errors[place]
            window.errors[place] = (math.floor(errors) if faithful else errors) + weight
        if count % 2 == 1:
            is_right = (positive / total >= 0.5) == (y == 1)
            _record(choice, label, count // 2, weight if is_right else 0.0)
        within_k &= count != choice.ks[label]
    return count, count > 0 and positive / total >= 0.5


@njit(**HOT)
def _record(choice: Choice, label: int, i: int, hit: float) -> None:
    """Put a hit, or 0, in the place of the oldest one."""
    place, rounded = choice.n_seen[label] % choice.hits.shape[2], np.float32(hit)
    choice.sums[label, i] += float(rounded) - float(choice.hits[label, i, place])
    choice.hits[label, i, place] = rounded
