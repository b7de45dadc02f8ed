"""The test of Page and Hinkley: faded sums of deviations from the mean leave their extremes."""

import numpy as np

from estimators._kernels.compile import HOT, LOOP, njit
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE

# in a state: values, their mean; the sum that finds an increase and its minimum; that of a decrease and its maximum
N, MEAN, UP, LOWEST, DOWN, HIGHEST, SIZE = 0, 1, 2, 3, 4, 5, 6
# settings; the last two are 1 or 0
WARM_UP, TOLERANCE, THRESHOLD, FADING, FINDS_UP, FINDS_DOWN = 0, 1, 2, 3, 4, 5
# as in River
_FIRST_HIGHEST = -1.0


def new_states(n_streams: int) -> Array:
    """Return states before any value."""
    states = np.zeros((n_streams, SIZE))
    states[:, LOWEST], states[:, HIGHEST] = np.inf, _FIRST_HIGHEST
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
    deviation = value - state[MEAN]
    state[UP] = settings[FADING] * state[UP] + deviation - settings[TOLERANCE]
    state[DOWN] = settings[FADING] * state[DOWN] + deviation + settings[TOLERANCE]
    state[LOWEST] = min(state[LOWEST], state[UP])
    state[HIGHEST] = max(state[HIGHEST], state[DOWN])
    if state[N] < settings[WARM_UP] or not _has_left(state, settings):
        return NONE
    state[:] = 0.0
    state[LOWEST], state[HIGHEST] = np.inf, _FIRST_HIGHEST
    return DRIFT


@njit(**HOT)
def _has_left(state: Array, settings: Array) -> bool:
    risen = settings[FINDS_UP] > 0.0 and state[UP] - state[LOWEST] > settings[THRESHOLD]
    fallen = settings[FINDS_DOWN] > 0.0 and state[HIGHEST] - state[DOWN] > settings[THRESHOLD]
    return bool(risen or fallen)
