"""Steps of Adam and of gradient descent over a stretch of flat weights."""
# ruff: noqa: PLR0913, PLR0917 - compiled functions take arrays one by one

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from estimators._kernels.compile import BUILD, INLINE, njit, uint64
from estimators.networks._kernels.state import (
    B1_POWER,
    B2_POWER,
    EPS_NOW,
    GAIN_M,
    GAIN_V,
    KEEP_M,
    KEEP_V,
    LEAST_G,
    LEAST_M,
    LEAST_V,
    STEP,
    STEPS,
    ZERO,
    Floats,
)

B1, B2, EPS = 0.9, 0.999, 1e-8


def make_constants(dtype: npt.DTypeLike) -> Floats:
    """Return the constants of a step in the precision of the weights; the first two change with every step."""
    return _constants(np.dtype(dtype)).copy()


@lru_cache
def _constants(dtype: np.dtype[Any]) -> Floats:
    least = float(np.finfo(dtype).tiny)
    # gradients and moments under these cannot move a weight, and products with those over them are no denormals
    leasts = least**0.45, least**0.75, least**0.9
    return np.array([0, 0, B1, 1 - B1, B2, 1 - B2, *leasts, 0, 1], dtype=dtype)


@njit(**INLINE)
def tick(clock, constants, rate, adaptive):  # type: ignore[no-untyped-def]
    """Count one step; set its length and, for Adam, the eps that make up for the bias of young moments."""
    clock[STEPS] += 1
    constants[STEP] = rate
    if adaptive:
        clock[B1_POWER] *= B1
        clock[B2_POWER] *= B2
        root = np.sqrt(1 - clock[B2_POWER])
        constants[STEP] = rate * root / (1 - clock[B1_POWER])
        constants[EPS_NOW] = EPS * root


@njit(**INLINE)
def adam(w, m, v, g, constants, start, stop):  # type: ignore[no-untyped-def]
    """Move weights by one step of Adam.

    Gradients and moments too small to move anything become 0: as denormals they would slow every later step tenfold.
    """
    step, eps, zero = constants[STEP], constants[EPS_NOW], constants[ZERO]
    b1, a1, b2, a2 = constants[KEEP_M], constants[GAIN_M], constants[KEEP_V], constants[GAIN_V]
    least_g, least_m, least_v = constants[LEAST_G], constants[LEAST_M], constants[LEAST_V]
    for i in range(uint64(start), uint64(stop)):
        gi = g[i] if abs(g[i]) > least_g else zero
        mi = b1 * m[i] + a1 * gi
        vi = b2 * v[i] + a2 * gi * gi
        mi = mi if abs(mi) > least_m else zero
        vi = vi if vi > least_v else zero
        m[i] = mi
        v[i] = vi
        w[i] -= step * mi / (np.sqrt(vi) + eps)


@njit(**INLINE)
def descend(w, g, constants, start, stop):  # type: ignore[no-untyped-def]
    """Move weights by one step of gradient descent."""
    step = constants[STEP]
    for i in range(uint64(start), uint64(stop)):
        w[i] -= step * g[i]


@njit(**INLINE)
def move(w, m, v, g, constants, adaptive, start, stop):  # type: ignore[no-untyped-def]
    """Move weights from start to stop by one step."""
    if adaptive:
        adam(w, m, v, g, constants, start, stop)
    else:
        descend(w, g, constants, start, stop)


@njit(**BUILD)
def move_live(w, m, v, g, constants, live, start, stop, n_in):  # type: ignore[no-untyped-def]
    """Move the weights of live outputs by one step of Adam, where each output has n_in side by side, over and over."""
    for at in range(start, stop, live.size * n_in):
        for k in range(live.size):
            if live[k]:
                adam(w, m, v, g, constants, at + k * n_in, at + (k + 1) * n_in)
