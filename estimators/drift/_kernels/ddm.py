"""The drift detection method (DDM): the error exceeds its minimum by several standard deviations."""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, njit
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE, WARNING

# in a state: values, their mean, and mean and deviation at the least sum of both
N, MEAN, LEAST_MEAN, LEAST_DEVIATION, SIZE = 0, 1, 2, 3, 4
# settings
WARM_UP, WARNING_AT, DRIFT_AT = 0, 1, 2


def new_states(n_streams: int) -> Array:
    """Return states before any value."""
    states = np.zeros((n_streams, SIZE))
    states[:, LEAST_DEVIATION] = np.inf
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
    state[MEAN] += (1.0 / state[N]) * (value - state[MEAN])
    mean = state[MEAN]
    if state[N] <= settings[WARM_UP]:
        return NONE
    deviation = math.sqrt(mean * (1.0 - mean) / state[N])
    if mean + deviation <= state[LEAST_MEAN] + state[LEAST_DEVIATION]:
        state[LEAST_MEAN], state[LEAST_DEVIATION] = mean, deviation
    if mean + deviation > state[LEAST_MEAN] + settings[DRIFT_AT] * state[LEAST_DEVIATION]:
        state[:] = 0.0
        state[LEAST_DEVIATION] = np.inf
        return DRIFT
    return WARNING if mean + deviation > state[LEAST_MEAN] + settings[WARNING_AT] * state[LEAST_DEVIATION] else NONE
