"""HDDM: by an inequality of Hoeffding (A) or McDiarmid (W), the mean differs from the one where it was extreme."""

import math

import numpy as np

from estimators._kernels.compile import HOT, LOOP, njit
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE, WARNING

# in a state of HDDM-A: values and their mean; the same at the cut with the least, and with the greatest, mean
N, MEAN, N_LOW, LOW, N_HIGH, HIGH, HDDM_A_SIZE = 0, 1, 2, 3, 4, 5, 6
# settings of HDDM-A: two confidences, and whether a decrease counts (1 or 0)
DRIFT_AT, WARNING_AT, A_TWO_SIDED = 0, 1, 2


def new_hddm_a_states(n_streams: int) -> Array:
    """Return states before any value."""
    return np.zeros((n_streams, HDDM_A_SIZE))


@njit(**LOOP)
def run_hddm_a(states: Array, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                signals[row, stream] = _hddm_a_step(states[stream], values[row, stream], settings[stream])


@njit(**HOT)
def _hddm_a_step(state: Array, value: float, settings: Array) -> int:
    state[N] += 1.0
    state[MEAN] += (1.0 / state[N]) * (value - state[MEAN])
    _move_cuts(state, settings[DRIFT_AT])
    signal = _compare_with_all(state[MEAN] - state[LOW], state[N_LOW], state[N], settings)
    if settings[A_TWO_SIDED] > 0.0:
        signal = max(signal, _compare_with_all(state[HIGH] - state[MEAN], state[N_HIGH], state[N], settings))
    if signal == DRIFT:
        state[:] = 0.0
    return signal


@njit(**HOT)
def _move_cuts(state: Array, confidence: float) -> None:
    """Move each cut to the present if the bounded mean is there at least as extreme."""
    n, mean = state[N], state[MEAN]
    bound = _hoeffding_bound(n, confidence)
    if state[N_LOW] == 0.0 or state[LOW] + _hoeffding_bound(state[N_LOW], confidence) >= mean + bound:
        state[N_LOW], state[LOW] = n, mean
    if state[N_HIGH] == 0.0 or state[HIGH] - _hoeffding_bound(state[N_HIGH], confidence) <= mean - bound:
        state[N_HIGH], state[HIGH] = n, mean


@njit(**HOT)
def _hoeffding_bound(n: float, confidence: float) -> float:
    return math.sqrt(1.0 / (2.0 * n) * math.log(1.0 / confidence))


@njit(**HOT)
def _compare_with_all(difference: float, n_cut: float, n: float, settings: Array) -> int:
    """Compare a difference of means with what chance allows between the part before a cut and all."""
    if n_cut == n:
        return NONE
    share = (n - n_cut) / n_cut * (1.0 / n)
    if difference >= math.sqrt(share / 2.0 * math.log(2.0 / settings[DRIFT_AT])):
        return DRIFT
    return WARNING if difference >= math.sqrt(share / 2.0 * math.log(2.0 / settings[WARNING_AT])) else NONE


# A state of HDDM-W holds weighted means, three numbers each: values, mean, and sum of squared weights; of all values,
# and before and after the cuts that find an increase and a decrease. Then the bounds at both cuts.
ALL, UP_BEFORE, UP_AFTER, DOWN_BEFORE, DOWN_AFTER, UP_CUT, DOWN_CUT, HDDM_W_SIZE = 0, 3, 6, 9, 12, 15, 16, 17
SQUARES = 2  # after N and MEAN
# settings of HDDM-W after the two confidences: weight of the latest value, and whether a decrease counts (1 or 0)
W_DECAY, W_TWO_SIDED = 2, 3


def new_hddm_w_states(n_streams: int) -> Array:
    """Return states before any value."""
    states = np.zeros((n_streams, HDDM_W_SIZE))
    for state in states:
        _reset_hddm_w(state)
    return states


@njit(**LOOP)
def run_hddm_w(states: Array, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                signals[row, stream] = _hddm_w_step(states[stream], values[row, stream], settings[stream])


@njit(**LOOP)
def _reset_hddm_w(state: Array) -> None:
    state[:] = 0.0
    for mean in range(ALL, UP_CUT, 3):
        state[mean + SQUARES] = 1.0
    state[UP_CUT], state[DOWN_CUT] = np.inf, -np.inf


@njit(**HOT)
def _hddm_w_step(state: Array, value: float, settings: Array) -> int:
    _add_weighted(state, ALL, value, settings[W_DECAY])
    bound = _mcdiarmid_bound(state[ALL + SQUARES], settings[DRIFT_AT])
    if state[ALL + MEAN] + bound < state[UP_CUT]:
        state[UP_CUT] = state[ALL + MEAN] + bound
        _cut_here(state, UP_BEFORE, UP_AFTER)
    else:
        _add_weighted(state, UP_AFTER, value, settings[W_DECAY])
    if state[ALL + MEAN] - bound > state[DOWN_CUT]:
        state[DOWN_CUT] = state[ALL + MEAN] - bound
        _cut_here(state, DOWN_BEFORE, DOWN_AFTER)
    else:
        _add_weighted(state, DOWN_AFTER, value, settings[W_DECAY])
    signal = _compare_parts(state, UP_BEFORE, UP_AFTER, settings)
    if settings[W_TWO_SIDED] > 0.0:
        signal = max(signal, _compare_parts(state, DOWN_AFTER, DOWN_BEFORE, settings))
    if signal == DRIFT:
        _reset_hddm_w(state)
    return signal


@njit(**HOT)
def _add_weighted(state: Array, mean: int, value: float, decay: float) -> None:
    before = state[mean + MEAN]
    state[mean + MEAN] = value if state[mean + N] == 0.0 else decay * value + (1.0 - decay) * before
    state[mean + N] += 1.0
    state[mean + SQUARES] = decay * decay + (1.0 - decay) ** 2 * state[mean + SQUARES]


@njit(**HOT)
def _cut_here(state: Array, before: int, after: int) -> None:
    for part in range(3):
        state[before + part] = state[ALL + part]
    state[after + N] = state[after + MEAN] = 0.0
    state[after + SQUARES] = 1.0


@njit(**HOT)
def _mcdiarmid_bound(squares: float, confidence: float) -> float:
    return math.sqrt(squares * math.log(1.0 / confidence) / 2.0)


@njit(**HOT)
def _compare_parts(state: Array, lower: int, upper: int, settings: Array) -> int:
    """Compare two weighted means; either is unknown before its first value."""
    if state[lower + N] == 0.0 or state[upper + N] == 0.0:
        return NONE
    squares = state[lower + SQUARES] + state[upper + SQUARES]
    difference = state[upper + MEAN] - state[lower + MEAN]
    if difference > _mcdiarmid_bound(squares, settings[DRIFT_AT]):
        return DRIFT
    return WARNING if difference > _mcdiarmid_bound(squares, settings[WARNING_AT]) else NONE
