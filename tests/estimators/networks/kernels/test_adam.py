"""A step of Adam, or of descent, on a part of the weights is that of the paper, weight by weight."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from estimators.networks._kernels.adam import count_step, make_constants, update, update_live
from estimators.networks._kernels.state import B1_POWER, B2_POWER
from tests.scattered import tables

N, RATE = 6, 0.01
GRADIENTS = (0.0, 1.0, -0.5, 1e-9, -1e6, 1e-30)


@njit
def steps(w, m, v, gradients, clock, constants, live, adaptive, start, stop):
    for i in range(len(gradients)):
        count_step(clock, constants, RATE, adaptive)
        if live.size:
            update_live(w, m, v, gradients[i], constants, live, 0, live.size, 0, w.size // live.size, 0)
        else:
            update(w, m, v, gradients[i], constants, adaptive, start, stop, start)


def slow(w, gradients, adaptive):
    """Algorithm 1 of Kingma and Ba, or gradient descent."""
    m = v = 0.0
    for t, g in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        bias_m, bias_v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        w -= RATE * (bias_m / (math.sqrt(bias_v) + 1e-8) if adaptive else g)
    return w


def run(gradients, adaptive, part, live):
    w, m, v = np.linspace(-1, 1, N), np.zeros(N), np.zeros(N)
    clock = np.zeros(6)
    clock[B1_POWER] = clock[B2_POWER] = 1.0
    steps(w, m, v, gradients, clock, make_constants(np.float64), np.array(live, bool), adaptive, *part)
    return w


def expected(gradients, adaptive, moving):
    first = np.linspace(-1, 1, N).tolist()
    return [slow(w, gradients[:, i].tolist(), adaptive) if moving[i] else w for i, w in enumerate(first)]


@pytest.mark.slow
@given(st.integers(0, 8).flatmap(lambda n: tables((n, N), GRADIENTS)), st.booleans(), st.integers(0, N), st.data())
def test_weights_from_start_to_stop_move(gradients, adaptive, start, data):
    stop = data.draw(st.integers(start, N))
    moving = [start <= i < stop for i in range(N)]
    # a step is the product of the same numbers in another order
    found = run(gradients, adaptive, (start, stop), [])
    np.testing.assert_allclose(found, expected(gradients, adaptive, moving), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@given(tables((4, N), GRADIENTS), tables((3,), (True, False)))
def test_the_weights_of_live_outputs_move(gradients, live):
    moving = [live[i // 2] for i in range(N)]
    found = run(gradients, True, (0, N), live)
    np.testing.assert_allclose(found, expected(gradients, True, moving), rtol=1e-9, atol=1e-12)
