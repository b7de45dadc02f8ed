"""Kernels of prediction sets: thresholds of scores that as many rows exceed as they may, learnt row by row.

The score of a value of a cell is the log-odds against it. A state has a tracker in each row: the threshold of each
rate, the weight of each rate, and three numbers.
"""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.meta._kernels.calibrating import are_probabilities

ABSENT, PRESENT, OPEN, EMPTY = 0, 1, -1, -2
RATES = np.array([0.01, 0.03, 0.1, 0.3, 1.0])
N_RATES = 5
# how fast weights follow losses, and the share of them that is dealt out again
HASTE, SHARED = 1.0, 0.001
# what a miss moves the threshold by, for good
GAIN = 0.05
# scores are between -REACH and REACH: probabilities from 1e-7 to 1 - 1e-7
REACH = math.log(1e7 - 1.0)
# how fast the late size of sets follows
LATE = 0.001
# The counts: rows or cells, those whose truth was held, cells, their values, and both with old ones fading.
UNITS, HELD, CELLS, VALUES, LATE_CELLS, LATE_VALUES, N_COUNTS = range(7)
SUM, SEEN, THRESHOLD, N_NUMBERS = 2 * N_RATES, 2 * N_RATES + 1, 2 * N_RATES + 2, 2 * N_RATES + 3


@njit(**HOT)
def log_odds(proba: float) -> float:
    """Return log-odds, within reach."""
    if proba <= 1e-7:
        return -REACH
    if proba >= 1.0 - 1e-7:
        return REACH
    return math.log(proba / (1.0 - proba))


@njit(**HOT)
def set_of(odds: float, absent: float, present: float) -> int:
    """Return the code of the values that are within their thresholds."""
    if -odds <= present:
        return OPEN if odds <= absent else PRESENT
    return ABSENT if odds <= absent else EMPTY


@njit(**HOT)
def follow(score: float, alpha: float, state: Array, place: int) -> None:
    """Move the thresholds of all rates, and weigh them by how well they were placed, in place."""
    total = 0.0
    for rate in range(N_RATES):
        above = score - state[place, rate]
        loss = (1.0 - alpha) * above if above > 0.0 else -alpha * above
        state[place, N_RATES + rate] *= math.exp(-HASTE * loss)
        total += state[place, N_RATES + rate]
        state[place, rate] += RATES[rate] * ((1.0 if above > 0.0 else 0.0) - alpha)
    for rate in range(N_RATES):
        share = state[place, N_RATES + rate] / total
        state[place, N_RATES + rate] = (1.0 - SHARED) * share + SHARED / N_RATES


@njit(**HOT)
def learn_score(score: float, alpha: float, first: float, state: Array, place: int) -> None:
    """Move a tracker by the score of a row, in place; of the `first` scores it keeps the greatest."""
    missed = 1.0 if score > state[place, THRESHOLD] else 0.0
    state[place, SUM] += GAIN * (missed - alpha)
    if state[place, SEEN] < first:
        for rate in range(N_RATES):
            state[place, rate] = max(state[place, rate], score)
    else:
        follow(score, alpha, state, place)
    state[place, SEEN] += 1.0
    if state[place, SEEN] >= first:
        threshold = state[place, SUM]
        for rate in range(N_RATES):
            threshold += state[place, N_RATES + rate] * state[place, rate]
        state[place, THRESHOLD] = threshold


@njit(**HOT)
def learn_row(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    scores: Array,
    Y: Array,
    counted: Array,
    row: int,
    state: Array,
    places: Array,
    alphas: Array,
    firsts: Array,
    whole: bool,
) -> None:
    """Learn the cells of a row that count, in place, or the worst of them for a set of whole rows."""
    worst, any_counts = -REACH, False
    for label in range(Y.shape[1]):
        counts = counted[row, label] if len(counted) else Y[row, label] != UNKNOWN
        if counts:
            value = 1 if Y[row, label] == 1 else 0
            odds = log_odds(scores[row, label])
            score = -odds if value else odds
            if whole:
                worst, any_counts = max(worst, score), True
            else:
                learn_score(score, alphas[value], firsts[value], state, places[label, value])
    if any_counts:
        learn_score(worst, alphas[0], firsts[0], state, 0)


@njit(**HOT)
def fill_row(scores: Array, row: int, state: Array, places: Array, sets: Array) -> None:
    """Fill in the sets of a row."""
    for label in range(scores.shape[1]):
        absent, present = state[places[label, 0], THRESHOLD], state[places[label, 1], THRESHOLD]
        sets[row, label] = set_of(log_odds(scores[row, label]), absent, present)


@njit(**HOT)
def n_values(code: int) -> float:
    """Return the number of values in a set."""
    if code == OPEN:
        return 2.0
    return 0.0 if code == EMPTY else 1.0


@njit(**HOT)
def count_row(Y: Array, counted: Array, row: int, sets: Array, whole: bool, tally: Array) -> None:
    """Count the sets of a row, and those that hold the truth, in place."""
    n_cells, n_held, values = 0.0, 0.0, 0.0
    for label in range(Y.shape[1]):
        counts = counted[row, label] if len(counted) else Y[row, label] != UNKNOWN
        if counts:
            code, value = sets[row, label], PRESENT if Y[row, label] == 1 else ABSENT
            n_cells += 1.0
            values += n_values(code)
            if code in (OPEN, value):
                n_held += 1.0
    if n_cells > 0.0:
        unit = n_cells if whole else 1.0
        tally[UNITS] += n_cells / unit
        tally[HELD] += math.floor(n_held / unit)
        tally[CELLS] += n_cells
        tally[VALUES] += values
        tally[LATE_CELLS] += n_cells - LATE * tally[LATE_CELLS]
        tally[LATE_VALUES] += values - LATE * tally[LATE_VALUES]


@Direct
@njit(**LOOP)
def cover(scores: Array, state: Array, places: Array, sets: Array) -> bool:
    """Fill in the sets of rows, by the same thresholds; return False if a score is not a probability."""
    if not are_probabilities(scores):
        return False
    for row in range(len(scores)):
        fill_row(scores, row, state, places, sets)
    return True


@Direct
@njit(**LOOP)
def cover_then_learn(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    scores: Array,
    Y: Array,
    counted: Array,
    weight: Array,
    state: Array,
    places: Array,
    alphas: Array,
    firsts: Array,
    whole: bool,
    sets: Array,
    tally: Array,
) -> bool:
    """Fill in the sets of each row by the rows before it, then learn its labels, and count both, in place.

    Return False, and learn nothing, if scores are not probabilities. Without rows in `counted` all cells that are known
    count; without any in `weight` all rows do, else those of some weight. `places`, (n_labels, 2), are the trackers of
    the values 0 and 1 of a label; `alphas` the shares of rows that may miss them, and `firsts` the numbers of rows
    without a threshold.
    """
    if not are_probabilities(scores):
        return False
    for row in range(len(scores)):
        fill_row(scores, row, state, places, sets)
        if len(weight) == 0 or weight[row] > 0.0:
            learn_row(scores, Y, counted, row, state, places, alphas, firsts, whole)
            count_row(Y, counted, row, sets, whole, tally)
    return True
