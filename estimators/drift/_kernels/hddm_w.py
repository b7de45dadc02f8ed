"""HDDM-W: by McDiarmid's inequality, the weighted mean differs from the one before a cut where it was extreme."""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, njit
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE, WARNING

# A state holds weighted means, three numbers each: values, mean, and sum of squared weights; of all values, and before
# and after the cuts that find an increase and a decrease. Then the bounds at both cuts.
ALL, UP_BEFORE, UP_AFTER, DOWN_BEFORE, DOWN_AFTER, UP_CUT, DOWN_CUT, SIZE = 0, 3, 6, 9, 12, 15, 16, 17
N, MEAN, SQUARES = 0, 1, 2
# settings: two confidences, the weight of the latest value, and whether a decrease counts (1 or 0)
DRIFT_AT, WARNING_AT, DECAY, TWO_SIDED = 0, 1, 2, 3


def new_states(n_streams: int) -> Array:
    """Return states before any value."""
    states = np.zeros((n_streams, SIZE))
    for state in states:
        _reset(state)
    return states


@njit(**LOOP)
def run(states: Array, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                signals[row, stream] = _step(states[stream], values[row, stream], settings[stream])


@njit(**LOOP)
def _reset(state: Array) -> None:
    state[:] = 0.0
    for mean in range(ALL, UP_CUT, 3):
        state[mean + SQUARES] = 1.0
    state[UP_CUT], state[DOWN_CUT] = np.inf, -np.inf


@njit(**HOT)
def _step(state: Array, value: float, settings: Array) -> int:
    _add(state, ALL, value, settings[DECAY])
    bound = _bound(state[ALL + SQUARES], settings[DRIFT_AT])
    if state[ALL + MEAN] + bound < state[UP_CUT]:
        state[UP_CUT] = state[ALL + MEAN] + bound
        _cut(state, UP_BEFORE, UP_AFTER)
    else:
        _add(state, UP_AFTER, value, settings[DECAY])
    if state[ALL + MEAN] - bound > state[DOWN_CUT]:
        state[DOWN_CUT] = state[ALL + MEAN] - bound
        _cut(state, DOWN_BEFORE, DOWN_AFTER)
    else:
        _add(state, DOWN_AFTER, value, settings[DECAY])
    signal = _compare(state, UP_BEFORE, UP_AFTER, settings)
    if settings[TWO_SIDED] > 0.0:
        signal = max(signal, _compare(state, DOWN_AFTER, DOWN_BEFORE, settings))
    if signal == DRIFT:
        _reset(state)
    return signal


@njit(**HOT)
def _add(state: Array, mean: int, value: float, decay: float) -> None:
    before = state[mean + MEAN]
    state[mean + MEAN] = value if state[mean + N] == 0.0 else decay * value + (1.0 - decay) * before
    state[mean + N] += 1.0
    state[mean + SQUARES] = decay * decay + (1.0 - decay) ** 2 * state[mean + SQUARES]


@njit(**HOT)
def _cut(state: Array, before: int, after: int) -> None:
    for part in range(3):
        state[before + part] = state[ALL + part]
    state[after + N] = state[after + MEAN] = 0.0
    state[after + SQUARES] = 1.0


@njit(**HOT)
def _bound(squares: float, confidence: float) -> float:
    return math.sqrt(squares * math.log(1.0 / confidence) / 2.0)


@njit(**HOT)
def _compare(state: Array, lower: int, upper: int, settings: Array) -> int:
    """Compare two weighted means; either is unknown before its first value."""
    if state[lower + N] == 0.0 or state[upper + N] == 0.0:
        return NONE
    squares = state[lower + SQUARES] + state[upper + SQUARES]
    difference = state[upper + MEAN] - state[lower + MEAN]
    if difference > _bound(squares, settings[DRIFT_AT]):
        return DRIFT
    return WARNING if difference > _bound(squares, settings[WARNING_AT]) else NONE
