"""HDDM-A: by Hoeffding's inequality, the mean differs from that of the part of the stream where it was extreme."""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, njit
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE, WARNING

# in a state: values and their mean; the same at the cut with the least, and with the greatest, mean
N, MEAN, N_LOW, LOW, N_HIGH, HIGH, SIZE = 0, 1, 2, 3, 4, 5, 6
# settings: two confidences, and whether a decrease counts (1 or 0)
DRIFT_AT, WARNING_AT, TWO_SIDED = 0, 1, 2


def new_states(n_streams: int) -> Array:
    """Return states before any value."""
    return np.zeros((n_streams, SIZE))


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
    _move_cuts(state, settings[DRIFT_AT])
    signal = _compare(state[MEAN] - state[LOW], state[N_LOW], state[N], settings)
    if settings[TWO_SIDED] > 0.0:
        signal = max(signal, _compare(state[HIGH] - state[MEAN], state[N_HIGH], state[N], settings))
    if signal == DRIFT:
        state[:] = 0.0
    return signal


@njit(**HOT)
def _move_cuts(state: Array, confidence: float) -> None:
    """Move each cut to the present if the bounded mean is there at least as extreme."""
    n, mean = state[N], state[MEAN]
    bound = _bound(n, confidence)
    if state[N_LOW] == 0.0 or state[LOW] + _bound(state[N_LOW], confidence) >= mean + bound:
        state[N_LOW], state[LOW] = n, mean
    if state[N_HIGH] == 0.0 or state[HIGH] - _bound(state[N_HIGH], confidence) <= mean - bound:
        state[N_HIGH], state[HIGH] = n, mean


@njit(**HOT)
def _bound(n: float, confidence: float) -> float:
    return math.sqrt(1.0 / (2.0 * n) * math.log(1.0 / confidence))


@njit(**HOT)
def _compare(difference: float, n_cut: float, n: float, settings: Array) -> int:
    """Compare a difference of means with what chance allows between the part before a cut and all."""
    if n_cut == n:
        return NONE
    share = (n - n_cut) / n_cut * (1.0 / n)
    if difference >= math.sqrt(share / 2.0 * math.log(2.0 / settings[DRIFT_AT])):
        return DRIFT
    return WARNING if difference >= math.sqrt(share / 2.0 * math.log(2.0 / settings[WARNING_AT])) else NONE
