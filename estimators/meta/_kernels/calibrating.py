"""Kernels of calibration: maps from the log-odds of a classifier to those of its labels, learnt row by row.

A map adds up log-odds z = log(p / (1 - p)), a bend u = log(4 p (1 - p)) and 1, with a weight for each. Row 0 of a state
is the map of all labels, the others are what each label adds to it, there from the label's usual log-odds on.
"""

import math

from estimators._kernels.compile import HOT, LOOP, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array

# of a map: its information (symmetric, six numbers), its weights, positive rows and rows
N_NUMBERS = 11
_WEIGHTS, _POSITIVES, _ROWS = 6, 9, 10
# slopes never fall below, so that more probable stays more probable
_LEAST_SLOPE = 0.02
_MOST_LOG_ODDS = 30.0
_LOG_4 = math.log(4.0)
# a probability counts as the mean of so many rows, at first and at most, and one row of the label's usual share
_FIRST_ROWS, _MOST_ROWS = 20.0, 300.0
_MOST_STEPS, _TOLERANCE = 30, 1e-6


@njit(**HOT)
def solve(state: Array, place: int, right: Array, found: Array) -> None:
    """Solve a system of three equations, of the information of a map."""
    a, b, c = state[place, 0], state[place, 1], state[place, 2]
    d, e, f = state[place, 3], state[place, 4], state[place, 5]
    first, second, third = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * first + b * second + c * third)
    middle, last, both = a * f - c * c, a * d - b * b, b * c - a * e
    x, y, z = right[0] * scale, right[1] * scale, right[2] * scale
    found[0] = first * x + second * y + third * z
    found[1] = second * x + middle * y + both * z
    found[2] = third * x + both * y + last * z


@njit(**HOT)
def forget(state: Array, place: int, prior: Array, share: float, room: Array) -> None:
    """Replace a share of what a map has learnt by what it knew before any row, in place.

    `prior` holds weights and their information, which are independent.
    """
    for number in range(6):
        state[place, number] *= 1.0 - share
    state[place, 0] += share * prior[1, 0]
    state[place, 3] += share * prior[1, 1]
    state[place, 5] += share * prior[1, 2]
    for part in range(3):
        room[1, part] = prior[1, part] * (state[place, _WEIGHTS + part] - prior[0, part])
    solve(state, place, room[1], room[2])
    for part in range(3):
        state[place, _WEIGHTS + part] -= share * room[2, part]


@njit(**HOT)
def inform(state: Array, place: int, terms: Array, error: float, curvature: float, moved: Array) -> None:
    """Move a map by an error along a direction, and add the information of the row, in place."""
    for part in range(3):
        state[place, _WEIGHTS + part] += error * moved[part]
    for part in range(3):
        state[place, part] += curvature * terms[0] * terms[part]
    state[place, 3] += curvature * terms[1] * terms[1]
    state[place, 4] += curvature * terms[1] * terms[2]
    state[place, 5] += curvature * terms[2] * terms[2]


@njit(**HOT)
def limit(state: Array, place: int, slope: float, bend: float) -> None:
    """Move the slope of a map, then its bend, to where their sums with others are within limits, in place.

    The weights after it become the most probable ones beside it, given what the map knows. Beyond the limits, rows
    would go on to move weights that change nothing any more.
    """
    b, c = state[place, 1], state[place, 2]
    d, e, f = state[place, 3], state[place, 4], state[place, 5]
    missing = _LEAST_SLOPE - slope - state[place, _WEIGHTS]
    if missing > 0.0:
        state[place, _WEIGHTS] += missing
        state[place, _WEIGHTS + 1] -= missing * (f * b - e * c) / (d * f - e * e)
        state[place, _WEIGHTS + 2] -= missing * (d * c - e * b) / (d * f - e * e)
    most = slope + state[place, _WEIGHTS] - _LEAST_SLOPE
    now = bend + state[place, _WEIGHTS + 1]
    moved = min(max(now, -most), most) - now
    if moved != 0.0:
        state[place, _WEIGHTS + 1] += moved
        state[place, _WEIGHTS + 2] -= moved * e / f


@njit(**HOT)
def describe(score: float, state: Array, place: int, bends: bool, terms: Array) -> None:
    """Fill in the terms of a probability, (2, 3), for all labels and for its own."""
    rows = state[place, _ROWS]
    usual = (state[place, _POSITIVES] + 0.5) / (rows + 1.0)
    score += (usual - score) / (min(rows + _FIRST_ROWS, _MOST_ROWS) + 1.0)
    logs, rests = math.log(score), math.log(1.0 - score)
    usual_logs, usual_rests = math.log(usual), math.log(1.0 - usual)
    terms[0, 0], terms[1, 0] = logs - rests, logs - rests - usual_logs + usual_rests
    terms[0, 1] = terms[1, 1] = 0.0
    if bends:
        terms[0, 1], terms[1, 1] = logs + rests + _LOG_4, logs + rests - usual_logs - usual_rests
    terms[0, 2] = terms[1, 2] = 1.0


