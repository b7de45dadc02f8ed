"""DDM, EDDM and the test of Page and Hinkley: an error, a distance or a sum has left its extreme."""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, njit
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE, WARNING

# in a state of DDM: values, their mean, and mean and deviation at the least sum of both
N, MEAN, LEAST_MEAN, LEAST_DEVIATION, DDM_SIZE = 0, 1, 2, 3, 4
# settings of DDM and EDDM
WARM_UP, WARNING_AT, DRIFT_AT = 0, 1, 2


def new_ddm_states(n_streams: int) -> Array:
    """Return states before any value."""
    states = np.zeros((n_streams, DDM_SIZE))
    states[:, LEAST_DEVIATION] = np.inf
    return states


@njit(**LOOP)
def run_ddm(states: Array, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                signals[row, stream] = _ddm_step(states[stream], values[row, stream], settings[stream])


@njit(**HOT)
def _ddm_step(state: Array, value: float, settings: Array) -> int:
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


# in a state of EDDM: values, errors, place of the last one; mean and squared deviations of distances; their largest sum
# of mean and two deviations; the signal that lasts
N_ERRORS, LAST, MEAN_DISTANCE, SQUARES, LARGEST, SIGNAL, EDDM_SIZE = 1, 2, 3, 4, 5, 6, 7


def new_eddm_states(n_streams: int) -> Array:
    """Return states before any value."""
    states = np.zeros((n_streams, EDDM_SIZE))
    states[:, LARGEST] = -1.0
    return states


@njit(**LOOP)
def run_eddm(states: Array, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                signals[row, stream] = _eddm_step(states[stream], values[row, stream], settings[stream])


@njit(**HOT)
def _eddm_step(state: Array, value: float, settings: Array) -> int:
    state[N] += 1.0
    if value == 1.0:
        _add_distance(state)
        if state[N] > settings[WARM_UP]:
            state[SIGNAL] = _compare_distances(state, settings)
        state[LAST] = state[N]
    signal = int(state[SIGNAL])
    if signal == DRIFT:
        state[:] = 0.0
        state[LARGEST] = -1.0
    return signal


@njit(**HOT)
def _add_distance(state: Array) -> None:
    state[N_ERRORS] += 1.0
    before = state[MEAN_DISTANCE]
    distance = state[N] - state[LAST]
    state[MEAN_DISTANCE] += (1.0 / state[N_ERRORS]) * (distance - before)
    state[SQUARES] += (distance - before) * (distance - state[MEAN_DISTANCE])


@njit(**HOT)
def _compare_distances(state: Array, settings: Array) -> float:
    """Compare the distances with the largest ones; the signal stays if they are the largest, or errors are few."""
    variance = state[SQUARES] / (state[N_ERRORS] - 1.0) if state[N_ERRORS] > 1.0 else 0.0
    level = state[MEAN_DISTANCE] + 2.0 * math.sqrt(variance)
    if level > state[LARGEST]:
        state[LARGEST] = level
        return float(state[SIGNAL])
    if state[N_ERRORS] <= settings[WARM_UP]:
        return float(state[SIGNAL])
    share = level / state[LARGEST]
    if share < settings[DRIFT_AT]:
        return float(DRIFT)
    return float(WARNING) if share < settings[WARNING_AT] else float(NONE)


# in a state of Page and Hinkley: values, their mean; the sum that finds an increase and its minimum; that of a decrease
# and its maximum
UP, LOWEST, DOWN, HIGHEST, PAGE_HINKLEY_SIZE = 2, 3, 4, 5, 6
# settings after the warm-up; the last two are 1 or 0
TOLERANCE, THRESHOLD, FADING, FINDS_UP, FINDS_DOWN = 1, 2, 3, 4, 5
# as in River
_FIRST_HIGHEST = -1.0


def new_page_hinkley_states(n_streams: int) -> Array:
    """Return states before any value."""
    states = np.zeros((n_streams, PAGE_HINKLEY_SIZE))
    states[:, LOWEST], states[:, HIGHEST] = np.inf, _FIRST_HIGHEST
    return states


@njit(**LOOP)
def run_page_hinkley(states: Array, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                signals[row, stream] = _page_hinkley_step(states[stream], values[row, stream], settings[stream])


@njit(**HOT)
def _page_hinkley_step(state: Array, value: float, settings: Array) -> int:
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
