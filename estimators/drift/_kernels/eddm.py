"""The early drift detection method (EDDM): errors follow each other at shorter distances than they did at best."""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, njit
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE, WARNING

# in a state: values, errors, place of the last one; mean and squared deviations of distances; their largest sum of mean
# and two deviations; the signal that lasts
N, N_ERRORS, LAST, MEAN, SQUARES, LARGEST, SIGNAL, SIZE = 0, 1, 2, 3, 4, 5, 6, 7
# settings
WARM_UP, WARNING_AT, DRIFT_AT = 0, 1, 2


def new_states(n_streams: int) -> Array:
    """Return states before any value."""
    states = np.zeros((n_streams, SIZE))
    states[:, LARGEST] = -1.0
    return states


@njit(**LOOP)
def run(states: Array, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                signals[row, stream] = _step(states[stream], values[row, stream], settings[stream])


@njit(**HOT)
def _step(state: Array, value: float, settings: Array) -> int:
    state[N] += 1.0
    if value == 1.0:
        _add_distance(state)
        if state[N] > settings[WARM_UP]:
            state[SIGNAL] = _compare(state, settings)
        state[LAST] = state[N]
    signal = int(state[SIGNAL])
    if signal == DRIFT:
        state[:] = 0.0
        state[LARGEST] = -1.0
    return signal


@njit(**HOT)
def _add_distance(state: Array) -> None:
    state[N_ERRORS] += 1.0
    before = state[MEAN]
    distance = state[N] - state[LAST]
    state[MEAN] += (1.0 / state[N_ERRORS]) * (distance - before)
    state[SQUARES] += (distance - before) * (distance - state[MEAN])


@njit(**HOT)
def _compare(state: Array, settings: Array) -> float:
    """Compare the distances with the largest ones; the signal stays if they are the largest, or errors are few."""
    variance = state[SQUARES] / (state[N_ERRORS] - 1.0) if state[N_ERRORS] > 1.0 else 0.0
    level = state[MEAN] + 2.0 * math.sqrt(variance)
    if level > state[LARGEST]:
        state[LARGEST] = level
        return float(state[SIGNAL])
    if state[N_ERRORS] <= settings[WARM_UP]:
        return float(state[SIGNAL])
    share = level / state[LARGEST]
    if share < settings[DRIFT_AT]:
        return float(DRIFT)
    return float(WARNING) if share < settings[WARNING_AT] else float(NONE)