@njit(**HOT)
def total(state: Array, place: int, terms: Array) -> float:
    """Return the calibrated log-odds."""
    slope = max(state[0, _WEIGHTS] + state[place, _WEIGHTS], _LEAST_SLOPE)
    bend = state[0, _WEIGHTS + 1] + state[place, _WEIGHTS + 1]
    bend = min(max(bend, _LEAST_SLOPE - slope), slope - _LEAST_SLOPE)
    added = state[0, _WEIGHTS + 2] + state[place, _WEIGHTS + 2]
    for part in range(2):
        # where the label is as probable as usual, limits of slopes change nothing
        added += state[0, _WEIGHTS + part] * (terms[0, part] - terms[1, part])
    return added + slope * terms[1, 0] + bend * terms[1, 1]


@njit(**HOT)
def logistic(log_odds: float) -> float:
    """Return the probability of log-odds, strictly inside (0, 1)."""
    return 1.0 / (1.0 + math.exp(-min(max(log_odds, -_MOST_LOG_ODDS), _MOST_LOG_ODDS)))


@njit(**HOT)
def learn_cell(log_odds: float, y: float, weight: float, state: Array, place: int, terms: Array, room: Array) -> None:
    """Move both maps of a label to where the label of a row is most probable, given what they knew, in place."""
    solve(state, 0, terms[0], room[1])
    solve(state, place, terms[1], room[2])
    variance = 0.0
    for part in range(3):
        variance += weight * (terms[0, part] * room[1, part] + terms[1, part] * room[2, part])
    # Newton's method, from the end of its bracket that is next to the steepest point, cannot overshoot
    far = log_odds + variance * (2.0 * y - 1.0)
    found = min(max(0.0, min(log_odds, far)), max(log_odds, far))
    for _ in range(_MOST_STEPS):
        proba = logistic(found)
        step = (found - log_odds - variance * (y - proba)) / (1.0 + variance * proba * (1.0 - proba))
        found -= step
        if abs(step) < _TOLERANCE:
            break
    proba = logistic(found)
    error = y - proba
    curvature = weight * proba * (1.0 - proba)
    inform(state, 0, terms[0], weight * error, curvature, room[1])
    inform(state, place, terms[1], weight * error, curvature, room[2])
    limit(state, 0, 0.0, 0.0)
    limit(state, place, state[0, _WEIGHTS], state[0, _WEIGHTS + 1])
    state[place, _POSITIVES] += weight * y
    state[place, _ROWS] += weight


@njit(**HOT)
def learn_row(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    Y: Array,
    counted: Array,
    row: int,
    weight: float,
    state: Array,
    priors: Array,
    share: float,
    terms: Array,
    room: Array,
) -> None:
    """Learn the cells of a row that count, in place."""
    is_first = True
    for label in range(Y.shape[1]):
        counts = counted[row, label] if len(counted) else Y[row, label] != UNKNOWN
        if counts:
            if is_first:
                forget(state, 0, priors[0], share, room)
                is_first = False
            forget(state, label + 1, priors[1], share, room)
            y = 1.0 if Y[row, label] == 1 else 0.0
            # the labels before it have moved the map of all labels
            learn_cell(total(state, label + 1, terms[label]), y, weight, state, label + 1, terms[label], room)


@njit(**HOT)
def are_probabilities(scores: Array) -> bool:
    """Return whether all scores are in [0, 1], which NaN is not."""
    for row in range(len(scores)):
        for label in range(scores.shape[1]):
            if not 0.0 <= scores[row, label] <= 1.0:
                return False
    return True


@Direct
@njit(**LOOP)
def calibrate(scores: Array, state: Array, bends: bool, terms: Array, proba: Array) -> bool:
    """Fill in the calibrated probabilities of rows, by the same maps; return False if a score is not a probability."""
    if not are_probabilities(scores):
        return False
    for row in range(len(scores)):
        for label in range(scores.shape[1]):
            describe(scores[row, label], state, label + 1, bends, terms)
            proba[row, label] = logistic(total(state, label + 1, terms))
    return True


@Direct
@njit(**LOOP)
def calibrate_then_learn(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    scores: Array,
    Y: Array,
    counted: Array,
    weight: Array,
    state: Array,
    priors: Array,
    share: float,
    bends: bool,
    terms: Array,
    room: Array,
    proba: Array,
) -> bool:
    """Fill in the calibrated probabilities of each row by the rows before it, then learn its labels, in place.

    Return False, and learn nothing, if scores are not probabilities. Without rows in `counted` all cells that are known
    count; without any in `weight` rows are alike. `priors`, (2, 2, 3), are those of the map of all labels and of what a
    label adds; `share` of what a map knows is forgotten with each row that counts for it; `terms`, (n_labels, 2, 3),
    and `room`, (3, 3), are to work in.
    """
    if not are_probabilities(scores):
        return False
    for row in range(len(scores)):
        for label in range(scores.shape[1]):
            describe(scores[row, label], state, label + 1, bends, terms[label])
            proba[row, label] = logistic(total(state, label + 1, terms[label]))
        row_weight = weight[row] if len(weight) else 1.0
        if row_weight > 0.0:
            learn_row(Y, counted, row, row_weight, state, priors, share, terms, room)
    return True
