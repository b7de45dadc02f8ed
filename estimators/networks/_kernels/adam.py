"""Steps of Adam and of gradient descent on a part of the flat weights."""
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
    MIN_G,
    MIN_M,
    MIN_V,
    STEP,
    STEPS,
    ZERO,
    Doubles,
    Flags,
    Floats,
)

B1, B2, EPS = 0.9, 0.999, 1e-8


def make_constants(dtype: npt.DTypeLike) -> Floats:
    """Return the constants of a step in the precision of the weights; the first two change with every step."""
    return _constants(np.dtype(dtype)).copy()


@lru_cache
def _constants(dtype: np.dtype[Any]) -> Floats:
    tiny = float(np.finfo(dtype).tiny)
    # gradients and moments below these cannot move a weight, and products with those above them are not denormal
    minima = tiny**0.45, tiny**0.75, tiny**0.9
    return np.array([0, 0, B1, 1 - B1, B2, 1 - B2, *minima, 0, 1], dtype=dtype)


@njit(**INLINE)
def count_step(clock: Doubles, constants: Floats, rate: float, adaptive: bool) -> None:
    """Count one step; set its length and, for Adam, the eps that correct the bias of the first moments."""
    clock[STEPS] += 1
    constants[STEP] = rate
    if adaptive:
        clock[B1_POWER] *= B1
        clock[B2_POWER] *= B2
        root = np.sqrt(1 - clock[B2_POWER])
        constants[STEP] = rate * root / (1 - clock[B1_POWER])
        constants[EPS_NOW] = EPS * root


@njit(**INLINE)
def adam(w: Floats, m: Floats, v: Floats, g: Floats, constants: Floats, start: int, stop: int, source: int) -> None:
    """Update weights from start to stop by one step of Adam; their gradients begin at source.

    Gradients and moments too small to move a weight become 0: as denormals they would slow every later step tenfold.
    """
    step, eps, zero = constants[STEP], constants[EPS_NOW], constants[ZERO]
    b1, a1, b2, a2 = constants[KEEP_M], constants[GAIN_M], constants[KEEP_V], constants[GAIN_V]
    min_g, min_m, min_v = constants[MIN_G], constants[MIN_M], constants[MIN_V]
    at, g_at = uint64(start), uint64(source)
    for k in range(uint64(stop - start)):
        i, gi = at + k, g[g_at + k]
        gi = gi if abs(gi) > min_g else zero
        mi = b1 * m[i] + a1 * gi
        vi = b2 * v[i] + a2 * gi * gi
        mi = mi if abs(mi) > min_m else zero
        vi = vi if vi > min_v else zero
        m[i] = mi
        v[i] = vi
        w[i] -= step * mi / (np.sqrt(vi) + eps)


@njit(**INLINE)
def descend(w: Floats, g: Floats, constants: Floats, start: int, stop: int, source: int) -> None:
    """Update weights from start to stop by one step of gradient descent; their gradients begin at source."""
    step, at, g_at = constants[STEP], uint64(start), uint64(source)
    for k in range(uint64(stop - start)):
        w[at + k] -= step * g[g_at + k]


@njit(**INLINE)
def update(
    w: Floats, m: Floats, v: Floats, g: Floats, constants: Floats, adaptive: bool, start: int, stop: int, source: int
) -> None:
    """Update weights from start to stop by one step; their gradients begin at source."""
    if adaptive:
        adam(w, m, v, g, constants, start, stop, source)
    else:
        descend(w, g, constants, start, stop, source)


@njit(**BUILD)
def update_live(
    w: Floats,
    m: Floats,
    v: Floats,
    g: Floats,
    constants: Floats,
    live: Flags,
    first: int,
    last: int,
    start: int,
    n_in: int,
    source: int,
) -> None:
    """Update the weights of those of the outputs first to last that are live by one step of Adam.

    Each output has n_in weights in a row, which begin at start; their gradients begin at source.
    """
    for k in range(last - first):
        if live[first + k]:
            at = k * n_in
            adam(w, m, v, g, constants, start + at, start + at + n_in, source + at)
