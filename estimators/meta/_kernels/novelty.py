"""Kernels of novelty: how unusual rows are beside all before them, and how often rows carried no known label."""

import math
from typing import NamedTuple, Self

import numpy as np

from estimators._kernels.compile import HOT, LOOP, Direct, njit
from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array
from estimators.meta._kernels.calibrating import are_probabilities

# Labels of a row tell nothing, a known label, that it has none, or only that it has none of some.
NOTHING, LABELLED, UNLABELLED, PARTLY = 0, 1, 2, 3
# The counts: rows learnt, rows that told, those of them without a known label, and the recent share of these.
LEARNT, TOLD, BARE, RECENT, N_COUNTS = range(5)
# Rows between two factorisations, and before the first.
STEP = 50
# Rows of which the recent share is the mean, about; and rows at the share of all that are added to it.
MEMORY, ADDED = 20.0, 2.0
# Positions are within +-FARTHEST, so that sums of their products are finite.
FARTHEST = 1e100
# So many deviations from the mean have a square that is finite.
MOST_DEVIATIONS = 1e50
# A variance below this share of the mean square is rounding, and the position a constant.
NO_VARIANCE = 1e-10
# Least share of the usual distance.
LEAST = 1e-9
# Greatest probability that a label is there.
SUREST = 1.0 - 1e-6


class State(NamedTuple):
    """Sums over the rows learnt; kernels change the arrays in place."""

    counts: Array  # (N_COUNTS,)
    mean: Array  # (n_places,)
    moment: Array  # (n_places, n_places): upper triangle of the products of deviations
    factor: Array  # (n_places, n_places): upper triangle
    scale: Array  # (n_places,): inverse deviations, 0 for a constant
    rest: Array  # (n_places,): scratch

    @classmethod
    def start(cls, n_places: int) -> Self:
        """Start from no row."""
        counts = np.zeros(N_COUNTS)
        counts[RECENT] = 0.5
        table, row = np.zeros((n_places, n_places)), np.zeros(n_places)
        return cls(counts, row, table, table.copy(), row.copy(), row.copy())

    def copy(self) -> "State":
        """Return a copy that shares nothing."""
        return State(*(part.copy() for part in self))


@njit(**HOT)
def tell(Y: Array, counted: Array, row: int) -> int:
    """Return what the labels of a row tell."""
    n_known = 0
    for label in range(Y.shape[1]):
        counts = counted[row, label] if len(counted) else Y[row, label] != UNKNOWN
        if counts:
            if Y[row, label] == 1:
                return LABELLED
            n_known += 1
    if n_known == 0:
        return NOTHING
    return UNLABELLED if n_known == Y.shape[1] else PARTLY


@njit(**HOT)
def held(position: float) -> float:
    """Return a position within reach."""
    return position if abs(position) <= FARTHEST else math.copysign(FARTHEST, position)


@njit(**HOT)
def usual_distance(place: Array, state: State) -> float:
    """Return the squared distance of a row from the mean of all, in units of what is usual; 1 before it is known."""
    if state.counts[LEARNT] < STEP:
        return 1.0
    mean, factor, scale, rest = state.mean, state.factor, state.scale, state.rest
    n_places, total, n_varying = len(place), 0.0, 0
    for i in range(n_places):
        rest[i] = min(max((held(place[i]) - mean[i]) * scale[i], -MOST_DEVIATIONS), MOST_DEVIATIONS)
    for i in range(n_places):
        if scale[i] > 0.0:
            along = rest[i] / factor[i, i]
            for j in range(i + 1, n_places):
                rest[j] -= along * factor[i, j]
            total += along * along
            n_varying += 1
    return max(total / max(n_varying, 1), LEAST)


@njit(**HOT)
def learn_place(place: Array, state: State) -> None:
    """Add the row that was counted last to the mean and the products of deviations, in place."""
    n_rows, mean, moment, rest = state.counts[LEARNT], state.mean, state.moment, state.rest
    n_places = len(place)
    for i in range(n_places):
        rest[i] = held(place[i]) - mean[i]
        mean[i] += rest[i] / n_rows
    for i in range(n_places):
        deviation = rest[i] * (n_rows - 1.0) / n_rows
        for j in range(i, n_places):
            moment[i, j] += deviation * rest[j]


@njit(**HOT)
def factorise(state: State) -> None:
    """Fill in inverse deviations, and the upper factor of the correlations with a ridge of n_places / n_rows."""
    n_rows, mean, moment = state.counts[LEARNT], state.mean, state.moment
    factor, scale, n_places = state.factor, state.scale, len(mean)
    for i in range(n_places):
        variance = moment[i, i] / n_rows
        varies = variance > NO_VARIANCE * (variance + mean[i] * mean[i])
        scale[i] = 1.0 / math.sqrt(variance) if varies else 0.0
    for i in range(n_places):
        for j in range(i, n_places):
            factor[i, j] = moment[i, j] / n_rows * scale[i] * scale[j]
        factor[i, i] = 1.0 + n_places / n_rows
    for k in range(n_places):
        factor[k, k] = math.sqrt(factor[k, k])
        for j in range(k + 1, n_places):
            factor[k, j] /= factor[k, k]
        for i in range(k + 1, n_places):
            part = factor[k, i]
            for j in range(i, n_places):
                factor[i, j] -= part * factor[k, j]


@njit(**HOT)
def score_row(proba: Array, row: int, counts: Array, distance: float, of_classes: bool) -> float:
    """Return the novelty of a row."""
    if of_classes:
        return math.log(distance)
    share = (counts[BARE] + 0.5) / (counts[TOLD] + 1.0)
    recent = (MEMORY * counts[RECENT] + ADDED * share) / (MEMORY + ADDED)
    none = 0.0
    for label in range(proba.shape[1]):
        none += math.log(1.0 - min(proba[row, label], SUREST))
    weight = share * share
    return (1.0 - weight) * math.log(recent) + 0.5 * (1.0 - share) * none + weight * math.log(distance)


@njit(**HOT)
def count(told: int, counts: Array) -> None:
    """Count whether a row carries no known label, in place."""
    if told in (LABELLED, UNLABELLED):
        bare = 1.0 if told == UNLABELLED else 0.0
        counts[TOLD] += 1.0
        counts[BARE] += bare
        counts[RECENT] += (bare - counts[RECENT]) / min(counts[TOLD] + 1.0, MEMORY)


@Direct
@njit(**LOOP)
def measure(places: Array, proba: Array, state: State, of_classes: bool, novelty: Array) -> bool:
    """Fill in the novelty of rows beside what was learnt; return False if `proba` holds what is not a probability."""
    if not are_probabilities(proba):
        return False
    for row in range(len(places)):
        distance = usual_distance(places[row], state)
        novelty[row] = score_row(proba, row, state.counts, distance, of_classes)
    return True


@Direct
@njit(**LOOP)
def measure_then_learn(  # noqa: PLR0913, PLR0917 - arrays in, arrays out
    places: Array,
    proba: Array,
    Y: Array,
    counted: Array,
    weight: Array,
    state: State,
    of_classes: bool,
    novelty: Array,
    told: Array,
    scales: Array,
) -> bool:
    """Fill in the novelty of each row by those before it, and what its labels tell; then learn it, in place.

    Return False, and learn nothing, if `proba` holds what is not a probability. Without rows in `counted` all labels
    that are known count; without any in `weight` all rows do, else those of some weight. `scales` has room for the
    inverse deviations after every 50 rows learnt.
    """
    counts = state.counts
    if not are_probabilities(proba):
        return False
    n_scales = 0
    for row in range(len(places)):
        distance = usual_distance(places[row], state)
        novelty[row] = score_row(proba, row, state.counts, distance, of_classes)
        told[row] = tell(Y, counted, row) if len(weight) == 0 or weight[row] > 0.0 else NOTHING
        if told[row] != NOTHING:
            count(told[row], counts)
            counts[LEARNT] += 1.0
            learn_place(places[row], state)
            if counts[LEARNT] % STEP == 0:
                factorise(state)
                for i in range(places.shape[1]):
                    scales[n_scales, i] = state.scale[i]
                n_scales += 1
    return True
